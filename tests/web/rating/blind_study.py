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


def in_medan(name: str, **fields: object) -> Card:
    return card(name, location="Medan", **fields)


def set_study(database: Database, **changed: object) -> None:
    with open_study(database) as (session, study):
        before = studies.switches(study)
        studies.set_switches(session, study, replace(before, **changed), NOW)


@made_once
def three_runs(database: Database) -> list[str]:
    """Three runs: shared and own cards, a changed price, an emptiness, a follow-up."""
    follow_up = query(4, in_medan("z"), category="context_followup", context_dependent=True)
    lists = {
        "hybrid": [
            query(1, in_medan("a", price=1_000_000_000), in_medan("b")),
            query(2, in_medan("x")),
            query(3),
            follow_up,
        ],
        "api_only": [query(1, in_medan("b"), in_medan("c")), query(2), query(3), follow_up],
        "vector_only": [
            query(1, in_medan("a", price=2_000_000_000)),
            query(2, in_medan("x")),
            query(3, in_medan("y")),
            follow_up,
        ],
    }
    ids = [stored(database, lists[method], method=method) for method in lists]
    set_study(database, repeat_percent=0)
    return ids


def begin(client: FlaskClient) -> str:
    response = client.get("/rate/")
    assert response.status_code == 303
    return str(response.location)


def keys(response: TestResponse, name: str = "card") -> list[str]:
    return Page(response).values(f".card .verdict [name={name}], .dock [name={name}]")


def verdicts_in(response: TestResponse) -> dict[str, str]:
    """Return the numbers of the cards that a click judged, and the verdict in force on each."""
    forms = Page(response).all("form.verdict[id]")
    return {form["id"].removeprefix("verdict-"): form["data-stands"] for form in forms}


def judge_all(client: FlaskClient, address: str, relevance: str = "1") -> None:
    for key in keys(client.get(address)):
        client.post(f"{address}/judgment", data={"card": key, "relevance": relevance})


def place(run_id: str, query_id: int) -> str:
    return f"/runs/{run_id}/queries/{query_id}"
