"""The caption readers beside webvtt-py and pysubs2: equal on what is well formed, else each difference named."""

import io

import pysubs2
import pytest
import webvtt
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.captions import SPOKEN, clock, faulty
from pipeline.transcripts.read import read

#: Letters and marks that no format gives a meaning. Not a number alone: pysubs2 takes it for the next cue's.
LINES = st.text("abcdefghij ÄÖÜéñß漢字かな한국어אבגدهو,.!?'-", max_size=30).map(lambda line: f"so {line}".strip())
CUES = st.lists(
    st.tuples(st.integers(0, 30_000_000), st.integers(0, 60_000), st.lists(LINES, min_size=1, max_size=3)), min_size=1
)


def written(cues, *, head="", comma=False, newline="\n"):
    """The cues as a file, and what a reader should say: start and end in milliseconds, text."""
    spoken = [
        (start, start + lasts, "\n".join([f"words number {number}", *lines]))
        for number, (start, lasts, lines) in enumerate(cues)
    ]
    blocks = [
        f"{number}\n{clock(start)} --> {clock(end)}\n".replace(".", "," if comma else ".") + text
        for number, (start, end, text) in enumerate(spoken, start=1)
    ]
    return (head + "\n\n".join(blocks) + "\n").replace("\n", newline), spoken


def ours(text):
    turns = read(text.encode()).transcript.turns
    return [(round(turn.start * 1_000), round(turn.end * 1_000), turn.text) for turn in turns]


def milliseconds(time):
    return ((time.hours * 60 + time.minutes) * 60 + time.seconds) * 1_000 + time.milliseconds


def of_webvtt(text, form):
    found = webvtt.from_string(text) if form == "vtt" else webvtt.WebVTT.from_buffer(io.StringIO(text), format=form)
    return [(milliseconds(cue.start_time), milliseconds(cue.end_time), cue.text) for cue in found]


def of_pysubs2(text, form):
    return [(event.start, event.end, event.plaintext) for event in pysubs2.SSAFile.from_string(text, format_=form)]


@given(CUES, st.sampled_from(["\n", "\r\n"]))
def test_well_formed_vtt_is_read_as_both_libraries_read_it(cues, newline):
    text, spoken = written(cues, head="WEBVTT\n\n", newline=newline)
    assert ours(text) == spoken == of_webvtt(text.replace("\r", ""), "vtt") == of_pysubs2(text.replace("\r", ""), "vtt")


@given(CUES)
def test_well_formed_srt_is_read_as_both_libraries_read_it(cues):
    text, spoken = written(cues, comma=True)
    assert ours(text) == spoken == of_webvtt(text, "srt") == of_pysubs2(text, "srt")


@given(CUES, st.sampled_from(["ass", "ssa", "ttml"]))
def test_what_pysubs2_writes_in_its_other_formats_is_read_as_it_was(cues, form):
    _, spoken = written([(start // 10 * 10, lasts // 10 * 10, lines) for start, lasts, lines in cues])
    events = [pysubs2.SSAEvent(start, end, text.replace("\n", "\\N")) for start, end, text in spoken]
    subtitles = pysubs2.SSAFile()
    subtitles.events = events
    reading = read(subtitles.to_string(form).encode())
    assert reading.format == ("ttml" if form == "ttml" else "ass")
    assert ours(subtitles.to_string(form)) == [(start, end, blanked(text, form)) for start, end, text in spoken]


def blanked(text, form):
    """The text as XML keeps it: a run of blanks is one, and there is none at a line's end."""
    return "\n".join(" ".join(line.split()) for line in text.split("\n")) if form == "ttml" else text


#: How many of the five cues the libraries give with their words and nothing else; here all five are.
DIFFERENCES = {
    "a comment above the header": {"webvtt-py": 0},  # refused: "Invalid format"
    "a header in lower case": {"webvtt-py": 0},  # refused
    "no header": {"webvtt-py": 0},  # refused
    "comma decimals": {"webvtt-py": 0, "pysubs2": 0},  # no cue and no error
    "a second 60": {"webvtt-py": 4},  # the cue is lost
    "no leading zeros": {"pysubs2": 0},  # no cue and no error
    "letters in a time": {"webvtt-py": 4, "pysubs2": 3},  # lost; and its lines become the words of the cue before
    "an empty line below the times": {"webvtt-py": 0},  # five cues without words
    "words behind the times": {"webvtt-py": 0, "pysubs2": 0},  # taken for settings
    "ids that are no numbers": {"pysubs2": 1},  # taken for words of the cue before
    "a note between cues": {"pysubs2": 4},  # taken for words
    "character references": {"webvtt-py": 0, "pysubs2": 0},  # left as they are
}


def right(texts):
    return sum(words in texts for words in SPOKEN)


@pytest.mark.parametrize("fault", faulty())
def test_of_a_faulty_file_every_cue_is_read_and_what_the_libraries_lose_is_known(fault):
    text = faulty()[fault]
    reading = read(text.encode())
    assert [turn.text for turn in reading.transcript.turns] == list(SPOKEN)
    of_webvtt_py = 0
    if DIFFERENCES.get(fault, {}).get("webvtt-py", 5):
        of_webvtt_py = right([cue.text for cue in webvtt.from_string(text)])
    of_pysubs2 = right([event.plaintext for event in pysubs2.SSAFile.from_string(text, format_="vtt")])
    assert {"webvtt-py": of_webvtt_py, "pysubs2": of_pysubs2} == {"webvtt-py": 5, "pysubs2": 5} | DIFFERENCES.get(
        fault, {}
    )


def test_only_a_time_that_nobody_can_read_is_a_doubt():
    doubted = {
        fault
        for fault, text in faulty().items()
        if any(not warning.code.startswith("speakers_") for warning in read(text.encode()).warnings)
    }
    assert doubted == {"letters in a time", "an end before its start"}
