"""What a reader leaves out because nobody said it, as a warning with its size."""

from pipeline.domain.documents import Warning


def left_out(code: str, *texts: str) -> tuple[Warning, ...]:
    """A warning with the number of lines in the texts, blank ones not counted; none where there is nothing."""
    count = sum(1 for text in texts for line in text.split("\n") if line.strip())
    return (Warning(code=code, place=f"{count} lines"),) if count else ()


def unreadable_times(count: int) -> tuple[Warning, ...]:
    """A warning with the number of times that could not be read; none where all could."""
    return (Warning(code="unreadable_timing", place=f"{count} times"),) if count else ()
