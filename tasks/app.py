"""The one place that knows Celery's settings. Each of them answers a fault seen in Celery 5.7; see `docs/celery.md`."""

import logging
from datetime import timedelta
from typing import Any

from celery import Celery
from celery.signals import setup_logging

from pipeline import logs
from pipeline.settings import Settings, load
from tasks import queues
from tasks.schedules import beat_schedule

#: Longer than any job may live (30 days), so that a chord's parts never expire under it.
_CHORD_EXPIRES = timedelta(days=31)

#: They log each message that is received and each task that is done: the stages' own lines say more, with ids.
_CHATTY = ("celery.worker.strategy", "celery.app.trace")


def configuration(settings: Settings) -> dict[str, Any]:
    """Celery's settings. The URLs come from the settings, or later from `connect` where the stack is embedded."""
    visibility = {"visibility_timeout": max(3_600, int(2 * settings.attempt_seconds))}
    return {
        "broker_url": settings.broker_url.get_secret_value() if settings.broker_url else None,
        "result_backend": settings.result_url.get_secret_value() if settings.result_url else None,
        # ids only, as JSON
        "accept_content": ["json"],
        "task_serializer": "json",
        "result_serializer": "json",
        "result_extended": False,
        "task_send_sent_event": False,
        "worker_send_task_events": True,
        # at least once, and the ledger decides
        "task_acks_late": True,
        "task_reject_on_worker_lost": True,
        "worker_prefetch_multiplier": 1,
        "worker_eta_task_limit": 100,
        # After a broken connection Celery lowers the prefetch count and raises it again from the pool's threads, on the
        # main thread's channel: on RabbitMQ each took the other's answer, and both waited for ever.
        "worker_enable_prefetch_count_reduction": False,
        # ends a prefork child that hangs, a lease after its attempt; threads are drained (`tasks/drain.py`)
        "task_annotations": {"tasks.process": {"time_limit": settings.attempt_seconds + 2 * settings.lease_seconds}},
        "broker_transport_options": visibility | {"confirm_publish": True},
        "result_backend_transport_options": visibility,
        "result_chord_expires": _CHORD_EXPIRES.total_seconds(),
        "result_expires": timedelta(days=1),
        "broker_connection_retry_on_startup": True,
        "broker_pool_limit": settings.process_slots + 8,
        "task_publish_retry_policy": {"max_retries": 2, "interval_start": 0, "interval_step": 0.2, "interval_max": 0.5},
        "timezone": "UTC",
        "worker_hijack_root_logger": False,
        "task_queues": queues.ALL,
        "task_routes": queues.ROUTES,
        "task_default_queue": queues.ADMIT.name,
        "task_create_missing_queues": False,
        "beat_schedule": beat_schedule(settings),
        "beat_scheduler": "celery.beat:Scheduler",  # keeps nothing on disk: asking again is free
    }


app = Celery(
    "callfold",
    include=[
        "tasks.admit",
        "tasks.process",
        "tasks.reduce",
        "tasks.freeze",
        "tasks.notify",
        "tasks.deliver",
        "tasks.nightly",
    ],
)
app.conf.update(configuration(load()))


def connect(broker: str, result: str) -> None:
    """Point this process's app at servers that were started after it was imported."""
    if app.conf.broker_url != broker:
        app.conf.broker_url = broker
        # Pooled connections lead to the servers before: a `run` outlives the stack that it was attached to.
        app._after_fork()  # noqa: SLF001 - Celery's one way to forget its pools, and no fork is meant
    app.conf.result_backend = result


@setup_logging.connect
def _configure_logs(**_: object) -> None:
    logs.configure(load())
    for name in _CHATTY:
        logging.getLogger(name).setLevel(logging.WARNING)


from tasks import bootsteps  # noqa: E402 - the steps hang themselves on the app above

bootsteps.install(app)
