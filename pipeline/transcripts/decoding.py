"""Bytes -> text, without guessing where the file says what it is.

In order: a byte order mark; zero bytes on one side of every pair (UTF-16 without a mark); UTF-8; zero bytes on one side
of some pairs; a legacy encoding. Bytes that cannot be decoded are replaced by U+FFFD, never dropped, and the reader
says so on the document.
"""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass

import charset_normalizer

from pipeline.errors import ItemFailure

#: The longer mark first: UTF-32's begins with UTF-16's.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
#: Only encodings whose characters take several bytes can be recognised; among the others any guess fits (cp1250 for
#: cp1252 turns "crème" into "crčme").
_MULTI_BYTE = ["gb18030", "big5", "cp932", "euc_jp", "cp949"]
_WESTERN = "cp1252"
#: A PDF may be all ASCII; the others cannot begin a text.
_FOREIGN = (b"%PDF-", b"PK\x03\x04", b"\x89PNG", b"\xff\xd8\xff", b"\x1f\x8b")
_CONTROLS = bytes(set(range(0x20)) - set(b"\t\n\v\f\r\x1b")) + b"\x7f"
_ASCII = bytes(range(0x20, 0x7F)) + b"\0\t\n\r"
_LOST_OR_CONTROL = re.compile(r"[\ufffd\x00-\x08\x0e-\x1f]")
_EAST_ASIAN = re.compile(r"[\u3000-\u30ff\uff00-\uffef]")
_HIGH = bytes(range(0x80, 0x100))
_ALONE = re.compile(rb"(?<![\x80-\xff])[\x80-\xff](?![\x80-\xff])")
_SAMPLE = 65_536
#: In bytes, of those encodings.
_LONGEST_CHARACTER = 4


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text without its byte order mark. `lossy`: the encoding was guessed or something had to be replaced."""

    text: str
    encoding: str
    lossy: bool


def decode(data: bytes) -> Decoded:
    """The text of a file. Raises ItemFailure(unreadable_input) for pictures, sound, archives and other binary data."""
    if data.startswith(_FOREIGN):
        raise _not_text()
    decoded = _by_mark(data) or _by_zero_bytes(data) or _as_utf8(data) or _by_some_zero_bytes(data) or _as_legacy(data)
    if _is_junk(decoded.text):
        raise _not_text()
    return decoded


def _by_mark(data: bytes) -> Decoded | None:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            text = data[len(mark) :]  # a tool may put UTF-8's mark before what it writes as UTF-16
            return (encoding == "utf-8" and _by_zero_bytes(text)) or _replacing(text, encoding)
    return None


def _by_zero_bytes(data: bytes) -> Decoded | None:
    """UTF-16 of a mostly Latin text has a zero byte in nearly every pair, always on the same side."""
    sample = data[:4096]
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    enough = len(sample) // 5
    if odd > enough and even * 20 < odd:
        return _replacing(data, "utf-16-le")
    if even > enough and odd * 20 < even:
        return _replacing(data, "utf-16-be")
    return None


def _as_utf8(data: bytes) -> Decoded | None:
    """UTF-8, also where a few bytes are broken in it: a cut file must not turn all its umlauts into cp1252."""
    decoded = _replacing(data, "utf-8")
    if not decoded.lossy:
        return decoded
    broken = decoded.text.count("\ufffd")
    sound = len(decoded.text) - len(decoded.text.encode("ascii", "ignore")) - broken
    return decoded if sound > 4 * broken else None


def _by_some_zero_bytes(data: bytes) -> Decoded | None:
    """UTF-16 of a text in Chinese or Japanese: its only zero bytes are those of blanks, line ends and digits.

    They are all on one side of a pair; a Western text with a stray zero byte has neither kana nor many bytes above 127.
    """
    zeros = [data[side::2].count(0) for side in (0, 1)]
    if all(zeros) or not any(zeros):
        return None
    decoded = _replacing(data, "utf-16-be" if zeros[0] else "utf-16-le")
    beyond_ascii = len(data.translate(None, _ASCII)) * 4 > len(data)
    plausible = beyond_ascii or len(_EAST_ASIAN.findall(decoded.text)) * 4 > len(decoded.text)
    return decoded if plausible and not _LOST_OR_CONTROL.search(decoded.text[:-1]) else None


def _as_legacy(data: bytes) -> Decoded:
    guesses = filter(None, map(_multi_byte_encoding, _samples(data)))
    encoding = next(guesses, _WESTERN)
    return Decoded(data.decode(encoding, "replace"), encoding, lossy=True)


def _samples(data: bytes) -> Iterator[bytes]:
    """The beginning in whole lines; where there is no line end, also cut earlier: a cut character fits no encoding."""
    sample = data[:_SAMPLE]
    lines = sample.rfind(b"\n") + 1
    if lines or len(data) <= _SAMPLE:
        yield sample[: lines or None]
    else:
        yield from (sample[: _SAMPLE - less] for less in range(_LONGEST_CHARACTER))


def _multi_byte_encoding(sample: bytes) -> str | None:
    """The encoding that is surely meant. Western letters and quotes stand alone among ASCII, its characters do not."""
    if 2 * len(_ALONE.findall(sample)) > len(sample) - len(sample.translate(None, _HIGH)):
        return None
    matches = charset_normalizer.from_bytes(sample, cp_isolation=_MULTI_BYTE, enable_fallback=False)
    best = max(matches, key=lambda match: (match.coherence, -match.chaos), default=None)
    return best.encoding if best else None


def _replacing(data: bytes, encoding: str) -> Decoded:
    try:
        return Decoded(data.decode(encoding), encoding, lossy=False)
    except UnicodeDecodeError:
        return Decoded(data.decode(encoding, "replace"), encoding, lossy=True)


def _is_junk(text: str) -> bool:
    """More than a few control characters: one in ten bytes of compressed or random data is one."""
    sample = text[:_SAMPLE].encode("utf-8", "replace")
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    return controls > max(3, len(sample) * 0.05)


def _not_text() -> ItemFailure:
    return ItemFailure("unreadable_input", "the file is not text: export the transcript as .vtt, .srt or .txt")
