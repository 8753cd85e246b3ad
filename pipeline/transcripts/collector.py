"""Python's collector of garbage, paused while a call is read.

A large call becomes some hundred thousand objects, all of which are needed until it is read, so that none is garbage.
To look through them again and again took a fifth of the time (docs/performance.md).
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
