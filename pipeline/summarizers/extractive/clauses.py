"""Where a clause begins and ends: what a rule may read as one statement."""

import re

_BREAK = re.compile(
    r"[;:.!?\u2014]\s|[;:.!?\u2014]$|\s-\s"
    r"|,\s+(?:and|but|so|or|you|we|i|they|he|she|it|if|right|ok|okay|yeah|thanks|thank|bye|alright|which|because|let|"
    r"please|that|then|then|unless|and)\b"
    r"|\s+(?:but|because|which)\s"
    r"|\s+(?:and|so)\s+(?:then\s+)?(?:i|we|you|they|he|she|it|that|if|this|let|please|hopefully)\b",
    re.IGNORECASE,
)


def clause_after(said: str, start: int, at_least: int) -> str:
    """From `start` to the end of its clause, which is not before `at_least`."""
    end = _BREAK.search(said, at_least)
    return said[start : end.start() if end else len(said)].strip(" .,!;:-")


def clause_before(said: str) -> str:
    """The unfinished clause at the end of `said`."""
    return re.split(r"[,;:.!\u2014]|\b(?:and|but|so)\b", said, flags=re.IGNORECASE)[-1]
