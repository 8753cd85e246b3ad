"""What a model wrote of a meeting is no call; whoever speaks in lists is not refused."""

import pytest

from pipeline.errors import ItemFailure
from pipeline.transcripts.read import read

COMPANION = """Meeting summary for Rye and Northwind (03/04/2026)

Quick recap
The team looked at the scanners and agreed on a pilot in April.

Next steps
\u2022 Anna: send the quote by Friday.
\u2022 Ben: ask legal about the data.
\u2022 Anna: book the second demo.

Summary
Scanners for two yards
Anna showed how the scanner reads a label in the dark.
"""
FATHOM = """## Meeting Purpose
Talk about a renewal.

## Key Takeaways
  - **Seats:** forty instead of thirty.
  - **Price:** stays for a year.

## Next Steps
  - Send the order form
"""
COPILOT = """Meeting notes:
- Pricing: Ben asked for a discount.
- Pricing: Anna will look into it.

Follow-up tasks:
- Quote: send it to Ben. (Anna)
"""
GEMINI = "📝 Summary\nThey met.\n\n**Details**\n* One\n* Two\n\nSuggested next steps\n☐ Anna will send the quote.\n"


@pytest.mark.parametrize("text", [COMPANION, FATHOM, COPILOT, GEMINI])
def test_a_summary_alone_is_not_a_call(text):
    with pytest.raises(ItemFailure, match="not_a_call: a summary that a model wrote, not a call: leave it out"):
        read(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "Next steps\n- one of us sends the quote\n- the other signs\n- we all go home\n",
        "Summary\nwe met\nNext steps\nwe meet again, and nothing here is a list\n",
        "Anna: so let me share the summary\nBen: next steps\nAnna: - one\n- two\n- three\nSummary\nNext steps\n",
        "We talk about:\n- summary\n- next steps\n- action items\nand that was the whole call\n",
        "Rep: Overview\nSummary\nNext steps\nRep: that is the slide\n- a\n- b\n- c\nCustomer: fine\nRep: good\n",
    ],
)
def test_notes_and_calls_that_look_a_little_like_one_are_read(text):
    assert read(text.encode()).format == "plain"


@pytest.mark.timeout(30)
@pytest.mark.parametrize("unit", ["Summary", "- ", "#", "\n- a", " \n", "key "])
def test_any_text_is_looked_at_in_time_that_grows_with_it(unit):
    text = unit * (90_000 // len(unit))
    try:
        assert read(text.encode()).format != "summary"
    except ItemFailure as failure:
        assert failure.error_code in {"empty_input", "too_short"}  # noqa: PT017 - all outcomes but one are right
