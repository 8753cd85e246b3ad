"""What Celery can say of its surroundings: do broker, result backend and workers answer?"""

from typing import Any

from pipeline.errors import StackError
from tasks.app import app

_ANSWER_SECONDS = 2.0


def broker() -> str:
    """The broker that answers, with its version. Raises StackError where none does."""
    try:
        with app.connection_for_write(connect_timeout=_ANSWER_SECONDS) as connection:
            connection.ensure_connection(max_retries=1, interval_start=0.2, timeout=_ANSWER_SECONDS)
            return _server(connection)
    except Exception as error:  # noqa: BLE001 - each transport has errors of its own, for a wrong URL as well
        raise StackError(f"the broker does not answer ({type(error).__name__}): is BROKER_URL right?") from None


def results() -> str:
    """The result backend that answers, with its version. Raises StackError where none does."""
    try:
        return f"Redis {app.backend.client.info('server')['redis_version']}"
    except Exception as error:  # noqa: BLE001 - the backend's client has errors of its own
        raise StackError(f"the result backend does not answer ({type(error).__name__}): is RESULT_URL right?") from None


def workers() -> list[str]:
    """The names of the workers that answer within two seconds."""
    return sorted(name for reply in app.control.ping(timeout=_ANSWER_SECONDS) or () for name in reply)


def _server(connection: Any) -> str:
    if connection.transport.driver_type == "redis":
        return f"Redis {connection.default_channel.client.info('server')['redis_version']}"
    properties = connection.connection.server_properties
    return f"{properties['product']} {properties['version']}"
