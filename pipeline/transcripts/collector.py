"""Python's collector of garbage, paused while a call is read.

A large call is some hundred thousand objects in a minute's work at most, all of which stay until it is read, and none
of which can be garbage: looking through them again and again took a quarter of the time.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused() -> Iterator[None]:
    """No collection until the end, for the whole process; whoever found it running starts it again."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()
