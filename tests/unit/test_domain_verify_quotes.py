"""From claims to evidence: each action keeps its verified quotes, or a reason; none is dropped."""

import pytest

from pipeline.domain.actions import ProposedAction, Quote
from pipeline.domain.documents import DocumentFields, Transcript, Turn
from pipeline.domain.groups import MergeGroup
from pipeline.domain.verify_quotes import verify_quotes

FIELDS = DocumentFields(document_id="own", account_id="acme")
OWN = Transcript(turns=(Turn(text="We will send the offer on Monday."), Turn(text="That is too expensive.")))
OTHERS = {
    "sister": (MergeGroup("acme", "default", "default"), Transcript(turns=(Turn(text="The sister call said this."),))),
    "stranger": (MergeGroup("other", "default", "default"), Transcript(turns=(Turn(text="A stranger's words."),))),
    "other consent": (MergeGroup("acme", "strict", "default"), Transcript(turns=(Turn(text="A stricter scope."),))),
    "other retention": (MergeGroup("acme", "default", "short"), Transcript(turns=(Turn(text="A shorter life."),))),
}


def verified(*quotes, kind="follow_up"):
    proposed = ProposedAction(kind=kind, text="Do it", owner="Ann", due_text="Monday", quotes=quotes)
    (found,) = verify_quotes((proposed,), FIELDS, OWN, OTHERS.get)
    return found


def test_a_quote_that_was_said_is_evidence():
    found = verified(Quote(quote="send the offer on Monday"))
    assert found.reasons == ()
    assert [(quote.document_id, quote.turn, quote.start) for quote in found.evidence] == [("own", 0, 8)]
    assert (found.text, found.owner, found.due_text) == ("Do it", "Ann", "Monday")


def test_a_quote_of_another_call_of_the_same_group_counts():
    found = verified(Quote(quote="The sister call said this.", document_id="sister"))
    assert [quote.document_id for quote in found.evidence] == ["sister"]


@pytest.mark.parametrize(
    ("document_id", "reason"),
    [
        ("nobody", "unknown_source"),
        ("stranger", "foreign_account"),
        ("other consent", "foreign_account"),
        ("other retention", "foreign_account"),
        ("sister", "quote_not_found"),
        (None, "quote_not_found"),
    ],
)
def test_what_does_not_count_leaves_its_reason(document_id, reason):
    found = verified(Quote(quote="A stranger's words.", document_id=document_id))
    assert found.evidence == ()
    assert set(found.reasons) == {reason, "quote_not_found"}


def test_one_verified_quote_is_enough_and_the_others_reasons_stay():
    found = verified(Quote(quote="That is too expensive."), Quote(quote="never said at all"))
    assert len(found.evidence) == 1
    assert found.reasons == ("quote_not_found",)


def test_an_action_without_quotes_is_kept_for_review():
    assert verified().reasons == ("quote_not_found",)


def test_a_stage_change_may_only_be_reviewed():
    assert verified(Quote(quote="That is too expensive."), kind="update_stage").reasons == ("stage_change",)


def test_the_same_quote_twice_is_one_piece_of_evidence():
    assert len(verified(*[Quote(quote="That is too expensive.")] * 2).evidence) == 1


def test_actions_keep_their_order_and_another_document_is_read_once():
    asked = []

    def lookup(document_id):
        asked.append(document_id)
        return OTHERS[document_id]

    quotes = (Quote(quote="The sister call said this.", document_id="sister"),)
    proposed = tuple(ProposedAction(kind="follow_up", text=text, quotes=quotes) for text in "cab")
    assert [found.text for found in verify_quotes(proposed, FIELDS, OWN, lookup)] == ["c", "a", "b"]
    assert asked == ["sister"]
