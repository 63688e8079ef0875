"""A reason beside "not relevant" on open and blind pages, and the owner's list of them."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from relevansi.db.engine import Database
from tests.page import Page
from tests.services.statements import statements_of
from tests.web.conftest import PART, WAYS
from tests.web.rating.blind_study import begin, keys, place

MOST_STATEMENTS = 8


def reason_of(response: TestResponse, number: int) -> str:
    return Page(response).values(f"#tag-{number}", "data-reason")[0]


@pytest.mark.parametrize("headers", WAYS)
def test_a_reason_shows_on_its_card_alone(
    client: FlaskClient, web_database: Database, run_id: str, headers: dict[str, str]
) -> None:
    at = f"{place(run_id, 1)}/results/1"
    client.post(f"{at}/judgment", data={"relevance": "0"})
    with statements_of(web_database) as statements:
        response = client.post(f"{at}/reason", data={"reason": "price"}, headers=headers)

    assert response.status_code == (200 if headers else 303)
    assert len(statements) <= MOST_STATEMENTS
    assert not headers or reason_of(response, 1) == "price"
    page = client.get(place(run_id, 1))
    assert [reason_of(page, number) for number in (1, 2)] == ["price", ""]
    assert not Page(page).has("#why-1[hidden]")
    assert Page(page).has("#why-2[hidden]")
    client.post(f"{at}/judgment", data={"relevance": "1"})
    assert Page(client.get(place(run_id, 1))).has("#why-1[hidden]")
    assert client.post(f"{at}/reason", data={"reason": "murah"}, headers=PART).status_code == 400


@pytest.mark.usefixtures("run_ids")
def test_a_blind_rater_gives_a_reason_by_the_card_s_key(client: FlaskClient) -> None:
    address = begin(client)
    card = keys(client.get(address))[0]
    client.post(f"{address}/judgment", data={"card": card, "relevance": "0"})
    reason = {"card": card, "reason": "other: Di kota lain"}
    response = client.post(f"{address}/reason", data=reason, headers=PART)

    assert reason_of(response, 1) == reason_of(client.get(address), 1) == "other: Di kota lain"
    client.post("/rate/undo", data={"event_id": "u1"})
    assert reason_of(client.get(address), 1) == ""


def test_the_owner_s_list_is_what_raters_choose_from(client: FlaskClient, run_id: str) -> None:
    """A reason that is taken off the list stays where it was given."""
    at = f"{place(run_id, 1)}/results/1"
    client.post(f"{at}/judgment", data={"relevance": "0"})
    client.post(f"{at}/reason", data={"reason": "location"})
    settings = "/study/?part=raters"
    for lines, status in (("\n".join("abcdefg"), 422), ("Price\nToo loud", 303)):
        assert client.post(settings, data={"reason_lines": lines}).status_code == status

    page = Page(client.get(place(run_id, 1)))
    assert page.values("#reasons button") == ["price", "Too loud"]
    assert reason_of(client.get(place(run_id, 1)), 1) == "location"
    assert client.post(f"{at}/reason", data={"reason": "Too loud"}).status_code == 303
