"""(a) A click with its figures, in studies of 30, 300 and 1,000 questions."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from relevansi.db.engine import Database
from tests.benchmarks.load import Client, Contestant, Outcome, Place, relevansi, take_turns
from tests.benchmarks.report import Measurement, Section, Target, number
from tests.benchmarks.studies import (
    OWNER,
    TASKS,
    Size,
    card_keys,
    give,
    made_up,
    make_blind,
    run_ids,
)

SIZES = tuple(map(Size, (30, 300, 1_000)))
ROUNDS, CLICKS, SECONDS = 3, 100, 2.0
WARM = 10
"""Clicks before it counts: the first ones load what later ones find loaded."""
GROWTH, MOST_MS = 2, 50
HOW = f"""\
One browser at a time sends verdicts as the page's script does and waits for each answer: the
verdict is stored durably, and the answer brings the figures and the progress that moved. Every
study has a database and a server of its own, with its questions in twelve categories, and all of
them take turns. Each click is on one of {TASKS} questions that the rater has just come to. The
ratio is to the smallest study."""


def growth(folder: Path) -> Section:
    """Return the clicks in every study, on the open and on the blind page."""
    rows: list[Measurement] = []
    targets: list[Target] = []
    with ExitStack() as stack:
        opened = [made_up(folder / str(size.questions), size) for size in SIZES]
        for database in opened:
            give(database, OWNER, TASKS)
            stack.callback(database.close)
        servers = [stack.enter_context(relevansi(folder / str(size.questions))) for size in SIZES]
        ports = [server.port for server in servers]
        for page in ("open page", "blind page"):
            for database in opened:
                make_blind(database, blind=page == "blind page")
            make = blind_client if page == "blind page" else open_client
            result = _clicked(ports, [make(database) for database in opened])
            first = Measurement("", result[0].milliseconds).percentile(50)
            measured = [
                Measurement(
                    f"judgment, {page}, {size}",
                    outcome.milliseconds,
                    outcome.per_second,
                    yardstick=str(SIZES[0]),
                    ratio=Measurement("", outcome.milliseconds).percentile(50) / first,
                )
                for size, outcome in zip(SIZES, result, strict=True)
            ]
            rows += measured
            targets += _targets(page, measured)
    return Section("a. One click, with its figures", HOW, rows, targets)


def blind_client(database: Database, rater_id: int = OWNER, cookie: str = "") -> Client:
    """Return the browser of a blind rater at their tasks; `cookie` lets it in."""
    given_tasks = card_keys(database, rater_id, range(1, TASKS + 1))
    fewest = min(len(keys) for _, keys in given_tasks)
    places = [
        Place(f"/rate/{task}/judgment", {"card": keys[place]})
        for place in range(fewest - 1)
        for task, keys in given_tasks
    ]
    return Client(places, cookie, page=f"/rate/{given_tasks[0][0]}")


def open_client(database: Database) -> Client:
    run = f"/runs/{run_ids(database)[0]}/queries"
    ranks, questions = range(1, SIZES[0].results), range(1, TASKS + 1)
    return Client(
        [
            Place(f"{run}/{question}/results/{rank}/judgment")
            for rank in ranks
            for question in questions
        ]
    )


def _clicked(ports: Sequence[int], clients: Sequence[Client]) -> list[Outcome]:
    """Return what came of all studies in turns; what they do at first does not count."""
    for clicks, rounds in ((WARM, 1), (CLICKS, ROUNDS)):
        contestants = [
            Contestant(f"study {port}", port, [client], requests=clicks, seconds=SECONDS)
            for port, client in zip(ports, clients, strict=True)
        ]
        result = take_turns(contestants, rounds)
    return result


def _targets(page: str, measured: Sequence[Measurement]) -> list[Target]:
    """Return whether each click is quick, and hardly slower in the largest study."""
    medians = [row.percentile(50) for row in measured]
    result = [
        Target(f"p50 under {MOST_MS} ms, {page}, {size}", f"{number(p50)} ms", p50 < MOST_MS)
        for size, p50 in zip(SIZES, medians, strict=True)
    ]
    ratio = medians[-1] / medians[0]
    limit = f"p50 at most {GROWTH} times that of {SIZES[0]}, {page}, {SIZES[-1]}"
    return [*result, Target(limit, number(ratio), ratio <= GROWTH)]
