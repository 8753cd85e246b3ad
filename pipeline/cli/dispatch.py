"""Messages from the command line. Celery is imported when there is one to send: it costs a second."""

from collections.abc import Iterable

from pipeline.stack import Urls
from pipeline.stages.commands import Command


def send(urls: Urls, commands: Iterable[Command]) -> None:
    """Publish what a stage asked for. Raises StackError where the broker does not answer."""
    from tasks import app, lanes, vitals  # noqa: PLC0415 - see above

    app.connect(urls.broker, urls.result)
    vitals.broker()
    lanes.publish(commands)
