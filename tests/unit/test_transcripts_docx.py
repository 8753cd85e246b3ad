import zipfile

import pytest
from word_samples import archive, docx, paragraph, run, table

from pipeline.errors import ItemFailure
from pipeline.transcripts import docx as word
from pipeline.transcripts.docx import Table, read_docx
from pipeline.transcripts.read import read
from pipeline.transcripts.source import Source


def test_paragraphs_and_tables_stand_in_the_document_s_order():
    data = docx(paragraph("Call with Anna"), table(["Speaker", "Content"], ["Anna", "Hello.\nHow are you?"]), "<w:p/>")
    assert read_docx(data).blocks == [
        "Call with Anna",
        Table([("Speaker", "Content"), ("Anna", "Hello.\nHow are you?")]),
        "",
    ]


def test_the_text_has_a_line_for_each_paragraph_and_each_row():
    data = docx(paragraph("Anna:"), table(["a", "b"], ["c", "d"]), paragraph("end"))
    assert Source(data).text == "Anna:\na\tb\nc\td\nend"


def test_tabs_breaks_links_insertions_and_content_controls_are_text():
    parts = [
        "<w:r><w:t>We</w:t><w:tab/><w:t>sent</w:t><w:br/><w:t>the</w:t></w:r>",
        f"<w:hyperlink>{run(' offer')}</w:hyperlink><w:ins>{run(' on')}</w:ins>",
        f"<w:sdt><w:sdtContent>{run(' Friday')}</w:sdtContent></w:sdt>",
    ]
    assert Source(docx(f"<w:p>{''.join(parts)}</w:p>")).text == "We\tsent\nthe offer on Friday"


def test_deletions_field_codes_and_fallbacks_are_no_text():
    choice = f"<mc:Choice>{run('Friday')}</mc:Choice><mc:Fallback>{run('Friday')}</mc:Fallback>"
    parts = [
        run("Send it on "),
        "<w:del><w:r><w:delText>Monday</w:delText><w:t>Monday</w:t></w:r></w:del>",
        f"<w:moveFrom>{run('Tuesday')}</w:moveFrom>",
        "<w:r><w:instrText>DATE</w:instrText></w:r>",
        f"<mc:AlternateContent>{choice}</mc:AlternateContent>",
    ]
    assert Source(docx(f"<w:p>{''.join(parts)}</w:p>")).text == "Send it on Friday"


def test_what_stands_in_a_cell_or_a_text_box_is_a_part_of_it():
    inner = table(["one", "two"])
    outer = f"<w:tbl><w:tr><w:tc>{inner}{paragraph('three')}</w:tc></w:tr></w:tbl>"
    box = f"<w:p>{run('four')}<w:txbxContent>{paragraph(' five')}</w:txbxContent></w:p>"
    assert read_docx(docx(outer, box)).blocks == [Table([("one\ntwo\nthree",)]), "four five\n"]


def test_a_cell_over_two_columns_keeps_the_others_in_their_places():
    wide = f'<w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr>{paragraph("both")}</w:tc>'
    data = docx(f"<w:tbl><w:tr>{wide}<w:tc>{paragraph('third')}</w:tc></w:tr></w:tbl>")
    assert read_docx(data).blocks == [Table([("both", "", "third")])]


def test_other_bytes_are_no_document():
    assert read_docx(b"Anna: hello") is None


def test_a_document_without_words_is_an_empty_input():
    with pytest.raises(ItemFailure, match="empty_input"):
        read(docx(paragraph(" ")))


def encrypted(data):
    """The same archive with the bit set that says so, in both of its headers."""
    central = data.index(b"PK\x01\x02")
    return data[:6] + b"\x01" + data[7 : central + 8] + b"\x01" + data[central + 9 :]


ENTITIES = '<!DOCTYPE d [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><d>&b;</d>'


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500), "old Word document or one with a password"),
        (archive("<a/>", name="xl/workbook.xml"), "archive without a Word document"),
        (docx(paragraph("secret"))[:200], "broken archive or Word document"),
        (b"PK\x03\x04" + bytes(200), "broken archive or Word document"),
        (archive("<w:document>secret"), "broken archive or Word document"),
        (archive(b"<?xml version='1.0' encoding='secret'?><a/>"), "broken archive or Word document"),
        (docx(paragraph("secret"), compression=zipfile.ZIP_BZIP2), "broken archive or Word document"),
        (encrypted(docx(paragraph("secret"))), "encrypted archive"),
        (archive(ENTITIES), "declares entities"),
        (docx("<w:sdt>" * 300), "nested too deeply"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_reason(data, reason):
    with pytest.raises(ItemFailure, match=f"unreadable_input: an? .*{reason}") as refused:
        read(data)
    assert "secret" not in str(refused.value)


def test_contents_that_were_changed_do_not_pass_for_the_document():
    data = docx(paragraph("Anna: hello"), compression=zipfile.ZIP_STORED)
    with pytest.raises(ItemFailure, match="broken archive"):
        read(data.replace(b"hello", b"hallo"))


def test_a_zip_bomb_is_refused_though_its_size_is_a_lie(monkeypatch):
    monkeypatch.setattr(word, "MAX_XML", 10_000)
    with pytest.raises(ItemFailure, match="larger than any call"):
        read(archive(b" " * 1_000_000))


@pytest.mark.parametrize(
    "blocks", ["<w:p/>" * 200, '<w:tbl><w:tr><w:tc><w:gridSpan w:val="60"/></w:tc></w:tr></w:tbl>' * 4]
)
def test_more_elements_than_a_call_has_are_refused(blocks, monkeypatch):
    monkeypatch.setattr(word, "MAX_ELEMENTS", 100)
    with pytest.raises(ItemFailure, match="larger than any call"):
        read(docx(blocks))


def test_more_files_than_a_document_has_are_refused(monkeypatch):
    monkeypatch.setattr(word, "MAX_PARTS", 0)
    with pytest.raises(ItemFailure, match="an archive of more than 0 files"):
        read(docx(paragraph("Anna: hello")))


def test_an_element_of_a_hundred_thousand_attributes_is_refused_before_it_is_parsed():
    attributes = " ".join(f'a{number}=">"' for number in range(100_000))
    with pytest.raises(ItemFailure, match="unreadable_input"):
        read(docx(f"<w:p {attributes}>{run('Anna: hi')}</w:p>"))


def test_a_long_text_with_signs_in_it_is_no_element_of_many_attributes():
    assert len(read_docx(docx(paragraph("a = b " * 5_000))).blocks[0]) == 30_000
