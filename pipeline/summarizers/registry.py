"""One table of summarizers by the name that a profile uses."""

import threading
from collections.abc import Callable

from pipeline.errors import NotFound
from pipeline.settings import Settings
from pipeline.summarizers.extractive.summarizer import Extractive
from pipeline.summarizers.port import Summarizer
from pipeline.summarizers.scripted import Scripted

_MAKERS: dict[str, Callable[[Settings], Summarizer]] = {
    "extractive": lambda _settings: Extractive(),
    "scripted": lambda settings: Scripted(settings.script),
}


class Summarizers:
    """The summarizers of a process, each made when it is first asked for and once."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._made: dict[str, Summarizer] = {}
        self._lock = threading.Lock()

    def __call__(self, name: str) -> Summarizer:
        """The summarizer by its name. Raises NotFound with the known names."""
        with self._lock:
            if name not in self._made:
                self._made[name] = summarizer(name, self._settings)
            return self._made[name]


def summarizer(name: str, settings: Settings) -> Summarizer:
    """The summarizer by its name; make it once per process. Raises NotFound with the known names."""
    if name not in _MAKERS:
        raise NotFound("summarizer", name, sorted(_MAKERS))
    return _MAKERS[name](settings)
