"""Flower beside the stack: on loopback, read-only, behind a password that stays on this machine."""

import secrets
import socket
from typing import Final

from pipeline.cli.programs import CELERY, ENV
from pipeline.errors import InvalidRequest, Problem, StackError
from pipeline.settings import Settings
from pipeline.stack import PartStatus, Program
from pipeline.stack.folder import write_private
from pipeline.stack.ports import LOOPBACK

NAME: Final = "flower"
USER: Final = "callfold"

_ANSWER_SECONDS: Final = 2.0
_PORTS: Final = 20
_MAX_TASKS: Final = 10_000


def program(settings: Settings) -> Program:
    """How to run it, told by the environment: an argument list would show the password to every user."""
    port, word = _free_port(settings.flower_port), password(settings)
    env = {
        "FLOWER_ADDRESS": LOOPBACK,
        "FLOWER_PORT": str(port),
        "FLOWER_READ_ONLY": "true",
        "FLOWER_MAX_TASKS": str(_MAX_TASKS),
    }
    if word:
        env["FLOWER_BASIC_AUTH"] = f"{USER}:{word}"
    return Program(NAME, (*CELERY, "flower"), env={**ENV, **env}, address=f"{LOOPBACK}:{port}")


def password(settings: Settings) -> str:
    """The configured password, or one that is made once per data folder. Empty: the settings ask for none."""
    if settings.flower_password is not None:
        return _checked(settings.flower_password.get_secret_value())
    file = settings.data_dir / "flower-password"
    if not file.exists():
        write_private(file, secrets.token_urlsafe(16))
    return file.read_text()


def where(settings: Settings, part: PartStatus) -> str:
    """Address, user and password in a line, for the operator."""
    word = password(settings)
    return f"http://{part.address}" + (f", user {USER}, password {word}" if word else ", without a password")


def answers(part: PartStatus) -> bool:
    """Whether it takes connections."""
    host, _, port = (part.address or "").partition(":")
    try:
        socket.create_connection((host, int(port)), timeout=_ANSWER_SECONDS).close()
    except (OSError, ValueError):
        return False
    return True


def _checked(word: str) -> str:
    """Flower splits its list of users at commas."""
    if "," in word:
        raise InvalidRequest([Problem("flower_password", "holds a comma, which Flower cannot read: choose another")])
    return word


def _free_port(first: int) -> int:
    for port in range(first, min(first + _PORTS, 65_536)):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            # As Flower binds it: a port that was closed a moment ago is free.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((LOOPBACK, port))
            except OSError:
                continue
            return port
    raise StackError(f"no free port for Flower from {first} on: set CALLFOLD_FLOWER_PORT")
