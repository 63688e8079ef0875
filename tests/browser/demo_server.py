"""Servers of the demo's study."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.browser.forked import ForkedServer
from tests.browser.server import Server
from webapp.config import sqlite_url


def file_of(server: Server) -> Path:
    """Return the file of a server that serves the demo's study."""
    return server.instance / "demo.sqlite"


def names_file(server: Server) -> dict[str, str]:
    """Return what tells a server to serve the demo's study."""
    return {"RELEVANSI_DATABASE_URL": sqlite_url(file_of(server))}


class DemoServer(ForkedServer):
    """A server of the demo's study, which knows that it is the demo's."""

    def environment(self) -> dict[str, str]:
        """Return all that it knows of its surroundings."""
        return super().environment() | names_file(self)


@contextmanager
def serving(server: Server, demo_file: Path) -> Iterator[None]:
    """Run `server` on a copy of `demo_file`; it must tell of no fault until it ends."""
    server.instance.mkdir()
    shutil.copy(demo_file, file_of(server))
    server.start()
    yield
    server.stop()
    assert server.faults() == ""
