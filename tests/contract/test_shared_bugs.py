"""Public bug reports, reproduced: a test or more for each, skipped where the shared data is not beside the repository.

Where a report and the design differ, the design wins and the test says so.
"""

import json
import re
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from time import monotonic

import pytest

from benchmarks.model_server import done, finish, say, serving
from pipeline.domain.documents import DocumentFields, IncomingDocument, Transcript, Turn
from pipeline.domain.speakers import owner_finder
from pipeline.errors import InvalidRequest, ItemFailure
from pipeline.settings import Profile
from pipeline.stages.submit import accepted
from pipeline.summarizers.extractive.summarizer import Extractive
from pipeline.summarizers.openai_chat.actions import SCHEMA, parse_actions, people
from pipeline.summarizers.openai_chat.briefing import Briefing, rendered
from pipeline.summarizers.openai_chat.chunks import Span, cut, is_complete
from pipeline.summarizers.openai_chat.model import Model, Question
from pipeline.summarizers.openai_chat.plan import Room
from pipeline.summarizers.openai_chat.prompts import template
from pipeline.summarizers.output import parse_output
from pipeline.summarizers.port import CallReport, SummaryRequest
from pipeline.summarizers.tokens import count_text, count_tokens
from pipeline.summarizers.unrecorded import Unrecorded
from pipeline.transcripts.batch import read_paths
from pipeline.transcripts.formats import FORMATS
from pipeline.transcripts.read import read
from pipeline.transcripts.source import Source

BUGS = Path(__file__).parents[2].parent / "shared" / "data" / "bugs"
LONG = BUGS.with_name("long")
FIELDS = DocumentFields(document_id="call-1", account_id="acme")
ENCODING = "o200k_base"


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.getbasetemp() / "vocabularies"


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


def parsed(name, file):
    """What the file's own format makes of it, before it is judged whether it is a call."""
    source = Source((case(name) / file).read_bytes())
    return next(form for form in FORMATS if form.recognises(source)).parse(source)


def documents(name, file, folder):
    """The case's lines in our words for its fields."""
    data = (case(name) / file).read_bytes().replace(b'"id"', b'"account_id": "a", "document_id"')
    (folder / "calls.jsonl").write_bytes(data.replace(b'"text"', b'"transcript"'))
    return list(read_paths([folder / "calls.jsonl"]))


def first_turns(found):
    return [document.transcript.turns[0].text for document in found]


def spans(transcript):
    return [Span(number, 0, len(turn.text)) for number, turn in enumerate(transcript.turns)]


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


@pytest.mark.parametrize("file", ["bom.vtt", "bom.txt", "bom.json"])
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


@pytest.mark.parametrize(
    "file",
    [
        "zero_bytes.vtt",
        "header_only.vtt",
        "crlf_header.vtt",
        "whitespace.txt",
        "deepgram_empty.json",
        "sentences_null.json",
    ],
)
def test_09_where_nobody_speaks_the_input_is_empty(file):
    with pytest.raises(ItemFailure, match="empty_input"):
        turns("09-empty-transcripts", file)


def test_09_fillers_are_words_and_too_few():
    assert [turn.text for turn in parsed("09-empty-transcripts", "only_fillers.vtt").turns] == ["Um.", "Yeah."]
    with pytest.raises(ItemFailure, match="too_short"):
        turns("09-empty-transcripts", "only_fillers.vtt")


def test_11_utf_16_is_read_with_and_without_its_mark():
    bytes_of = (case("11-utf16-files") / "be_bom.txt").read_bytes()
    found = [turns("11-utf16-files", file) for file in ("be_bom.txt", "le_bom.txt", "le_nobom.txt")]
    assert found[0] == found[1] == found[2] == read(bytes_of.decode("utf-16").encode()).transcript.turns
    assert len(turns("11-utf16-files", "le_bom.vtt")) == 6


def test_13_a_legacy_chinese_file_is_read_and_called_lossy():
    reading = read((case("13-gb2312-srt") / "gb2312.srt").read_bytes())
    assert len(reading.transcript.turns) == expected("13-gb2312-srt")["cues"]
    assert all("\u4e00" <= turn.text[0] <= "\u9fff" for turn in reading.transcript.turns)
    assert "lossy_decoding" in [warning.code for warning in reading.warnings]


def test_14_nul_characters_are_replaced_and_their_spelling_is_not(tmp_path):
    want = expected("14-nul-characters")
    found = first_turns(documents("14-nul-characters", "nul.jsonl", tmp_path))
    assert found == ["Person A: margin was 4\ufffd percent", want["c2_text_unchanged"], "Person A: fine"]
    assert texts("14-nul-characters", "nul.txt") == ["Person A: before\ufffdafter"]


def test_15_lone_surrogates_are_replaced_and_pairs_are_joined(tmp_path):
    want = expected("15-lone-surrogates")
    found = first_turns(documents("15-lone-surrogates", "surrogate.jsonl", tmp_path))
    assert found == [want["s1"], want["s2"], "Person A: \ufffd\ufffd swapped"]


def test_16_unusual_line_separators_do_not_cut_a_record(tmp_path):
    found = documents("16-jsonl-u2028-nel", "u2028.jsonl", tmp_path)
    assert len(found) == expected("16-jsonl-u2028-nel")["records"]
    assert all(isinstance(document, IncomingDocument) for document in found)


def test_18_a_cell_of_any_length_is_read_whole(tmp_path):
    """A row needs an account in the design: each gets one here."""
    want = expected("18-csv-field-over-131072")
    data = (case("18-csv-field-over-131072") / "big.csv").read_bytes().replace(b"call_id", b"account_id,document_id")
    (tmp_path / "calls.csv").write_bytes(re.sub(rb'(?m)^(big|small|formula),"', rb'acme,\1,"', data))
    found = list(read_paths([tmp_path / "calls.csv"]))
    assert [document.fields.document_id for document in found] == ["big", "small", "formula"][: want["rows"]]
    cell = data.decode().split('big,"', 1)[1].split('"\r\nsmall', 1)[0].replace('""', '"')
    assert len(cell) == want["big_chars"]
    assert found[0].source_sha256 == sha256(cell.encode()).hexdigest()
    assert ink(found[0].transcript) == len("".join(re.sub("(?m)^Person [A-Z]:", "", cell).split()))
    assert found[2].source_sha256 == sha256(b'=HYPERLINK("x")').hexdigest()


def test_19_a_table_as_excel_exports_it_gives_its_rows(tmp_path):
    """The header in the design's words; its last column becomes the account, since each row needs one."""
    data = (case("19-csv-newlines-semicolon-bom") / "excel.csv").read_bytes()
    data = data.replace(b"Call ID", b"Document ID").replace(b"Owner", b"Account ID")
    (tmp_path / "calls.csv").write_bytes(data)
    found = list(read_paths([tmp_path / "calls.csv"]))
    assert len(found) == expected("19-csv-newlines-semicolon-bom")["rows"]
    assert [(each.fields.document_id, each.fields.account_id) for each in found] == [("1", "x"), ("2", "y")]
    assert [(turn.speaker, turn.text) for turn in found[0].transcript.turns] == [
        ("Person A", "hello"),
        ("Person B", "hi; there"),
    ]


def test_20_ids_are_strings_and_a_second_document_of_an_id_is_refused_with_both_places(tmp_path):
    """The report lets two of an id be one where their words are the same; in the design two ids are one too many."""
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
    with pytest.raises(InvalidRequest) as refused:
        list(accepted(read_ones))
    want = expected("20-duplicate-ids")
    pairs = [conflict["lines"] for conflict in want["conflicts"] + want["duplicates_same"]]
    assert [[int(line) for line in re.findall(r"jsonl:(\d+)", str(each))] for each in refused.value.problems] == [
        [second, first] for first, second in pairs
    ]


def test_21_a_word_without_a_speaker_or_a_time_takes_its_neighbours():
    want = expected("21-whisperx-missing-keys")
    found = turns("21-whisperx-missing-keys", "whisperx.json")
    assert len(found) == want["segments"]
    assert [turn.speaker for turn in found].count(None) <= want["null_speaker_allowed"]
    assert {turn.speaker for turn in found} - {None} == {"SPEAKER_00", "SPEAKER_01", "SPEAKER_02"}
    assert None not in [second for turn in found for second in (turn.start, turn.end)]
    segments = json.loads((case("21-whisperx-missing-keys") / "whisperx.json").read_text())["segments"]
    assert [turn.text.split() for turn in found] == [segment["text"].split() for segment in segments]


def test_23_words_alone_are_all_kept_with_their_speakers():
    found = turns("23-deepgram-no-utterances", "dg_words_only.json")
    assert sum(len(turn.text.split()) for turn in found) == expected("23-deepgram-no-utterances")["words"]
    assert {turn.speaker for turn in found} == {"Speaker 0", "Speaker 1"}


def test_25_one_huge_line_is_one_turn_with_every_character():
    (text,) = texts("25-one-huge-line", "one_line.txt")
    assert len(text) == expected("25-one-huge-line")["chars"]


def test_25_one_huge_line_is_cut_within_any_budget_and_nothing_is_lost():
    transcript = Transcript(turns=turns("25-one-huge-line", "one_line.txt"))
    chunks = cut(transcript, 1_000, lambda span, _limit: span.end - span.start)
    assert is_complete(chunks, transcript)
    said = "".join(transcript.turns[0].text[span.start : span.end] for chunk in chunks for span in chunk)
    assert said == transcript.turns[0].text


def test_26_chinese_is_counted_by_the_models_tokenizer_and_cut_after_its_sentences(cache):
    want = expected("26-cjk-token-estimate")
    transcript = Transcript(turns=turns("26-cjk-token-estimate", "zh_nospace.txt"))
    (turn,) = transcript.turns
    assert (len(turn.text), len(turn.text.split())) == (want["chars"], want["whitespace_words"])
    tokens = count_tokens(transcript, ENCODING, cache)
    assert 0.5 * want["chars"] < tokens <= 1.5 * want["chars"], (
        "a quarter of its length, or its words, would be too few"
    )
    chunks = cut(
        transcript, 1_000, lambda span, limit: count_text(turn.text[span.start : span.end], ENCODING, cache, limit)
    )
    assert is_complete(chunks, transcript)
    assert all(turn.text[chunk[-1].end - 1] in "\u3002\uff01\uff1f" for chunk in chunks[:-1])


def test_26_a_fullwidth_colon_names_a_speaker():
    found = turns("26-cjk-token-estimate", "zh_dialog.txt")
    assert len(found) == 180
    assert {turn.speaker for turn in found} == {"\u5ba2\u6237", "\u987e\u95ee"}


def test_28_special_tokens_are_words_and_reach_no_model_as_tokens(cache):
    transcript = Transcript(turns=turns("28-special-token-text", "special.txt"))
    assert len(transcript.turns) == expected("28-special-token-text")["turns"]
    assert count_tokens(transcript, ENCODING, cache) > 0
    assert "<|endoftext|>" in transcript.turns[1].text
    shown = rendered(transcript, spans(transcript))
    assert "<|endoftext|>" not in shown
    assert "<|im_start|>" not in shown


def test_29_nan_becomes_null():
    want = expected("29-nan-in-json")
    source = Source((case("29-nan-in-json") / "nan.json").read_bytes())
    assert source.at("segments", 0, "avg_logprob") == want["avg_logprob"]
    assert len(parsed("29-nan-in-json", "nan.json").turns) == want["segments"]


def test_31_whoever_speaks_breaks_out_of_no_fence():
    """The case names a fence of its own; ours is made up anew for each attempt."""
    assert "</transcript>" in expected("31-prompt-injection-in-speech")["forbidden_in_fake_model_prompt"]
    transcript = Transcript(turns=turns("31-prompt-injection-in-speech", "inject.txt"))
    assert any("</transcript>" in turn.text for turn in transcript.turns)
    briefing = Briefing(SummaryRequest(FIELDS, transcript, None))
    shown = briefing.messages("The task.", briefing.facts(0, 1), rendered(transcript, spans(transcript)))
    content = shown[1]["content"]
    (fence,) = re.findall("<(call-[0-9a-f]{16})>", content)
    assert re.findall("</[^>]*>", content) == [f"</{fence}>"]


def test_32_a_cut_an_empty_or_a_filtered_answer_is_never_a_summary():
    """Our word for the list is `actions`."""
    want = expected("32-truncated-model-output")
    lines = (case("32-truncated-model-output") / "responses.jsonl").read_text().replace("action_items", "actions")
    answers = [json.loads(line) for line in lines.splitlines()]
    plays = [[say(each["content"] or ""), finish(each["finish_reason"]), done()] for each in answers]
    fate = dict(enumerate(map(answered, plays), start=1))
    assert [row for row, code in fate.items() if code is None] == want["ok_rows"]
    assert [row for row, code in fate.items() if code is not None] == want["failed_rows"]
    assert [fate[row] for row in (1, 3, 5, 6)] == [
        "output_truncated",
        "invalid_output",
        "content_filtered",
        "invalid_output",
    ]


def answered(play):
    """The code of the failure that an answer is, None where it is a summary."""
    with serving(lambda _asked: play) as server:
        model = Model(Profile(summarizer="openai_chat", model="m", base_url=server.url))
        try:
            parse_output(model.ask(Question(({"role": "user", "content": "?"},), 100), CallReport(1, monotonic() + 30)))
        except ItemFailure as failure:
            return failure.error_code
    return None


@pytest.mark.parametrize("file", ["qmsum_long.jsonl", "crd3_long.jsonl"])
def test_33_no_character_of_a_long_call_is_left_out(file, cache):
    """The case has no input of its own: the calls that it points to, cut as a small model needs it."""
    want = expected("33-long-call-middle-and-reduce")
    if not (LONG / file).exists():
        pytest.skip(f"no {file} beside the repository")
    row = json.loads((LONG / file).read_text(encoding="utf-8").splitlines()[0])
    said = tuple(Turn(speaker=turn.get("speaker"), text=turn["text"]) for turn in row["turns"])
    transcript = Transcript(turns=said)
    room = Room.of(Profile(summarizer="openai_chat", model="m", context_tokens=8_000, output_tokens=1_000), cache)
    chunks = room.chunks(transcript)
    seen = sum(span.end - span.start for chunk in chunks for span in chunk)
    assert seen / sum(len(turn.text) for turn in said) == want["coverage"]
    assert len(chunks) > 1
    assert all(room.count(rendered(transcript, chunk)) <= room.words for chunk in chunks)


def test_34_the_keys_are_english_whatever_the_language():
    assert expected("34-summary-language") == {"schema_keys": "unchanged"}
    transcript = Transcript(turns=turns("34-summary-language", "zh.json"))
    assert {turn.speaker for turn in transcript.turns} == {"usr", "sys"}
    action = SCHEMA["properties"]["actions"]["items"]
    for language in ("Chinese", "\u4e2d\u6587", "English"):
        told = template("actions").substitute(language=language)
        assert all(f'"{key}"' in told for key in action["required"])
        assert f"in {language}" in told
    summary = Extractive().summarize(SummaryRequest(FIELDS, transcript, "zh"), Unrecorded(Profile(), 60.0))
    assert re.search("[\u4e00-\u9fff]", summary.summary), "a call is summed up in its own language"


@pytest.mark.parametrize("file", ["cloud_chat.txt", "saved_chat.txt"])
def test_37_a_chat_is_told_from_a_call_and_its_messages_stay_whole(file):
    found = parsed("37-zoom-chat-in-batch", file)
    assert len(found.turns) == expected("37-zoom-chat-in-batch")[file]
    with pytest.raises(ItemFailure, match="not_a_call"):
        turns("37-zoom-chat-in-batch", file)


def test_38_where_nobody_was_told_apart_nobody_owns_anything():
    transcript = Transcript(turns=turns("38-collapsed-diarization-owner", "collapsed.json"))
    labels = {turn.speaker for turn in transcript.turns}
    assert len(labels) == expected("38-collapsed-diarization-owner")["speakers"]
    assert {owner_finder(transcript.turns)(label) for label in labels} == {None}
    claimed = {"kind": "follow_up", "text": "Call back", "owner": labels.pop(), "quotes": []}
    (action,) = parse_actions(json.dumps({"actions": [claimed]}), people(transcript, FIELDS), strict=False)
    assert action.owner is None
    summary = Extractive().summarize(SummaryRequest(FIELDS, transcript, None), Unrecorded(Profile(), 60.0))
    assert {action.owner for action in summary.actions} <= {None}


def test_every_case_has_a_test():
    if not BUGS.is_dir():
        pytest.skip("no cases beside the repository")
    tested = {name.split("_")[1] for name in globals() if name.startswith("test_")}
    assert {folder.name[:2] for folder in BUGS.iterdir()} <= tested


def ink(transcript):
    """The characters of all that is said, but for blanks."""
    return sum(len("".join(turn.text.split())) for turn in transcript.turns)
