"""The wall clock of a call: no connect, read or write of the thread that makes it outlasts it, in the headers neither.

The library's own timeouts count from the last byte: one byte a second is never late to them. Here each wait on the
network is cut to what is left of the call. (But looking up a host's name, and each address of a name is tried as long.)
"""

import urllib.request
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf
from ssl import SSLContext
from time import monotonic
from typing import Any, Final
from urllib.parse import urlsplit

import httpcore2
import httpx2

_ENDS: Final = ContextVar("ends", default=inf)
#: Idle connections are kept for so long, in seconds: less than the five after which uvicorn closes them.
_KEPT_SECONDS: Final = 3.0
#: A write is cut into pieces of so many bytes, since a wait for each is counted anew.
_PIECE: Final = 16 * 1024


@contextmanager
def until(ends: float) -> Iterator[None]:
    """Within the block no wait of this thread on a Transport goes past `ends`, of the monotonic clock."""
    token = _ENDS.set(ends)
    try:
        yield
    finally:
        _ENDS.reset(token)


class Transport(httpx2.HTTPTransport):
    """Connections to `url`, through the environment's proxy if it names one, as many as there are threads.

    A deadline that is over reads as a timeout of httpx2.
    """

    def __init__(self, url: str) -> None:
        super().__init__(
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=None, keepalive_expiry=_KEPT_SECONDS),
            proxy=_proxy(url),
        )
        # httpx2 has no public way to say so; a proxy's pool takes its connections from there as well.
        self._pool._network_backend = _Backend()  # noqa: SLF001
        weakref.finalize(self, self._pool.close)


def _proxy(url: str) -> str | None:
    """What httpx2 would take from the environment, but only without a transport of our own."""
    parts, proxies = urlsplit(url), urllib.request.getproxies()
    if urllib.request.proxy_bypass(parts.hostname or ""):
        return None
    return proxies.get(parts.scheme) or proxies.get("all")


def _wait(timeout: float | None, late: type[httpcore2.TimeoutException]) -> float | None:
    left = _ENDS.get() - monotonic()
    if left <= 0:
        raise late("the deadline is over")
    wait = left if timeout is None else min(timeout, left)
    return None if wait == inf else wait


class _Backend(httpcore2.SyncBackend):
    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        wait = _wait(timeout, httpcore2.ConnectTimeout)
        return _Stream(super().connect_tcp(host, port, wait, local_address, socket_options))


class _Stream(httpcore2.NetworkStream):
    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _wait(timeout, httpcore2.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), _PIECE):
            piece = buffer[start : start + _PIECE]
            self._stream.write(piece, _wait(timeout, httpcore2.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        wait = _wait(timeout, httpcore2.ConnectTimeout)
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, wait))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
