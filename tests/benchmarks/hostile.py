"""(f) Files that bring their reader down, while people judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from threading import Event, Thread
from time import perf_counter

import httpx

from relevansi.importers.frame import bounded
from relevansi.importers.results import formats
from tests.benchmarks.crowds import invited
from tests.benchmarks.load import Contestant, Outcome, Refused, relevansi, take_turns
from tests.benchmarks.machine import resident
from tests.benchmarks.report import Measurement, Section, Target, number
from tests.benchmarks.studies import Size, made_up, token
from tests.browser.server import Server
from tests.hostile_files import HOSTILE

RATERS, PAUSE, CLICKS, ROUNDS = 30, 1.0, 20, 3
MOST_TIMES, MOST_MB, MOST_MS = 2, 60, 60
SMALL = ("small.csv", b"query_id,question,rank,doc_id,text\n1,q,1,d1,a text\n")
TIMES = 50
BUSY = 503
HOW = f"""\
Invited raters click about every second, by themselves and while a program imports one file after
the other: {", ".join(HOSTILE)}. Each is refused by its own limit, or its reader is ended. The
memory is that of the server alone. A small file is read by the function that the page calls, in the
own process and in one apart."""


def hostile(folder: Path) -> Section:
    """Return the clicks beside hostile files, and what a process of its own costs a small one."""
    database = made_up(folder, Size(300, runs=3), blind=True)
    files = {name: make() for name, make in HOSTILE.items()}
    result: dict[str, list[Outcome]] = {"by themselves": [], "beside hostile files": []}
    with relevansi(folder) as server:
        clients = invited(server, database, RATERS)
        key = token(database, "import")
        database.close()
        seconds = 3 * PAUSE * CLICKS
        crowd = Contestant("crowd", server.port, clients, "POST", CLICKS, seconds, PAUSE)
        take_turns([crowd], 1)
        before = resident(server.pids())
        for _ in range(ROUNDS):
            result["by themselves"] += take_turns([crowd], 1)
            with _importing(server, key, files) as refused:
                result["beside hostile files"] += take_turns([crowd], 1)
        after = resident(server.pids())
    rows = [_row(f"{RATERS} raters {how}", several) for how, several in result.items()]
    rows += _small()
    quiet, busy, inside, apart = (
        row.percentile(99 if at < 2 else 50) for at, row in enumerate(rows)
    )
    return Section(
        "f. Hostile files",
        HOW,
        rows,
        [
            Target(
                f"p99 of clicks beside hostile files at most {MOST_TIMES} times that without",
                f"{number(busy / quiet)}, {len(refused)} files refused in the last round",
                busy <= MOST_TIMES * quiet,
            ),
            Target(
                f"memory of the server after them at most {MOST_MB} MB more",
                f"{number(before)} MB, then {number(after)} MB",
                None if before is None or after is None else after - before <= MOST_MB,
            ),
            Target(
                f"a small file apart at most {MOST_MS} ms more",
                f"{number(apart - inside)} ms",
                apart - inside <= MOST_MS,
            ),
        ],
    )


def _row(what: str, several: list[Outcome]) -> Measurement:
    times = [millisecond for outcome in several for millisecond in outcome.milliseconds]
    return Measurement(what, times, len(times) / sum(outcome.seconds for outcome in several))


def _small() -> Iterator[Measurement]:
    ways = (("in the own process", None), ("apart", bounded.PAGE))
    for how, limits in ways:
        times = []
        with bounded.within(limits):
            for _ in range(TIMES + 1):
                began = perf_counter()
                bounded.call(SMALL[0], formats.read, (SMALL,), None)
                times.append((perf_counter() - began) * 1000)
        yield Measurement(f"a small file, {how}", times[1:])


@contextmanager
def _importing(server: Server, key: str, files: Mapping[str, bytes]) -> Iterator[list[str]]:
    """Import one file after the other until the block ends; yields the names of those refused."""
    refused: list[str] = []
    faults: list[str] = []
    is_over = Event()

    def send() -> None:
        headers = {"Authorization": f"Bearer {key}"}
        with httpx.Client(base_url=server.url, headers=headers, timeout=600) as program:
            for name, data in cycle(files.items()):
                answer = program.post("/api/v1/runs", files={"files": (name, data)})
                while answer.status_code == BUSY and not is_over.is_set():  # it says: send it again
                    is_over.wait(1)
                    answer = program.post("/api/v1/runs", files={"files": (name, data)})
                while answer.json().get("state") in ("waiting", "asking"):
                    is_over.wait(0.2)
                    answer = program.get(answer.json()["address"])
                if answer.json().get("problems"):
                    refused.append(name)
                else:
                    faults.append(f"{name}: {answer.status_code} {answer.text}")
                if faults or is_over.is_set():
                    return

    sending = Thread(target=send)
    sending.start()
    try:
        yield refused
    finally:
        is_over.set()
        sending.join()
    if faults:
        raise Refused(faults[0])
