"""How a call is cut and united within a profile's context, before anything is asked. Counts only.

    context_tokens = prompts and margin | words to read | output, twice its cap: a truncated answer is asked with double

Six times the output cap fit a context beside the prompts (`Profile` refuses less), so the words to read have room for
four caps, and any two parts' summaries, of two caps at most, fit one call that unites them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Final, Self

from pipeline.domain.documents import DocumentFields, Transcript
from pipeline.settings import Profile
from pipeline.summarizers.openai_chat.briefing import Briefing, Messages, neutralised, rendered
from pipeline.summarizers.openai_chat.chunks import Chunk, Span, covers, cut, is_complete
from pipeline.summarizers.openai_chat.prompts import template
from pipeline.summarizers.port import Demand, Step, SummaryRequest
from pipeline.summarizers.tokens import count_text

#: What chat templates put around each message, in tokens, and one for the answer's beginning.
_MESSAGE_TOKENS: Final = 5
#: How many summaries one call unites at most, however short they are.
_FAN_IN: Final = 12
_SMALLEST_CAP: Final = 32
#: A word is hardly more than two tokens.
_TOKENS_A_WORD: Final = 2
TASKS: Final = ("summary", "part", "actions", "reduce")
#: As long as a language's name, or the naming of a problem, will ever be.
_LONG_NAME: Final = "a name of some length that nobody will ever give to a language or a problem" * 2
#: Plans are the same in every attempt, whatever its fence is called: the checkpoints of one are of use to the next.
_FENCE: Final = "0f1e2d3c4b5a6978"
_NOTHING: Final = SummaryRequest(
    DocumentFields(document_id="none", account_id="none", occurred_at=datetime(2026, 9, 30, tzinfo=UTC)),
    Transcript(turns=()),
    language=None,
)


@dataclass(frozen=True, slots=True)
class Room:
    """What a call has room for: tokens of words to read, and the cap of its output."""

    profile: Profile
    cache_dir: Path
    words: int
    cap: int

    @classmethod
    def of(cls, profile: Profile, cache_dir: Path) -> Self:
        """As the profile says."""
        empty = cls(profile, cache_dir, 0, profile.output_tokens)
        briefing = Briefing(_NOTHING, _FENCE)
        prompts = max(
            empty.demand(
                briefing.messages(task(name, empty, _LONG_NAME), briefing.facts(0, 2), "", _LONG_NAME), 0
            ).input_tokens
            for name in TASKS
        )
        words = profile.usable_tokens - prompts - 2 * profile.output_tokens
        return cls(profile, cache_dir, words, profile.output_tokens)

    def smaller(self) -> Self:
        """Half of everything: for a server that has less context than was said."""
        return replace(self, words=self.words // 2, cap=max(_SMALLEST_CAP, self.cap // 2))

    def count(self, text: str, limit: int | None = None) -> int:
        """Tokens by the profile's tokenizer; above the limit any number above it."""
        return count_text(text, self.profile.encoding, self.cache_dir, limit)

    def demand(self, messages: Messages, cap: int) -> Demand:
        """What a call of these messages may take."""
        inputs = sum(self.count(message["content"]) + _MESSAGE_TOKENS for message in messages)
        return Demand(inputs, cap)

    def left(self, cap: int, so_far: str) -> int:
        """What of an output's cap is left to a text that is gone on with."""
        written = self.count(so_far, 2 * cap)
        return max(_SMALLEST_CAP, (cap if written < cap else 2 * cap) - written)

    def chunks(self, transcript: Transcript) -> list[Chunk]:
        """The transcript in parts that fit, every character in one. Raises ItemFailure `input_too_large`."""

        def cost(span: Span, limit: int) -> int:
            words = rendered(transcript, (span,))
            return self.count(words, limit) + 1 if words else 0  # one more for the line's end

        found = cut(transcript, self.words, cost)
        if not is_complete(found, transcript):
            raise AssertionError("a part of the call is in no chunk")
        return found

    def has_room_to_unite(self, text: str) -> bool:
        """Whether one call can read it beside another one like it, once no mark in it can close a fence."""
        return self.count(neutralised(text), self.words) + 1 <= self.words // 2

    def groups(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        """Neighbouring texts that one call can unite: two at least, but for the last one, which may stay alone.

        The texts are such as `has_room_to_unite`.
        """
        groups: list[tuple[str, ...]] = []
        held: list[str] = []
        spent = 0
        for text in texts:
            price = self.count(text, self.words) + 1
            if price > self.words // 2:
                raise AssertionError("a summary that leaves no room for another one was taken")
            if held and (spent + price > self.words or len(held) == _FAN_IN):
                groups.append(tuple(held))
                held, spent = [], 0
            held.append(text)
            spent += price
        return [*groups, tuple(held)]


class Learned:
    """The rooms to try, for all documents of a process, the largest first: each worker learns them for itself.

    Where a server refuses more than it ever took and then answers in a smaller room, its context is smaller than the
    profile says. Where it has taken as much before, that text was odd, and the others keep their room.
    """

    def __init__(self, room: Room) -> None:
        half = room.smaller()
        self._lock = Lock()
        self._rooms: tuple[Room, ...] = (room, half, half.smaller())
        self._taken = 0

    @property
    def rooms(self) -> tuple[Room, ...]:
        """As far as is known."""
        with self._lock:
            return self._rooms

    def answered(self, tokens: int, room: Room, refused: int | None) -> None:
        """A call of so many tokens was answered in that room, after one of `refused` tokens was too long."""
        with self._lock:
            if refused is not None and refused > self._taken and room in self._rooms:
                self._rooms = self._rooms[self._rooms.index(room) :]
            self._taken = max(self._taken, tokens)


def task(name: str, room: Room, language: str) -> str:
    """What a step asks for."""
    words = max(40, room.cap // _TOKENS_A_WORD)
    return template(name).substitute(language=language, words=words)


def planned(
    transcript: Transcript, fields: DocumentFields, language: str | None, profile: Profile, cache_dir: Path
) -> list[tuple[Step, Demand]]:
    """The calls that a document will take where nothing goes wrong, each with its input and its output's cap.

    How long the parts' summaries will be is not known: they count as three quarters of their cap.
    """
    room = Room.of(profile, cache_dir)
    briefing = Briefing(SummaryRequest(fields, transcript, language), _FENCE)
    chunks = room.chunks(transcript)
    calls: list[tuple[Step, Demand]] = []
    for number, chunk in enumerate(chunks):
        facts, words = briefing.facts(number, len(chunks)), rendered(transcript, chunk)
        for step, name in (("summary", "part" if len(chunks) > 1 else "summary"), ("actions", "actions")):
            messages = briefing.messages(task(name, room, briefing.language), facts, words)
            calls.append((Step(step, number, covers(chunk)), room.demand(messages, room.cap)))
    return [*calls, *_reductions(room, briefing, len(chunks))]


def _reductions(room: Room, briefing: Briefing, parts: int) -> list[tuple[Step, Demand]]:
    """The calls that unite so many summaries."""
    text = room.cap * 3 // 4
    prompt = room.demand(briefing.messages(task("reduce", room, briefing.language), "", ""), room.cap)
    fan_in = max(2, min(_FAN_IN, room.words // (text + 1)))
    calls: list[tuple[Step, Demand]] = []
    while parts > 1:
        full, rest = divmod(parts, fan_in)
        for size in [fan_in] * full + ([rest] if rest > 1 else []):
            calls.append((Step("reduce", len(calls)), Demand(prompt.input_tokens + size * text, room.cap)))
        parts = full + (rest > 0)
    return calls
