"""Programs that come inside Python wheels."""

import importlib.util
import os
from pathlib import Path


def program_in(package: str, *parts: str) -> Path | None:
    """The executable at `parts` below an installed package, which is not imported; None where there is none."""
    spec = importlib.util.find_spec(package)
    for root in (spec.submodule_search_locations if spec else None) or ():
        path = Path(root, *parts)
        if os.access(path, os.X_OK):
            return path
    return None
