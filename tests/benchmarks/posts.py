"""(a) One rater's click, from the browser's request to the last byte of the answer."""

from __future__ import annotations

from pathlib import Path

from tests.benchmarks.clicking import (
    BLIND,
    OPEN,
    Beside,
    beside_minimal,
    invited,
    open_clients,
    pair,
)
from tests.benchmarks.effort import Effort
from tests.benchmarks.load import Contestant, take_turns
from tests.benchmarks.report import number
from tests.benchmarks.results import Measurement, Section, Target
from tests.benchmarks.serving import minimal, relevansi
from tests.benchmarks.studies import Size, made_up

HOW = """\
One browser sends judgments over one connection, each as the page's script does, and waits for
each answer: the verdict is stored durably, the summaries are updated, and the answer brings the
verdict in force with the figures and the progress that moved. The yardstick is a minimal Flask
application under the same waitress with as many threads, which stores the verdict by SQLAlchemy
Core just as durably (WAL, `synchronous=FULL`, one lock for all writers), reads the question's
verdicts back and renders their figures in thirty lines: no rater, log, run or language. Both get
the same load in alternating rounds. The raw commit is SQLite alone, without a server."""
LEAST_SHARE = 0.45


def posts(effort: Effort, folder: Path) -> Section:
    """Return the clicks of one rater on each page, beside the minimal application and a commit."""
    rows: list[Measurement] = []
    targets = []
    with minimal(folder) as port:
        for page, measure in ((OPEN, _open), (BLIND, _blind)):
            found = measure(effort, folder, port)
            rows += pair(f"judgment, {page}", found)
            targets.append(share_of_throughput(f"1 client, {page}", found))
    commit = Contestant("commit", str(folder), method="COMMIT", requests=effort.clicks)
    (raw,) = take_turns([commit], effort.rounds)
    rows.append(Measurement("- one raw SQLite commit", raw.times, raw.per_second))
    return Section("a. One judgment", HOW, rows, targets)


def share_of_throughput(who: str, found: Beside) -> Target:
    """Whether our clicks have enough of the throughput of the minimal application's."""
    ours, theirs = found.ours.per_second, found.theirs.per_second
    share = ours / theirs
    return Target(
        f"judgments per second at least {LEAST_SHARE} of the minimal application's, {who}",
        f"{number(share)} ({number(ours)} of {number(theirs)})",
        share >= LEAST_SHARE,
    )


def _open(effort: Effort, folder: Path, port: int) -> Beside:
    size = Size(effort.questions)
    made_up(folder / "open", size).close()
    with relevansi(folder / "open") as server:
        return beside_minimal(
            server.port, open_clients(size, range(1, effort.questions + 1)), port, effort
        )


def _blind(effort: Effort, folder: Path, port: int) -> Beside:
    database = made_up(folder / "blind", Size(effort.questions, runs=3), blind=True)
    with relevansi(folder / "blind") as server:
        clients = invited(server, database, 1, effort.questions)
        database.close()
        return beside_minimal(server.port, clients, port, effort)
