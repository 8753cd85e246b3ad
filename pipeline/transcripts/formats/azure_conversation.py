"""A conversation as it is given to Azure's language service: analysisInput.conversations[].conversationItems[].

Source: learn.microsoft.com/azure/ai-services/language-service, conversation summarization. Times in ticks of 100 ns.
"""

from pydantic import Field

from pipeline.domain.documents import Turn
from pipeline.errors import ItemFailure
from pipeline.transcripts.moments import after
from pipeline.transcripts.source import Parsed, Source
from pipeline.transcripts.vendor import Label, Many, Shape, Ticks, Words, read_as, turn

NAME = "azure_conversation"


class _Timing(Shape):
    offset: Ticks = None
    duration: Ticks = None


class _Item(Shape):
    speaker: Label = Field(None, alias="participantId")
    text: Words = ""
    itn: Words = ""
    lexical: Words = ""
    timing: _Timing | None = Field(None, alias="conversationItemLevelTiming")


class _Conversation(Shape):
    items: Many[_Item] = Field((), alias="conversationItems")


class _Input(Shape):
    conversations: Many[_Conversation] = ()


class _Request(Shape):
    input: _Input = Field(alias="analysisInput")


def recognises(source: Source) -> bool:
    """Whether there is an input with conversations."""
    return isinstance(source.at("analysisInput", "conversations"), list)


def parse(source: Source) -> Parsed:
    """A turn for each item. Raises ItemFailure(unreadable_input) where there are several conversations."""
    request, doubts = read_as(_Request, source.json, "Azure")
    spoken = [each for each in request.input.conversations if each.items]
    if len(spoken) > 1:
        raise ItemFailure("unreadable_input", f"{len(spoken)} conversations: submit each as a document of its own")
    return Parsed([_turn(item) for each in spoken for item in each.items], doubts)


def _turn(item: _Item) -> Turn:
    timing = item.timing or _Timing()
    return turn(
        item.text or item.itn or item.lexical, item.speaker, timing.offset, after(timing.offset, timing.duration)
    )
