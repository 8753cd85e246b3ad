import json

import pytest

from pipeline.errors import ItemFailure
from pipeline.transcripts.read import read


def phrase(text, offset="PT0S", **fields):
    return {"recognitionStatus": "Success", "channel": 0, "offset": offset, "nBest": [{"display": text}]} | fields


def lines(**fields):
    turns = read(json.dumps(fields).encode()).transcript.turns
    return [(turn.speaker, turn.start, turn.end, turn.text) for turn in turns]


def test_phrases_of_two_channels_are_sorted_by_their_offsets():
    found = lines(
        recognizedPhrases=[
            phrase("Hello.", "PT1.5S", duration="PT2S"),
            phrase("Fine?", "PT1M4S"),
            phrase("Morning.", offset=None, channel=1, offsetInTicks=30000000.0, durationInTicks=5000000),
        ]
    )
    assert found == [
        ("Channel 0", 1.5, 3.5, "Hello."),
        ("Channel 1", 3.0, 3.5, "Morning."),
        ("Channel 0", 64.0, None, "Fine?"),
    ]


def test_a_speaker_stands_on_the_phrase_or_on_its_reading():
    older = phrase("", nBest=[{"display": "One good morning.", "speaker": 2}])
    assert [line[0] for line in lines(recognizedPhrases=[phrase("Hi.", speaker=1), older])] == [
        "Speaker 1",
        "Speaker 2",
    ]


def test_the_likeliest_reading_counts_and_a_phrase_without_any_is_no_turn():
    likeliest = [
        {"confidence": 0.2, "display": "Two crates of whine."},
        {"confidence": 0.9, "display": "Two crates of wine."},
    ]
    unheard = {"recognitionStatus": "NoMatch", "offset": "PT9S"}
    assert lines(recognizedPhrases=[phrase("", nBest=likeliest), unheard]) == [(None, 0.0, None, "Two crates of wine.")]


def test_the_whole_of_a_channel_is_read_where_there_are_no_phrases():
    assert lines(
        combinedRecognizedPhrases=[{"channel": 0, "display": "All of it was said here."}], recognizedPhrases=[]
    ) == [(None, None, None, "All of it was said here.")]


def test_fast_transcription_counts_milliseconds():
    found = lines(
        durationMilliseconds=9000,
        combinedPhrases=[{"text": "Hello. Hi."}],
        phrases=[
            {"text": "Hello.", "speaker": 0, "offsetMilliseconds": 720, "durationMilliseconds": 480},
            {"text": "Good morning.", "speaker": 1, "offsetMilliseconds": 1300},
        ],
    )
    assert found == [("Speaker 0", 0.72, 1.2, "Hello."), ("Speaker 1", 1.3, None, "Good morning.")]


@pytest.mark.parametrize("phrases", [[], [{"recognitionStatus": "InitialSilenceTimeout"}]])
def test_silence_is_an_empty_input(phrases):
    with pytest.raises(ItemFailure, match="empty_input"):
        lines(combinedRecognizedPhrases=[], recognizedPhrases=phrases)


def test_the_items_of_a_conversation_are_its_turns():
    timing = {"offset": 10000000, "duration": 5000000}
    items = [
        {"participantId": "Agent", "text": "Hello.", "lexical": "hello", "conversationItemLevelTiming": timing},
        {"participantId": "2", "itn": "Two seats."},
    ]
    assert lines(analysisInput={"conversations": [{"conversationItems": items}, {"conversationItems": []}]}) == [
        ("Agent", 1.0, 1.5, "Hello."),
        ("Speaker 2", None, None, "Two seats."),
    ]


def test_several_conversations_in_one_file_are_refused_with_what_to_do():
    one = {"conversationItems": [{"participantId": "Agent", "text": "secret"}]}
    with pytest.raises(ItemFailure, match=r"unreadable_input: 2 conversations: submit each"):
        lines(analysisInput={"conversations": [one, one]})


@pytest.mark.parametrize(
    "readings",
    [
        [{"confidence": 0.9, "display": ""}, {"confidence": 0.5, "display": "Two crates of wine."}],
        [{"display": "", "itn": "Two crates of wine."}],
        [{"maskedITN": "Two crates of wine."}],
    ],
)
def test_a_reading_that_says_nothing_gives_way_to_one_that_does(readings):
    assert lines(recognizedPhrases=[phrase("", nBest=readings)]) == [(None, 0.0, None, "Two crates of wine.")]
