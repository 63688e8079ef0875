"""(d) The pages people open: to rate, to look at a run, to compare runs."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from time import perf_counter, sleep

from tests.benchmarks.clicking import BLIND, OPEN
from tests.benchmarks.effort import Effort
from tests.benchmarks.load import Client, Contestant, Place, Refused, take_turns
from tests.benchmarks.report import number
from tests.benchmarks.results import Measurement, Section, Target, Times
from tests.benchmarks.serving import relevansi
from tests.benchmarks.studies import OWNER, Size, card_keys, let_owner_judge, made_up, make_blind

HOW = """\
One browser asks for whole pages, as after a click on a link, of three runs whose every card the
owner has judged. Cold is the first answer of a server that has just started, warm all after it."""
MOST_SECONDS = 3
"""For the first comparison of the largest study."""
FEW = 5
"""So many rounds of a page are enough: a slow one is asked for once in each."""

MOST_ASKED = 1200
"""How often a page is asked for until it is shown: for about a minute."""


def pages(effort: Effort, folder: Path) -> Section:
    """Return how long each page takes in a small and in a large study, cold and warm."""
    rows: list[Measurement] = []
    for questions in effort.compared:
        size = Size(questions, runs=3)
        home = folder / str(questions)
        database = made_up(home, size)
        let_owner_judge(database, judged=questions * size.pooled, given=questions)
        ((task, _),) = card_keys(database, OWNER, [1])
        for name, path, blind in _pages(size, task):
            make_blind(database, blind=blind)
            rows += _asked(home, f"{name}, {size}", path, effort)
        database.close()
    slowest = rows[-2].times
    assert slowest is not None
    asked = f"{rows[-2].what} within {MOST_SECONDS} s"
    met = slowest.p50 < MOST_SECONDS * 1000
    return Section("c. Pages", HOW, rows, [Target(asked, f"{number(slowest.p50)} ms", met)])


def _pages(size: Size, task: str) -> Iterator[tuple[str, str, bool]]:
    """Yield the name of each page, its address, and whether the study is blind there."""
    run = f"/runs/{size.run_ids[0]}"
    yield f"rating page, {OPEN}", f"{run}/queries/1", False
    yield f"rating page, {BLIND}", f"/rate/{task}", True
    yield "a run", run, False
    yield "comparison", "/comparisons/", False


def _asked(home: Path, what: str, path: str, effort: Effort) -> Iterator[Measurement]:
    """Yield the rows of a page: cold and warm."""
    with relevansi(home) as server:
        shown_at, cold = _first_shown(server.port, path)
        page = Contestant("page", server.port, [Client([Place(shown_at)])], "GET", 1)
        ours = Contestant("page", server.port, page.clients, "GET", effort.clicks // 4, 1.0)
        (warm,) = take_turns([ours], min(FEW, effort.rounds))
    yield Measurement(f"{what}, cold", Times.of([cold]))
    yield Measurement(f"{what}, warm", warm.times, warm.per_second)


def _first_shown(port: int, path: str) -> tuple[str, float]:
    """Return the address at which a page is shown at last, and after how many milliseconds."""
    began = perf_counter()
    for _ in range(MOST_ASKED):
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
            connection.request("GET", path)
            answer = connection.getresponse()
            answer.read()
        if answer.status == http.HTTPStatus.SEE_OTHER:
            path = answer.getheader("Location", "")
        elif path.startswith("/files/"):  # how far long work is
            sleep(0.05)
        else:
            return path, (perf_counter() - began) * 1000
    raise Refused(f"{path} shows nothing after {MOST_ASKED} requests")
