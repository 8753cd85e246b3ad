import json

from pipeline.transcripts.read import read


def lines(**fields):
    turns = read(json.dumps(fields).encode()).transcript.turns
    return [(turn.speaker, turn.start, turn.end, turn.text) for turn in turns]


def item(content, start, end, speaker="S1", kind="word", **fields):
    best = {"content": content, "speaker": speaker, "confidence": 1.0}
    return {"type": kind, "start_time": start, "end_time": end, "alternatives": [best]} | fields


def test_punctuation_stands_where_it_attaches_and_what_an_unknown_speaker_says_is_nobodys():
    found = lines(
        results=[
            item("Hello", 0.5, 0.9),
            item(".", 0.9, 0.9, kind="punctuation", attaches_to="previous"),
            item("«", 1, 1, "S2", "punctuation", attaches_to="next"),
            item("Well", 1, 1.4, "S2"),
            item("»", 1.4, 1.4, "S2", "punctuation"),
            {"type": "speaker_change", "start_time": 1.4, "end_time": 1.4},
            item("yes", 1.6, 1.9, "UU"),
        ]
    )
    assert found == [("S1", 0.5, 0.9, "Hello."), ("S2", 1.0, 1.4, "«Well»"), (None, 1.6, 1.9, "yes")]


def test_a_language_without_blanks_gets_none_and_its_speakers_change():
    found = lines(
        results=[item("你好", 0, 1), item("我想看看报价单", 1, 2), item("嗯可以的", 2, 3, "S2")],
    )
    assert [line[3] for line in found] == ["你好我想看看报价单", "嗯可以的"]


def test_each_channel_is_a_speaker():
    results = [item("Hello", 0.5, 1, channel="agent"), item("Hi", 0.7, 0.9, channel="buyer"), item("Anna", 1.1, 1.5)]
    results[2]["channel"] = "agent"
    assert lines(results=results) == [("agent", 0.5, 1.5, "Hello Anna"), ("buyer", 0.7, 0.9, "Hi")]


def test_a_summary_is_left_out_and_a_warning_says_so():
    data = {"results": [item("Good morning", 0.5, 0.9)], "summary": {"content": "They greet."}}
    reading = read(json.dumps(data).encode())
    assert [turn.text for turn in reading.transcript.turns] == ["Good morning"]
    assert [(warning.code, warning.place) for warning in reading.warnings if "speakers" not in warning.code] == [
        ("summary_left_out", "summary")
    ]


def test_the_first_format_joins_its_speakers_by_their_times():
    words = [("Hello", "0.50", "0.40"), (".", "0.90", "0.10"), ("Hi", "1.20", "0.30"), ("all", "1.55", "0.20")]
    found = lines(
        format="1.0",
        speakers=[{"name": "UU", "time": "9.00"}, {"name": "M2", "time": "1.20"}, {"name": "F1", "time": "0.50"}],
        words=[{"name": name, "time": time, "duration": duration} for name, time, duration in words],
    )
    assert found == [("F1", 0.5, 1.0, "Hello."), ("M2", 1.2, 1.75, "Hi all")]


def test_summaries_of_chapters_are_left_out_and_a_warning_says_so():
    results = [item("Hello, everybody", 0, 1)]
    reading = read(json.dumps({"results": results, "chapters": [{"summary": "They spoke."}]}).encode())
    assert [each.place for each in reading.warnings if each.code == "summary_left_out"] == ["chapters"]


def test_a_change_of_speakers_may_come_first():
    found = lines(
        results=[{"type": "speaker_change", "start_time": 0, "end_time": 0}, item("Congratulations", 0.5, 0.9)]
    )
    assert [line[-1] for line in found] == ["Congratulations"]
