"""(c) The pages people open: to rate, to look at a run, to compare runs."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from urllib.request import urlopen

from tests.benchmarks.load import Client, Contestant, Place, relevansi, take_turns
from tests.benchmarks.report import Measurement, Section, Target, number
from tests.benchmarks.studies import (
    OWNER,
    Size,
    card_keys,
    give,
    let_owner_judge_everything,
    made_up,
    make_blind,
    run_ids,
)

SIZES = (Size(30, runs=3), Size(1_000, runs=3))
ROUNDS, ASKED = 5, 50
MOST_SECONDS = 3
"""For the first comparison of the largest study."""
HOW = """\
One browser asks for whole pages, as after a click on a link, of three runs whose every card the
owner has judged. Cold is the first answer of a server that has just started, warm all after it."""


def pages(folder: Path) -> Section:
    """Return how long each page takes in a small and in a large study, cold and warm."""
    rows: list[Measurement] = []
    for size in SIZES:
        home = folder / str(size.questions)
        database = made_up(home, size)
        give(database, OWNER, 1)
        let_owner_judge_everything(database)
        ((task, _),) = card_keys(database, OWNER, [1])
        run = f"/runs/{run_ids(database)[0]}"
        for name, path in (
            ("rating page, open page", f"{run}/queries/1"),
            ("rating page, blind page", f"/rate/{task}"),
            ("a run", run),
            ("comparison", "/comparisons/"),
        ):
            make_blind(database, blind=path.startswith("/rate/"))
            rows += _asked(home, f"{name}, {size}", path)
        database.close()
    cold = rows[-2]
    asked, took = f"{cold.what} within {MOST_SECONDS} s", cold.percentile(50)
    target = Target(asked, f"{number(took)} ms", took < MOST_SECONDS * 1000)
    return Section("c. Pages", HOW, rows, [target])


def _asked(home: Path, what: str, path: str) -> list[Measurement]:
    """Return the rows of a page: cold and warm."""
    with relevansi(home) as server:
        began = perf_counter()
        with urlopen(server.url + path, timeout=60) as answer:
            answer.read()
        cold = (perf_counter() - began) * 1000
        shown_at = answer.url.removeprefix(server.url)
        client = Client([Place(shown_at)])
        (warm,) = take_turns([Contestant("page", server.port, [client], "GET", ASKED, 1.0)], ROUNDS)
    return [
        Measurement(f"{what}, cold", [cold]),
        Measurement(f"{what}, warm", warm.milliseconds, warm.per_second),
    ]
