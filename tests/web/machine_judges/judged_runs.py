"""A run of nine questions, and the pages on which a machine is made to judge it."""

from __future__ import annotations

import re

from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from tests.services.runs.runs import card, query
from tests.web.conftest import made_once, stored
from webapp.db.engine import Database
from webapp.db.tables.machine_judges import MachineJudge
from webapp.web.frame.workers import workers

WAIT = 60


HERE = "/study/machine-judges"


CARDS = [query(n, *(card(f"p{n}{letter}") for letter in "abc"), text=f"Rumah {n}?")
         for n in range(1, 10)]  # fmt: skip


N = 27


@made_once
def run_of_nine(database: Database) -> str:
    return stored(database, CARDS)


def make(client: FlaskClient, name: str = "Mesin") -> str:
    """Make a judge with our own prompt; return the address of its page."""
    form = client.get(f"{HERE}/new?language=en").text
    prompt = re.search(r"<textarea[^>]*>\n(.*?)</textarea>", form, re.DOTALL)
    assert prompt is not None
    plain = prompt[1].replace("&#34;", '"').replace("&#39;", "'").replace("&amp;", "&")
    answer = client.post(f"{HERE}/", data={"name": name, "language": "en", "prompt": plain})
    assert answer.status_code == 303, answer.text
    return str(answer.headers["Location"])


def finish(app: Flask) -> None:
    """Wait until nobody is at work."""
    assert workers(app).is_idle(WAIT)


def rate_all(client: FlaskClient, run_id: str, *, wrong: int = 0) -> None:
    """Let the owner call everything relevant but the first cards of the first `wrong` answers."""
    for number in range(1, 10):
        for rank in (1, 2, 3):
            verdict = "0" if rank == 1 and number <= wrong else "1"
            client.post(
                f"/runs/{run_id}/queries/{number}/results/{rank}/judgment",
                data={"relevance": verdict},
            )


def judge_of(session: object) -> MachineJudge:
    found: MachineJudge | None = session.scalar(select(MachineJudge))  # type: ignore[attr-defined]
    assert found is not None
    return found
