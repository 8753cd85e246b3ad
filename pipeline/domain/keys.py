"""An action's key: the one that the predecessor job gave it, else one that is made of its anchor.

A CRM knows an action by its key. So no text, owner, model or time is in it, and once given it stays: a successor's
action inherits the key of the predecessor's action that it equals, or that shares an evidence turn with it. Where two
unite, the older key stays and the other is in `replaces`.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from pipeline.domain.actions import CrmAction, FoundAction, MergedAction
from pipeline.domain.canonical import canonical
from pipeline.domain.evidence import normalise

Identity = tuple[str | None, ...]


class Bearer(NamedTuple):
    """What an action's key depends on. `anchor`: its earliest evidence, or its first source and no turn."""

    kind: str
    anchor: tuple[str, int | None]
    identity: Identity
    turns: tuple[tuple[str, int], ...]


class Key(NamedTuple):
    """The key, and those of the predecessor's other actions that went into this one."""

    action_key: str
    replaces: tuple[str, ...] = ()


def keys(workspace: str, bearers: Sequence[Bearer], inherited: Iterable[CrmAction] = ()) -> list[Key]:
    """One key per bearer, in their order; `inherited` are the predecessor's actions of the group, oldest first.

    A fresh key that is taken already gets `-2`, `-3`.
    """
    before = _once(inherited)
    legacies = _legacies(bearers, before)
    taken = {key for action in before for key in (action.action_key, *_replaced(action))}
    found = []
    for bearer, legacy in zip(bearers, legacies, strict=True):
        key = _united(legacy) if legacy else Key(_fresh(workspace, bearer, taken))
        taken.add(key.action_key)
        found.append(key)
    return found


def identity(action: FoundAction | CrmAction, opportunity_id: str | None) -> Identity:
    """What two actions must have in common to be one."""
    text = normalise(action.text).strip()
    return (action.kind, action.owner, opportunity_id, text, action.proposed_stage)


def _once(inherited: Iterable[CrmAction]) -> list[CrmAction]:
    """In a cancelled job nothing was merged: one key may stand in several rows, or be replaced. The first has it."""
    once: list[CrmAction] = []
    seen: set[str] = set()
    for action in inherited:
        if action.action_key not in seen:
            once.append(action)
            seen |= {action.action_key, *_replaced(action)}
    return once


def _legacies(bearers: Sequence[Bearer], before: Sequence[CrmAction]) -> list[list[CrmAction]]:
    """Of each bearer the actions whose heir it is. Each goes to one: its equal, else the first free one on a turn."""
    equal = {bearer.identity: place for place, bearer in enumerate(bearers)}
    heirs = [equal.get(identity(action, action.opportunity_id)) for action in before]
    on_turn: defaultdict[tuple[str, str, int], list[int]] = defaultdict(list)
    for place, bearer in enumerate(bearers):
        for document_id, turn in bearer.turns:
            on_turn[bearer.kind, document_id, turn].append(place)
    heired = {heir for heir in heirs if heir is not None}
    legacies: list[list[CrmAction]] = [[] for _ in bearers]
    for action, equal_heir in zip(before, heirs, strict=True):
        heir = _near(action, on_turn, heired) if equal_heir is None else equal_heir
        if heir is not None:
            heired.add(heir)
            legacies[heir].append(action)
    return legacies


def _near(action: CrmAction, on_turn: Mapping[tuple[str, str, int], list[int]], heired: set[int]) -> int | None:
    """The first bearer that shares an evidence turn with the action; one that has no legacy yet comes first."""
    turns = {(action.kind, quote.document_id, quote.turn) for quote in action.evidence}
    near = {place for turn in turns for place in on_turn.get(turn, ())}
    return min(near, key=lambda place: (place in heired, place), default=None)


def _united(legacy: Sequence[CrmAction]) -> Key:
    first, *others = [key for action in legacy for key in (action.action_key, *_replaced(action))]
    return Key(first, tuple(dict.fromkeys(others)))


def _replaced(action: CrmAction) -> tuple[str, ...]:
    return action.replaces if isinstance(action, MergedAction) else ()


def _fresh(workspace: str, bearer: Bearer, taken: set[str]) -> str:
    anchored = canonical([workspace, bearer.kind, *bearer.anchor])
    key = "cf1-" + hashlib.sha256(anchored).hexdigest()[:40]
    number, candidate = 1, key
    while candidate in taken:
        number += 1
        candidate = f"{key}-{number}"
    return candidate
