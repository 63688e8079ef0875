"""The product as a user starts it: a process, an address and a database of its own."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from time import sleep
from typing import Any
from urllib.parse import urlencode
from urllib.request import Request, urlopen

from tests.cli.relevansi import document, relevansi

ROOT = Path(__file__).parents[2]
SEEDS = ROOT / "seeds" / "runs"
HYBRID = SEEDS / "hybrid" / "test_results.json"
PASSED_ON = ("PATH", "PYTHONPATH", "HOME", "SYSTEMROOT", "TEMP", "TMP", "RELEVANSI_PREFIX")


class Server:
    def __init__(self, instance: Path) -> None:
        self.instance = instance
        self.log = instance.with_suffix(".log")
        self.port = 0
        self.process: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}{os.environ.get('RELEVANSI_PREFIX', '')}"

    def start(self) -> None:
        with self.log.open("a", encoding="utf-8") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "relevansi", "serve", "--port", str(self.port)],
                env=self.environment(),
                stdout=subprocess.PIPE,
                stderr=log,
                encoding="utf-8",
            )
        assert process.stdout is not None
        line = process.stdout.readline()
        address = re.search(r"http://127\.0\.0\.1:(\d+)/", line)
        assert address, line + self.faults()
        self.port = int(address[1])
        self.process = process

    def environment(self) -> dict[str, str]:
        return {
            **{name: os.environ[name] for name in PASSED_ON if name in os.environ},
            "PYTHONPATH": str(ROOT / "webapp"),
            "RELEVANSI_INSTANCE": str(self.instance),
            "RELEVANSI_LANGUAGE": "en",
            "PYTHONIOENCODING": "utf-8",
        }

    def pids(self) -> list[int]:
        assert self.process is not None
        return [self.process.pid]

    def kill(self) -> None:
        self._end(subprocess.Popen.kill)

    def stop(self) -> None:
        self._end(subprocess.Popen.terminate)

    def faults(self) -> str:
        return self.log.read_text("utf-8") if self.log.exists() else ""

    def post(self, path: str, fields: Mapping[str, str]) -> None:
        request = Request(self.url + path, data=urlencode(fields).encode())
        with urlopen(request, timeout=30) as response:
            assert response.status == 200

    def import_runs(self, *files: Path) -> list[str]:
        return import_runs(self.instance, *files)

    def export(self, run_id: str) -> dict[str, Any]:
        process = relevansi(self.instance, "export", run_id, "--format", "json")
        printed: dict[str, Any] = document(process)
        return printed

    def export_as(self, run_id: str, file_format: str) -> str:
        process = relevansi(self.instance, "export", run_id, "--format", file_format)
        assert process.returncode == 0, process.stderr
        return process.stdout

    def events(self) -> Sequence[sqlite3.Row]:
        with closing(self.database()) as connection:
            connection.row_factory = sqlite3.Row
            return connection.execute("SELECT * FROM events ORDER BY id").fetchall()

    def database(self) -> sqlite3.Connection:
        return sqlite3.connect(self.instance / "relevansi.sqlite")

    def _end(self, how: Any) -> None:
        if self.process is None:
            return
        how(self.process)
        self.process.wait(timeout=30)
        if self.process.stdout is not None:
            self.process.stdout.close()
        self.process = None


class Granian(Server):
    def start(self) -> None:
        if not self.port:
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                self.port = free.getsockname()[1]
        options = "--interface wsgi --factory --workers 1 --blocking-threads 8 --no-ws --http 1"
        limits = ("--http1-buffer-size", "16384")
        before = len(self.faults())
        where = ("--port", str(self.port), "relevansi.app:served")
        with self.log.open("a", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "granian", *options.split(), *limits, *where],
                env=self.environment(),
                stdout=log,
                stderr=log,
                encoding="utf-8",
                start_new_session=True,
            )
        # Told to end before it says so, granian would wait for its worker for ever.
        while "Started worker" not in self.faults()[before:]:
            assert self.process.poll() is None, self.faults()
            sleep(0.05)
        while self.process.poll() is None:
            with suppress(OSError), urlopen(f"{self.url}/healthz", timeout=30):
                return
        raise AssertionError(self.faults())

    def kill(self) -> None:
        self._end(lambda process: os.killpg(process.pid, signal.SIGKILL))


def import_runs(instance: Path, *files: Path) -> list[str]:
    printed = document(relevansi(instance, "import", *files, "--json"))
    return [run["id"] for run in printed["runs"]]


def copied(template: Path, instance: Path) -> Path:
    shutil.copytree(template, instance)
    return instance
