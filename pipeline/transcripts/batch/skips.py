"""What is skipped in a folder, an archive or a bucket, by its name alone, and always with a line in the log.

A warning, since commands show no less: whoever hands in a recording should not wait for its row.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

import structlog

from pipeline.domain.text import storable
from pipeline.errors import Problem
from pipeline.transcripts.batch.file import Found

#: What desktops leave behind, besides `._call.vtt` and all else that is hidden, and `~$call.docx`.
_JUNK = frozenset({"thumbs.db", "desktop.ini", "__macosx"})
_SOUND = "aac aif aiff amr caf flac m4a m4b mp3 oga ogg opus wav weba wma"
_FILMS = "3gp avi flv m4v mkv mov mp4 mpeg mpg ogv webm wmv"
_PICTURES = "avif bmp gif heic heif ico jpeg jpg png svg tif tiff webp"
_MEDIA = frozenset(f".{extension}" for extension in f"{_SOUND} {_FILMS} {_PICTURES}".split())

log = structlog.get_logger(__name__)


def kept(found: Iterable[tuple[str, Found]], place: str) -> Iterator[Found]:
    """What to read of it in the order of the names, whatever order it came in; a Problem where nothing is left."""
    junk, media, anything = set[str](), Counter[str](), False
    for name, entry in sorted(found, key=lambda each: (each[0], each[1].place)):
        if top := _junk_in(name):
            junk.add(top)
        elif is_media(name):
            media[_extension(name)] += 1
        else:
            anything = True
            yield entry
    for top in sorted(junk):
        log.warning("junk_skipped", folder=place, name=storable(top))
    for extension, count in sorted(media.items()):
        log.warning("media_skipped", folder=place, extension=extension, count=count)
    if not anything:
        yield Problem(place, "nothing to read: there is no file but hidden ones, recordings and pictures")


def is_junk(name: str) -> bool:
    """Whether a file or folder of that name is nobody's transcript."""
    return (name.startswith((".", "~$")) and name != "..") or name.casefold() in _JUNK


def is_media(name: str) -> bool:
    """Whether its name says that it is a recording or a picture."""
    return _extension(name) in _MEDIA


def _junk_in(name: str) -> str | None:
    """The path up to the first junk in it."""
    parts = name.split("/")
    return next(("/".join(parts[: place + 1]) for place, part in enumerate(parts) if is_junk(part)), None)


def _extension(name: str) -> str:
    return PurePosixPath(name).suffix.lower()
