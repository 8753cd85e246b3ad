"""The points of the flow at which a process is killed, each of them a function and the side of it that dies.

`crashing.py` lays them around the real functions; nothing in the service knows of them.
"""

from functools import reduce
from importlib import import_module
from typing import Literal, NamedTuple


class Point(NamedTuple):
    """`place` is `module:name`; `hit` says whose call counts: this program's, or the reconciler's thread in any."""

    name: str
    when: Literal["before", "after"]
    place: str
    hit: Literal["process", "alone", "control", "reconcile"]

    @property
    def slug(self):
        """The name as a file's."""
        return self.name.replace(" ", "-")

    def find(self):
        """The object that holds the function, and the function's name there."""
        module, _, path = self.place.partition(":")
        *owners, name = path.split(".")
        return reduce(getattr, owners, import_module(module)), name


POINTS = (
    Point("after start", "before", "pipeline.stages.process:work", "process"),
    Point("before the summarizer", "before", "pipeline.summarizers.scripted:Scripted.summarize", "process"),
    Point("after the summarizer", "after", "pipeline.summarizers.scripted:Scripted.summarize", "process"),
    Point("before the settle commit", "after", "pipeline.ledger.items:settle_and_release", "process"),
    Point("after the settle commit", "before", "tasks.process:hand_on", "process"),
    Point("before publishing the next document", "before", "tasks.lanes:_publish_process", "process"),
    Point("after publishing the next document", "after", "tasks.lanes:_publish_process", "process"),
    Point(
        "before the chord part is counted",
        "before",
        "celery.backends.redis:RedisBackend.on_chord_part_return",
        "process",
    ),
    Point(
        "after the chord part is counted",
        "after",
        "celery.backends.redis:RedisBackend.on_chord_part_return",
        "process",
    ),
    Point("after start of a suspect", "before", "pipeline.stages.process:work", "alone"),
    Point("before the settle commit of a suspect", "after", "pipeline.ledger.items:settle_and_release", "alone"),
    Point("in admit before its commit", "after", "pipeline.ledger.jobs:admit", "control"),
    Point("in admit after its commit", "before", "tasks.admit:open_lanes", "control"),
    Point("in admit after its first message", "after", "celery.canvas:Signature.apply_async", "control"),
    Point("in reduce between two groups", "after", "pipeline.ledger.reduction:write_group", "control"),
    Point("in reduce before its last commit", "after", "pipeline.ledger.jobs:complete", "control"),
    Point("in reduce after its last commit", "after", "pipeline.stages.reduce:_merge_groups", "control"),
    Point("in freeze before the rename", "before", "exports.bundle:_put_in_place", "control"),
    Point("in freeze after the rename", "after", "exports.bundle:_put_in_place", "control"),
    Point("in reconcile before a lost lease is committed", "after", "pipeline.ledger.items:settle", "reconcile"),
    Point("in reconcile before its commit", "after", "pipeline.ledger.releases:announce", "reconcile"),
    Point("in reconcile after its commit", "before", "tasks.lanes:_publish_process", "reconcile"),
)
