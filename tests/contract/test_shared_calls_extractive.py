"""Real conversations, read from beside the repository: never a crash, verbatim quotes, few and sober actions."""

import json
from collections import Counter
from pathlib import Path

import pytest

from pipeline.domain.documents import DocumentFields, Transcript, Turn
from pipeline.settings import Profile
from pipeline.summarizers.extractive.summarizer import Extractive
from pipeline.summarizers.port import SummaryRequest
from pipeline.summarizers.unrecorded import Unrecorded

CALLS = Path(__file__).parents[3] / "shared" / "data" / "calls"
SOURCES = [
    "aci_bench",
    "bitcoin_transcripts",
    "casino_negotiation",
    "crosswoz_zh",
    "ladybug_otter",
    "ms_call_center",
    "mts_dialog",
    "polygon_meet",
    "primock57",
    "qmsum",
    "w3c_ccg",
]
#: Labels of roles and numbers: nobody in these may become an owner.
NAMELESS = {"aci_bench", "casino_negotiation", "crosswoz_zh", "ms_call_center", "mts_dialog", "primock57"}
MOST_CALLS = 40


@pytest.mark.parametrize("source", SOURCES)
def test_real_calls_give_a_summary_and_few_actions_with_verbatim_quotes(source):
    path = CALLS / f"{source}.jsonl"
    if not path.exists():
        pytest.skip(f"{source}.jsonl is not beside the repository")
    rows = [json.loads(line) for line in path.read_text().splitlines()[:MOST_CALLS]]
    kinds: Counter[str] = Counter()
    for row in rows:
        request = asked(row)
        summary = Extractive().summarize(request, Unrecorded(Profile(), 60.0))
        assert 0 < len(summary.summary) < 4_000
        kinds.update(action.kind for action in summary.actions)
        assert_sober(request.transcript, summary, nameless=source in NAMELESS)
    # None of these is a sales call: more than one action in two calls would be noise.
    assert kinds.total() <= max(2, len(rows) / 2)


def asked(row):
    turns = tuple(Turn(speaker=turn.get("speaker"), text=turn["text"]) for turn in row["turns"])
    return SummaryRequest(
        fields=DocumentFields(document_id=row["id"], account_id="acme"),
        transcript=Transcript(turns=turns),
        language=None,
    )


def assert_sober(transcript, summary, *, nameless):
    labels = {turn.speaker for turn in transcript.turns}
    for action in summary.actions:
        assert all(quote.quote in transcript.turns[quote.turn].text for quote in action.quotes)
        assert action.owner is None or action.owner in labels
        assert not (nameless and action.owner)
        if action.due_text:
            assert any(action.due_text in quote.quote for quote in action.quotes)
