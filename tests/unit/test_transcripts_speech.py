"""Whether anybody speaks: sounds and silence are no words, and what nobody could quote is no call."""

import pytest

from pipeline.domain.documents import DocumentInput, Turn
from pipeline.errors import ItemFailure
from pipeline.transcripts import speech
from pipeline.transcripts.batch import incoming
from pipeline.transcripts.read import read


def fault(text):
    with pytest.raises(ItemFailure) as caught:
        read(text.encode())
    return caught.value.error_code


@pytest.mark.parametrize(
    "sounds",
    [
        "[Music]",
        "[BLANK_AUDIO] [BLANK_AUDIO]\n[BLANK_AUDIO]",
        "Anna: (silence)\nAnna: (long pause)",
        "<INAUDIBLE_SPEECH/>",
        "*laughs* *door closes loudly*",
        "♪ la la la, la la la ♪ ♪",
        "[inaudible]\n...\n- - - -\n____",
        "WEBVTT\n\n00:01.000 --> 00:30.000\n[ Silence and background noise ]\n",
    ],
)
def test_sounds_and_silence_are_no_words(sounds):
    assert fault(sounds) == "empty_input"


@pytest.mark.parametrize("words", ["Um.", "Thank you.", "Rep: Yes.\nClient: Yes.", "[Music] you [Music]"])
def test_what_is_shorter_than_any_quote_is_too_short(words):
    assert fault(words) == "too_short"


@pytest.mark.parametrize("words", ["Well, thanks", "<UNSURE>Well, thank you.</UNSURE>", "[laughs] We take ten seats."])
def test_twelve_characters_are_enough_and_the_sounds_in_between_stay(words):
    assert read(words.encode()).transcript.turns[0].text == words


def test_turns_that_are_given_as_such_are_held_to_the_same():
    document = incoming(DocumentInput(document_id="d", account_id="a", turns=[{"text": "Thank you."}]), "request")
    assert document.fault.code == "too_short"
    assert "Thank" not in document.fault.detail


@pytest.mark.parametrize("unit", ["[", "(a", "<a", "*", "♪", "♪\n", "[a] ", "  ", "_"])
@pytest.mark.timeout(60)
def test_many_half_open_sounds_take_no_longer_than_their_length(unit):
    turn = Turn(text=unit * (8_000_000 // len(unit)))
    if "a" in unit and unit != "[a] ":
        speech.require([turn])
    else:
        with pytest.raises(ItemFailure, match="empty_input"):
            speech.require([turn])
