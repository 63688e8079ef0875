"""(a) One rater's click, from the browser's request to the last byte of the answer."""

from __future__ import annotations

from pathlib import Path

from tests.benchmarks.clicking import BLIND, OPEN, Beside, beside_bare, invited, open_clients, pair
from tests.benchmarks.effort import Effort
from tests.benchmarks.load import Contestant, take_turns
from tests.benchmarks.report import number
from tests.benchmarks.results import Measurement, Section, Target
from tests.benchmarks.serving import bare, relevansi
from tests.benchmarks.studies import Size, made_up

HOW = """\
One browser sends judgments over one connection, each as the page's script does, and waits for
each answer: the verdict is stored durably, the summaries are updated and the answer is rendered.
It says which verdict stands; the figures and whatever else moved on the page are read by a second
request once no click is on its way, which has a row of its own. The yardstick is a bare Flask
application under the same waitress with as many threads, which stores one small row just as
durably (WAL, `synchronous=FULL`, one lock for all writers) and renders as many bytes; both get
the same load in alternating rounds. The raw commit is SQLite alone, without a server."""


def posts(effort: Effort, folder: Path) -> Section:
    """Return the clicks of one rater on each page, beside the bare application and a commit."""
    rows: list[Measurement] = []
    targets = []
    with bare(folder) as port:
        for page, measure in ((OPEN, _open), (BLIND, _blind)):
            found = measure(effort, folder, port)
            rows += pair(f"judgment, {page}", found)
            targets.append(half_the_throughput(f"1 client, {page}", found))
    commit = Contestant("commit", str(folder), method="COMMIT", requests=effort.clicks)
    (raw,) = take_turns([commit], effort.rounds)
    rows.append(Measurement("- one raw SQLite commit", raw.times, raw.per_second))
    return Section("a. One judgment", HOW, rows, targets)


def half_the_throughput(who: str, found: Beside) -> Target:
    """Whether our clicks have at least half the throughput of the bare application's."""
    ours, theirs = found.ours.per_second, found.theirs.per_second
    share = ours / theirs
    return Target(
        f"judgments per second at least 0.5 of the bare application's, {who}",
        f"{number(share)} ({number(ours)} of {number(theirs)})",
        share >= 0.5,
    )


def _open(effort: Effort, folder: Path, port: int) -> Beside:
    size = Size(effort.questions)
    made_up(folder / "open", size).close()
    with relevansi(folder / "open") as server:
        return beside_bare(
            server.port, open_clients(size, range(1, effort.questions + 1)), port, effort
        )


def _blind(effort: Effort, folder: Path, port: int) -> Beside:
    database = made_up(folder / "blind", Size(effort.questions, runs=3), blind=True)
    with relevansi(folder / "blind") as server:
        clients = invited(server, database, 1, effort.questions)
        database.close()
        return beside_bare(server.port, clients, port, effort)
