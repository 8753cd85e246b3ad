"""Messages from the command line. Celery is imported when there is one to send: it costs a second."""

from collections.abc import Iterable

from pipeline.stack import Urls
from pipeline.stages.commands import Command


def require_broker(urls: Urls) -> None:
    """Raises StackError where the broker does not answer: nobody would hear what is sent."""
    from tasks import app, vitals  # noqa: PLC0415 - see above

    app.connect(urls.broker, urls.result)
    vitals.broker()


def has_workers() -> bool:
    """Whether any worker answers on the broker that `require_broker` reached; it takes two seconds to find none."""
    from tasks import vitals  # noqa: PLC0415 - see above

    return bool(vitals.workers())


def send(urls: Urls, commands: Iterable[Command]) -> None:
    """Publish what a stage asked for; what the broker does not take is left to reconcile, with a warning."""
    from tasks import app, lanes  # noqa: PLC0415 - see above

    app.connect(urls.broker, urls.result)
    lanes.publish(commands)
