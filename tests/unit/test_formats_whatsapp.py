import pytest

from pipeline.errors import ItemFailure
from pipeline.transcripts.read import read


@pytest.mark.parametrize(
    "stamp",
    ["[12/05/2026, 10:0{}:00]", "12.05.26, 10:0{} -", "5/12/26, 10:0{}\u202fAM -", "\u200e[2026-05-12, 10:0{}:00]"],
)
def test_a_chat_is_no_call(stamp):
    lines = ("Messages are end-to-end encrypted.", "Dana Kim: We renew\nin May.", "Bob: Good.")
    text = "\n".join(f"{stamp.format(minute)} {line}" for minute, line in enumerate(lines))
    with pytest.raises(ItemFailure, match="not_a_call: a chat"):
        read(text.encode())


def test_a_dialogue_below_a_date_is_a_call():
    assert read(b"12/05/2026, 10:01 - weekly call\nDana: We renew.\nBob: Good.\nDana: Yes.").format == "plain"
