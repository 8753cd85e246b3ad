"""The queues, one per hop, in flow order. `process` is worked on by threads, the others by prefork.

A document that has lost a lease is sent to `alone`: one process with one slot, so that it takes no neighbour with it.
"""

from typing import Final

from kombu.entity import Exchange, Queue

_EXCHANGE = Exchange("callfold", type="direct", durable=True)


def _queue(name: str) -> Queue:
    return Queue(f"callfold.{name}", _EXCHANGE, routing_key=name, durable=True)


ADMIT = _queue("admit")
PROCESS = _queue("process")
ALONE = _queue("alone")
REDUCE = _queue("reduce")
FREEZE = _queue("freeze")
NOTIFY = _queue("notify")
DELIVER = _queue("deliver")
NIGHTLY = _queue("nightly")

ALL: Final = (ADMIT, PROCESS, ALONE, REDUCE, FREEZE, NOTIFY, DELIVER, NIGHTLY)
#: What the prefork worker consumes.
CONTROL: Final = (ADMIT, REDUCE, FREEZE, NOTIFY, DELIVER, NIGHTLY)

ROUTES: Final = {f"tasks.{queue.routing_key}": {"queue": queue} for queue in ALL if queue is not ALONE}
