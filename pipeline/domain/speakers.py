"""Who a label names, or nobody: an action never gets an owner that diarization made up."""

import re
from collections.abc import Callable, Iterable

from pipeline.domain.documents import Turn

_ROLE_WORDS = (
    "speaker spk unknown unidentified anonymous agent assistant bot ai notetaker note taker recorder recording "
    "customer client prospect buyer seller vendor caller callee host cohost guest attendee participant panelist "
    "moderator presenter presentation interviewer interviewee audience operator representative rep sales salesperson "
    "support advisor adviser consultant user usr sys system me you them they us we other others all everyone everybody "
    "channel "
    "doctor patient nurse clinician marketing engineering engineer designer design developer product project "
    "manager management director industrial interface account executive ae sdr csr ceo cto cfo team person man "
    "woman male female voice audio microphone mic phone iphone ipad android room conference meeting call webinar "
    "left right inbound outbound internal external professor student grad phd chair secretary "
    "human narrator supervisor "
    "sprecher unbekannt kunde berater locuteur intervenant interlocuteur inconnu hablante desconocido cliente orador "
    "说话人 发言人 客户 顾问 話者 発言者 不明 화자 고객"
)
_ROLES = frozenset(_ROLE_WORDS.split())
_WORD = re.compile(r"[^\W\d_]+")
_MOST_WORDS = 5
#: What begins after a name in meeting tools' labels: "Dana Reyes | Northwind (Sales)".
_SUFFIX = re.compile(r"[|(\[/]")
#: Who "speaks" where a tool records a file that is played, a screen, or itself.
_DEVICE = re.compile(
    r"(?:audio|video|screen) shared by .*|.*(?:'s|\u2019s) (?:presentation|screen)|.*\bnote ?taker\b.*",
    re.IGNORECASE | re.DOTALL,
)


def owner_finder(turns: Iterable[Turn]) -> Callable[[str | None], str | None]:
    """From a speaker's label to an owner: the label itself where it looks like a name, else None.

    One label for a whole call means that nobody was told apart, so it names nobody.
    """
    told_apart = len(voices(turns)) > 1
    return lambda label: label if told_apart and label and is_name(label) else None


def voices(turns: Iterable[Turn]) -> dict[str, int]:
    """The labels of those who say something, with the number of their turns; devices are nobody."""
    counts: dict[str, int] = {}
    for turn in turns:
        if turn.speaker and turn.text.strip():
            counts[turn.speaker] = counts.get(turn.speaker, 0) + 1
    return {label: count for label, count in counts.items() if not _DEVICE.fullmatch(label)}


def is_name(label: str) -> bool:
    """Whether a label looks like somebody's name: no number, no role, no device."""
    name = _SUFFIX.split(label, maxsplit=1)[0]
    words = _WORD.findall((name.strip() or label).lower())
    return (
        0 < len(words) <= _MOST_WORDS
        and not any(character.isdigit() for character in label)
        and max(map(len, words)) > 1
        and not any(word in _ROLES for word in words)
    )
