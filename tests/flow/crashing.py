"""The workers' app, but at a point that a test has armed it kills its own process, once."""

import os
import signal
import sys
import threading
from contextlib import suppress
from functools import wraps
from pathlib import Path

from crash_points import POINTS

from tasks.app import app  # noqa: F401 - this module is an app

#: process, alone or control: what the worker's name begins with.
PROGRAM = sys.argv[sys.argv.index("--hostname") + 1].partition("-")[0]


def _lay(point):
    owner, name = point.find()
    function = getattr(owner, name)

    @wraps(function)
    def deadly(*arguments, **options):
        if point.when == "before":
            _die_at(point)
        result = function(*arguments, **options)
        if point.when == "after":
            _die_at(point)
        return result

    setattr(owner, name, deadly)


def _die_at(point):
    """The file moves first: whoever moves it is the one that dies, and the file says when."""
    if point.hit == ("reconcile" if threading.current_thread().name == "reconcile" else PROGRAM):
        with suppress(FileNotFoundError):
            Path("armed", point.slug).rename(Path("killed", point.slug))
            os.kill(os.getpid(), signal.SIGKILL)


for _point in POINTS:
    _lay(_point)
