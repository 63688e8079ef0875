"""(i) The next question where questions are rated by effect, beside the usual order."""

from __future__ import annotations

import http.client
import random
import re
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from time import perf_counter
from urllib.parse import urlencode

from tests.benchmarks.effort import Effort
from tests.benchmarks.load import Refused
from tests.benchmarks.report import number
from tests.benchmarks.results import Measurement, Section, Target, Times
from tests.benchmarks.serving import FORM, cookie, relevansi
from tests.benchmarks.studies import OWNER, Size, add_rater, invite, keys_of, made_up
from webapp.db.engine import Database
from webapp.db.tables.people import Rater
from webapp.services.planning import rules
from webapp.services.planning.rules import RuleKind
from webapp.web.frame.access import now

MOST_MS = 50
RUNS = 5
HOW = f"""\
A blind rater of {RUNS} runs judges every card of a question, and then goes on: what is timed is the
answer that names the next question. By effect it is the one that can move the orders of the runs
most, so every verdict since the last question is read and weighed. The yardstick is the same rater
in the same study in its usual order; both take turns, question by question."""


def by_effect(effort: Effort, folder: Path) -> Section:
    """Return how long the next question takes, by effect and in the usual order."""
    size = Size(max(effort.compared), runs=RUNS)
    with ExitStack() as stack:
        ours, theirs = (
            stack.enter_context(closing(_Rater(stack, folder / name, size, ruled=name == "effect")))
            for name in ("effect", "usual")
        )
        taken: tuple[list[float], list[float]] = ([], [])
        for _ in range(min(size.questions, effort.clicks // 4)):
            taken[0].append(ours.judge_and_go_on())
            taken[1].append(theirs.judge_and_go_on())
    found, usual = map(Times.of, taken)
    rows = [
        Measurement(
            f"next question by effect, {size}",
            found,
            yardstick="the usual order",
            ratio=found.p50 / usual.p50,
        ),
        Measurement("- the usual order", usual),
    ]
    return Section("i. The next question", HOW, rows, [_target(size, found)])


def _target(size: Size, found: Times) -> Target:
    return Target(
        f"next question by effect under {MOST_MS} ms at the 95th percentile, {size}",
        f"{number(found.p95)} ms",
        found.p95 < MOST_MS,
    )


class _Rater:
    """A blind rater's browser, which judges a whole question and asks for the next one."""

    def __init__(self, stack: ExitStack, folder: Path, size: Size, *, ruled: bool) -> None:
        self.database = made_up(folder, size, blind=True)
        stack.callback(self.database.close)
        if ruled:
            _rate_by_effect(self.database)
        token = invite(self.database, add_rater(self.database, "Ani"))
        server = stack.enter_context(relevansi(folder))
        self._connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        self._headers = {**FORM, "Cookie": cookie(server, token)}
        self._chance = random.Random(7)
        self._clicks = 0
        self._task = self._next("/rate/")

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def judge_and_go_on(self) -> float:
        """Judge the question in hand, and return the milliseconds that the next one takes."""
        for body in self._verdicts():
            self._asked("POST", f"/rate/{self._task}/judgment", body)
        began = perf_counter()
        self._task = self._next(f"/rate/?after={self._task}")
        return (perf_counter() - began) * 1000

    def _verdicts(self) -> Iterator[str]:
        for key in keys_of(self.database, self._task):
            self._clicks += 1
            event = {"event_id": f"bench-{self._clicks}", "device": "bench"}
            order = {"sequence": self._clicks, "client_time": self._clicks}
            relevance = self._chance.choice("011")
            yield urlencode({"card": key, "relevance": relevance, **event, **order})

    def _next(self, path: str) -> str:
        found = re.search(r"/rate/([^/?]+)", self._asked("GET", path))
        if not found:
            raise Refused(f"{path}: no next question")
        return found[1]

    def _asked(self, method: str, path: str, body: str = "") -> str:
        """Return the address that an answer leads to; it must lead somewhere."""
        self._connection.request(method, path, body, self._headers)
        answer = self._connection.getresponse()
        answer.read()
        if answer.status not in {302, 303}:
            raise Refused(f"{path}: {answer.status}")
        return answer.headers["Location"]


def _rate_by_effect(database: Database) -> None:
    with database.writing() as session:
        rules.choose(session, session.get_one(Rater, OWNER), 1, RuleKind.BY_EFFECT, now(), seed=7)
        session.commit()
