"""Invented calls of a stated size: the same ones in every run, with words that no compressor can fold away."""

import random
from collections.abc import Iterator

from pipeline.domain.documents import DocumentInput, IncomingDocument, Turn
from pipeline.transcripts.batch import incoming

_WORDS = """
we the price with a pilot next quarter contract legal team send please by Friday budget I think that works for us but
discount rollout seats security review our renewal before your competitor integration data warehouse who signs again
procurement numbers call Tuesday maybe support onboarding invoice year terms
""".split()  # noqa: SIM905 - sixty quotation marks less
_TURN_WORDS = 18
#: Characters of a turn, roughly.
_TURN_SIZE = 108
_ACCOUNT_CALLS = 20


def calls(count: int, size: int) -> Iterator[IncomingDocument]:
    """`count` calls of about `size` characters, twenty per account, made one at a time."""
    for number, document in enumerate(inputs(count, size)):
        yield incoming(document, f"call {number}")


def inputs(count: int, size: int) -> Iterator[DocumentInput]:
    """The same calls as a caller would hand them in."""
    chance = random.Random(count)  # noqa: S311 - words, not secrets
    turns = max(1, size // _TURN_SIZE)
    for number in range(count):
        yield DocumentInput(
            document_id=f"call-{number:06}",
            account_id=f"account-{number // _ACCOUNT_CALLS:05}",
            turns=tuple(_turn(chance, place) for place in range(turns)),
        )


def _turn(chance: random.Random, place: int) -> Turn:
    return Turn(text=" ".join(chance.choices(_WORDS, k=_TURN_WORDS)), speaker=("Rep", "Customer")[place % 2])
