"""Reading a file of unknown make: regular, hashed as it is read, split at newlines, no line larger than is sane."""

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from exports.checks.findings import Findings

#: Bytes. A row holds a summary and the quotes of one call; more on one line is an attack on the reader.
LONGEST_LINE: Final = 16 << 20


def read_lines(path: Path, findings: Findings, sealed_sha256: str | None) -> Iterator[tuple[int, bytes]]:
    """(number from 1, line without its newline) of each sound line; problems of the file go to the findings.

    `sealed_sha256` is what the file must hash to, None where no seal says so.
    """
    file = open_regular(path, findings)
    if file is None:
        return
    digest = hashlib.sha256()
    number = 0
    with file:
        while line := file.readline(LONGEST_LINE):
            number += 1
            digest.update(line)
            if line.endswith(b"\n"):
                yield number, line[:-1]
            elif len(line) < LONGEST_LINE:
                findings.add(f"{path.name}:{number}", "does not end with a newline: the file is cut")
            else:
                findings.add(f"{path.name}:{number}", "is longer than 16 MiB")
                _skip_line(file, digest)
    if sealed_sha256 is not None and digest.hexdigest() != sealed_sha256:
        findings.add(path.name, "its sha256 is not the one in the seal")


def open_regular(path: Path, findings: Findings) -> BinaryIO | None:
    """The file opened for reading, or None with a finding where it is missing, a link, a pipe or a folder."""
    try:
        # Without O_NONBLOCK a named pipe would hold the check for ever.
        opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        findings.add(path.name, f"cannot be read, links are not followed: {error.strerror}")
        return None
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        os.close(opened)
        findings.add(path.name, "is not a regular file")
        return None
    return os.fdopen(opened, "rb")


def _skip_line(file: BinaryIO, digest: "hashlib._Hash") -> None:
    while rest := file.readline(LONGEST_LINE):
        digest.update(rest)
        if rest.endswith(b"\n"):
            return
