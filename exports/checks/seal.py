"""The seal of a foreign bundle: well formed, small, and with the hash of each of the other files."""

from pathlib import Path
from typing import Final

from exports.checks.findings import Findings
from exports.checks.lines import open_regular
from exports.checks.parse import parse
from exports.seal import SEAL, Seal

#: Bytes; options, counts and hashes are far below.
_LARGEST: Final = 1 << 20


def read_seal(bundle: Path, findings: Findings) -> Seal | None:
    """The seal, or None with findings; the other files can still be checked for what they say themselves."""
    file = open_regular(bundle / SEAL, findings)
    if file is None:
        return None
    with file:
        text = file.read(_LARGEST + 1)
    if len(text) > _LARGEST:
        findings.add(SEAL, "is larger than 1 MiB")
        return None
    seal = parse(Seal, text, SEAL, findings)
    if seal is not None and seal.files.keys() != set(seal.sealed):
        findings.add(SEAL, f"files: must be exactly {', '.join(seal.sealed)}")
    return seal
