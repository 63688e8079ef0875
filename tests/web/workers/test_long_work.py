"""Work that takes long has a page that shows how far it is; one may leave and come back."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.web.comparisons.test_comparisons import rated_pair
from tests.web.workers.progress_pages import Asked, assert_place
from webapp.db.engine import Database
from webapp.db.tables.workers import LongWork
from webapp.services.comparisons import long_kind
from webapp.services.study import studies
from webapp.services.workers import long_work
from webapp.services.workers.leases import ALIVE
from webapp.web.frame.access import now
from webapp.web.frame.workers import workers

WAIT = 60
PART = {"HX-Request-Type": "partial"}
ADDRESS = "/comparisons/"
"""Its comparison is the work."""


@pytest.fixture(autouse=True)
def _long(web_database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    rated_pair(web_database)
    monkeypatch.setattr(long_kind, "LONG_FROM", 1)


@pytest.fixture(name="nobody_works")
def _nobody_works(app: Flask) -> None:
    """Nothing is begun any more."""
    assert workers(app).finish(WAIT)


def asked(client: FlaskClient) -> str:
    """Return the address of the page to which asking leads."""
    answer = client.get(ADDRESS)
    assert answer.status_code == 303
    return answer.headers["Location"]


@pytest.mark.usefixtures("nobody_works")
def test_an_open_page_asks_after_the_work_and_works_without_a_script(client: FlaskClient) -> None:
    page = asked(client)
    text = client.get(page).text

    assert f'hx-get="{page}" hx-trigger="every 1s"' in text
    assert f'<noscript><a href="{page}">Look now</a></noscript>' in text
    assert "It begins in a moment." in text
    assert client.get(f"{page}/file").status_code == 404


@pytest.mark.usefixtures("nobody_works")
def test_how_far_it_is_is_shown(client: FlaskClient, web_database: Database) -> None:
    page = asked(client)
    with web_database.writing() as session:
        row = session.get_one(LongWork, page.rpartition("/")[2])
        row.state, row.attempt, row.steps_done, row.steps = "asking", 1, 3, 10
        row.alive_until = now() + ALIVE
        session.commit()
    part = client.get(page, headers=PART).text

    assert '<progress value="3" max="10"' in part
    assert "The comparison is being made: 3 of 10 steps done." in part
    assert "<html" not in part


def test_a_failure_has_its_remedy(app: Flask, client: FlaskClient, web_database: Database) -> None:
    with web_database.writing() as session:
        study = studies.open_or_make(session, now())
        wanted = {"runs": ["gone", "too"], "rule": "majority", "language": "en"}
        work_id = long_work.put_down(session, study, long_kind.COMPARISON, wanted, now())
        session.commit()
    client.get(f"/files/{work_id}")  # looking at it has it go on
    assert workers(app).is_idle(WAIT)
    part = client.get(f"/files/{work_id}", headers=PART).text

    assert "This study has no run gone" in part
    assert "Try again" in part


@pytest.mark.usefixtures("nobody_works")
def test_it_can_be_given_up(client: FlaskClient) -> None:
    page = asked(client)

    assert client.post(f"{page}/give-up").status_code == 303
    assert client.get(page).status_code == 404


@pytest.mark.usefixtures("nobody_works")
@pytest.mark.parametrize(
    ("kind", "wanted", "at", "back"),
    [
        ("comparison", {"runs": ["a", "b"], "rule": "majority"}, "/comparisons/", "/runs/"),
        ("reading", {"names": ["a.json"], "tokens": ["a"]}, "/runs/import", "/runs/import"),
    ],
)
def test_its_page_is_in_the_menu_where_it_was_begun_and_leads_back_to_what_begins_none(
    client: FlaskClient,
    web_database: Database,
    kind: str,
    wanted: dict[str, Any],
    at: str,
    back: str,
) -> None:
    assert_place(client, web_database, Asked(kind, wanted), at=at, back=back)


def test_a_link_of_another_site_begins_no_work(client: FlaskClient) -> None:
    elsewhere = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    answer = client.get(ADDRESS, headers=elsewhere)

    assert "Location" not in answer.headers
    assert "Go on" in answer.text
