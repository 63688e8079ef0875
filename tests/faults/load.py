"""A server, its database and those who click on it; and the count when they are done."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

from relevansi.config import sqlite_url
from tests.browser.server import HYBRID, Granian, Server
from tests.cli.relevansi import document
from tests.faults import stored
from tests.faults.clicking import Clicker
from tests.faults.processes import at_the_end, free_port
from tests.faults.report import Row

CLICKERS = 4
MOST_WORDS = 300


class FaultyServer(Granian):
    """A server with settings of its own, which may name another database."""

    is_granian = False

    def __init__(self, instance: Path, settings: Mapping[str, str]) -> None:
        super().__init__(instance)
        self.port = free_port()
        at_the_end(self.kill)
        self.settings = settings

    def start(self) -> None:
        """Start it: waitress, unless the command was told to use granian."""
        (Granian if self.is_granian else Server).start(self)

    def kill(self) -> None:
        """End all of it without warning."""
        (Granian if self.is_granian else Server).kill(self)

    def environment(self) -> dict[str, str]:
        """Return all that it knows of its surroundings."""
        return super().environment() | dict(self.settings)

    def command(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        """Return one finished command on the same database."""
        return subprocess.run(
            [sys.executable, "-m", "relevansi", *map(str, arguments)],
            env=self.environment(),
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )


class Load:
    """Those who click on a server; `url` names its database where it is not its own SQLite."""

    def __init__(self, folder: Path, url: str = "") -> None:
        settings = {"RELEVANSI_DATABASE_URL": url} if url else {}
        self.server = FaultyServer(folder / "instance", settings)
        self.sqlite_file = self.server.instance / "relevansi.sqlite"
        self.url = url or sqlite_url(self.sqlite_file)
        self.database = "PostgreSQL" if url else "SQLite"
        imported = document(self.server.command("import", HYBRID, "--json"))
        self.run_id = str(imported["runs"][0]["id"])
        places = stored.places(self.url)
        self.clickers = [
            Clicker(
                f"device{number}", self.run_id, places[number::CLICKERS], lambda: self.server.port
            )
            for number in range(CLICKERS)
        ]
        self.damage: list[str] = []

    @property
    def acknowledged(self) -> int:
        """How many clicks were acknowledged so far."""
        return sum(len(clicker.acknowledged) for clicker in self.clickers)

    @contextmanager
    def clicking(self) -> Iterator[None]:
        """Let everybody click meanwhile."""
        stopped = Event()
        threads = [Thread(target=each.click_until, args=(stopped,)) for each in self.clickers]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            stopped.set()
            for thread in threads:
                thread.join()

    def await_clicks(self, more: int, patience: float = 60) -> bool:
        """Wait until so many more were acknowledged; return whether they were in time."""
        expected = self.acknowledged + more
        return awaited(lambda: self.acknowledged >= expected, patience)

    def count(self, url: str = "", expected: set[str] | None = None) -> stored.Stored:
        """Return what is in the database, or a copy of it at `url`; what is missing is damage.

        `expected` are the clicks that were acknowledged when the copy was taken, else by now.
        """
        expected = self.ids() if expected is None else expected  # first: people may go on clicking
        result = stored.read(url or self.url)
        if result.unsound:
            self.damage.append(result.unsound)
        lost = expected - set(result.events)
        self.damage += [f"{event_id} was acknowledged and is gone" for event_id in sorted(lost)]
        return result

    def finish(self) -> None:
        """Send what is left, on a server that runs; then every figure must be right."""
        for clicker in self.clickers:
            clicker.drain()
            self.damage += clicker.wrong
        self.server.stop()
        checked = self.server.command("check")
        if checked.returncode:
            self.damage.append(checked.stdout + checked.stderr)
        if "Traceback" in self.server.faults():
            self.damage.append(self.server.faults()[-MOST_WORDS:])

    def row(self, fault: str, action: str) -> Row:
        """Return the count, once everything was sent and the server has stopped."""
        result = self.count()
        acknowledged = self.ids()
        stray = set(result.events) - acknowledged
        self.damage += [f"{event_id} is there and nobody sent it" for event_id in sorted(stray)]
        for clicker in self.clickers:
            for place, verdict in clicker.last_verdicts().items():
                if result.verdicts.get(place) != verdict:
                    self.damage.append(f"{place}: {clicker.name} said {verdict} last")
        return Row(
            fault=fault,
            database=self.database,
            action=action,
            acknowledged=len(acknowledged),
            stored=len(acknowledged & set(result.events)),
            doubled=result.doubled,
            missing=len(acknowledged - set(result.events)),
            damage=tuple(dict.fromkeys(self.damage)),
        )

    def check_refusals(self, *statuses: int, words: str) -> None:
        """Hold refusals to be of these statuses, in `words`, as a part and with no traceback."""
        for clicker in self.clickers:
            for status, answer in clicker.refusals.items():
                is_clear = answer.is_part and words in answer.text and answer.retry_after
                if status not in statuses or not is_clear or "Traceback" in answer.text:
                    self.damage.append(f"refused with {status}: {answer.text[:MOST_WORDS]}")

    def refused(self) -> int:
        """How often a click was refused, to be sent again."""
        return sum(
            count
            for clicker in self.clickers
            for status, count in clicker.answers.items()
            if status not in {0, 200}
        )

    def ids(self) -> set[str]:
        """Return the ids of the clicks that were acknowledged so far."""
        return {click.event_id for each in self.clickers for click in list(each.acknowledged)}


def awaited(is_so: Callable[[], bool], patience: float = 60) -> bool:
    """Wait until something is so; return whether it was in time."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        if is_so():
            return True
        time.sleep(0.005)
    return False
