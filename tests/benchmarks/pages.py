"""(c) What is opened whole: pages to rate, a run, a comparison; a run's figures by a program."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from urllib.request import Request, urlopen

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
    token,
)

SIZES = (Size(30, runs=3), Size(1_000, runs=3))
ROUNDS, REQUESTS = 5, 50
MOST_SECONDS = 3
"""For the first comparison of the largest study."""
MOST_MILLISECONDS = 20
"""For the figures of a run of thirty questions, with those of every question."""
HOW = """\
One browser asks for whole pages, as after a click on a link, of three runs whose every card the
owner has judged; a program with a token for the figures of a run, with those of every question.
Cold is the first answer of a server that has just started, warm all after it."""


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
        by_token = token(database)
        for name, path in (
            ("figures of a run, by a program", f"/api/v1{run}/figures"),
            ("rating page, open page", f"{run}/queries/1"),
            ("rating page, blind page", f"/rate/{task}"),
            ("a run", run),
            ("comparison", "/comparisons/"),
        ):
            make_blind(database, blind=path.startswith("/rate/"))
            is_asked_by_program = path.startswith("/api/")
            rows += _measured(
                home, f"{name}, {size}", path, by_token if is_asked_by_program else ""
            )
        database.close()
    figures, cold = rows[1].percentile(50), rows[-2].percentile(50)
    targets = [
        Target(
            f"p50 under {MOST_MILLISECONDS} ms, {rows[1].what}",
            f"{number(figures)} ms",
            figures < MOST_MILLISECONDS,
        ),
        Target(
            f"{rows[-2].what} within {MOST_SECONDS} s",
            f"{number(cold)} ms",
            cold < MOST_SECONDS * 1000,
        ),
    ]
    return Section("c. Pages", HOW, rows, targets)


def _measured(home: Path, what: str, path: str, by_token: str) -> list[Measurement]:
    """Return the rows of a page, or of what a program asks for: cold and warm."""
    with relevansi(home) as server:
        began = perf_counter()
        headers = {"Authorization": f"Bearer {by_token}"} if by_token else {}
        with urlopen(Request(server.url + path, headers=headers), timeout=60) as answer:
            answer.read()
        cold = (perf_counter() - began) * 1000
        shown_at = answer.url.removeprefix(server.url)
        client = Client([Place(shown_at)], token=by_token)
        (warm,) = take_turns(
            [Contestant("page", server.port, [client], "GET", REQUESTS, 1.0)], ROUNDS
        )
    return [
        Measurement(f"{what}, cold", [cold]),
        Measurement(f"{what}, warm", warm.milliseconds, warm.per_second),
    ]
