"""The workers' app, but every message that it publishes is published twice."""

from tasks.app import app

_send = app.amqp.send_task_message


def _send_twice(*arguments, **options):
    _send(*arguments, **options)
    return _send(*arguments, **options)


app.amqp.send_task_message = _send_twice
