"""The embedded stack: PostgreSQL, Redis and the worker programs, all below one data folder.

    Stack.start -- lock is free --> stop leftovers, start the servers --> run programs --> stop, in reverse
        |
        +--------- lock is held --> attach to what runs there

The state file names every process, so that the next start can clean up after a kill -9 of this one.
"""

from pipeline.stack.detached import Up, down, up
from pipeline.stack.parts import PartStatus
from pipeline.stack.programs import Program
from pipeline.stack.stack import Stack, status, urls_of
from pipeline.stack.urls import Urls

__all__ = ["PartStatus", "Program", "Stack", "Up", "Urls", "down", "status", "up", "urls_of"]
