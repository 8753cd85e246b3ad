"""Messages as Slack, Microsoft Teams, Discord and Telegram export them, a list alone or under a name: no call.

Source: docs.slack.dev, message events; learn.microsoft.com/graph, chatMessage; what DiscordChatExporter and Telegram
Desktop write.
"""

from typing import Any

from pipeline.domain.documents import Warning
from pipeline.transcripts.source import CHAT, Parsed, Source

NAME = "chat_messages"

_LISTS = ("messages", "value")
_BESIDE = ("messages", "chat")
#: What messages have, and turns have not.
_TELLING = frozenset({"client_msg_id", "thread_ts", "messageType", "createdDateTime", "reactions", "isPinned"})
_WORDS = frozenset({"text", "body", "content"})
#: The first ones may be of people who joined.
_FIRST = 10


def recognises(source: Source) -> bool:
    """Whether one of the first is told to be a message."""
    return any(map(are_messages, (source.json, *(source.at(name) for name in _LISTS))))


def parse(_source: Source) -> Parsed:
    """Nothing that was said."""
    return Parsed([], instead=CHAT)


def are_messages(value: Any) -> bool:
    """The same of one JSON value."""
    return isinstance(value, list) and any(map(_is_message, value[:_FIRST]))


def beside(source: Source) -> tuple[Warning, ...]:
    """A warning with the number of messages that stand beside what was said."""
    count = sum(len(found) for name in _BESIDE if are_messages(found := source.at(name)))
    return (Warning(code="chat_left_out", place=f"{count} messages"),) if count else ()


def _is_message(value: Any) -> bool:
    if not isinstance(value, dict) or _WORDS.isdisjoint(value):
        return False
    return value.get("type") == "message" or value.keys() >= {"ts", "user"} or not _TELLING.isdisjoint(value)
