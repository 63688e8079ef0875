"""The server is killed at random moments while raters click; what it acknowledged is there.

In every other round it is frozen first and its database files are copied as a power cut would
leave them: SIGSTOP ends every write at one instant. Raters keep the click that was not
answered and send it again, under the same id, to the next server.
"""

from __future__ import annotations

import http.client
import random
import shutil
import signal
import sqlite3
import time
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from urllib.parse import urlencode

from tests.browser.server import HYBRID, Server
from tests.cli.relevansi import relevansi

RATERS = 4
LONGEST_ROUND = 0.6
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
DATABASE = "relevansi.sqlite"
PLACES = ((1, 1), (1, 2), (2, 1), (2, 2), (4, 1), (4, 2))
"""Cards of the sample's run that are clicked: query and rank."""


@dataclass(slots=True)
class Clicker:
    """One who clicks without pause and knows what was answered."""

    name: str
    run_id: str
    number: int = 0
    acknowledged: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    @property
    def event_id(self) -> str:
        """The click that is being sent."""
        return f"{self.name}-{self.number}"

    def click_until(self, server: Server, stopped: Event) -> None:
        """Send clicks one after the other until the server is gone."""
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        with suppress(OSError, http.client.HTTPException), closing(connection):
            while not stopped.is_set() and self.send(connection):
                self.number += 1

    def send(self, connection: http.client.HTTPConnection) -> bool:
        """Send the click once; return whether it was acknowledged."""
        query_id, rank = PLACES[self.number % len(PLACES)]
        fields = {"relevance": str(self.number % 2), "event_id": self.event_id}
        path = f"/runs/{self.run_id}/queries/{query_id}/results/{rank}/judgment"
        connection.request("POST", path, urlencode(fields), FORM)
        answer = connection.getresponse()
        answer.read()
        if answer.status != http.client.SEE_OTHER:
            self.refused.append(f"{self.event_id}: {answer.status}")
            return False
        self.acknowledged.append(self.event_id)
        return True


@dataclass(slots=True)
class Report:
    """What came of it. ``missing`` were acknowledged and are in a database no more."""

    kills: int = 0
    copies: int = 0
    acknowledged: int = 0
    found: int = 0
    doubled: int = 0
    missing: list[str] = field(default_factory=list)
    damage: list[str] = field(default_factory=list)

    @property
    def is_good(self) -> bool:
        """Whether all that was acknowledged is there, once, in sound files."""
        return not (self.missing or self.damage or self.doubled) and self.acknowledged > 0


def kill_again_and_again(folder: Path, kills: int, seed: int) -> Report:
    """Return what so many kills did; `folder` is new and keeps the database."""
    moments = random.Random(seed)  # noqa: S311 - when to kill, nothing secret
    server = Server(folder / "instance")
    (run_id,) = server.import_runs(HYBRID)
    clickers = [Clicker(f"rater{number}", run_id) for number in range(RATERS)]
    report = Report()
    for number in range(kills):
        copy = folder / "copy" if number % 2 else None
        _one_round(server, clickers, moments.uniform(0, LONGEST_ROUND), copy)
        report.kills += 1
        report.copies += copy is not None
        for place in filter(None, (copy, server.instance)):
            _look(place / DATABASE, clickers, report)
    _send_what_is_left(server, clickers, report)
    return report


def _one_round(server: Server, clickers: list[Clicker], seconds: float, copy: Path | None) -> None:
    """Start the server, let raters click, end it after so many seconds of clicking."""
    server.start()
    before = sum(len(clicker.acknowledged) for clicker in clickers)
    stopped = Event()
    threads = [Thread(target=each.click_until, args=(server, stopped)) for each in clickers]
    for thread in threads:
        thread.start()
    _await_answer(clickers, before)
    time.sleep(seconds)
    if copy is not None:
        _freeze(server)
        _copied(server.instance, copy)
    server.kill()
    stopped.set()
    for thread in threads:
        thread.join()


def _await_answer(clickers: list[Clicker], before: int) -> None:
    """Wait for the first answer, a while at most: a kill may come before it as well."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if sum(len(clicker.acknowledged) for clicker in clickers) > before:
            return
        time.sleep(0.005)


def _freeze(server: Server) -> None:
    """Stop the process where it is and wait until it has."""
    assert server.process is not None
    server.process.send_signal(signal.SIGSTOP)
    stat = Path(f"/proc/{server.process.pid}/stat")
    if not stat.exists():  # no Linux: a moment has to do
        time.sleep(0.1)
        return
    while stat.read_text().rpartition(")")[2].split()[0] not in "Tt":
        time.sleep(0.001)


def _copied(instance: Path, copy: Path) -> None:
    """Copy the database as it lies there: the file and its log, not the shared memory."""
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir()
    for name in (DATABASE, f"{DATABASE}-wal"):
        if (instance / name).exists():
            shutil.copy(instance / name, copy / name)


def _look(database: Path, clickers: list[Clicker], report: Report) -> None:
    """Add to `report` what is missing or unsound in a database."""
    with closing(sqlite3.connect(database)) as connection:
        (sound,) = connection.execute("PRAGMA integrity_check").fetchone()
        stored = [event for (event,) in connection.execute("SELECT event_id FROM events")]
    if sound != "ok":
        report.damage.append(sound)
    acknowledged = {event for clicker in clickers for event in clicker.acknowledged}
    report.acknowledged = len(acknowledged)
    report.found = len(acknowledged & set(stored))
    report.doubled += len(stored) - len(set(stored))
    report.missing += sorted(acknowledged - set(stored))


def _send_what_is_left(server: Server, clickers: list[Clicker], report: Report) -> None:
    """Send every click that was not answered once more; then all figures must be right."""
    server.start()
    for clicker in clickers:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        with closing(connection):
            clicker.send(connection)
        report.damage += clicker.refused
    server.stop()
    _look(server.instance / DATABASE, clickers, report)
    checked = relevansi(server.instance, "check")
    if checked.returncode:
        report.damage.append(checked.stdout)
    if "Traceback" in server.faults():
        report.damage.append(server.faults())
