"""The answer of Fireflies' GraphQL API, or the bare transcript in it: its sentences are the turns.

Source: docs.fireflies.ai, schemas Transcript and Sentence. Times in seconds, as numbers or text.
"""

from typing import Any

from pipeline.domain.documents import Turn
from pipeline.errors import ItemFailure
from pipeline.transcripts.answers import only, speech
from pipeline.transcripts.source import Parsed, Source
from pipeline.transcripts.vendor import Label, Many, Seconds, Shape, Words, read_as, turn

NAME = "fireflies"

#: What only Fireflies' sentences have; and what its transcripts have, where there are no sentences to look at.
_SENTENCE = frozenset({"speaker_name", "raw_text"})
_TRANSCRIPT = frozenset({"meeting_info", "meeting_attendees", "transcript_url", "organizer_email"})


class _Sentence(Shape):
    speaker_name: Label = None
    speaker_id: Label = None
    text: Words = ""
    raw_text: Words = ""
    start_time: Seconds = None
    end_time: Seconds = None


class _MeetingInfo(Shape):
    silent_meeting: bool | None = None


class _Transcript(Shape):
    sentences: Many[_Sentence] = ()
    meeting_info: _MeetingInfo | None = None
    summary: Any = None


def recognises(source: Source) -> bool:
    """Whether it is a transcript of sentences, these alone, or a GraphQL answer that holds one, or should."""
    if _are_sentences(source.json) or _is_transcript(source.json):
        return True
    data = source.at("data")
    if not isinstance(data, dict) or data.keys().isdisjoint(("transcript", "transcripts")):
        return False
    inside = (source.at("data", "transcript"), source.at("data", "transcripts", 0))
    return "errors" in source.json or any(isinstance(each, dict) and "sentences" in each for each in inside)


def parse(source: Source) -> Parsed:
    """The sentences; none of them where Fireflies says that the meeting was silent."""
    value = _transcript(source)
    if source.at("errors") and not (isinstance(value, dict) and value.get("sentences")):
        raise ItemFailure("unreadable_input", "Fireflies answered with an error: export it again")
    transcript, doubts = read_as(_Transcript, value, "Fireflies")
    if transcript.meeting_info and transcript.meeting_info.silent_meeting:
        return Parsed([])
    return speech(map(_turn, transcript.sentences), doubts, {"summary": transcript.summary})


def _is_transcript(value: Any) -> bool:
    if not isinstance(value, dict) or "sentences" not in value:
        return False
    return _are_sentences(value["sentences"]) if value["sentences"] else not _TRANSCRIPT.isdisjoint(value)


def _are_sentences(value: Any) -> bool:
    first = value[0] if isinstance(value, list) and value else None
    return isinstance(first, dict) and "text" in first and not _SENTENCE.isdisjoint(first)


def _transcript(source: Source) -> Any:
    if isinstance(source.json, list):
        return {"sentences": source.json}
    if _is_transcript(source.json):
        return source.json
    several = source.at("data", "transcripts")
    return only(several) if isinstance(several, list) else source.at("data", "transcript")


def _turn(sentence: _Sentence) -> Turn:
    text, speaker = sentence.text or sentence.raw_text, sentence.speaker_name or sentence.speaker_id
    return turn(text, speaker, sentence.start_time, sentence.end_time)
