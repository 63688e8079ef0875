"""Servers of the demo's study."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from relevansi.config import sqlite_url
from tests.browser.forked import ForkedServer
from tests.browser.server import Server


def file_of(server: Server) -> Path:
    return server.instance / "demo.sqlite"


def names_file(server: Server) -> dict[str, str]:
    return {"RELEVANSI_DATABASE_URL": sqlite_url(file_of(server))}


class DemoServer(ForkedServer):
    def environment(self) -> dict[str, str]:
        return super().environment() | names_file(self)


@contextmanager
def serving(server: Server, demo_file: Path) -> Iterator[None]:
    server.instance.mkdir()
    shutil.copy(demo_file, file_of(server))
    server.start()
    yield
    server.stop()
    assert server.faults() == ""
