"""Loops and equal cues go, what people repeat stays."""

import pytest

from pipeline.domain.documents import Turn
from pipeline.transcripts import repeats
from pipeline.transcripts.repeats import without_loops


def settled(*turns):
    found, warnings = repeats.settle(turns)
    return [turn.text for turn in found], [(warning.code, warning.place) for warning in warnings]


@pytest.mark.parametrize(
    ("looped", "once"),
    [
        ("no " * 20, "no "),
        ("Thank you. " * 8, "Thank you. "),
        ("So, got them, " + "Got them, " * 12 + "got them. Right?", "So, got them. Right?"),
        ("We will see. " * 9 + "And then we go.", "We will see. And then we go."),
        ("one two three four five six seven eight nine ten eleven twelve " * 8, None),
        ("谢谢观看" * 10, "谢谢观看"),
        ("好的，" * 12 + "再见。", "好的，再见。"),  # noqa: RUF001 - Chinese writes it so
        ("请订阅我的频道谢谢大家的观看我们下次再见" * 8, "请订阅我的频道谢谢大家的观看我们下次再见"),
        ("ขอบคุณครับ" * 12, "ขอบคุณครับ"),
        ("Grüße an alle. " * 8, "Grüße an alle. "),
        ("I " * 50 + "and " + "you " * 50, "I and you "),
    ],
)
def test_a_phrase_without_end_stands_once(looped, once):
    assert without_loops(looped) == (once or looped[: len(looped) // 8])


@pytest.mark.parametrize(
    "said",
    [
        "no no no no",
        "No, no, no, no, no, no, no, no!",
        "yes yes",
        "I think, I think, I think we should.",
        "Thank you. " * 7,
        "哈哈哈哈哈哈哈哈哈哈",
        "0 0 0 0 0 0 0 0 0",
        "one two three four five six seven eight nine ten eleven twelve " * 7,
        "a line " + "-" * 500,
        "one two three four five six seven eight nine ten eleven twelve thirteen " * 8,
    ],
)
def test_what_people_repeat_stays(said):
    assert without_loops(said) == said


def test_five_turns_of_one_speaker_that_say_the_same_are_one_and_three_answers_are_three():
    loop = [Turn(text=" Thank you.", start=n) for n in range(5)]
    three = [Turn(text="Yes.", speaker="Anna", start=n) for n in range(5, 8)]
    assert settled(*loop, *three, *loop) == (
        [" Thank you.", "Yes.", "Yes.", "Yes.", " Thank you."],
        [("loop_collapsed", "turn 0 and 1 more")],
    )


def test_equal_words_of_several_speakers_and_blank_turns_stay():
    both = [Turn(text="Good.", speaker=speaker) for speaker in "ABABABABAB"]
    blank = [Turn(text=" ")] * 9
    assert settled(*both, *blank) == (["Good."] * 10 + [" "] * 9, [])


def test_the_place_of_a_loop_is_its_turn_after_all_that_went():
    turns = [Turn(text="Yes.", start=1, end=2)] * 2 + [Turn(text="So. " * 30, start=3)]
    assert settled(*turns) == (["Yes.", "So. "], [("duplicate_turns", "1 turns"), ("loop_collapsed", "turn 1")])


def test_a_cue_is_a_duplicate_only_with_the_speaker_the_words_and_both_times_of_the_one_before():
    cue = Turn(text="Yes, fine.", speaker="Anna", start=1, end=2)
    others = [cue.model_copy(update=change) for change in ({"end": 3}, {"start": 0}, {"text": "Yes"}, {"speaker": "B"})]
    untimed = [Turn(text="Yes, fine.", start=1)] * 2
    assert settled(cue, cue, cue) == (["Yes, fine."], [("duplicate_turns", "2 turns")])
    for pair in (*((cue, other) for other in others), untimed):
        assert settled(*pair) == ([turn.text for turn in pair], [])


def test_settling_twice_changes_nothing():
    turns = [Turn(text="Thank you. " * 30), *[Turn(text="Well.", start=1, end=2)] * 9, Turn(text="no " * 99)]
    once, _ = repeats.settle(turns)
    assert repeats.settle(once) == (once, ())


@pytest.mark.parametrize(
    "unit", ["a", "a ", "a b ", "a b c d e f g h i j k l m ", "x x x x x x x y ", " ", "好", "好的吗"]
)
@pytest.mark.timeout(120)
def test_a_turn_of_any_length_takes_time_that_grows_with_it(unit):
    assert len(without_loops(unit * (600_000 // len(unit)))) <= 600_000
