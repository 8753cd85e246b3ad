"""Files that name the speakers of the transcripts beside them: Gong's calls with their parties.

Such a file is no document where it lies beside a transcript; alone it is read like any other, and refused as no call.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pipeline.errors import ItemFailure
from pipeline.transcripts.batch.file import File, Found, Stream, Unreadable
from pipeline.transcripts.decoding import decode
from pipeline.transcripts.formats.gong import is_parties, parties
from pipeline.transcripts.json_text import value_of
from pipeline.transcripts.read import MAX_BYTES

_HEAD: Final = 65_536
_CALL, _PARTIES = b'"callTranscripts"', b'"parties"'


@dataclass(slots=True)
class _Folder:
    """What the files of one folder say about its speakers."""

    names: dict[str, str] = field(default_factory=dict)
    companions: set[str] = field(default_factory=set)
    holds_calls: bool = False


class Companions:
    """The names of speakers for each file of a listing. A folder is looked through when its first such file comes."""

    def __init__(self, found: Iterable[Found]) -> None:
        self._files = defaultdict[str, list[File]](list)
        self._folders: dict[str, _Folder] = {}
        for each in found:
            if isinstance(each, File) and each.name.lower().endswith(".json"):
                self._files[_folder_of(each)].append(each)

    def of(self, file: File, stream: Stream) -> Mapping[str, str] | None:
        """The names for its speakers; None where the file itself is a companion. The stream is left at its start."""
        head = _head(stream) if file.name.lower().endswith(".json") else b""
        if _CALL not in head and _PARTIES not in head:
            return {}
        beside = self._folders.get(_folder_of(file)) or self._look_through(_folder_of(file))
        if beside.holds_calls and file.name in beside.companions:
            return None
        return beside.names if _CALL in head else {}

    def _look_through(self, folder: str) -> _Folder:
        beside = self._folders[folder] = _Folder()
        clashes = set[str]()
        for file in self._files[folder]:
            for speaker, name in _added(beside, file).items():
                if beside.names.setdefault(speaker, name) != name:
                    clashes.add(speaker)
        for speaker in clashes:  # whoever it is, nobody is to own what the other promised
            del beside.names[speaker]
        return beside


def _added(beside: _Folder, file: File) -> Mapping[str, str]:
    """The names in one file. What is wrong with it is said when its own turn comes."""
    try:
        with file.opens() as stream:
            head = _head(stream)
            beside.holds_calls = beside.holds_calls or _CALL in head
            value = _value(stream) if _PARTIES in head and _CALL not in head else None
        names = parties(value) if is_parties(value) else {}
    except (OSError, Unreadable, ItemFailure):
        return {}
    if is_parties(value):
        beside.companions.add(file.name)
    return names


def _value(stream: Stream) -> Any:
    data = stream.read(MAX_BYTES + 1)
    return value_of(decode(data).text) if len(data) <= MAX_BYTES else None


def _head(stream: Stream) -> bytes:
    head = stream.read(_HEAD)
    stream.seek(0)
    return head


def _folder_of(file: File) -> str:
    return file.name.rpartition("/")[0]
