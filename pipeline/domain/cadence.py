"""When a growing text is worth a checkpoint: often enough to lose little, seldom enough to cost nothing. Pure."""

import re
from dataclasses import dataclass
from typing import Final

#: So much that is new is kept, but never sooner than LEAST_SECONDS after the last; anything new by MOST_SECONDS.
CHARACTERS: Final = 500
SENTENCES: Final = 5
LEAST_SECONDS: Final = 2.0
MOST_SECONDS: Final = 5.0

_END = re.compile(r"""[.!?\u2026][")'\]\u2019\u201d]*(?=\s)|[\u3002\uff01\uff1f]|\n""")


def whole_sentences(text: str) -> str:
    """The text up to the end of its last whole sentence; a line's end counts as one. Empty where there is none."""
    end = 0
    for match in _END.finditer(text):
        end = match.end()
    return text[:end]


@dataclass(slots=True)
class Cadence:
    """Counts what has come since a checkpoint was last tried, at `tried_at` on the caller's clock, in seconds."""

    tried_at: float
    characters: int = 0
    sentences: int = 0

    def heard(self, words: str) -> None:
        """Some more text has come."""
        self.characters += len(words)
        self.sentences += sum(1 for _ in _END.finditer(words + " "))

    def restarted(self) -> None:
        """What had come counts no more: that is news, too."""
        self.characters, self.sentences = 1, 0

    def due(self, now: float, next_look: float = 0.0) -> bool:
        """Whether what is new should be kept now, where the next look comes after so many seconds."""
        since = now - self.tried_at
        enough = self.characters >= CHARACTERS or self.sentences >= SENTENCES or since + next_look >= MOST_SECONDS
        return self.characters > 0 and since >= LEAST_SECONDS and enough

    def tried(self, now: float) -> None:
        """A checkpoint was made of everything that had come."""
        self.tried_at, self.characters, self.sentences = now, 0, 0

    def missed(self) -> None:
        """It was not kept: it is due again."""
        self.characters = max(self.characters, CHARACTERS)
