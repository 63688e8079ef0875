"""(b) Several raters at once: each with a browser, an invitation and questions of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.clicking import (
    BLIND,
    GIVEN,
    OPEN,
    Beside,
    beside_minimal,
    invited,
    open_clients,
    pair,
    part,
)
from tests.benchmarks.effort import Effort
from tests.benchmarks.load import Client, Contestant, Place, take_turns
from tests.benchmarks.posts import share_of_throughput
from tests.benchmarks.report import number
from tests.benchmarks.results import Measurement, Section, Target
from tests.benchmarks.serving import minimal, relevansi
from tests.benchmarks.studies import Size, made_up

FEW = 8
MOST_MS = 250
SPREAD = 3
PAUSE = 1.0
"""Seconds between a click and the next, of somebody who hardly reads."""
HOW = f"""\
As above, with so many browsers at once; on the blind page each is another invited rater, on the
open page each is another window of the owner. Without pauses every browser sends its next click
the moment it has its answer, so that requests always wait for each other; with pauses each rater
clicks about once in {PAUSE:.0f} s, which is faster than people judge. A blind rater has opened a
page before, as nobody clicks without one. The load generator's own ceiling is measured against a
socket that answers the same bytes at once."""


def crowds(effort: Effort, folder: Path) -> Section:
    """Return the clicks of few and of many raters at once, beside the minimal application."""
    few = min(FEW, effort.crowd)
    size = Size(effort.questions)
    rows: list[Measurement] = []
    targets: list[Target] = []
    with minimal(folder) as port:
        made_up(folder / "windows", size).close()
        with relevansi(folder / "windows") as server:
            found = beside_minimal(
                server.port, open_clients(size, range(1, effort.questions + 1), few), port, effort
            )
        rows += pair(f"{few} windows, {OPEN}", found)
        targets += _few(f"{few} clients, {OPEN}", found)
        for number_of, pause, found in _blind(effort, folder, port, few):
            how = "about one click a second each" if pause else "no pauses"
            rows += pair(f"{number_of} raters, {BLIND}, {how}", found)
            who = f"{number_of} clients, {BLIND}, {how}"
            targets += _few(who, found) if number_of == few else [_crowd(who, found)]
    rows.append(_ceiling(effort, folder, few))
    return Section("b. Raters at once", HOW, rows, targets)


def _blind(
    effort: Effort, folder: Path, port: int, few: int
) -> Iterator[tuple[int, float, Beside]]:
    """Yield how many blind raters clicked at once, with which pauses, and what came of it."""
    database = made_up(folder / "crowd", Size(effort.questions, runs=3), blind=True)
    with relevansi(folder / "crowd") as server:
        raters = invited(server, database, effort.crowd, min(GIVEN, effort.questions))
        database.close()
        for clients, own, pause in (
            (raters[:few], range(3), 0.0),
            (raters, range(3, 5), PAUSE),
        ):
            mine = part(clients, own)
            found = beside_minimal(server.port, mine, port, effort, pause=pause)
            yield len(clients), pause, found


def _few(who: str, found: Beside) -> list[Target]:
    times = found.ours.times
    return [
        share_of_throughput(who, found),
        Target(
            f"p99 at most {SPREAD} times p50, {who}",
            f"{number(times.p99 / times.p50)} ({number(times.p99)} ms of {number(times.p50)} ms; "
            f"minimal: {number(found.theirs.times.p99 / found.theirs.times.p50)})",
            times.p99 <= SPREAD * times.p50,
        ),
    ]


def _crowd(who: str, found: Beside) -> Target:
    p99 = found.ours.times.p99
    measured = f"{number(p99)} ms (minimal: {number(found.theirs.times.p99)} ms)"
    return Target(f"p99 at most {MOST_MS} ms, {who}", measured, p99 <= MOST_MS)


def _ceiling(effort: Effort, folder: Path, few: int) -> Measurement:
    """Return what the load generator reaches where nothing is to be done for an answer."""
    with minimal(folder, canned=True) as port:
        clients = [Client([Place("/")])] * few
        asked = Contestant("canned", port, clients, requests=effort.clicks, seconds=effort.seconds)
        (found,) = take_turns([asked], 1)
    what = f"- the load generator's ceiling, {few} clients"
    return Measurement(what, found.times, found.per_second)
