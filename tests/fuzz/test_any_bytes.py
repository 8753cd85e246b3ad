"""Any bytes give a Reading or an ItemFailure, and what was written is read as it was.

A short form in every run of the tests; FUZZ_SECONDS=300 (`make fuzz`) goes on for so long, each time from another seed.
"""

import os
import random
import re
import resource
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from samples import OTHERS, bracketed, plain, samples, srt, turns_json, vtt, zoom

from pipeline.domain.failure import POLICIES
from pipeline.domain.warnings import WARNINGS
from pipeline.errors import ItemFailure
from pipeline.transcripts.read import read

SECONDS = float(os.environ.get("FUZZ_SECONDS") or 3)
#: A file of a few kilobytes takes milliseconds; a pattern that is not linear takes minutes.
PATIENCE = 10.0
SAMPLES = [*samples().values(), *OTHERS]
#: Of these nothing is read: chats, a summary, and what no reader knows.
REFUSED = {"chat_messages", "zoom_chat", "whatsapp", "summary", "unknown_json", "unknown_markup"}
PIECES = [
    b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\r", b"\n\n", b"-->", b"00:00:60.000 --> 1:2", b"<v ",
    b"</v>", b"&#0;", b"{", b"[", b'"', b"null", b"1e999", b"\\ud800", b'"speaker":', b'"text":3,', b"NaN", b"WEBVTT",
    b"NOTE", b"**", b": ", "\uff1a".encode(), "\u2028".encode(), b"[0:01] ", b"PK\x03\x04", b"99999999999999999999",
    b"-1", b"true", b"[]", b"{}",
]  # fmt: skip


def outcome(data):
    """What `read` makes of it; fails where that is anything but a Reading or a failure that the service knows."""
    began = time.perf_counter()
    try:
        reading = read(data)
    except ItemFailure as failure:
        assert failure.error_code in POLICIES  # noqa: PT017 - both outcomes are right
        return None
    assert {warning.code for warning in reading.warnings} <= set(WARNINGS)
    assert time.perf_counter() - began < PATIENCE
    return reading


def damaged(chance):
    """A sample, or two in a row, after some of what happens to files."""
    data = b"".join(chance.choices(SAMPLES, k=chance.choice((1, 1, 1, 2))))
    for _ in range(chance.randrange(1, 6)):
        data = chance.choice(DAMAGES)(data, chance)
    return data


def insert(data, chance):
    place = chance.randrange(len(data) + 1)
    return data[:place] + chance.choice(PIECES) * chance.choice((1, 1, 1, 50)) + data[place:]


def cut(data, chance):
    start = chance.randrange(len(data) + 1)
    return data[:start] + data[chance.randrange(start, len(data) + 1) :]


def truncate(data, chance):
    return data[: chance.randrange(len(data) + 1)]


def flip(data, chance):
    changed = bytearray(data)
    for _ in range(min(len(changed), chance.randrange(1, 20))):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def swap(data, chance):
    """The two bytes of each pair, from some place on."""
    begin = chance.choice((0, chance.randrange(len(data) + 1)))
    even = data[begin : begin + (len(data) - begin) // 2 * 2]
    pairs = bytearray(even)
    pairs[0::2], pairs[1::2] = even[1::2], even[0::2]
    return data[:begin] + bytes(pairs)


def encode(data, chance):
    encoding = chance.choice(
        ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252", "gb18030", "cp932", "euc_kr", "utf-7"]
    )
    return data.decode("utf-8", "replace").encode(encoding, "replace")


def repeat(data, chance):
    start = chance.randrange(len(data) + 1)
    stop = min(len(data), start + chance.randrange(1, 200))
    return data[:stop] + data[start:stop] * chance.choice((1, 2, 300)) + data[stop:]


def shuffle_lines(data, chance):
    lines = data.split(b"\n")
    chance.shuffle(lines)
    return b"\n".join(lines)


DAMAGES = (insert, insert, cut, truncate, flip, swap, encode, repeat, shuffle_lines)


def test_every_sample_is_read():
    assert {name for name, data in samples().items() if outcome(data) is None} == REFUSED
    assert all(map(outcome, OTHERS))


@pytest.mark.timeout(0)
def test_damaged_samples_give_a_reading_or_a_named_failure():
    seed = random.SystemRandom().getrandbits(32) if "FUZZ_SECONDS" in os.environ else 1
    until, tries, read_ones = time.monotonic() + SECONDS, 0, 0
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    while time.monotonic() < until:
        data = damaged(random.Random(f"{seed}-{tries}"))  # noqa: S311 - to be repeated
        try:
            read_ones += outcome(data) is not None
        except Exception as error:  # noqa: BLE001 - with the seed it can be found again
            pytest.fail(f"{type(error).__name__} at seed {seed}-{tries}: {data[:200]!r}")
        tries += 1
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024
    print(f"{tries} files, {read_ones} read, {grown} MiB more at the peak")  # noqa: T201 - for `make fuzz`
    assert tries > 50
    assert grown < 400


@settings(max_examples=max(50, int(SECONDS * 20)), suppress_health_check=list(HealthCheck))
@given(st.binary(max_size=2_000))
def test_any_bytes_give_a_reading_or_a_named_failure(data):
    outcome(data)


#: What lines of transcripts are made of, and words, each of which is there once.
PARTS = [
    "Anna Kim", "Ben", "Speaker 1", "王芳", ":", ": ", "\uff1a", "0:42", "10:42", "00:00:01.000", "00:00:02,500",
    "1:02:03", "0:0:3.80", " --> ", "-->", ",", " - ", "- ", ">> ", " ", "  ", "   ", "\t", "[", "] ", "(", ")",
    "<v Anna>", "</v>", "<", ">", "**", "#", "|", "?", "!", "7", "From ", "Transcript", "Attendees", "Dialogue: ", "{",
    "}", '"', "2026-05-12T10:00:00Z", "12/05/2026", "<Transcriber>", "Next steps", "\n", "\n", "\n\n", "\n\n",
    *["word"] * 12,
]  # fmt: skip
HEADS = ["", "", "WEBVTT\n\n", "1\n00:00:01,000 --> 00:00:02,000\n", "[00:01.000 --> 00:02.000] ", "[Events]\n"]
#: Whoever leaves something out says so; what stands among unreadable times may be one of them.
LEFT_OUT = {code for code in WARNINGS if code.endswith("_left_out")} | {"unreadable_timing"}
WORD = re.compile("so.is")
#: A line above the times is the cue's id.
ID = re.compile(r"^[^\n]*\n(?=[^\n]*-->)", re.MULTILINE)


@settings(max_examples=max(200, int(SECONDS * 50)), suppress_health_check=list(HealthCheck))
@given(st.sampled_from(HEADS), st.lists(st.sampled_from(PARTS), min_size=10, max_size=80))
def test_no_word_of_a_text_is_lost_in_silence(head, parts):
    text = head + "".join(f"so{chr(0x4E00 + place)}is" if part == "word" else part for place, part in enumerate(parts))
    reading = outcome(text.encode())
    if reading is not None and LEFT_OUT.isdisjoint(warning.code for warning in reading.warnings):
        said = "".join(f"{turn.speaker} {turn.text} " for turn in reading.transcript.turns)
        assert set(WORD.findall(ID.sub("", text))) <= set(WORD.findall(said))


#: Times in milliseconds; words that no format gives a meaning, and enough of them to be a call.
TURNS = st.lists(
    st.tuples(
        st.sampled_from(["Anna Kim", "Ben", "O'Neil, Pat", "王芳", "Speaker 3"]),
        st.integers(0, 36_000_000),
        st.integers(0, 60_000),
        st.text("abc def ÄÖÜß漢字한국어אבג,.!?'-", max_size=60).map(
            lambda text: f"so {text} it is then".replace("  ", " ")
        ),
    ),
    min_size=3,
    max_size=12,
).map(lambda turns: [(speaker, start / 1_000, (start + lasts) / 1_000, text) for speaker, start, lasts, text in turns])

WRITERS = {
    vtt: ("speaker", "start", "end", "text"),
    srt: ("speaker", "start", "end", "text"),
    zoom: ("speaker", "start", "end", "text"),
    turns_json: ("speaker", "start", "end", "text"),
    bracketed: ("speaker", "start", "text"),
    plain: ("speaker", "text"),
}


@pytest.mark.parametrize("write", WRITERS, ids=lambda write: write.__name__)
@settings(max_examples=max(25, int(SECONDS * 4)), suppress_health_check=list(HealthCheck))
@given(turns=TURNS)
def test_what_is_written_is_read(write, turns):
    keys = WRITERS[write]
    # Each speaker twice: one label proves nothing, and every turn starts later than the one before.
    turns = [
        (name, start + at, end + at, f"{text} {at}") for at, (name, start, end, text) in enumerate([*turns, *turns])
    ]
    reading = outcome(write(turns).encode())
    found = [{key: value(getattr(turn, key)) for key in keys} for turn in reading.transcript.turns]
    expected = [dict(zip(("speaker", "start", "end", "text"), turn, strict=True)) for turn in turns]
    assert found == [{key: value(turn[key]) for key in keys} for turn in expected]


def value(given):
    return round(given, 3) if isinstance(given, float) else given
