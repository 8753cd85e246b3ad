import pytest

from pipeline.errors import ItemFailure
from pipeline.transcripts.read import read

CHATS = {
    "cloud": '00:06:27\tDana | Rye:\tgm\r\n00:09:08\tBob:\tReplying to "gm":\n\nlast one : ok\r\n',
    "saved": "08:58:13\t From Dana (she/her) : Welcome: all!\n09:01:53\t From Bob : Ok?\n\nI hope\n",
    "new": "\n09:01:02 From Dana to Everyone:\n\tWelcome.\n2026-11-13 09:01:09 From  Bob  to  Dana(Direct):\n\tHi.",
}


@pytest.mark.parametrize("chat", CHATS.values(), ids=CHATS)
def test_a_chat_is_no_call(chat):
    with pytest.raises(ItemFailure, match="not_a_call: a chat"):
        read(chat.encode())


def test_a_chat_of_more_messages_than_any_call_has_turns_is_a_chat():
    with pytest.raises(ItemFailure, match="not_a_call: a chat"):
        read(b"00:06:27\tDana:\tgm\n" * 200_001)


@pytest.mark.parametrize(
    "speech", ["00:06:27 Dana: hello\n00:06:29 Bob: hi\n00:06:31 Dana: we renew", "00:06:27\tDana: hello\n"]
)
def test_a_time_and_a_name_are_speech_where_no_tab_follows(speech):
    assert read(speech.encode()).format == "plain"
