"""What Celery can say of its surroundings: do broker, result backend and workers answer?"""

from kombu.exceptions import OperationalError

from pipeline.errors import StackError
from tasks.app import app

_ANSWER_SECONDS = 2.0


def broker() -> str:
    """The kind of broker that answers. Raises StackError where none does."""
    try:
        with app.connection_for_write(connect_timeout=_ANSWER_SECONDS) as connection:
            connection.ensure_connection(max_retries=1, interval_start=0.2, timeout=_ANSWER_SECONDS)
            return str(connection.transport.driver_type)
    except (OperationalError, OSError) as error:
        raise StackError(f"the broker does not answer ({type(error).__name__}): is BROKER_URL right?") from None


def results() -> str:
    """The kind of result backend that answers. Raises StackError where none does."""
    backend = app.backend
    try:
        backend.client.ping()
    except Exception as error:  # noqa: BLE001 - each backend has its client's own errors
        raise StackError(f"the result backend does not answer ({type(error).__name__}): is RESULT_URL right?") from None
    return type(backend).__name__.removesuffix("Backend").lower()


def workers() -> list[str]:
    """The names of the workers that answer within two seconds."""
    return sorted(name for reply in app.control.ping(timeout=_ANSWER_SECONDS) or () for name in reply)
