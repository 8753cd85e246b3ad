"""What holds for every action, in a row as in the merged set."""

import re
from typing import Final

from exports.checks.findings import Findings
from pipeline.domain.actions import CrmAction

_KEY: Final = re.compile(r"cf1-[0-9a-f]{40}(-[0-9]{1,9})?")


def check_action(action: CrmAction, place: str, findings: Findings) -> None:
    """Report a key of another scheme, and an action that is proposed though it may only be reviewed."""
    if not is_key(action.action_key):
        findings.add(place, "an action_key is not of the cf1 scheme")
    if action.disposition == "proposed" and action.kind == "update_stage":
        findings.add(place, "an update_stage is proposed: stages may only be reviewed")
    if action.disposition == "proposed" and not action.evidence:
        findings.add(place, "an action without evidence is proposed: it may only be reviewed")


def is_key(text: str) -> bool:
    """Whether it is an action key of the cf1 scheme."""
    return _KEY.fullmatch(text) is not None


def shown(key: str) -> str:
    """A key as messages may repeat it: what is not one could hold anything."""
    return key if is_key(key) else "of another scheme"
