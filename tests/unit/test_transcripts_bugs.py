"""Public bug reports, reproduced: skipped where the shared data is not beside the repository."""

import json
from itertools import pairwise
from pathlib import Path

import pytest

from pipeline.domain.documents import IncomingDocument
from pipeline.errors import ItemFailure
from pipeline.transcripts.batch import read_paths
from pipeline.transcripts.read import read

BUGS = Path(__file__).parents[2].parent / "shared" / "data" / "bugs"


def case(name):
    if not (BUGS / name).is_dir():
        pytest.skip(f"no case {name} beside the repository")
    return BUGS / name


def expected(name):
    return json.loads((case(name) / "expected.json").read_text(encoding="utf-8"))


def turns(name, file):
    return read((case(name) / file).read_bytes()).transcript.turns


def texts(name, file):
    return [turn.text for turn in turns(name, file)]


def documents(name, file, folder):
    """The case's lines in our words for its fields."""
    data = (case(name) / file).read_bytes().replace(b'"id"', b'"account_id": "a", "document_id"')
    (folder / "calls.jsonl").write_bytes(data.replace(b'"text"', b'"transcript"'))
    return list(read_paths([folder / "calls.jsonl"]))


def test_01_teams_times_without_zeros_are_milliseconds():
    want = expected("01-teams-unpadded-times")
    found = turns("01-teams-unpadded-times", "teams.vtt")
    assert [[round(turn.start * 1000), round(turn.end * 1000)] for turn in found] == want["times_ms"]
    assert len({turn.speaker for turn in found}) == want["speakers"]
    assert [turn.start for turn in found] == sorted(turn.start for turn in found)


def test_02_overlapping_cues_are_all_kept():
    want = expected("02-overlapping-cues")
    found = turns("02-overlapping-cues", "teams_overlap.vtt")
    overlaps = sum(later.start < earlier.end for earlier, later in pairwise(found))
    assert (len(found), overlaps) == (want["cues"], want["overlapping_pairs"])


@pytest.mark.parametrize("file", ["bom.vtt", "bom.txt"])
def test_03_a_byte_order_mark_is_no_text(file):
    want = expected("03-vtt-utf8-bom")
    found = texts("03-vtt-utf8-bom", file)
    assert (len(found), found[0]) == (want["turns"], want["first_text"])
    assert not any(want["no_char"] in text for text in found)


def test_04_entities_are_decoded_once():
    want = expected("04-vtt-html-entities")["texts"]
    found = [text.rstrip() for text in texts("04-vtt-html-entities", "entities.vtt")]
    assert found[:3] == want[:3]
    assert found[3] == "“next week” works \u200efor me"


def test_07_prose_has_no_speakers_and_dialogue_has():
    want = expected("07-colon-prose-is-not-a-speaker")
    prose = turns("07-colon-prose-is-not-a-speaker", "prose.txt")
    assert len({turn.speaker for turn in prose} - {None}) == want["prose.txt"]["speakers"]
    assert len(texts("07-colon-prose-is-not-a-speaker", "dialog.txt")) == want["dialog.txt"]["turns"]


def test_08_rolling_captions_say_each_word_once():
    words = " ".join(texts("08-youtube-rolling-captions", "rolling.vtt")).split()
    assert words == ["yeah", "what", "this", "will", "happen", "is", "I'm", "telling"]


@pytest.mark.parametrize("file", ["zero_bytes.vtt", "header_only.vtt", "crlf_header.vtt", "whitespace.txt"])
def test_09_where_nobody_speaks_the_input_is_empty(file):
    with pytest.raises(ItemFailure, match="empty_input"):
        turns("09-empty-transcripts", file)


def test_09_fillers_are_words():
    assert texts("09-empty-transcripts", "only_fillers.vtt") == ["Um.", "Yeah."]


def test_11_utf_16_is_read_with_and_without_its_mark():
    bytes_of = (case("11-utf16-files") / "be_bom.txt").read_bytes()
    found = [turns("11-utf16-files", file) for file in ("be_bom.txt", "le_bom.txt", "le_nobom.txt")]
    assert found[0] == found[1] == found[2] == read(bytes_of.decode("utf-16").encode()).transcript.turns
    assert len(turns("11-utf16-files", "le_bom.vtt")) == 6


def test_13_a_legacy_chinese_file_is_read_and_called_lossy():
    reading = read((case("13-gb2312-srt") / "gb2312.srt").read_bytes())
    assert len(reading.transcript.turns) == expected("13-gb2312-srt")["cues"]
    assert all("\u4e00" <= turn.text[0] <= "\u9fff" for turn in reading.transcript.turns)
    assert [warning.code for warning in reading.warnings] == ["lossy_decoding"]


def test_14_nul_characters_are_replaced_and_their_spelling_is_not(tmp_path):
    want = expected("14-nul-characters")
    found = [document.transcript.turns[0].text for document in documents("14-nul-characters", "nul.jsonl", tmp_path)]
    assert found == ["Person A: margin was 4\ufffd percent", want["c2_text_unchanged"], "Person A: fine"]
    assert texts("14-nul-characters", "nul.txt") == ["Person A: before\ufffdafter"]


def test_15_lone_surrogates_are_replaced_and_pairs_are_joined(tmp_path):
    want = expected("15-lone-surrogates")
    found = [
        document.transcript.turns[0].text for document in documents("15-lone-surrogates", "surrogate.jsonl", tmp_path)
    ]
    assert found == [want["s1"], want["s2"], "Person A: \ufffd\ufffd swapped"]


def test_16_unusual_line_separators_do_not_cut_a_record(tmp_path):
    found = documents("16-jsonl-u2028-nel", "u2028.jsonl", tmp_path)
    assert len(found) == expected("16-jsonl-u2028-nel")["records"]
    assert all(isinstance(document, IncomingDocument) for document in found)


def test_20_ids_are_strings_and_equal_ones_reach_the_one_who_judges(tmp_path):
    found = documents("20-duplicate-ids", "dup.jsonl", tmp_path)
    read_ones = [document for document in found if isinstance(document, IncomingDocument)]
    assert [document.fields.document_id for document in read_ones[:5]] == [
        "call-1",
        "call-2",
        "call-1",
        "call-2",
        "007",
    ]
    assert read_ones[1].digest_fields == read_ones[3].digest_fields
    assert read_ones[0].source_sha256 != read_ones[2].source_sha256
    problems = [str(entry).partition(".jsonl:")[2] for entry in found if not isinstance(entry, IncomingDocument)]
    missing = ["8 document_id: Field required", "8 account_id: Field required"]
    assert problems == ["5 document_id: must be a string: quote it", *missing]


def test_25_one_huge_line_is_one_turn_with_every_character():
    (text,) = texts("25-one-huge-line", "one_line.txt")
    assert len(text) == expected("25-one-huge-line")["chars"]
