"""`file:` URIs (RFC 8089) and the folders that they name: one spelling of each folder, no guess at a sloppy one.

`file:///srv/crm`, `file://localhost/srv/crm/` and `file:/srv/crm` all are /srv/crm, written as the first.
"""

import os
import re
from pathlib import Path
from typing import Final
from urllib.parse import unquote_to_bytes

_URI: Final = re.compile(r"file:(?://(?P<host>[^/?#]*))?(?P<path>/(?!/)[^?#]*)", re.IGNORECASE)
_STRAY_PERCENT: Final = re.compile(r"%(?![0-9a-fA-F]{2})")
#: NUL and a slash inside a name: no file system has them.
_NO_NAME: Final = re.compile(r"%(00|2f)", re.IGNORECASE)


def folder_of_uri(uri: str) -> Path:
    """The absolute folder that the URI names. Raises ValueError with what to write instead."""
    found = _URI.fullmatch(uri)
    if found is None:
        raise ValueError("only file:// is delivered to: write file:///absolute/folder")
    if (found["host"] or "localhost").lower() != "localhost":
        raise ValueError("a file:// URI names no other host: mount it here and write file:///absolute/folder")
    path = found["path"]
    if _STRAY_PERCENT.search(path) or _NO_NAME.search(path) or not path.isprintable():
        raise ValueError("not a path: write what is special in a URI as % and two hex digits, and never %00 or %2F")
    folder = Path(os.fsdecode(unquote_to_bytes(path)))
    if ".." in folder.parts:
        raise ValueError("a path with .. may lead anywhere: write the folder itself")
    return folder


def uri_of_folder(folder: Path) -> str:
    """The one URI of an absolute folder, as receipts have it."""
    return folder.as_uri()


def checked(uri: str) -> str:
    """The URI in its one spelling. Raises ValueError."""
    return uri_of_folder(folder_of_uri(uri))
