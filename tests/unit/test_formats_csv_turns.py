import pytest

from pipeline.errors import ItemFailure
from pipeline.transcripts.batch import read_paths
from pipeline.transcripts.read import read


def lines(text):
    reading = read(text.encode())
    assert reading.format == "csv_turns"
    return [(turn.speaker, turn.start, turn.end, turn.text) for turn in reading.transcript.turns]


def test_a_line_is_a_turn_whatever_else_stands_in_it():
    text = (
        'Index,Speaker Name,Start_Time,End Time,Text\r\n1,Dana,0:01,0:04,"We renew,\nin May."\r\n2,Bob,0:05,,Good.\r\n'
    )
    assert lines(text) == [("Dana", 1, 4, "We renew,\nin May."), ("Bob", 5, None, "Good.")]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_the_one_that_parts_the_header(delimiter):
    rows = [("speaker", "start", "content"), ("A", "1.5", "We renew in May."), ("B", "2", "Good.")]
    found = lines("\n".join(delimiter.join(row) for row in rows))
    assert found == [("Speaker A", 1.5, None, "We renew in May."), ("Speaker B", 2, None, "Good.")]


def test_whispers_own_table_has_milliseconds():
    assert lines("start\tend\ttext\n0\t1500\tWe renew in May.\n1500\t2000\tGood.\n")[1] == (None, 1.5, 2, "Good.")


def test_times_that_cannot_be_read_are_counted_and_empty_lines_stay():
    reading = read(b"speaker,start,text\nDana,soon,We renew in May.\nBob,,\n")
    assert ("unreadable_timing", "1 times") in [(each.code, each.place) for each in reading.warnings]
    assert [(turn.speaker, turn.text) for turn in reading.transcript.turns] == [
        ("Dana", "We renew in May."),
        ("Bob", ""),
    ]


@pytest.mark.parametrize("row", ["Dana,We renew, in May.", 'Dana,"We renew'])
def test_a_line_that_does_not_fit_is_named(row):
    with pytest.raises(ItemFailure, match="unreadable_input: a table whose line 2 has"):
        read(f"speaker,text\n{row}\n".encode())


@pytest.mark.parametrize("text", ["Speaker, I said, text me.\nYes, I will.", "text\nWe renew in May.\n"])
def test_a_sentence_is_no_header(text):
    assert read(text.encode()).format == "plain"


def test_in_a_folder_it_is_one_document_beside_tables_of_documents(tmp_path):
    (tmp_path / "a.csv").write_text("Speaker,Start,Text\nDana,0:01,We renew in May.\nBob,0:05,Good.\n")
    (tmp_path / "b.csv").write_text("document_id,transcript\nb1,Dana: We renew in May.\nb2,Bob: Good for us all.\n")
    assert [document.fields.document_id for document in read_paths([tmp_path])] == ["a.csv", "b1", "b2"]


def test_a_table_of_calls_without_ids_is_refused_and_not_taken_for_one_call(tmp_path):
    (tmp_path / "a.csv").write_text('Name,Transcript\nAcme,"Dana: Hi.\nBob: Hi."\nRye,"Kim: Hello.\nLee: Hi."\n')
    messages = [each.message for each in read_paths([tmp_path])]
    assert "no column document_id: the first line names the columns" in messages


def test_a_dialogue_below_what_looks_like_a_header_is_a_dialogue():
    assert read(b"Name\tText\nDana: We renew.\nBob: Good.\nDana: In May.\nBob: Fine.\n").format == "plain"


def test_a_table_of_turns_may_end_its_lines_as_it_likes(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"Speaker,Text\rDana,We renew in May.\rBob,Good.\r")
    (document,) = read_paths([tmp_path])
    assert [turn.speaker for turn in document.transcript.turns] == ["Dana", "Bob"]


def test_a_table_in_markdown_is_read_without_its_rule():
    text = "| Speaker | Text |\n|---|:--|\n| Dana | We renew in May. |\n| Bob | Good. |\n"
    assert lines(text) == [("Dana", None, None, "We renew in May."), ("Bob", None, None, "Good.")]
