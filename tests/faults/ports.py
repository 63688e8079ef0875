"""Ports on loopback that nobody else comes upon while a server is down."""

from __future__ import annotations

import random
import socket

LOWEST, HIGHEST = 20_000, 30_000
"""Below those that a system gives to outgoing connections: such a one could be taken meanwhile."""


def free_port() -> int:
    """Return a port that is free now."""
    for port in random.sample(range(LOWEST, HIGHEST), 100):
        with socket.socket() as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                tried.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise OSError("no port is free")
