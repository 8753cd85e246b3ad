"""Every file of the shared samples beside what was read in it by hand: who says how much, from when to when.

`shared_formats.json` was written from the files and the vendors' descriptions of them, not from what the readers give.
Of each file it holds the `format`; what is `spoken`: each label (an empty one is nobody's) with its turns and words;
`ink` and `sha256`, the number and the hash of the characters of all that is said but for blanks; `times`, the sums of
all starts and of all ends in seconds; of the `first` and the `last` turn its start, its end and the three words that it
begins with (of long ones the beginning) or ends with; the codes of its `warnings`; or else the code of its `failure`.
"""

import json
import re
from collections import Counter
from hashlib import sha256
from pathlib import Path

import pytest

from pipeline.errors import ItemFailure
from pipeline.transcripts.batch import read_paths
from pipeline.transcripts.formats import gong, vtt
from pipeline.transcripts.read import read
from pipeline.transcripts.source import Source

SAMPLES = Path(__file__).parents[2].parent / "shared" / "data" / "formats"
BY_HAND = json.loads(Path(__file__).with_name("shared_formats.json").read_text(encoding="utf-8"))
#: Files of a test suite for captions: what the standard wants kept, and what it drops and Callfold keeps.
TORTURE = {
    "vtt_generic/wpt_nulls.vtt": {"text": 7, "invalid": 60},
    "vtt_generic/wpt_timings-garbage.vtt": {"invalid": 63},
    "vtt_generic/wpt_timings-too-short.vtt": {"text": 2, "invalid": 30},
}


def sample(name):
    path = SAMPLES / name
    if not path.exists():
        pytest.skip(f"no {name} beside the repository")
    return path.read_bytes()


@pytest.mark.parametrize("name", [name for name, known in BY_HAND.items() if "failure" not in known])
def test_a_sample_is_read_as_by_hand(name):
    known = BY_HAND[name]
    reading = read(sample(name))
    turns = reading.transcript.turns
    assert reading.format == known["format"]
    assert spoken(turns) == known["spoken"]
    ink = "".join("".join(turn.text.split()) for turn in turns)
    assert (len(ink), sha256(ink.encode()).hexdigest()[:16]) == (known["ink"], known["sha256"])
    assert [total(turn.start for turn in turns), total(turn.end for turn in turns)] == known["times"]
    assert moment(turns[0]) == known["first"][:2]
    assert moment(turns[-1]) == known["last"][:2]
    assert " ".join(turns[0].text.split()[:3]).startswith(known["first"][2])
    assert " ".join(turns[-1].text.split()[-3:]) == known["last"][2]
    assert sorted({warning.code for warning in reading.warnings}) == known.get("warnings", [])


@pytest.mark.parametrize("name", [name for name, known in BY_HAND.items() if "failure" in known])
def test_a_sample_that_is_no_call_is_refused_for_what_it_is(name):
    with pytest.raises(ItemFailure) as refused:
        read(sample(name))
    assert refused.value.error_code == BY_HAND[name]["failure"]


@pytest.mark.parametrize("name", TORTURE)
def test_a_cue_that_the_standard_drops_is_kept(name):
    turns = vtt.parse(Source(sample(name))).turns
    last_lines = (turn.text.rstrip("\n").rpartition("\n")[2] for turn in turns)
    assert Counter(re.sub("[^a-z]", "", line) for line in last_lines) == TORTURE[name]


def test_gongs_speakers_have_the_names_that_the_file_beside_knows():
    names = gong.parties(json.loads(sample("derived_gong/calls_extensive.json")))
    assert names == {"6432345678555530067": "Person A"}
    turns = read(sample("derived_gong/transcript.json"), names).transcript.turns
    assert spoken(turns) == {"Person A": [50, 1012], "Speaker 1": [50, 696]}


def test_gongs_two_files_in_a_folder_are_one_document_with_names():
    sample("derived_gong/transcript.json")
    (document,) = read_paths([SAMPLES / "derived_gong"], account="acme")
    assert document.fields.document_id == "transcript.json"
    assert spoken(document.transcript.turns) == {"Person A": [50, 1012], "Speaker 1": [50, 696]}


def test_every_sample_was_read_by_hand():
    if not SAMPLES.is_dir():
        pytest.skip("no samples beside the repository")
    files = {path.relative_to(SAMPLES).as_posix() for path in SAMPLES.rglob("*") if path.is_file()}
    assert files == BY_HAND.keys() | TORTURE.keys()


def spoken(turns):
    told = {}
    for turn in turns:
        counts = told.setdefault(turn.speaker or "", [0, 0])
        counts[0] += 1
        counts[1] += len(turn.text.split())
    return told


def total(seconds):
    return round(sum(second for second in seconds if second is not None), 1)


def moment(turn):
    return [None if second is None else round(second, 3) for second in (turn.start, turn.end)]
