"""Who a label names, or nobody: an action never gets an owner that diarization made up."""

import re
from collections.abc import Callable

from pipeline.domain.documents import Transcript

_ROLE_WORDS = (
    "speaker spk unknown unidentified anonymous agent assistant bot ai notetaker note taker recorder recording "
    "customer client prospect buyer seller vendor caller callee host cohost guest attendee participant panelist "
    "moderator presenter presentation interviewer interviewee audience operator representative rep sales salesperson "
    "support advisor adviser consultant user usr sys system me you other others all everyone everybody channel "
    "doctor patient nurse clinician marketing engineering engineer designer design developer product project "
    "manager management director industrial interface account executive ae sdr csr ceo cto cfo team person man "
    "woman male female voice audio microphone mic phone iphone ipad android room conference meeting call webinar "
    "left right inbound outbound internal external professor student grad phd chair secretary"
)
_ROLES = frozenset(_ROLE_WORDS.split())
_WORD = re.compile(r"[^\W\d_]+")
_MOST_WORDS = 5


def owner_finder(transcript: Transcript) -> Callable[[str | None], str | None]:
    """From a speaker's label to an owner: the label itself where it looks like a name, else None.

    One label for a whole call means that nobody was told apart, so it names nobody.
    """
    labels = {turn.speaker for turn in transcript.turns if turn.speaker and turn.text.strip()}
    told_apart = len(labels) > 1
    return lambda label: label if told_apart and label and _is_name(label) else None


def _is_name(label: str) -> bool:
    words = _WORD.findall(label.lower())
    return (
        0 < len(words) <= _MOST_WORDS
        and not any(character.isdigit() for character in label)
        and max(map(len, words)) > 1
        and not any(word in _ROLES for word in words)
    )
