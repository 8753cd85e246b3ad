"""What the numbers were measured on: cores, memory and versions; no names and no paths."""

import os
import platform
from importlib.metadata import version
from pathlib import Path

import redis

from benchmarks.bed import Bed

_PACKAGES = ("celery", "kombu", "redis", "sqlalchemy", "psycopg")


def machine(bed: Bed) -> str:
    """One line for the head of the table."""
    (postgresql,) = bed.row("SHOW server_version")
    with redis.Redis.from_url(bed.urls["BROKER_URL"]) as server:
        broker = server.info("server")["redis_version"]
    packages = ", ".join(f"{package} {version(package)}" for package in _PACKAGES)
    return (
        f"{os.cpu_count()} cores ({_processor()}), {_memory_gib():.0f} GiB, {platform.system()}, "
        f"Python {platform.python_version()}, PostgreSQL {postgresql}, Redis {broker}, {packages}; "
        f"load average {os.getloadavg()[0]:.1f} at the start"
    )


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    lines = information.read_text().splitlines() if information.exists() else []
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def _memory_gib() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
