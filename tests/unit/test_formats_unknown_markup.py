import pytest

from pipeline.errors import ItemFailure
from pipeline.transcripts.read import read

SAID = "Anna: Good morning.\nBen: Hello. I will call you.\n"


@pytest.mark.parametrize(
    "text",
    [
        f"<!DOCTYPE html>\n<html><body><p>{SAID}</p></body></html>",
        f"\n<!-- saved -->\n<div class='transcript'>{SAID}</div>",
        f"<p>{SAID}</p>",
        f"{{\\rtf1\\ansi\\deff0 {{\\fonttbl}} {SAID}}}",
        f"<?xml version='1.0'?><transcript><text start='1'>{SAID}</text></transcript>",
        f"<transcript><text start='1'>{SAID}</text></transcript>",
    ],
)
def test_markup_is_refused_with_what_to_do(text):
    with pytest.raises(ItemFailure, match=r"unreadable_input.*save it as \.txt or \.docx"):
        read(text.encode())


@pytest.mark.parametrize(
    "first", ["<Anna> Good morning.", "<v Anna>Good morning.", "<i>Anna</i>: hi", "<3 this call", "{a}"]
)
def test_angle_brackets_alone_are_no_markup(first):
    assert read(f"{first}\n{SAID}".encode()).format == "plain"
