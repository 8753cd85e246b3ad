import json

import pytest

from pipeline.errors import ItemFailure
from pipeline.transcripts.read import read


def word(text, start, end, **fields):
    times = {"start_time": str(start), "end_time": str(end)}
    return times | {"type": "pronunciation", "alternatives": [{"confidence": "0.99", "content": text}]} | fields


def mark(text):
    return {"type": "punctuation", "alternatives": [{"confidence": "0.0", "content": text}]}


ITEMS = [word("Good", 0.5, 0.9), word("morning", 1.0, 1.5), mark("."), word("Hello", 1.7, 2.0), mark("!")]


def output(**results):
    whole = [{"transcript": "Good morning. Hello!"}]
    return json.dumps({"jobName": "call", "results": {"transcripts": whole, "items": ITEMS} | results}).encode()


def labels(*starts_by_speaker):
    return {
        "speakers": 2,
        "segments": [
            {
                "speaker_label": speaker,
                "items": [{"start_time": str(start), "speaker_label": speaker} for start in starts],
            }
            for speaker, starts in starts_by_speaker
        ],
    }


def lines(data):
    return [(turn.speaker, turn.start, turn.end, turn.text) for turn in read(data).transcript.turns]


def test_words_find_their_speakers_by_their_starts_and_punctuation_is_glued():
    found = labels(("", ()), ("spk_0", ("0.50", "1.0")), ("spk_1", ("1.7",)))
    assert lines(output(speaker_labels=found)) == [
        ("spk_0", 0.5, 1.5, "Good morning."),
        ("spk_1", 1.7, 2.0, "Hello!"),
    ]


def test_a_word_may_carry_its_speaker_itself():
    items = [word("Good", 0.5, 0.9, speaker_label="spk_0"), word("Hello, Anna", 1, 2, speaker_label="spk_1")]
    assert [line[0] for line in lines(output(items=items))] == ["spk_0", "spk_1"]


def test_without_labels_pauses_part_the_turns_even_behind_a_full_stop():
    items = [*ITEMS, word("Goodbye", 4.5, 5)]
    assert lines(output(items=items)) == [
        (None, 0.5, 2.0, "Good morning. Hello!"),
        (None, 4.5, 5.0, "Goodbye"),
    ]


def test_channels_are_speakers_and_their_turns_are_in_order():
    channels = [
        {"channel_label": "ch_0", "items": [word("Hello", 3.0, 3.4), mark(".")]},
        {"channel_label": "ch_1", "items": [word("Morning", 1.0, 1.4), word("Mia", 6.0, 6.4)]},
    ]
    data = output(channel_labels={"number_of_channels": 2, "channels": channels})
    assert lines(data) == [("ch_1", 1.0, 1.4, "Morning"), ("ch_0", 3.0, 3.4, "Hello."), ("ch_1", 6.0, 6.4, "Mia")]


def segment(text, start, end, **fields):
    return {"id": 0, "transcript": text, "start_time": str(start), "end_time": str(end), "items": [0]} | fields


def test_segments_of_audio_come_first():
    segments = [segment("Good morning.", 0.5, 1.5, speaker_label="spk_0", channel_label="ch_0")]
    assert lines(output(audio_segments=segments)) == [("spk_0", 0.5, 1.5, "Good morning.")]


def test_where_segments_are_of_several_channels_these_tell_who_speaks():
    first = segment("Hello!", 1.7, 2.0, speaker_label="spk_0", channel_label="ch_1")
    second = segment("Good morning.", 0.5, 1.5, speaker_label="spk_0", channel_label="ch_0")
    assert [line[0] for line in lines(output(audio_segments=[first, second]))] == ["ch_0", "ch_1"]


def test_the_text_alone_is_one_turn():
    assert lines(output(items=[])) == [(None, None, None, "Good morning. Hello!")]


@pytest.mark.parametrize("items", [[], [mark("")], [{"type": "pronunciation", "alternatives": []}]])
def test_silence_is_an_empty_input(items):
    with pytest.raises(ItemFailure, match="empty_input"):
        read(output(transcripts=[{"transcript": ""}], items=items, speaker_labels=None))


def test_a_time_that_cannot_be_read_is_counted_and_the_words_stay():
    reading = read(output(items=[word("Good", "soon", 0.9), word("morning", 1.0, 1.5)]))
    assert [turn.text for turn in reading.transcript.turns] == ["Good morning"]
    assert [(warning.code, warning.place) for warning in reading.warnings if "speakers" not in warning.code] == [
        ("unreadable_timing", "1 times")
    ]


def test_a_segment_without_items_says_who_speaks_in_it():
    segments = [
        {"start_time": "0.5", "end_time": "1.0", "speaker_label": "spk_0"},
        {"start_time": "1.5", "end_time": "3.0", "speaker_label": "spk_1", "items": []},
    ]
    items = [word("Hello", 0.5, 0.9), word("Good", 1.5, 1.9), word("morning", 2.0, 2.4)]
    found = lines(output(items=items, speaker_labels={"speakers": 2, "segments": segments}))
    assert [line[0] for line in found] == ["spk_0", "spk_1"]


def test_speakers_within_channels_stay_apart():
    items = [word("Good", 0.5, 0.9, speaker_label="spk_0"), word("morning", 1.0, 1.5, speaker_label="spk_1")]
    channels = [{"channel_label": "ch_0", "items": items}, {"channel_label": "ch_1", "items": [word("Hi", 0.6, 0.8)]}]
    assert lines(output(channel_labels={"channels": channels})) == [
        ("ch_0, spk_0", 0.5, 0.9, "Good"),
        ("ch_1", 0.6, 0.8, "Hi"),
        ("ch_0, spk_1", 1.0, 1.5, "morning"),
    ]


def test_a_segment_without_items_is_its_speakers_beside_those_that_have_some():
    found = labels(("spk_0", ("0.5", "1.0")))
    found["segments"].append({"start_time": "1.7", "end_time": "2.0", "speaker_label": "spk_1", "items": []})
    assert lines(output(speaker_labels=found)) == [
        ("spk_0", 0.5, 1.5, "Good morning."),
        ("spk_1", 1.7, 2.0, "Hello!"),
    ]


@pytest.mark.parametrize("empty", [{"channel_labels": {"channels": []}}, {"audio_segments": [{"transcript": ""}]}])
def test_what_is_empty_gives_way_to_the_words(empty):
    assert lines(output(**empty)) == [(None, 0.5, 2.0, "Good morning. Hello!")]
