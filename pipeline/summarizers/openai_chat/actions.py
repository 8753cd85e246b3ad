"""The actions of a call as the model gives them: the schema that it is held to, and the check that trusts nothing.

The schema keeps to what every server understands: one object, all fields required, null instead of optional, no
lengths, numbers or patterns. Those are checked here, and whatever a server promises is checked here again.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Final, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from pipeline.domain.actions import ActionKind, ProposedAction, Quote
from pipeline.domain.documents import DocumentFields, Text, Transcript
from pipeline.domain.evidence import normalise
from pipeline.domain.speakers import owner_finder
from pipeline.domain.verify_quotes import UNKNOWN_OWNER
from pipeline.summarizers.output import check_action, invalid, read

_TEXT_OR_NULL: Final = {"type": ["string", "null"]}
SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "actions": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "kind": {"type": "string", "enum": list(get_args(ActionKind))},
                    "text": {"type": "string"},
                    "owner": _TEXT_OR_NULL,
                    "due_text": _TEXT_OR_NULL,
                    "due_on": _TEXT_OR_NULL,
                    "proposed_stage": _TEXT_OR_NULL,
                    "quotes": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {"turn": {"type": "integer"}, "quote": {"type": "string"}},
                            "required": ["turn", "quote"],
                            "additionalProperties": False,
                        },
                    },
                },
                "required": ["kind", "text", "owner", "due_text", "due_on", "proposed_stage", "quotes"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["actions"],
    "additionalProperties": False,
}


class _Shape(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


def _null_if_blank(given: object) -> object:
    return None if isinstance(given, str) and not given.strip() else given


#: Models that were told to write null write "" now and then.
_OrNull: Final = BeforeValidator(_null_if_blank)


class _Quote(_Shape):
    turn: int | None = None
    quote: Text


class _Action(_Shape):
    kind: ActionKind
    text: Text = Field(min_length=1, max_length=2_000)
    owner: Annotated[Text | None, _OrNull] = None
    due_text: Annotated[Text | None, _OrNull] = None
    due_on: Annotated[str | None, Field(pattern=r"^\d{4}-\d{2}-\d{2}$"), _OrNull] = None
    proposed_stage: Annotated[Text | None, _OrNull] = None
    quotes: tuple[_Quote, ...] = ()


class _Answer(_Shape):
    actions: tuple[_Action, ...]


def people(transcript: Transcript, fields: DocumentFields) -> dict[str, str | None]:
    """Whose action it is where the model names somebody of the call, by normalised names: the speaker or nobody.

    Nobody stands for a label that names none ("Speaker 1", or one for the whole call): the model did as it was told,
    so that is no reason to ask again. The owner that the caller hints at is always somebody.
    """
    owner_of = owner_finder(transcript.turns)
    labels = dict.fromkeys(turn.speaker for turn in transcript.turns if turn.speaker)
    owners = {_known_as(label): owner_of(label) for label in labels}
    return owners | ({_known_as(fields.owner_hint): fields.owner_hint} if fields.owner_hint else {})


def _known_as(name: str) -> str:
    """A name whatever its apostrophes and blanks, and without what makes it harmless to a chat template."""
    return normalise(name).strip()


def parse_actions(raw: str, owners: Mapping[str, str | None], *, strict: bool = True) -> tuple[ProposedAction, ...]:
    """The actions in a model's raw JSON text.

    Raises ItemFailure `invalid_output` that names the field and the rule. An owner who is nobody of the call is one
    only while `strict`; after that the action stays, without him and with the reason.
    """
    found = read(raw, _Answer).actions
    for index, action in enumerate(found):
        check_action(index, action.text, action.due_on)
        if strict and action.owner is not None and _known_as(action.owner) not in owners:
            raise invalid(f"actions[{index}].owner is not one of the call's speakers", "output_reference_invalid")
    return tuple(_proposed(action, owners) for action in found)


def _proposed(action: _Action, owners: Mapping[str, str | None]) -> ProposedAction:
    named = None if action.owner is None else _known_as(action.owner)
    return ProposedAction(
        kind=action.kind,
        text=action.text,
        owner=None if named is None else owners.get(named),
        due_text=action.due_text,
        due_on=action.due_on,
        proposed_stage=action.proposed_stage,
        quotes=tuple(Quote(quote=quote.quote, turn=quote.turn) for quote in action.quotes),
        reasons=() if named is None or named in owners else (UNKNOWN_OWNER,),
    )


def united(parts: Iterable[tuple[ProposedAction, ...]]) -> tuple[ProposedAction, ...]:
    """The actions of a call's parts: those that say the same unite their quotes, the first one's words stand."""
    found: dict[tuple[object, ...], ProposedAction] = {}
    for action in (action for part in parts for action in part):
        same = (action.kind, action.owner, normalise(action.text).strip(), action.proposed_stage)
        first = found.get(same)
        if first is None:
            found[same] = action
            continue
        quotes = tuple(dict.fromkeys((*first.quotes, *action.quotes)))
        reasons = tuple(sorted({*first.reasons, *action.reasons}))
        due = {name: getattr(first, name) or getattr(action, name) for name in ("due_text", "due_on")}
        found[same] = first.model_copy(update={"quotes": quotes, "reasons": reasons, **due})
    return tuple(found.values())
