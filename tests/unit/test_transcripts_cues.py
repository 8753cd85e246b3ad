"""The way that nearly all blocks are read at once gives what the careful way gives, block by block."""

import gc

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pipeline.domain.documents import Warning
from pipeline.errors import ItemFailure
from pipeline.transcripts import collector, labels
from pipeline.transcripts.cues import cues, doubts
from pipeline.transcripts.read import read

TIMES = ["00:00:01.000 --> 00:00:02.000", "01:02,5 --> 01:02:03,250", "0:0:9.80 --> 0:0:1.9", "00:01.000 --> x"]
PIECES = [
    *TIMES, f"{TIMES[0]} align:start", f"{TIMES[0]} said here", f" {TIMES[0]}", "\n", "\n\n", "\n\n\n", " \n", "\t",
    "7\n", "id-7\n", "> id\n", "NOTE ", "WEBVTT\n\n", "Anna: yes", "we ship\nin May", "-->", "\x0b", "x" * 250,
]  # fmt: skip
REGULAR = "7\n00:00:01.000 --> 00:00:02.000\nAnna: yes\n\n"


def is_note(block):
    return block.startswith(("NOTE", "WEBVTT"))


def found(text):
    every = list(cues(text, is_note))
    said = [cue._replace(offset=0, text=_narrow(cue.text), id=_narrow(cue.id)) for cue in every]
    return said, list(doubts(every, text))


def _wide(text):
    return text.replace(" --> ", "  --> ")


def _narrow(text):
    return text.replace("  -->", " -->")


@settings(deadline=None, max_examples=500)
@given(st.lists(st.sampled_from([*PIECES, REGULAR, REGULAR]), max_size=30).map("".join))
@example(REGULAR * 3)
@example(REGULAR.rstrip("\n"))
@example(f"{TIMES[0]}\n\nbelow an empty line\n\n{REGULAR}")
@example(f"7\n\n{REGULAR}")
@example(f"{TIMES[0]}\nfirst\n{TIMES[0]}\nsecond\n\n{REGULAR}")
def test_a_blank_more_beside_the_arrow_which_only_the_careful_way_reads_changes_nothing(text):
    assert found(text) == found(_wide(text))


def test_a_cue_that_ends_before_it_starts_is_named_by_its_line_on_either_way():
    text = f"{REGULAR}8\n00:00:05.000 --> 00:00:04.000\nno\n\n"
    for each in (text, _wide(text)):
        assert found(each)[1] == [Warning(code="unreadable_timing", place="line 6")]


@settings(deadline=None)
@given(st.lists(st.sampled_from(["Anna", "**", ":", ": ", "\uff1a", "\n", " ", "<", "x" * 90, "é"])).map("".join))
def test_a_label_is_the_same_whatever_is_said_behind_it(text):
    name, begin = labels.start(text)
    if name is not None and text[begin - 1 : begin] == " ":
        assert labels.start(f"{text[:begin]}and: then ") == (name, begin)


@pytest.mark.parametrize("running", [True, False])
def test_the_collector_is_as_it_was_when_a_file_is_read_or_refused(running):
    (gc.enable if running else gc.disable)()
    try:
        read(b"Anna: We send the offer on Monday.\nBen: Good.\n")
        with pytest.raises(ItemFailure):
            read(b"{}")
        with collector.paused():
            assert not gc.isenabled()
        assert gc.isenabled() is running
    finally:
        gc.enable()
