"""Free ports on the loopback interface."""

import socket

LOOPBACK = "127.0.0.1"


def free_port() -> int:
    """A port nobody listens on now. Somebody may still take it first, so a server that cannot bind tries another."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port
