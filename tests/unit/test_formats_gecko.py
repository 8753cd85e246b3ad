import json

from pipeline.transcripts.read import read


def lines(*monologues):
    turns = read(json.dumps({"schemaVersion": "2.0", "monologues": monologues}).encode()).transcript.turns
    return [(turn.speaker, turn.start, turn.end, turn.text) for turn in turns]


def term(text, start, end, kind="WORD"):
    return {"text": text, "start": start, "end": end, "type": kind}


def test_a_monologue_is_a_turn_and_punctuation_stands_at_its_word():
    terms = [term("Hi", 0.5, 0.9), term(",", 0.9, 0.9, "PUNCTUATION"), term("Annabelle", 4, 4.5)]
    assert lines({"speaker": {"name": None, "id": "Roger"}, "terms": terms}) == [("Roger", 0.5, 4.5, "Hi, Annabelle")]


def test_a_name_comes_before_an_id_and_nobody_is_nobody():
    terms = [term("Certainly", 1, 2)]
    speakers = [{"name": "Anna Kim", "id": "7"}, {"name": None, "id": "7"}, None]
    found = lines(*({"speaker": speaker, "terms": terms} for speaker in speakers), {"speaker": None, "terms": []})
    assert [line[0] for line in found] == ["Anna Kim", "Speaker 7", None]
