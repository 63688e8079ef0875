"""(e) Commands and servers as they start, and what a server holds once it is at work."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from urllib.request import urlopen

from relevansi.db.engine import Database
from tests.benchmarks.crowds import RATERS, invited
from tests.benchmarks.load import Contestant, python, relevansi, take_turns
from tests.benchmarks.machine import resident
from tests.benchmarks.report import Measurement, Section, Target, number
from tests.benchmarks.studies import Size, made_up

TIMES = 11
ROUNDS, CLICKS, SECONDS = 6, 2, 4.0
MOST_HELP, MOST_START, MOST_MB = 400, 1_200, 150
HELP, SERVE = "`relevansi --help`", "`relevansi serve` to the first answer"
PYTHON, FLASK = "- `python -c pass`", '- `python -c "import flask"`'
HOW = """\
Each process starts again and again, in turns with the yardsticks, which do no more than start
Python or import Flask. A server counts from its start to the last byte of the first page it
answers; it is asked as soon as it says where it is. Its memory is what its
processes hold (PSS) just after it has answered, and after blind raters have clicked as in
table b."""


def starts(folder: Path) -> Section:
    """Return how long starting takes, and the memory of a server."""
    database = made_up(folder, Size(300, runs=3), blind=True)
    works: dict[str, Callable[[], float]] = {
        HELP: lambda: python("-m", "relevansi", "--help", instance=folder).seconds,
        SERVE: lambda: _first_answer(folder),
        PYTHON: lambda: python("-c", "pass").seconds,
        FLASK: lambda: python("-c", "import flask").seconds,
    }
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(TIMES):
        for name, work in works.items():
            times[name].append(work() * 1000)
    at_first, after = _memory(folder, database)
    database.close()
    bare = {name: Measurement(name, result) for name, result in times.items()}

    def beside(name: str, yardstick: str, memory: float | None = None) -> Measurement:
        ratio = bare[name].percentile(50) / bare[yardstick].percentile(50)
        return Measurement(name, times[name], None, memory, yardstick.strip("- "), ratio)

    rows = [
        beside(HELP, PYTHON),
        beside(SERVE, FLASK, at_first),
        Measurement("- the same server after the load", memory=after),
        bare[PYTHON],
        bare[FLASK],
    ]
    fits = None if after is None else after < MOST_MB
    limit = f"resident memory after the load under {MOST_MB} MB"
    return Section(
        "e. Starting, and memory",
        HOW,
        rows,
        [
            _in_time(bare[HELP], MOST_HELP),
            _in_time(bare[SERVE], MOST_START),
            Target(limit, f"{number(after)} MB", fits),
        ],
    )


def _in_time(start: Measurement, most: int) -> Target:
    """Whether what starts is there in time: half of the times, and nearly all."""
    p50, p95 = start.percentile(50), start.percentile(95)
    measured = f"p50 {number(p50)} ms, p95 {number(p95)} ms"
    return Target(f"{start.what} under {most} ms", measured, p95 < most)


def _first_answer(home: Path) -> float:
    """Return the seconds from the start of a server to the end of its first page."""
    began = perf_counter()
    with relevansi(home) as server, urlopen(server.url, timeout=30) as answer:
        answer.read()
        return perf_counter() - began


def _memory(home: Path, database: Database) -> tuple[float | None, float | None]:
    """Return the megabytes a server holds after its first page, and after a crowd's clicks."""
    with relevansi(home) as server:
        with urlopen(server.url, timeout=30) as answer:
            answer.read()
        at_first = resident(server.pids())
        clients = invited(server, database, RATERS)
        take_turns([Contestant("crowd", server.port, clients, "POST", CLICKS, SECONDS)], ROUNDS)
        return at_first, resident(server.pids())
