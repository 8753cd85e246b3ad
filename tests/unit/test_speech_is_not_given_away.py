"""Whatever layout a text has: no speech is dropped as a preamble or a tail, and none goes to somebody else."""

import pytest

from pipeline.errors import ItemFailure
from pipeline.transcripts.read import read

PROMISE = "I promise to send it."
TEXTS = {
    "a label above the first heading": f"Marc Lee: {PROMISE}\n\nDana Kim  0:42\nok.\n\nMarc Lee  0:48\nfine with me\n",
    "a heading without blanks enough": f"Dana Kim   0:05\nHello.\nZoe Lin 0:09\n{PROMISE}\nDana Kim   0:15\nok\n",
    "a time without a name": f"0:00 - Dana Kim\nHello.\n\n0:05\n{PROMISE}\n\n0:09 - Dana Kim\nok\n",
    "a caption with a fraction": f"[Dana] 10:00:01\nHello\n[Zoe] 10:00:03.500\n{PROMISE}\n[Dana] 10:00:09\nok\n",
    "who speaks once, beside a wrapped line": f"Host: Hello\nall.\nHost: Next.\nZoe Lin: {PROMISE}\nHost: Next.\n",
    "a name between marks": f"Dana: hello\nall\nMarc: hi\nDana: ok\nMarc: and\n(Zoe): {PROMISE}\n",
    "a title": f"Dana: hello\nall\nMarc: hi\nDana: ok\nMarc: and\nZoe Lin, Head of Legal and Risk, Acme: {PROMISE}\n",
    "a label that is a heading": f"Company: hello\nCustomer: hi\nCompany: {PROMISE}\nCustomer: ok\nCompany: bye\n",
    "rules around a dialogue": f"---\nZoe: {PROMISE}\nMarc: ok\n---\nDana: We agreed.\nBob: It goes on.\nDana: hm\n",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_what_nobody_is_proven_to_say_is_nobodys_or_hers(text):
    (said,) = [turn for turn in read(text.encode()).transcript.turns if PROMISE in turn.text]
    assert said.speaker in {None, "Zoe Lin"}


KNOWN = {
    "no blank behind the colon": f"Dana: Hello.\nMarc:{PROMISE}\nDana: ok\nMarc: fine\n",
    "a label within a section": f"Dana  0:05\nHello.\n\nMarc: {PROMISE}\n\nDana  0:15\nok\n\nMarc  0:20\nfine\n",
    "a dash between time and name": f"0:01 - Dana: Hello.\n0:05 - Marc: {PROMISE}\n0:09 - Dana: Yes.\n",
    "behind the end": "Attendees\nDana, Marc\nTranscript\nDana: Hello.\nMarc: Hi.\nDana: Good.\nMarc: We do.\n"
    f"Transcription ended after 00:10:00\nMarc: {PROMISE}\n",
}


@pytest.mark.parametrize("text", KNOWN.values(), ids=KNOWN)
def test_who_is_known_keeps_the_words(text):
    (said,) = [turn for turn in read(text.encode()).transcript.turns if PROMISE in turn.text]
    assert said.speaker == "Marc"


def test_a_name_may_hold_a_colon_where_its_time_stands_apart():
    text = f"Room 3: Berlin  0:05\n{PROMISE}\n\nMarc  0:09\nHi.\n\nRoom 3: Berlin  0:15\nok\n\nMarc  0:20\nx\n"
    assert [turn.speaker for turn in read(text.encode()).transcript.turns] == ["Room 3: Berlin", "Marc"] * 2


def test_a_title_that_comes_back_is_a_speakers():
    title = "Dana Kim, Vice President of Sales, Acme"
    text = f"{title}: Good morning\nMarc: hi\nall\n{title}: bye\nMarc: ok"
    assert read(text.encode()).transcript.turns[2].speaker == title


@pytest.mark.parametrize(
    "text",
    [
        "conversation_id,speaker,text\n1,Dana,We renew in May.\n2,Zoe,I promise to send it.\n",
        '[{"call_id":"1","speaker":"Dana","text":"We renew."},{"call_id":"2","speaker":"Zoe","text":"I promise."}]',
    ],
)
def test_several_calls_in_one_file_are_refused(text):
    with pytest.raises(ItemFailure, match="unreadable_input: holds 2 calls: submit one file per call"):
        read(text.encode())


@pytest.mark.parametrize(
    "rows",
    ["Dana,0,Hello all\nI promise to send it\n", "Dana,0,Hello all,and more\n"],
    ids=["too few cells", "too many"],
)
def test_a_row_that_does_not_fit_its_table_is_refused(rows):
    with pytest.raises(ItemFailure, match="unreadable_input: a table whose line"):
        read(f"Speaker,Start,Text\n{rows}Marc,1,Hi\n".encode())


@pytest.mark.parametrize(
    "text",
    ["Dana: it\u2019s there\nBob: Hi", "it costs \u00a3100 a month, my friend", "cr\u00e8me br\u00fbl\u00e9e for all"],
)
def test_western_letters_are_no_chinese(text):
    reading = read(text.encode("cp1252"))
    assert (
        "".join(turn.text for turn in reading.transcript.turns)
        in text.replace("Dana: ", "").replace("\nBob: ", "") + text
    )


def test_a_meeting_with_a_line_that_notes_have_is_a_call():
    text = "Dana: Hello, next slide:\nNext steps\nMarc: Hi.\nDana: ok\nMarc: bye\nTranscription ended after 00:10:00"
    assert len(read(text.encode()).transcript.turns) == 4


def test_a_date_before_a_name_is_no_chat():
    lines = (f"[2026-05-01 10:00:0{n}] {name}: Hello there." for n, name in enumerate(("Dana", "Marc", "Dana")))
    text = "\n".join(lines)
    assert [turn.speaker for turn in read(text.encode()).transcript.turns] == ["Dana", "Marc", "Dana"]


def test_utterances_of_assemblyai_without_their_job_count_milliseconds():
    text = (
        '{"utterances": [{"speaker": "A", "text": "We renew in May.", "start": 0, "end": 1200}], "audio_duration": 12}'
    )
    (turn,) = read(text.encode()).transcript.turns
    assert (turn.speaker, turn.end) == ("Speaker A", 1.2)
