"""Interrupts leave by exceptions, and wait while something must not be cut short."""

import signal
import threading

import pytest

from pipeline.stack.signals import deferred, ending_in_order


def test_a_terminated_owner_leaves_by_an_exception_with_the_shells_exit_code():
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit) as caught, ending_in_order():
        signal.raise_signal(signal.SIGTERM)
    assert caught.value.code == 128 + signal.SIGTERM
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize(("number", "leaves_by"), [(signal.SIGTERM, SystemExit), (signal.SIGINT, KeyboardInterrupt)])
def test_an_interrupt_that_falls_into_a_finalizer_is_not_lost(number, leaves_by):
    with pytest.raises(leaves_by), ending_in_order():
        finalize(number)


def finalize(number):
    class Finalized:
        def __del__(self):
            signal.raise_signal(number)

    del [Finalized()][0]
    threading.Event().wait(10)


def test_an_ignored_hangup_stays_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with ending_in_order():
            signal.raise_signal(signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_an_interrupt_waits_until_the_block_is_done():
    steps = []
    with pytest.raises(KeyboardInterrupt):
        interrupted(steps)
    assert steps == ["finished"]


def interrupted(steps):
    with deferred():
        signal.raise_signal(signal.SIGINT)
        steps.append("finished")
