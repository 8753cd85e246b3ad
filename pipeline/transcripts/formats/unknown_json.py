"""JSON of a shape that no reader knows: refused, since its keys and numbers are no speech."""

from pipeline.errors import ItemFailure
from pipeline.transcripts.source import Parsed, Source

NAME = "unknown_json"


def recognises(source: Source) -> bool:
    """Whether it is JSON at all."""
    return source.json is not None


def parse(_source: Source) -> Parsed:
    """Raises ItemFailure(unreadable_input)."""
    raise ItemFailure(
        "unreadable_input", "JSON of an unknown shape: export the transcript as .vtt, .srt or .txt, or submit its turns"
    )
