"""The room of a context: parts that fit it by the profile's own tokenizer, and summaries that can always be united."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from pipeline.domain.documents import DocumentFields, Transcript, Turn
from pipeline.settings import PROMPT_TOKENS, Profile
from pipeline.summarizers.openai_chat.briefing import Briefing, rendered
from pipeline.summarizers.openai_chat.plan import Learned, Room, planned, task
from pipeline.summarizers.port import SummaryRequest

FIELDS = DocumentFields(document_id="call-1", account_id="acme")
ODD = {
    "one huge line": [("Dana", "I'll send the quote by Friday and " * 6_000)],
    "no blanks": [("Dana", "abcdefghij" * 10_000)],
    "one letter": [("Dana", "a" * 60_000)],
    "Chinese": [(None, "我明天把报价发给您。" * 4_000)],
    "emoji families": [("Dana", "👩\u200d👩\u200d👧" * 3_000)],
    "combining marks": [("Dana", "e\u0301\u0323" * 8_000)],
    "blanks before words": [("Dana", " " * 200_000 + "and then they agreed.")],
    "lines": [(None, "They agreed.\n" * 5_000)],
    "blank turns": [(None, " ")] * 9_000 + [("Dana", "They agreed.")] + [(None, "")] * 9_000,
    "many turns": [("Dana", "Yes."), ("Kim", "Well.")] * 3_000,
    "a label longer than the room": [("Dana the Great " * 9_000, "They agreed. " * 2_000)],
    "template tokens": [("Dana", "<|im_end|></s>[INST]" * 3_000)],
}


def transcript(said):
    return Transcript(turns=tuple(Turn(speaker=speaker, text=text) for speaker, text in said))


def profile(context_tokens=2_000, output_tokens=200):
    return Profile(summarizer="openai_chat", model="m", context_tokens=context_tokens, output_tokens=output_tokens)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.getbasetemp() / "vocabularies"


@pytest.mark.parametrize("said", ODD.values(), ids=ODD)
def test_every_call_of_an_odd_document_fits_the_context_also_asked_with_twice_the_cap(cache, said):
    call = transcript(said)
    room = Room.of(profile(), cache)
    chunks = room.chunks(call)  # it checks itself that they are complete
    assert all(rendered(call, chunk) for chunk in chunks), "nobody is asked about nothing"
    plan = planned(call, FIELDS, None, profile(), cache)
    assert len([step for step, _ in plan if step.name == "actions"]) == len(chunks)
    for _, demand in plan:
        assert demand.input_tokens + 2 * demand.output_tokens <= 2_000


def test_a_text_that_is_gone_on_with_fits_beside_the_fullest_part(cache):
    room = Room.of(profile(), cache)
    call = transcript(ODD["one huge line"])
    briefing = Briefing(SummaryRequest(FIELDS, call, None))
    chunk = max(room.chunks(call), key=lambda chunk: room.count(rendered(call, chunk)))
    for words in (1, 150, 199, 200, 390):
        so_far = "yes" + " yes" * (words - 1)
        messages = briefing.messages(
            task("part", room, briefing.language), briefing.facts(0, 99), rendered(call, chunk), None, so_far
        )
        assert room.demand(messages, 0).input_tokens + room.left(room.cap, so_far) <= 2_000
        assert words + room.left(room.cap, so_far) <= 2 * room.cap + 32, "it stays a text of two caps at most"


@pytest.mark.parametrize("context", [2_000, 2_001, 8_000, 32_768, 128_000, 1_000_000])
def test_a_profile_refuses_what_would_leave_two_parts_that_cannot_be_united(cache, context):
    longest = (context - context // 50 - PROMPT_TOKENS) // 6
    room = Room.of(profile(context, longest), cache)
    assert room.words >= 4 * room.cap
    with pytest.raises(ValidationError, match=f"lower output_tokens to {longest}"):
        profile(context, longest + 1)


@given(st.lists(st.integers(1, 400), min_size=2, max_size=60))
@settings(max_examples=60, deadline=None)
def test_summaries_of_up_to_twice_their_cap_are_united_in_groups_of_two_at_least_that_fit(cache, lengths):
    room = Room.of(profile(), cache)
    texts = [("yes" + " yes" * (length - 1)) for length in lengths]
    groups = room.groups(texts)
    assert [text for group in groups for text in group] == texts
    assert all(len(group) >= 2 for group in groups[:-1])
    assert all(room.count("\n\n".join(group)) <= room.words for group in groups)


def test_a_summary_that_leaves_no_room_for_another_one_is_told_before_any_are_united(cache):
    room = Room.of(profile(), cache)
    longest = "yes" + " yes" * (room.words // 2 - 2)
    assert room.has_room_to_unite(longest)
    assert not room.has_room_to_unite(f"{longest} yes")
    assert room.groups([longest, longest]) == [(longest, longest)]


def test_a_room_is_learned_from_what_was_refused_beyond_all_that_was_taken_and_never_below_a_quarter(cache):
    learned = Learned(Room.of(profile(), cache))
    full, half, quarter = learned.rooms
    learned.answered(900, full, None)
    learned.answered(500, half, 900)
    assert learned.rooms == (full, half, quarter), "it had taken as much"
    learned.answered(500, quarter, 901)
    assert learned.rooms == (quarter,)
    learned.answered(500, half, 5_000)
    assert learned.rooms == (quarter,)
