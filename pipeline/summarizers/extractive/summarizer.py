"""The `extractive` summarizer behind the port."""

from pipeline.domain.results import Summary
from pipeline.errors import ItemFailure
from pipeline.summarizers.port import SummaryRequest


class Extractive:
    """Summarizes by choosing sentences; holds no state, so every thread may use one instance."""

    name = "extractive"

    def summarize(self, request: SummaryRequest) -> Summary:
        """The opening words; raises ItemFailure `empty_input` where nobody says anything."""
        for turn in request.transcript.turns:
            if turn.text.strip():
                return Summary(summary=turn.text.strip()[:300], model=self.name)
        raise ItemFailure("empty_input", "the transcript holds no words")
