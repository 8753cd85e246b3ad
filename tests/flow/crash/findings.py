"""What the runs found, in a file that grows from run to run, and the tables of `docs/reliability.md` made of it."""

import json
import os
import platform
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version

from crash_points import POINTS

_PACKAGES = ("celery", "kombu", "psycopg", "sqlalchemy", "redis")
_BROKERS = ("Redis", "RabbitMQ")


class Findings:
    """Kept at `path`, which need not be there yet."""

    def __init__(self, path):
        self._path = path
        self._found = json.loads(path.read_text()) if path.exists() else {"servers": {}, "cases": {}, "others": {}}

    def note_case(self, desk, point, pool, recovery):
        """A case of the matrix and its Recovery."""
        self._found["cases"][f"{point.name}, {pool}, {self._broker(desk)}"] = asdict(recovery)
        self._keep(desk)

    def note(self, desk, what, **figures):
        """Whatever else was measured, on this desk's broker."""
        self._found["others"][f"{what}, {self._broker(desk)}"] = figures
        self._keep(desk)

    def lines(self):
        """The tables, as markdown."""
        yield from (self._head(), "", *self._matrix(), "")
        for what, figures in self._found["others"].items():
            yield f"- {what}: " + ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in figures.items())

    def _head(self):
        servers = ", ".join(f"{name} {number}" for name, number in sorted(self._found["servers"].items()))
        packages = ", ".join(f"{package} {version(package)}" for package in _PACKAGES)
        return (
            f"{datetime.now(UTC).date()}, {os.cpu_count()} cores, {platform.system()}, "
            f"Python {platform.python_version()}, {servers}, {packages}"
        )

    def _matrix(self):
        yield f"| point | killed | {' | '.join(_BROKERS)} |"
        yield "|---|---|" + "---|" * len(_BROKERS)
        for point in POINTS:
            for pool in ("threads", "prefork") if point.hit == "process" else ("threads",):
                killed = f"process, {pool}" if point.hit == "process" else point.hit
                cells = (self._found["cases"].get(f"{point.name}, {pool}, {broker}") for broker in _BROKERS)
                yield f"| {point.name} | {killed} | {' | '.join(map(_cell, cells))} |"

    def _broker(self, desk):
        return "RabbitMQ" if desk.app.conf.broker_url.startswith("amqp") else "Redis"

    def _keep(self, desk):
        self._found["servers"] |= _servers(desk)
        self._path.parent.mkdir(exist_ok=True)
        self._path.write_text(json.dumps(self._found, indent=1))


def _servers(desk):
    [(postgresql,)] = desk.query("SHOW server_version")
    with desk.app.connection_for_write() as connection:
        connection.connect()
        if connection.transport.driver_type == "redis":
            broker = {"Redis": connection.default_channel.client.info("server")["redis_version"]}
        else:
            broker = {"RabbitMQ": connection.connection.server_properties["version"]}
    return {"PostgreSQL": postgresql} | broker


def _cell(case):
    if case is None:
        return "not run"
    return f"{case['seconds']} s, {case['extra_calls']} of {case['killed_attempts']}"
