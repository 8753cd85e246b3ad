"""Labels of speakers, whatever the format: one spelling for each, a number for an account id, and what is doubtful.

Nobody is renamed who has a name: labels are one where they differ in case, blanks or invisible characters alone.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from pipeline.domain.documents import Turn, Warning
from pipeline.domain.evidence import SHORTEST_QUOTE
from pipeline.domain.speakers import is_name, voices

#: What an account has instead of a name: a GUID, with its tenant or without; a long number; a resource's path; or
#: letters and digits that no name mixes so.
_ACCOUNT = re.compile(
    r"(?:[^\s:]{1,20}:){0,3}\{?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\}?(?:@\S*)?"
    r"|[0-9]{15,}"
    r"|(?:conferenceRecords|participants|users)/\S+",
    re.IGNORECASE,
)
_OPAQUE = re.compile(r"(?=(?:[\w=-]*?[a-z][0-9]){3})[a-z0-9_=-]{20,80}", re.ASCII | re.IGNORECASE)
_INVISIBLE = dict.fromkeys([*range(0x200B, 0x2010), *range(0x202A, 0x202F), 0x2060, 0xFEFF, 0xAD])


def settle(turns: Sequence[Turn]) -> tuple[list[Turn], tuple[Warning, ...]]:
    """The turns under one label for each speaker: the spelling that is most frequent, the first among equals.

    Account ids become "Speaker 1", "Speaker 2" in the order in which they speak, past numbers that are labels already.
    """
    spellings = Counter(turn.speaker for turn in turns if turn.speaker is not None)
    keys = {label: _key(label) for label in spellings}
    names = _names(spellings, keys)
    united = sum(map(bool, keys.values())) - len(names)
    settled = [_under(turn, names.get(keys[turn.speaker]) if turn.speaker is not None else None) for turn in turns]
    return settled, (Warning(code="speakers_merged", place=f"{united} spellings"),) if united else ()


def doubts(turns: Sequence[Turn]) -> Iterator[Warning]:
    """What a reader of the row should know of settled labels, since it decides who owns what was promised.

    A turn without a label counts only where it is long enough to be quoted: "[Music]" promises nothing.
    """
    nobodys = sum(turn.speaker is None and len(turn.text.strip()) >= SHORTEST_QUOTE for turn in turns)
    if nobodys:
        yield Warning(code="speakers_missing", place=f"{nobodys} turns")
    heard = voices(turns)
    if len(heard) == 1 and sum(heard.values()) > 1:
        yield Warning(code="speakers_collapsed", place=f"{sum(heard.values())} turns")
    elif heard and not any(map(is_name, heard)):
        yield Warning(code="speakers_generic", place=f"{len(heard)} labels")


def _key(label: str) -> str:
    """What spellings of one label have in common; empty where there is nothing to see."""
    if _OPAQUE.fullmatch(label):
        return label
    return " ".join(unicodedata.normalize("NFC", label.translate(_INVISIBLE)).split()).casefold()


def _names(spellings: Mapping[str, int], keys: Mapping[str, str]) -> dict[str, str]:
    """By key, in the order in which they speak: the label that stands."""
    best: dict[str, str] = {}
    for label, key in keys.items():
        if key and spellings[label] > spellings.get(best.get(key, ""), 0):
            best[key] = label
    accounts = [key for key in best if _ACCOUNT.fullmatch(key) or _OPAQUE.fullmatch(key)]
    numbers = _free_numbers(best)
    return {key: label.strip() for key, label in best.items()} | {key: next(numbers) for key in accounts}


def _free_numbers(taken: Mapping[str, str]) -> Iterator[str]:
    number = 0
    while number := number + 1:
        if f"speaker {number}" not in taken:
            yield f"Speaker {number}"


def _under(turn: Turn, label: str | None) -> Turn:
    return turn if turn.speaker == label else turn.model_copy(update={"speaker": label})
