"""Servers that start at once: forked from a process that has the product in memory already.

Python starting up and templates being compiled were a good part of the time of these tests.
"""

from __future__ import annotations

import io
import multiprocessing
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, TypeVar

from tests.browser.server import Server

ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)/")
END_SECONDS = 30

AnyServer = TypeVar("AnyServer", bound=Server)


def _processes() -> Any:
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["pytest", "tests.browser.ready"])
    return context


PROCESSES = _processes()


class ForkedServer(Server):
    def __init__(self, instance: Path) -> None:
        super().__init__(instance)
        self._fork: BaseProcess | None = None
        self._output: Connection | None = None

    def start(self) -> None:
        self._output, saying = PROCESSES.Pipe(duplex=False)
        arguments = (self.port, self.environment(), self.log, saying)
        self._fork = PROCESSES.Process(target=_serve, args=arguments, daemon=True)
        self._fork.start()
        saying.close()
        self.port = self._heard(self._output)

    def kill(self) -> None:
        self._end_fork(BaseProcess.kill)

    def stop(self) -> None:
        self._end_fork(BaseProcess.terminate)

    def _heard(self, output: Connection) -> int:
        try:
            while not (address := ADDRESS.search(output.recv())):
                pass
        except EOFError:
            raise AssertionError(self.faults()) from None
        return int(address[1])

    def _end_fork(self, how: Callable[[BaseProcess], None]) -> None:
        if self._fork is None or self._output is None:
            return
        how(self._fork)
        self._fork.join(END_SECONDS)
        assert self._fork.exitcode is not None, "it goes on"
        self._fork.close()
        self._output.close()
        self._fork = self._output = None


@contextmanager
def running(server: AnyServer) -> Iterator[AnyServer]:
    """Run a server, which must have nothing to log."""
    server.start()
    try:
        yield server
    finally:
        server.stop()
    assert server.faults() == ""


def serving(instance: Path) -> AbstractContextManager[Server]:
    return running(ForkedServer(instance))


class _Spoken(io.StringIO):
    def __init__(self, connection: Connection) -> None:
        super().__init__()
        self._connection = connection

    def write(self, text: str) -> int:
        length = super().write(text)  # which refuses bytes, and click asks
        self._connection.send(text)
        return length


def _serve(port: int, environment: Mapping[str, str], log: Path, connection: Connection) -> None:
    from relevansi.cli import run
    from tests.browser.ready import create_app_alike

    os.environ.clear()
    os.environ.update(environment)
    with log.open("ab") as faults:
        os.dup2(faults.fileno(), sys.stderr.fileno())
    sys.stdout = _Spoken(connection)
    run(create_app_alike, ["serve", "--port", str(port)])
