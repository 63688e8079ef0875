"""(b) A room of raters: each with a browser, an invitation and questions of their own."""

from __future__ import annotations

from pathlib import Path

from tests.benchmarks.clicking import BLIND, GIVEN, WARM, invited
from tests.benchmarks.effort import Effort
from tests.benchmarks.load import Contestant, take_turns
from tests.benchmarks.report import number
from tests.benchmarks.results import Measurement, Section, Target
from tests.benchmarks.serving import relevansi
from tests.benchmarks.studies import Size, made_up

MOST_MS = 250
PAUSE = 3.0
"""Seconds between an answer and the next click, of somebody who reads."""
CLICKS = 20
HOW = f"""\
So many invited raters, each at tasks of their own, click about every {PAUSE:.0f} seconds, which is
faster than people judge. Every click is answered with its figures by one plain `relevansi
serve`."""


def crowds(effort: Effort, folder: Path) -> Section:
    """Return the clicks of many raters at once."""
    database = made_up(folder / "crowd", Size(effort.questions, runs=3), blind=True)
    with relevansi(folder / "crowd") as server:
        clients = invited(server, database, effort.crowd, min(GIVEN, effort.questions))
        database.close()
        take_turns([Contestant("first", server.port, clients[:2], requests=WARM)], 1)
        each = min(CLICKS, effort.clicks)
        asked = Contestant("crowd", server.port, clients, "POST", each, 3 * PAUSE * each, PAUSE)
        (found,) = take_turns([asked], 1)
    who = f"{len(clients)} raters, {BLIND}, a click every {PAUSE:.0f} s each"
    p99 = found.times.p99
    return Section(
        "b. A room of raters",
        HOW,
        [Measurement(who, found.times, found.per_second)],
        [Target(f"p99 at most {MOST_MS} ms, {who}", f"{number(p99)} ms", p99 <= MOST_MS)],
    )
