"""The `openai_chat` summarizer behind the port: a summary that is streamed, then the actions under a schema.

    cut in chunks | per chunk: summary, actions | unite the summaries, in levels | unite the actions

A short call is one chunk. Each step's text is a writing of the attempt's: what an earlier attempt has finished is not
asked for again, and a summary that broke off is gone on with after its last whole sentence.
"""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Final, TypeVar

from pipeline.domain.actions import ProposedAction
from pipeline.domain.canonical import canonical
from pipeline.domain.results import Summary
from pipeline.errors import ItemFailure
from pipeline.settings import Profile
from pipeline.summarizers.openai_chat.actions import SCHEMA, parse_actions, people, united
from pipeline.summarizers.openai_chat.briefing import Briefing, neutralised, rendered
from pipeline.summarizers.openai_chat.chunks import covers
from pipeline.summarizers.openai_chat.model import Model, Question, ignore
from pipeline.summarizers.openai_chat.plan import Learned, Room, task
from pipeline.summarizers.openai_chat.prompts import VERSION
from pipeline.summarizers.output import invalid
from pipeline.summarizers.port import Attempt, Origin, Step, SummaryRequest, Writing, regenerated

_Answer = TypeVar("_Answer")

#: Codes of answers that are no good as far as they go, also where they did not come to their end.
_UNUSABLE: Final = frozenset({"invalid_output", "output_truncated", "content_filtered", "refused"})
#: So many characters show that a text was begun anew, or its last words said again, and not just gone on with.
_SAME_BEGINNING: Final = 40
_SAME_END: Final = 20


class OpenAIChat:
    """Summarizes by a model behind an OpenAI-compatible endpoint; threads share it."""

    name = "openai_chat"

    def __init__(self, profile: Profile, cache_dir: Path) -> None:
        self._model = Model(profile)
        self._learned = Learned(Room.of(profile, cache_dir))

    def summarize(self, request: SummaryRequest, attempt: Attempt) -> Summary:
        """See the port. Raises ItemFailure as the model's answers are, and `input_too_large` where nothing fits."""
        if request.transcript.is_blank():
            raise ItemFailure("empty_input", "the transcript holds no words")
        rooms, refused = self._learned.rooms, None
        for room in rooms:
            steps = _Steps(self._model, self._learned, room, refused, request, attempt)
            try:
                return steps.summary()
            except ItemFailure as failed:
                if failed.error_code != "input_too_large" or room is rooms[-1]:
                    raise
                refused = steps.asked if failed.condition == "context_too_long" else None
        raise AssertionError("unreachable: in the last room a failure stands")


class _Steps:
    """The steps of one document in one attempt. `refused`: how many tokens did not fit before its room was halved."""

    def __init__(
        self,
        model: Model,
        learned: Learned,
        room: Room,
        refused: int | None,
        request: SummaryRequest,
        attempt: Attempt,
    ) -> None:
        #: tokens of the last call, its input and its output's cap
        self.asked = 0
        self._model, self._attempt = model, attempt
        self._learned, self._room, self._refused = learned, room, refused
        self._request = request
        self._briefing = Briefing(request)
        self._owners = people(request.transcript, request.fields)
        self._called = room.profile.model
        self._done = 0
        self._steps = 1

    def summary(self) -> Summary:
        """All steps."""
        transcript = self._request.transcript
        chunks = self._room.chunks(transcript)
        self._steps = 2 * len(chunks) + (len(chunks) > 1) * len(chunks) // 2
        texts: list[str] = []
        actions: list[tuple[ProposedAction, ...]] = []
        for number, chunk in enumerate(chunks):
            facts, words = self._briefing.facts(number, len(chunks)), rendered(transcript, chunk)
            asked = "part" if len(chunks) > 1 else "summary"
            texts.append(self._text(Step("summary", number, covers(chunk)), asked, facts, words))
            actions.append(self._actions(Step("actions", number, covers(chunk)), facts, words))
        return Summary(summary=self._united(texts), actions=united(actions), model=self._called)

    def _united(self, texts: list[str]) -> str:
        """One summary out of those of the parts, level by level; each level has half as many at most.

        A model may have been talked into writing the fence's end, which stood before its eyes: that is harmless, too.
        """
        number = 0
        while len(texts) > 1:
            level: list[str] = []
            for group in self._room.groups([neutralised(text) for text in texts]):
                if len(group) == 1:
                    level.append(group[0])
                    continue
                level.append(self._text(Step("reduce", number), "reduce", "The summaries:", "\n\n".join(group)))
                number += 1
            texts = level
        return texts[0]

    def _text(self, step: Step, asked: str, facts: str, words: str) -> str:
        """A step whose answer is text: streamed, kept as it grows, gone on with where it broke off."""
        order = task(asked, self._room, self._briefing.language)
        writing = self._attempt.writing(step, self._origin(order, facts, words))

        def is_fit() -> bool:
            return asked == "summary" or self._room.has_room_to_unite(writing.text)

        def ask(cap: int, problem: str | None) -> None:
            before = writing.text

            def check(heard: str) -> None:
                said_once = _without_repetition(before, heard) if before else None
                if said_once is not None:
                    writing.restart()
                    writing.add(said_once)
                if not is_fit():
                    raise invalid("it is longer than was asked for", "output_degenerate")

            cap = self._room.left(cap, before)
            messages = self._briefing.messages(order, facts, words, problem, before)
            self._ask(step, Question(messages, cap), writing, check, _continued(writing))

        if writing.done and not is_fit():  # its context was larger
            writing.restart()
        if not writing.done:
            self._until_usable(ask)
        self._finish(writing)
        return writing.text.strip()

    def _actions(self, step: Step, facts: str, words: str) -> tuple[ProposedAction, ...]:
        """A step whose answer is JSON under the schema: kept once it was found valid, never in part."""
        order = task("actions", self._room, self._briefing.language)
        writing = self._attempt.writing(step, self._origin(order, facts, words))

        def ask(cap: int, problem: str | None) -> tuple[ProposedAction, ...]:
            def valid(heard: str) -> tuple[str, tuple[ProposedAction, ...]]:
                return heard, parse_actions(heard, self._owners, strict=problem is None)

            messages = self._briefing.messages(order, facts, words, problem)
            heard, found = self._ask(step, Question(messages, cap, SCHEMA), writing, valid)
            writing.restart()
            writing.add(heard)
            return found

        found = self._stored(writing)
        if found is None:
            found = self._until_usable(ask)
        self._finish(writing)
        return found

    def _stored(self, writing: Writing) -> tuple[ProposedAction, ...] | None:
        """What an earlier attempt has finished, unless the code that stored it allowed more than ours."""
        if not writing.done:
            return None
        try:
            return parse_actions(writing.text, self._owners, strict=False)
        except ItemFailure:
            writing.restart()
            return None

    def _ask(
        self,
        step: Step,
        question: Question,
        writing: Writing,
        check: Callable[[str], _Answer],
        hear: Callable[[str], None] = ignore,
    ) -> _Answer:
        """One call: what `check` makes of its answer; a failed check is the call's failure.

        What broke off is left in `writing`, to be gone on with; of an answer that ended and is no good nothing is.
        """
        before = writing.text
        demand = self._room.demand(question.messages, question.output_tokens)
        self.asked = demand.input_tokens + demand.output_tokens
        with self._attempt.call(step, demand) as call:
            try:
                answer = check(self._model.ask(question, call, hear))
            except ItemFailure as failed:
                call.condition = failed.condition
                is_garbled = failed.condition == "provider_malformed_response" and writing.text != before
                if call.has_ended or is_garbled or failed.error_code in _UNUSABLE:
                    writing.restart()
                raise
            self._called = call.model or self._called
            self._learned.answered(self.asked, self._room, self._refused)
        return answer

    def _until_usable(self, ask: Callable[[int, str | None], _Answer]) -> _Answer:
        """Ask again with the problem named; an answer that was cut at its cap is asked for once with twice the cap."""
        cap = self._room.cap

        def with_cap(problem: str | None) -> _Answer:
            nonlocal cap
            try:
                return ask(cap, problem)
            except ItemFailure as failed:
                if failed.error_code == "output_truncated":
                    cap = 2 * self._room.cap
                raise

        return regenerated(with_cap)

    def _finish(self, writing: Writing) -> None:
        """One step more is done, by this attempt or by an earlier one."""
        self._done += 1
        if not writing.done:
            writing.finish(min(99, 100 * self._done // (self._steps + 1)))

    def _origin(self, order: str, facts: str, words: str) -> Origin:
        """What a step's text is made of; the fence's name is made up anew each time and says nothing."""
        profile = self._room.profile
        parameters = {
            "address": profile.address,
            "temperature": profile.temperature,
            "top_p": profile.top_p,
            "service_tier": profile.service_tier,
            "output_tokens": self._room.cap,
            "structured_output": profile.structured_output,
        }
        return Origin(
            input_sha256=sha256(canonical([order, facts, words])).hexdigest(),
            prompt_version=VERSION,
            model=profile.model or "",
            parameters=canonical(parameters).decode(),
            seed=profile.seed,
        )


def _continued(writing: Writing) -> Callable[[str], None]:
    """Adds what is heard; where a text is gone on with and neither side has a blank at the seam, one is put there."""
    begun = False

    def hear(words: str) -> None:
        nonlocal begun
        if not begun and words:
            begun = True
            if writing.text and _needs_a_blank(writing.text[-1], words[0]):
                words = f" {words}"
        writing.add(words)

    return hear


def _without_repetition(before: str, heard: str) -> str | None:
    """The whole text, where the model began it anew or said its last words again; None where it just went on."""
    known, rest = before.strip(), heard.lstrip()
    if rest.startswith(known[:_SAME_BEGINNING]):
        return rest
    for size in range(min(len(known), len(rest)), _SAME_END - 1, -1):
        if known.endswith(rest[:size]):
            return known + rest[size:]
    return None


def _needs_a_blank(last: str, first: str) -> bool:
    """Chinese and Japanese put none after a sentence."""
    return not last.isspace() and last not in "\u3002\uff01\uff1f" and first.isalnum()
