"""(b) A room of raters: each with a browser, an invitation and questions of their own."""

from __future__ import annotations

import http.client
from contextlib import closing
from pathlib import Path

from relevansi.db.engine import Database
from tests.benchmarks.growth import WARM, blind_client
from tests.benchmarks.load import Client, Contestant, Refused, relevansi, take_turns
from tests.benchmarks.report import Measurement, Section, Target, number
from tests.benchmarks.studies import TASKS, Size, add_rater, invite, made_up
from tests.browser.server import Server

RATERS, MOST_MS = 100, 150
PAUSE = 3.0
"""Seconds between an answer and the next click, of somebody who reads."""
CLICKS = 20
FORM = {"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin"}
HOW = f"""\
So many invited raters, each at tasks of their own, click about every {PAUSE:.0f} seconds, which is
faster than people judge. Every click is answered with its figures by one plain `relevansi
serve`."""


def crowds(folder: Path) -> Section:
    """Return the clicks of many raters at once."""
    database = made_up(folder, Size(300, runs=3), blind=True)
    with relevansi(folder) as server:
        clients = invited(server, database, RATERS)
        database.close()
        take_turns([Contestant("first", server.port, clients[:2], requests=WARM)], 1)
        crowd = Contestant("crowd", server.port, clients, "POST", CLICKS, 3 * PAUSE * CLICKS, PAUSE)
        (result,) = take_turns([crowd], 1)
    who = f"{RATERS} raters, blind page, a click every {PAUSE:.0f} s each"
    row = Measurement(who, result.milliseconds, result.per_second)
    p99 = row.percentile(99)
    target = Target(f"p99 at most {MOST_MS} ms, {who}", f"{number(p99)} ms", p99 <= MOST_MS)
    return Section("b. A room of raters", HOW, [row], [target])


def invited(server: Server, database: Database, number: int) -> list[Client]:
    """Return the browsers of so many invited raters, who judge blind the first questions."""
    rater_ids = [add_rater(database, f"Rater {n}", TASKS) for n in range(number)]
    return [blind_client(database, n, _cookie(server, invite(database, n))) for n in rater_ids]


def _cookie(server: Server, token: str) -> str:
    """Return the cookie of a browser that came in by an invitation."""
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)) as connection:
        connection.request("POST", f"/join/{token}", "", FORM)
        answer = connection.getresponse()
        result = answer.getheader("Set-Cookie")
    if not result:
        raise Refused(f"/join: {answer.status}")
    return result.partition(";")[0]
