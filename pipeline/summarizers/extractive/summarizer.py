"""The `extractive` summarizer behind the port."""

from pipeline.domain.documents import Warning
from pipeline.domain.results import Summary, Usage
from pipeline.errors import ItemFailure
from pipeline.summarizers.extractive.actions import find_actions
from pipeline.summarizers.extractive.central import most_central
from pipeline.summarizers.extractive.language import is_english
from pipeline.summarizers.extractive.sentences import Sentence, split
from pipeline.summarizers.port import Attempt, Step, SummaryRequest

#: Names the rules: another version may find other actions in the same call.
MODEL = "extractive-1"
_NO_COST = Usage(input_tokens=0, output_tokens=0, cost_usd=0.0)


class Extractive:
    """Summarizes by choosing sentences; holds no state, so every thread may use one instance."""

    name = "extractive"

    def summarize(self, request: SummaryRequest, attempt: Attempt) -> Summary:
        """Split, find what people committed to in an English call, choose the central sentences.

        Raises ItemFailure `empty_input` where nobody says anything.
        """
        with attempt.call(Step("summarize")) as call:
            call.usage, call.model = _NO_COST, MODEL
            return _summary(request)


def _summary(request: SummaryRequest) -> Summary:
    sentences = split(request.transcript)
    if not sentences:
        raise ItemFailure("empty_input", "the transcript holds no words")
    english = is_english(sentences)
    actions = find_actions(request.transcript, sentences) if english else ()
    quoted = {(quote.turn, quote.quote) for action in actions for quote in action.quotes}
    weighty = {sentence for sentence in sentences if (sentence.turn, sentence.text) in quoted}
    return Summary(
        summary="\n".join(_said(most_central(sentences, weighty), english=english)),
        actions=actions,
        model=MODEL,
        warnings=_warnings(request.language, english=english),
    )


def _said(sentences: list[Sentence], *, english: bool) -> list[str]:
    """One line per stretch of the same speaker: `Dana: …`; English without its `um`."""
    lines: list[str] = []
    speaker: str | None = None
    for sentence in sentences:
        words = (english and sentence.plain) or sentence.shown
        if lines and sentence.speaker == speaker:
            lines[-1] += f" {words}"
        else:
            lines.append(f"{sentence.speaker}: {words}" if sentence.speaker else words)
        speaker = sentence.speaker
    return lines


def _warnings(language: str | None, *, english: bool) -> tuple[Warning, ...]:
    # Sentences are quoted, never translated; only English is told apart from the rest.
    if language is None or language.lower().startswith("en") == english:
        return ()
    return (Warning(code="not_translated", place="summary"),)
