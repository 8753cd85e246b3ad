"""Bytes become text: what the file says first, a guess last, and nothing dropped."""

import codecs

import pytest

from pipeline.errors import ItemFailure
from pipeline.transcripts.decoding import Decoded, decode

TEXT = "Anna: Schöne Grüße, 5 € “bis morgen”\nBen: gut\n"


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
def test_a_byte_order_mark_decides_and_is_no_text(mark, encoding):
    assert decode(mark + TEXT.encode(encoding)) == Decoded(TEXT, encoding, lossy=False)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_is_known_by_its_zero_bytes(encoding):
    assert decode(TEXT.encode(encoding)) == Decoded(TEXT, encoding, lossy=False)


def test_only_one_mark_is_taken_off():
    assert decode(codecs.BOM_UTF8 * 2 + b"hi").text == "\ufeffhi"


def test_what_is_not_utf_8_is_read_as_cp1252_and_called_lossy():
    assert decode(TEXT.encode("cp1252")) == Decoded(TEXT, "cp1252", lossy=True)


@pytest.mark.parametrize("name", ["crème brûlée, déjà réglé à Noël…", "¿Cómo está, señor Núñez?", "MÜLLER ÄÖÜ ÄÖÜ ÉÉÉ"])
def test_western_text_is_never_taken_for_a_multi_byte_encoding(name):
    assert decode(name.encode("cp1252")).text == name


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("gb18030", "客户：你好，能帮我找一个评分是五分的酒店吗？\n顾问：可以啊，没问题。\n"),  # noqa: RUF001 - Chinese writes it so
        ("big5", "業務: 您好，謝謝您今天撥空。\n客戶: 報價單什麼時候可以給我們？\n"),  # noqa: RUF001 - see above
        ("cp932", "営業: こんにちは、本日はありがとうございます。\n客: 見積もりはいつ頃になりますか。\n"),
        ("cp949", "영업: 안녕하세요, 오늘 시간 내주셔서 감사합니다.\n고객: 견적은 언제쯤 받을 수 있을까요?\n"),
    ],
)
def test_legacy_east_asian_files_are_recognised(encoding, text):
    assert decode(text.encode(encoding)) == Decoded(text, encoding, lossy=True)


@pytest.mark.parametrize("begin", range(4))
def test_an_east_asian_file_without_a_line_end_is_recognised_wherever_its_sample_ends(begin):
    text = "x" * begin + "客户你好能帮我找一个评分是五分的酒店吗顾问可以啊没问题" * 2_000
    assert decode(text.encode("gb18030")) == Decoded(text, "gb18030", lossy=True)


def test_a_cut_utf_8_file_keeps_its_umlauts_and_shows_the_cut():
    assert decode("Grüße aus Köln über Jülich, schöne Wü".encode()[:-1]) == Decoded(
        "Grüße aus Köln über Jülich, schöne W\ufffd", "utf-8", lossy=True
    )


def test_half_a_pair_in_utf_16_is_replaced_not_dropped():
    decoded = decode(codecs.BOM_UTF16_LE + "hi".encode("utf-16-le") + b"\x3d\xd8" + "!".encode("utf-16-le"))
    assert decoded == Decoded("hi\ufffd!", "utf-16-le", lossy=True)


@pytest.mark.parametrize(
    "data",
    [
        b"%PDF-1.7\nwords words words",
        b"PK\x03\x04 words words",
        b"\x89PNG\r\n\x1a\n" + b"words" * 50,
        b"\xff\xd8\xff\xe0" + b"words" * 50,
        bytes(range(256)) * 8,
        bytes(4096),
    ],
)
def test_pictures_archives_and_junk_are_unreadable(data):
    with pytest.raises(ItemFailure, match="unreadable_input"):
        decode(data)


def test_a_single_nul_character_does_not_make_a_file_binary():
    assert decode(b"Anna: before\x00after").text == "Anna: before\x00after"


CHINESE = "客户：你好，我想看看报价单。\n顾问：没问题，明天发给您 2026。\n"  # noqa: RUF001 - Chinese writes it so


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", [CHINESE, "営業: こんにちは、本日はありがとうございます。\r\n"])
def test_utf_16_without_a_mark_is_known_in_scripts_beyond_latin_too(text, encoding):
    assert decode(text.encode(encoding)) == Decoded(text, encoding, lossy=False)


def test_utf_16_that_is_cut_within_a_character_shows_the_cut():
    for data in (codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le"), TEXT.encode("utf-16-le"), CHINESE.encode("utf-16-le")):
        decoded = decode(data[:-1])
        assert (decoded.text[-1], decoded.encoding, decoded.lossy) == ("\ufffd", "utf-16-le", True)


def test_the_mark_of_utf_8_before_utf_16_is_no_reason_to_see_zero_bytes():
    assert decode(codecs.BOM_UTF8 + TEXT.encode("utf-16-le")) == Decoded(TEXT, "utf-16-le", lossy=False)


def test_bytes_that_cp1252_does_not_know_are_replaced_and_the_rest_is_read():
    assert decode("Grüße".encode("cp1252") + b"\x81 \x9d ok").text == "Grüße\ufffd \ufffd ok"


def test_a_zero_byte_in_a_broken_text_does_not_make_it_utf_16():
    assert decode("Zoë said\x00 crème brûlée".encode("cp1252")).encoding == "cp1252"
