"""The account PostgreSQL runs under. It refuses root, so root hands its server to an account made for that."""

import os
import pwd
import stat
import subprocess
from pathlib import Path
from typing import Any

import structlog

from pipeline.errors import StackError

log = structlog.get_logger(__name__)

NAME = "callfold"


def unprivileged() -> str | None:
    """None for a normal user, who keeps the own account; for root the account `callfold`, made when missing."""
    if os.geteuid() != 0:
        return None
    if not _exists():
        _create()
    return NAME


def identity(user: str | None) -> dict[str, Any]:
    """Arguments of `subprocess` that run a program as `user`, without any of root's groups."""
    if user is None:
        return {}
    return {"user": user, "group": pwd.getpwnam(user).pw_gid, "extra_groups": ()}


def give(folder: Path, user: str | None) -> None:
    """Hand a folder to `user`."""
    if user is not None:
        entry = pwd.getpwnam(user)
        os.chown(folder, entry.pw_uid, entry.pw_gid)


def admit(folder: Path, user: str | None) -> None:
    """Let `user`, and no other account, pass through a folder of ours."""
    if user is not None:
        os.chown(folder, -1, pwd.getpwnam(user).pw_gid)
        _allow(folder, stat.S_IXGRP)


def open_way(folder: Path, user: str | None) -> None:
    """Let `user` reach `folder`: what is closed to everyone above it, as root's home often is, may be passed through.

    Passed through, not read: names cannot be listed. There is no narrower way for an account that is not root's.
    """
    for above in folder.parents if user is not None else ():
        if not above.stat().st_mode & stat.S_IXOTH:
            log.warning("folder opened for passing through", folder=str(above), account=user)
            _allow(above, stat.S_IXOTH)


def _allow(folder: Path, bit: int) -> None:
    folder.chmod(stat.S_IMODE(folder.stat().st_mode) | bit)


def _exists() -> bool:
    try:
        pwd.getpwnam(NAME)
    except KeyError:
        return False
    return True


def _create() -> None:
    command = ["useradd", "--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin", NAME]
    try:
        subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - a fixed command
    except (OSError, subprocess.CalledProcessError) as error:
        if not _exists():  # another start may have made it at the same moment
            raise StackError(
                f"PostgreSQL refuses to run as root and the account {NAME!r} could not be made: "
                "make it, run as a normal user, or set DATABASE_URL"
            ) from error
