"""Merging: what unites, what supersedes, which keys, and the same bytes in any order of completion."""

from datetime import UTC, datetime

import hypothesis.strategies as st
import pytest
from hypothesis import given

from pipeline.domain.actions import Evidence, FoundAction, Missing
from pipeline.domain.groups import MergeGroup
from pipeline.domain.merge import Context, Contribution, alone, merge

GROUP = MergeGroup("acme", "default", "default")


def context(require="any"):
    return Context("default", "job-1", "export-1", require)


def action(text="Send the offer", turn=0, document_id="doc-0", **fields):
    """A follow-up with one quote; without evidence where `turn` is None."""
    quote = Evidence(document_id=document_id, turn=turn or 0, start=0, end=12, quote="twelve chars")
    reasons = () if turn is not None else ("quote_not_found",)
    given = {"kind": "follow_up", "text": text, "evidence": () if turn is None else (quote,), "reasons": reasons}
    return FoundAction(**given | fields)


def contribution(position, *actions, opportunity_id=None, day=None):
    when = datetime(2026, 3, day, tzinfo=UTC) if day else None
    return Contribution(position, f"doc-{position}", opportunity_id, when, actions)


def merged(*contributions, missing=(), require="any"):
    return merge(context(require), GROUP, contributions, missing)


def test_equal_actions_unite_their_sources_and_evidence():
    found = merged(
        contribution(0, action(owner="Ann")),
        contribution(1, action("Send  the\u00a0offer", 3, "doc-1", owner="Ann", due_text="Monday")),
    )
    (one,) = found.actions
    assert one.text == "Send the offer"
    assert one.source_document_ids == ("doc-0", "doc-1")
    assert [(quote.document_id, quote.turn) for quote in one.evidence] == [("doc-0", 0), ("doc-1", 3)]
    assert one.due_text == "Monday"


def test_each_row_keeps_its_own_words_and_evidence_under_the_merged_key():
    found = merged(contribution(0, action()), contribution(1, action("Send the  offer", 3, "doc-1")))
    (first,), (second,) = found.rows[0], found.rows[1]
    assert first.action_key == second.action_key == found.actions[0].action_key
    assert (second.text, second.source_document_ids) == ("Send the  offer", ("doc-1",))
    assert [quote.document_id for quote in second.evidence] == ["doc-1"]


@pytest.mark.parametrize(
    "other",
    [
        action(owner="Bob"),
        action("Send the contract"),
        action("send the offer"),
        action(kind="record_objection"),
        action(kind="update_stage", proposed_stage="won"),
    ],
)
def test_actions_that_differ_in_what_counts_stay_apart(other):
    assert len(merged(contribution(0, action()), contribution(1, other)).actions) == 2


def test_actions_of_different_opportunities_stay_apart():
    found = merged(contribution(0, action(), opportunity_id="a"), contribution(1, action(), opportunity_id="b"))
    assert len(found.actions) == 2


def test_of_competing_stage_changes_the_latest_call_stands():
    def stage(name):
        return action(f"Move to {name}", kind="update_stage", proposed_stage=name)

    found = merged(
        contribution(0, stage("won"), opportunity_id="deal", day=9),
        contribution(1, stage("lost"), opportunity_id="deal", day=2),
        contribution(2, stage("open"), opportunity_id="deal"),
        contribution(3, stage("other"), opportunity_id="another deal", day=20),
    )
    by_stage = {one.proposed_stage: one for one in found.actions}
    winner = by_stage["won"].action_key
    assert by_stage["won"].superseded_by is None
    assert by_stage["other"].superseded_by is None
    assert {by_stage[name].superseded_by for name in ("lost", "open")} == {winner}


def test_without_times_the_later_position_stands_and_without_an_opportunity_nothing_competes():
    def stage(name):
        return action(f"Move to {name}", kind="update_stage", proposed_stage=name)

    first, second = merged(
        contribution(0, stage("won"), opportunity_id="deal"), contribution(1, stage("lost"), opportunity_id="deal")
    ).actions
    loser, winner = (first, second) if first.superseded_by else (second, first)
    assert (winner.proposed_stage, loser.superseded_by) == ("lost", winner.action_key)
    free = merged(contribution(0, stage("won")), contribution(1, stage("lost"))).actions
    assert {one.superseded_by for one in free} == {None}


def test_a_key_is_made_of_the_anchor_alone():
    def key(*actions, position=0):
        return merged(contribution(position, *actions)).actions[0].action_key

    plain = key(action())
    assert plain.startswith("cf1-")
    assert len(plain) == 44
    assert key(action("Other words", owner="Bob", due_text="May", due_on="2026-05-01")) == plain
    assert key(action(turn=1)) != plain
    assert key(action(kind="record_objection")) != plain
    assert key(action(turn=None)) != plain


def test_several_actions_on_one_anchor_are_numbered_by_their_text():
    found = merged(contribution(0, action("c"), action("a"), action("b")))
    keys = {one.text: one.action_key for one in found.actions}
    assert keys["b"] == keys["a"] + "-2"
    assert keys["c"] == keys["a"] + "-3"


def test_a_quote_of_another_document_anchors_there():
    quoting = action(turn=4, document_id="doc-0")
    own = action("Own words", 4, "doc-0")
    found = merged(contribution(0, own), contribution(1, quoting))
    assert [one.action_key.endswith("-2") for one in found.actions] == [False, True]
    assert found.rows[1][0].evidence[0].document_id == "doc-0"


def test_a_quote_of_a_document_that_brought_nothing_still_gives_a_key():
    (one,) = merged(contribution(1, action(turn=4, document_id="doc-9"))).actions
    assert one.evidence[0].document_id == "doc-9"
    assert one.source_document_ids == ("doc-1",)


def test_missing_documents_are_named_in_order_and_make_the_group_incomplete():
    gaps = [(position, Missing(document_id=f"doc-{position}", error_code="refused")) for position in (5, 2)]
    (one,) = merged(contribution(0, action()), missing=gaps).actions
    assert not one.group.complete
    assert [gap.document_id for gap in one.group.missing] == ["doc-2", "doc-5"]
    assert (one.disposition, one.reasons) == ("proposed", ())


def test_with_require_all_one_missing_document_makes_every_action_review_only():
    gaps = [(5, Missing(document_id="doc-5", error_code="refused"))]
    found = merged(contribution(0, action(), action("Call", 1)), missing=gaps, require="all")
    assert {one.disposition for one in found.actions} == {"review_only"}
    assert {one.reasons for one in found.actions} == {("group_incomplete",)}
    assert {one.disposition for one in found.rows[0]} == {"review_only"}
    assert {one.disposition for one in merged(contribution(0, action()), require="all").actions} == {"proposed"}


def test_a_reason_of_any_source_makes_the_united_action_review_only():
    (one,) = merged(contribution(0, action()), contribution(1, action(turn=None))).actions
    assert (one.disposition, one.reasons) == ("review_only", ("quote_not_found",))


def test_in_a_cancelled_job_a_documents_own_actions_may_only_be_reviewed():
    own = alone(context(), contribution(0, action(), action("Call", 1)))
    assert [one.reasons for one in own] == [("job_cancelled",)] * 2
    assert own[0].action_key == merged(contribution(0, action())).actions[0].action_key


def test_nothing_gives_nothing():
    assert merged().actions == ()


ACTIONS = st.builds(
    action,
    st.sampled_from(["a", "b", "a  b", "a b"]),
    st.sampled_from([None, 0, 1, 2]),
    st.sampled_from(["doc-0", "doc-1", "doc-2", "doc-9"]),
    kind=st.sampled_from(["follow_up", "update_stage", "record_objection"]),
    owner=st.sampled_from([None, "Ann", "Bob"]),
    proposed_stage=st.sampled_from([None, "won"]),
)


@given(st.lists(st.lists(ACTIONS, max_size=4), min_size=1, max_size=5), st.data())
def test_any_order_of_completion_gives_the_same_bytes_and_no_key_twice(actions, data):
    contributions = [
        contribution(n, *each, opportunity_id=("x", None)[n % 2], day=n + 1 if n % 3 else None)
        for n, each in enumerate(actions)
    ]
    gaps = [(position, Missing(document_id=f"gap-{position}", error_code="expired")) for position in (7, 9, 8)]

    def in_bytes(found):
        rows = sorted((position, [one.model_dump_json() for one in each]) for position, each in found.rows.items())
        return [one.model_dump_json() for one in found.actions], rows

    expected = merged(*contributions, missing=gaps)
    shuffled = merged(*data.draw(st.permutations(contributions)), missing=data.draw(st.permutations(gaps)))
    assert in_bytes(shuffled) == in_bytes(expected)
    keys = [one.action_key for one in expected.actions]
    assert len(set(keys)) == len(keys)
    # Nothing is dropped: each document's action stands in its row.
    stands = {position: len(each) for position, each in expected.rows.items()}
    assert stands == {position: len(each) for position, each in enumerate(actions) if each}


def successor(before, *contributions, missing=()):
    """The merged set of a successor job."""
    return merge(context(), GROUP, contributions, missing, before.actions)


def keys_of(found):
    return {one.text: one.action_key for one in found.actions}


def test_a_successors_actions_keep_their_keys_whatever_unites_with_them_and_comes_before_them():
    before = merged(contribution(3, action("a", 5, "doc-3"), action("b", 5, "doc-3"), action("Lost", turn=None)))
    after = successor(
        before,
        contribution(1, action("a", 2, "doc-1"), action("Lost", turn=None)),
        contribution(3, *[action(text, 5, "doc-3") for text in "ab"], action("Lost", turn=None)),
    )
    assert keys_of(after) == keys_of(before)
    assert [one.action_key for one in after.rows[3]] == [one.action_key for one in before.rows[3]]
    assert {one.replaces for one in after.actions} == {()}


def test_an_action_with_other_words_inherits_the_key_by_the_turn_that_it_shares():
    before = merged(contribution(0, action("Send the offer", 4), action("Call", 4)))
    after = successor(before, contribution(0, action("Call", 4), action("Mail the offer", 4), action("New", 4)))
    old, new = keys_of(before), keys_of(after)
    assert (new["Call"], new["Mail the offer"]) == (old["Call"], old["Send the offer"])
    assert new["New"] == old["Call"] + "-3"


def test_the_key_of_another_kind_is_not_inherited():
    before = merged(contribution(0, action("Send the offer", 4)))
    (objection,) = successor(before, contribution(0, action("Too dear", 4, kind="record_objection"))).actions
    assert objection.action_key not in {one.action_key for one in before.actions}


def test_where_two_unite_the_older_key_stays_and_the_other_is_replaced_for_good():
    before = merged(contribution(0, action("Send it", 1)), contribution(1, action("Mail it", 2, "doc-1")))
    older, younger = (one.action_key for one in before.actions)
    united = (contribution(0, action("Send it", 1)), contribution(1, action("Send it", 2, "doc-1")))
    after = successor(before, *united)
    assert [(one.action_key, one.replaces) for one in after.actions] == [(older, (younger,))]
    assert successor(after, *united).actions == after.actions
    apart = successor(after, united[0], contribution(1, action("Send it to Bea", 2, "doc-1")))
    assert younger not in {one.action_key for one in apart.actions}


def test_what_was_found_in_a_cancelled_job_keeps_its_keys_when_it_is_merged():
    calls = [contribution(place, action("Send it", 1, f"doc-{place}")) for place in (0, 1)]
    rows = [alone(context(), call) for call in calls]
    after = merge(context(), GROUP, reversed(calls), [], [one for row in rows for one in row])
    assert after.rows[0][0].action_key == rows[0][0].action_key
    assert after.actions[0].replaces == (rows[1][0].action_key,)


@given(
    st.lists(st.lists(ACTIONS, max_size=4), min_size=2, max_size=5),
    st.lists(st.booleans(), min_size=5, max_size=5),
    st.data(),
)
def test_a_successors_carried_rows_keep_keys_and_order_in_any_order_of_completion(actions, carried, data):
    every = [contribution(n, *each, opportunity_id=("x", None)[n % 2]) for n, each in enumerate(actions)]
    before = merged(*(one for one in every if carried[one.position]))
    after = successor(before, *every)
    again = successor(before, *data.draw(st.permutations(every)))
    assert [one.model_dump_json() for one in again.actions] == [one.model_dump_json() for one in after.actions]
    assert again.rows == after.rows
    keys = [one.action_key for one in after.actions]
    assert len(set(keys)) == len(keys)
    assert {one.action_key for one in before.actions} <= set(keys)
    for position, row in before.rows.items():
        undecided = {"disposition": "review_only", "reasons": ()}
        assert [one.model_copy(update=undecided) for one in after.rows[position]] == [
            one.model_copy(update=undecided) for one in row
        ]


@given(st.lists(st.lists(ACTIONS, max_size=4), min_size=1, max_size=4), st.data())
def test_whatever_the_predecessor_found_no_key_is_given_twice_and_none_replaced_is_given_again(actions, data):
    other = data.draw(st.lists(st.lists(ACTIONS, max_size=4), min_size=1, max_size=4))
    before = merged(*(contribution(n, *each) for n, each in enumerate(other)))
    after = successor(before, *(contribution(n, *each) for n, each in enumerate(actions)))
    given_now = [key for one in after.actions for key in (one.action_key, *one.replaces)]
    assert len(set(given_now)) == len(given_now)
