"""What the model is told: who it works for, the words of a call behind a fence, and the task, which stands last.

The first message is the same for every call, and of one document's calls so is all before the task: providers read
what they have read before for less. The fence's name is made up for each attempt; whatever in the words could pass for
a fence or for a chat template's token gets a zero-width character, which the check of quotes does not see.
"""

import re
import secrets
from collections.abc import Iterable
from typing import Final

from pipeline.domain.documents import Transcript
from pipeline.summarizers.openai_chat.chunks import Span
from pipeline.summarizers.openai_chat.prompts import template
from pipeline.summarizers.port import SummaryRequest

Messages = tuple[dict[str, str], ...]

_OWN_LANGUAGE: Final = "the language in which most of the call is held"
_LONGEST_LABEL: Final = 80
_ZERO_WIDTH: Final = "\u200b"
#: Whatever may look like the end of a line; the check of quotes takes it, and the indent, for a blank.
_LINE_END: Final = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_INDENTED: Final = r"\g<0>    "
#: Where every chat template's tokens begin or end, and our own fence: <|im_end|>, </s>, <think>, <turn|>, [/INST].
_MARKS: Final = re.compile(r"(?<=<)(?=[A-Za-z_/|\uff5c])|(?<=[|\uff5c])(?=>)|(?<=\[)(?=/?[A-Z][A-Z_]+\])")


def neutralised(text: str) -> str:
    """The text without anything that a model's server could take for a mark of its own; twice is once."""
    return _MARKS.sub(_ZERO_WIDTH, text)


def rendered(transcript: Transcript, spans: Iterable[Span]) -> str:
    """The spans as the model reads them: a line a turn, with its number and its speaker; blank ones are left out.

    Further lines of a turn are indented: whoever says "[9] Kim: …" begins no turn by it.
    """
    return "\n".join(line for span in spans if (line := _line(transcript, span)))


def _line(transcript: Transcript, span: Span) -> str:
    turn = transcript.turns[span.turn]
    words = turn.text[span.start : span.end]
    if not words.strip():
        return ""
    speaker = " ".join((turn.speaker or "").split())[:_LONGEST_LABEL]
    label = f" {speaker}:" if speaker else ""
    return neutralised(f"[{span.turn}]{label} {_LINE_END.sub(_INDENTED, words)}")


class Briefing:
    """The messages of one document's calls; they share the fence, which is made up unless `name` is given."""

    def __init__(self, request: SummaryRequest, name: str | None = None) -> None:
        self._fence = f"call-{name or secrets.token_hex(8)}"
        self.language = request.language or _OWN_LANGUAGE
        occurred_at = request.fields.occurred_at
        self._facts = f"The call was held on {occurred_at:%A, %Y-%m-%d}. " if occurred_at else ""

    def facts(self, part: int, parts: int) -> str:
        """What is known of the call besides its words."""
        which = f"Part {part + 1} of {parts} of its transcript:" if parts > 1 else "Its transcript:"
        return self._facts + which

    def messages(self, task: str, facts: str, data: str, problem: str | None = None, so_far: str = "") -> Messages:
        """Of one call: its task, the words to read, what was wrong before, and the text to go on with."""
        asked = task if problem is None else f"{task}\n\n{template('again').substitute(problem=problem)}"
        call = template("call").substitute(facts=facts, fence=self._fence, data=data, task=asked)
        told = ({"role": "system", "content": template("system").substitute()}, {"role": "user", "content": call})
        if not so_far:
            return told
        go_on = {"role": "user", "content": template("go_on").substitute()}
        return (*told, {"role": "assistant", "content": neutralised(so_far)}, go_on)
