"""(g) Commands and servers as they start, and what a server holds once it is at work."""

from __future__ import annotations

import http.client
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from time import perf_counter

from tests.benchmarks.clicking import GIVEN, invited
from tests.benchmarks.effort import Effort
from tests.benchmarks.load import Client, Contestant, Place, take_turns
from tests.benchmarks.machine import resident
from tests.benchmarks.processes import python, relevansi
from tests.benchmarks.report import number
from tests.benchmarks.results import Measurement, Section, Target, Times
from tests.benchmarks.serving import relevansi as serving
from tests.benchmarks.studies import Size, made_up
from tests.browser.server import Server
from webapp.db.engine import Database

MOST_HELP, MOST_START, MOST_MB = 400, 1_200, 150
HELP, SERVE = "`relevansi --help`", "`relevansi serve` to the first answer"
PYTHON, FLASK = "- `python -c pass`", '- `python -c "import flask"`'
HOW = """\
Each process starts again and again, in turns with the yardsticks, which do no more than start
Python or import Flask. A server counts from its start to the last byte of the first page it
answers; it is asked as soon as it says where it is. Its memory is what its
processes hold (PSS) just after it has answered, and after blind raters have clicked as in
table b."""


def starts(effort: Effort, folder: Path) -> Section:
    """Return how long starting takes, and the memory of a server."""
    home = folder / "instance"
    database = made_up(home, Size(effort.questions, runs=3), blind=True)
    works: dict[str, Callable[[], float]] = {
        HELP: lambda: relevansi(home, "--help").seconds,
        SERVE: lambda: _first_answer(home),
        PYTHON: lambda: python("-c", "pass").seconds,
        FLASK: lambda: python("-c", "import flask").seconds,
    }
    taken: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(effort.starts):
        for name, work in works.items():
            taken[name].append(work() * 1000)
    times = {name: Times.of(found) for name, found in taken.items()}
    at_first, after = _memory(effort, home, database)
    database.close()
    rows = [
        Measurement(HELP, times[HELP], yardstick="python", ratio=_ratio(times, HELP, PYTHON)),
        Measurement(SERVE, times[SERVE], None, at_first, "Flask", _ratio(times, SERVE, FLASK)),
        Measurement("- the same server after the load", None, None, after),
        *(Measurement(name, times[name]) for name in (PYTHON, FLASK)),
    ]
    targets = [
        _in_time(HELP, times[HELP], MOST_HELP),
        _in_time(SERVE, times[SERVE], MOST_START),
        Target(
            f"resident memory after the load under {MOST_MB} MB",
            f"{number(after)} MB",
            None if after is None else after < MOST_MB,
        ),
    ]
    return Section("e. Starting, and memory", HOW, rows, targets)


def _ratio(times: Mapping[str, Times], ours: str, theirs: str) -> float:
    return times[ours].p50 / times[theirs].p50


def _in_time(name: str, found: Times, most: int) -> Target:
    """Whether what starts is there in time: half of the times, and nearly all."""
    measured = f"p50 {number(found.p50)} ms, p95 {number(found.p95)} ms"
    return Target(f"{name} under {most} ms", measured, found.p95 < most)


def _first_answer(home: Path) -> float:
    """Return the seconds from the start of a server to the end of its first page."""
    began = perf_counter()
    server = Server(home)
    server.start()
    try:
        with closing(http.client.HTTPConnection("127.0.0.1", server.port)) as asking:
            asking.request("GET", "/")
            answer = asking.getresponse()
            answer.read()
        return perf_counter() - began
    finally:
        server.stop()


def _memory(effort: Effort, home: Path, database: Database) -> tuple[float | None, float | None]:
    """Return the megabytes a server holds after its first page, and after a crowd's clicks."""
    with serving(home) as server:
        take_turns([Contestant("page", server.port, [Client([Place("/")])], "GET", 1)], 1)
        at_first = resident(server.pids())
        raters = invited(server, database, effort.crowd, min(GIVEN, effort.questions))
        clicks = max(1, effort.clicks // len(raters))
        asked = Contestant("crowd", server.port, raters, "POST", clicks, effort.seconds)
        take_turns([asked], effort.rounds)
        return at_first, resident(server.pids())
