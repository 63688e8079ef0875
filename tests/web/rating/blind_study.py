"""A blind study of three runs, and what its pages call things."""

from __future__ import annotations

from flask.testing import FlaskClient
from msgspec.structs import replace
from werkzeug.test import TestResponse

from relevansi.db.engine import Database
from relevansi.kinds.property import Card
from relevansi.services.study import studies
from tests.conftest import NOW
from tests.page import Page
from tests.services.runs.runs import card, query
from tests.stored_studies import made_once, open_study
from tests.web.conftest import stored


def shown(name: str, **stated: object) -> Card:
    return card(name, location="Medan", **stated)


def set_study(database: Database, **wanted: object) -> None:
    with open_study(database) as (session, study):
        before = studies.switches(study)
        studies.set_switches(session, study, replace(before, **wanted), NOW)


@made_once
def three_runs(database: Database) -> list[str]:
    """Three runs: shared and own cards, a changed price, an emptiness, a follow-up."""
    follow_up = query(4, shown("z"), category="context_followup", context_dependent=True)
    lists = {
        "hybrid": [
            query(1, shown("a", price=1_000_000_000), shown("b")),
            query(2, shown("x")),
            query(3),
            follow_up,
        ],
        "api_only": [query(1, shown("b"), shown("c")), query(2), query(3), follow_up],
        "vector_only": [
            query(1, shown("a", price=2_000_000_000)),
            query(2, shown("x")),
            query(3, shown("y")),
            follow_up,
        ],
    }
    ids = [stored(database, lists[method], method=method) for method in lists]
    set_study(database, repeat_percent=0)
    return ids


def begin(client: FlaskClient) -> str:
    answer = client.get("/rate/")
    assert answer.status_code == 303
    return str(answer.location)


def keys(answer: TestResponse, name: str = "card") -> list[str]:
    return Page(answer).values(f".card .verdict [name={name}], .dock [name={name}]")


def stands(answer: TestResponse) -> dict[str, str]:
    """Return the numbers of the cards that a click judged, and the verdict in force on each."""
    forms = Page(answer).all("form.verdict[id]")
    return {form["id"].removeprefix("verdict-"): form["data-stands"] for form in forms}


def judge_all(client: FlaskClient, address: str, relevance: str = "1") -> None:
    for key in keys(client.get(address)):
        client.post(f"{address}/judgment", data={"card": key, "relevance": relevance})


def place(run_id: str, query_id: int) -> str:
    return f"/runs/{run_id}/queries/{query_id}"
