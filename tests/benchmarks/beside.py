"""(i) A click beside one on the least Flask application that stores a verdict."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from relevansi.db.engine import Database
from tests.benchmarks.crowds import invited
from tests.benchmarks.growth import WARM, open_client
from tests.benchmarks.load import (
    PACKAGES,
    ROOT,
    Client,
    Contestant,
    Outcome,
    Place,
    relevansi,
    take_turns,
)
from tests.benchmarks.report import Measurement, Section, Target, number
from tests.benchmarks.studies import TASKS, Size, made_up, make_blind
from tests.browser.server import Server

AT_ONCE = (1, 8)
ROUNDS, CLICKS, SECONDS = 20, 100, 1.0
LEAST_SHARE = 0.25
MINIMAL = "minimal application"
HOW = f"""\
The same clicks go by turns to `relevansi serve`, on its open and on its blind page, and to a
{MINIMAL} of Flask, SQLAlchemy and Jinja (`tests/benchmarks/minimal.py`) on the same server: one
table with the same settings of SQLite, one durable commit, the figures of the question; it knows no
rater, no log of events, no run. The ratio is that of the clicks a second, to as many clients of the
{MINIMAL}."""


def beside(folder: Path) -> Section:
    """Return how many clicks of both pages go into the time of a minimal application's."""
    database = made_up(folder, Size(30, runs=3))
    rows: list[Measurement] = []
    targets: list[Target] = []
    with relevansi(folder) as server, _minimal(folder) as port:
        for page in ("open page", "blind page"):
            clients = _owners(database)
            if page == "blind page":  # who is invited shuts the owner out, until they sign in
                make_blind(database, blind=True)
                clients = invited(server, database, max(AT_ONCE))
            for n in AT_ONCE:
                ours, theirs = _clicked(server, port, clients[:n])
                who = f"{page}, {n} client{'s' if n > 1 else ''}"
                share = ours.per_second / theirs.per_second
                rows += [
                    Measurement(who, ours.milliseconds, ours.per_second, None, MINIMAL, share),
                    Measurement(f"- {MINIMAL}, {n}", theirs.milliseconds, theirs.per_second),
                ]
                limit = f"at least {LEAST_SHARE} of the clicks of a {MINIMAL}, {who}"
                targets.append(Target(limit, number(share), share >= LEAST_SHARE))
    database.close()
    return Section("i. A click beside a minimal application", HOW, rows, targets)


def _owners(database: Database) -> list[Client]:
    """Return the browsers of the owner, each at questions of its own."""
    places = open_client(database).places
    return [Client(places[first :: max(AT_ONCE)]) for first in range(max(AT_ONCE))]


def _clicked(server: Server, port: int, clients: Sequence[Client]) -> list[Outcome]:
    """Return what came of our server and of the other in turns; the first clicks do not count."""
    places = [
        [
            Place(f"/queries/{n * TASKS + query}/results/{rank}/judgment")
            for rank in range(1, 10)
            for query in range(TASKS)
        ]
        for n in range(1, len(clients) + 1)
    ]
    for clicks, rounds in ((WARM, 1), (CLICKS, ROUNDS)):
        ours = Contestant("relevansi", server.port, clients, requests=clicks, seconds=SECONDS)
        theirs = replace(ours, name=MINIMAL, port=port, clients=[Client(place) for place in places])
        result = take_turns([ours, theirs], rounds)
    return result


@contextmanager
def _minimal(folder: Path) -> Iterator[int]:
    """Yield the port of the minimal application."""
    command = [sys.executable, "-m", "tests.benchmarks.minimal", str(folder)]
    process = subprocess.Popen(
        command, env={"PYTHONPATH": PACKAGES}, stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    try:
        assert process.stdout is not None
        yield int(process.stdout.readline().rstrip("/\n").rpartition(":")[2])
    finally:
        process.terminate()
        process.communicate(timeout=30)
