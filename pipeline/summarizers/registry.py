"""One table of summarizers by the name that a profile uses."""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from pipeline.domain.documents import DocumentFields, Transcript
from pipeline.errors import NotFound
from pipeline.settings import Profile, Settings
from pipeline.summarizers.extractive.summarizer import Extractive
from pipeline.summarizers.openai_chat import plan
from pipeline.summarizers.port import Demand, Step, Summarizer
from pipeline.summarizers.scripted import Scripted

Plan = Sequence[tuple[Step, Demand]]
Planner = Callable[[Transcript, DocumentFields, str | None, Profile, Path], Plan]


def _openai_chat(profile: Profile, settings: Settings) -> Summarizer:
    from pipeline.summarizers.openai_chat.summarizer import OpenAIChat  # noqa: PLC0415 - the SDK takes a second

    return OpenAIChat(profile, settings.vocabularies)


_MAKERS: dict[str, Callable[[Profile, Settings], Summarizer]] = {
    "extractive": lambda _profile, _settings: Extractive(),
    "openai_chat": _openai_chat,
    "scripted": lambda _profile, settings: Scripted(settings.script),
}


class Summarizers:
    """The summarizers of a process by profile, each made when it is first asked for and once."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._made: dict[str, Summarizer] = {}
        self._lock = threading.Lock()

    def __call__(self, profile: str) -> Summarizer:
        """The summarizer of the profile of that name. Raises NotFound with the known names."""
        with self._lock:
            if profile not in self._made:
                self._made[profile] = summarizer(self._settings.profile(profile), self._settings)
            return self._made[profile]


def summarizer(profile: Profile, settings: Settings) -> Summarizer:
    """The profile's summarizer; make it once per process. Raises NotFound with the known names."""
    if profile.summarizer not in _MAKERS:
        raise NotFound("summarizer", profile.summarizer, sorted(_MAKERS))
    return _MAKERS[profile.summarizer](profile, settings)


def _one_local(*_: object) -> Plan:
    return [(Step("summarize"), Demand(0, 0))]


_PLANNERS: dict[str, Planner] = {"openai_chat": plan.planned}


def planned(
    transcript: Transcript, fields: DocumentFields, language: str | None, profile: Profile, cache_dir: Path
) -> Plan:
    """The calls that the profile's summarizer is going to make for the document; none is made.

    What needs no provider demands nothing. Raises ItemFailure for a document that no call could hold.
    """
    return _PLANNERS.get(profile.summarizer, _one_local)(transcript, fields, language, profile, cache_dir)
