"""How the owner of a stack is interrupted: in order, and never halfway through starting or stopping a process."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_AGAIN_SECONDS = 0.05


@contextmanager
def ending_in_order() -> Iterator[None]:
    """Let SIGTERM and SIGHUP leave by an exception, as Ctrl-C does, so that `with` blocks stop what they hold.

    Handlers that others have set are kept. Python handles signals in the main thread only; elsewhere nothing changes.
    """
    taken = [number for number in _settable() if signal.getsignal(number) is signal.SIG_DFL]
    for number in taken:
        signal.signal(number, _leave)
    before, sys.unraisablehook = sys.unraisablehook, _ask_again
    try:
        yield
    finally:
        sys.unraisablehook = before
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


@contextmanager
def deferred() -> Iterator[None]:
    """Hold interrupts back until the block is done, then deliver the last one."""
    held: list[int] = []
    # A Python function, not SIG_IGN: a program started meanwhile would inherit that and ignore its SIGTERM.
    before = {number: signal.signal(number, lambda caught, _: held.append(caught)) for number in _settable()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if held:
        signal.raise_signal(held[-1])


def _settable() -> tuple[signal.Signals, ...]:
    in_main = threading.current_thread() is threading.main_thread()
    return _INTERRUPTS if in_main else ()


def _leave(number: int, _: FrameType | None) -> None:
    raise SystemExit(128 + number)


def _ask_again(lost: "sys.UnraisableHookArgs") -> None:
    """Python drops an exception that falls into a finalizer; one of ours would leave its signal unheard."""
    if isinstance(lost.exc_value, SystemExit | KeyboardInterrupt):
        code = getattr(lost.exc_value, "code", None)
        number = code - 128 if isinstance(code, int) and code > 128 else signal.SIGINT
        # Later, and from another thread: raised here it would fall into this very hook.
        threading.Timer(_AGAIN_SECONDS, os.kill, (os.getpid(), number)).start()
        return
    sys.__unraisablehook__(lost)
