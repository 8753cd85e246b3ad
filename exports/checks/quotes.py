"""Whether quotes stand where the evidence says, and how many were looked up."""

from collections.abc import Iterable, Mapping

from exports.checks.findings import Findings
from pipeline.domain.actions import Evidence
from pipeline.domain.documents import Transcript
from pipeline.domain.evidence import stands


class QuoteCheck:
    """Holds evidence against the transcripts, where there are any. `checked` counts the quotes held against one."""

    def __init__(self, transcripts: Mapping[str, Transcript] | None, findings: Findings) -> None:
        self._transcripts = transcripts
        self._findings = findings
        self._absent: set[str] = set()
        self.checked = 0

    def expect(self, document_id: str, place: str) -> None:
        """A document that quotes come from: report it when its transcript was not handed over."""
        if self._transcripts is not None:
            self._transcript(self._transcripts, document_id, place)

    def check(self, evidence: Iterable[Evidence], place: str) -> None:
        """Report each quote that does not stand at its turn, start and end."""
        for quote in evidence:
            where = f"the quote of document {quote.document_id} at turn {quote.turn}, {quote.start} to {quote.end},"
            if quote.end - quote.start != len(quote.quote):
                self._findings.add(place, f"{where} does not have that length")
            elif self._transcripts is not None:
                transcript = self._transcript(self._transcripts, quote.document_id, place)
                self.checked += transcript is not None
                if transcript is not None and not stands(quote, transcript):
                    self._findings.add(place, f"{where} does not stand there")

    def _transcript(self, transcripts: Mapping[str, Transcript], document_id: str, place: str) -> Transcript | None:
        transcript = transcripts.get(document_id)
        if transcript is None and document_id not in self._absent:
            self._absent.add(document_id)
            self._findings.add(place, f"no transcript was given for document {document_id}")
        return transcript
