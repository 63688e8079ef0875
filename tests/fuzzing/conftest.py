"""A process that fuzzes knows no other machine and may take a gigabyte beside its own memory."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

HERE = {"127.0.0.1", "::1", "localhost"}
MEMORY = 1 << 30


@pytest.fixture(autouse=True, scope="session")
def _confined() -> Iterator[None]:
    getaddrinfo = socket.getaddrinfo

    def only_here(host: Any, *others: Any, **more: Any) -> Any:
        if host not in HERE:
            raise socket.gaierror(socket.EAI_NONAME, "no other machine is known here")
        return getaddrinfo(host, *others, **more)

    if sys.platform == "linux":
        import resource

        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
        limit = pages * resource.getpagesize() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    with mock.patch.object(socket, "getaddrinfo", only_here):
        yield
