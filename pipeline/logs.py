"""Logs: structlog over the standard library; lines for people at a terminal, JSON in production.

Events are named `room.what`, and carry ids. No customer's words: not in values, not in exception texts.
"""

import logging
import sys

import structlog

from pipeline.settings import Settings

_SHARED: list[structlog.typing.Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]


def configure(settings: Settings) -> None:
    """Send all logs, the libraries' included, to standard error in the configured form."""
    rendering: list[structlog.typing.Processor] = (
        [structlog.processors.JSONRenderer()]
        if settings.log_format == "json"
        else [_keep_to_one_line, structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())]
    )
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *_SHARED,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=_SHARED,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                _forget_exceptions,
                *rendering,
            ],
        )
    )
    logging.basicConfig(level=settings.log_level, handlers=[handler], force=True)


def _forget_exceptions(_logger: object, _method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """A library's traceback ends with the exception's text, which may quote its input: keep its type alone."""
    exc_info = event.pop("exc_info", None)
    if exc_info is True:
        exc_info = sys.exc_info()
    if exc_info:
        kind = exc_info[0] if isinstance(exc_info, tuple) else type(exc_info)
        event["exception"] = getattr(kind, "__name__", str(kind))
    return event


def _keep_to_one_line(_logger: object, _method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """A document_id comes from a file: it must neither steer the terminal that shows a log nor forge a line in it."""
    return {name: value if _is_plain(value) else repr(value)[1:-1] for name, value in event.items()}


def _is_plain(value: object) -> bool:
    return not isinstance(value, str) or value.isprintable()
