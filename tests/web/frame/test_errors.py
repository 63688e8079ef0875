"""The message that a reader sees when a request cannot be answered."""

from __future__ import annotations

import re

import pytest
from flask import Flask
from flask.testing import FlaskClient
from waitress.adjustments import Adjustments

from tests.web import visitors
from tests.web.conftest import PART, WAYS

UNKNOWN = [
    ("GET", "/nothing", 404),
    ("GET", "/runs/unknown", 404),
    ("GET", "/runs/unknown/queries/1", 404),
    ("GET", "/runs/unknown/delete", 404),
    ("POST", "/runs/unknown/delete", 404),
    ("POST", "/runs/unknown/undo", 404),
    ("POST", "/runs/unknown/labels", 404),
    ("POST", "/runs/unknown/queries/1/results/1/judgment", 404),
    ("POST", "/runs/unknown/queries/1/rating", 404),
    ("POST", "/runs/unknown/queries/1/cards", 404),
    ("GET", "/runs/unknown/export.csv", 404),
    ("GET", "/runs/unknown/metrics.json", 404),
    ("GET", "/runs/import?token=unknown", 404),
    ("GET", "/runs/a%00b", 404),
    ("GET", "/gold/2147483648", 404),  # more than a database can look for
    ("GET", "/raters/99999999999999999999/remove", 404),
    ("POST", "/", 405),
    ("GET", "/runs/unknown/undo", 405),
    ("POST", "/language", 400),
]


@pytest.mark.parametrize("headers", WAYS)
@pytest.mark.parametrize(("method", "address", "status"), UNKNOWN)
def test_what_is_not_there_is_said_as_a_page_or_a_part(
    client: FlaskClient, method: str, address: str, status: int, headers: dict[str, str]
) -> None:
    answer = client.open(address, method=method, headers=headers)

    assert answer.status_code == status
    assert ("<html" in answer.text) == (headers == {})
    assert ('hx-target="#notices"' in answer.text) == (headers == PART)


@pytest.mark.parametrize(
    ("came_from", "back"),
    [
        ("http://localhost/study/notes/?set=1", "/study/notes/?set=1"),
        ("http://localhost//elsewhere.example/", "/elsewhere.example/"),
        ("http://localhost/nothing", None),  # a reload: the page is its own referrer
        ("http://elsewhere.example/", None),
        ("", None),
    ],
)
def test_an_error_page_leads_back_home_and_to_the_runs(
    client: FlaskClient, came_from: str, back: str | None
) -> None:
    page = client.get("/nothing", headers={"Referer": came_from}).text
    actions = page[page.index('<p class="actions">') :].partition("</p>")[0]

    assert re.findall(r'href="([^"]+)"', actions) == [*([back] if back else []), "/", "/runs/"]


def test_a_refused_form_leads_back_to_its_page(client: FlaskClient) -> None:
    answer = client.post("/nothing", headers={"Referer": "http://localhost/nothing"})

    assert '<a class="button" href="/nothing">Back to the previous page</a>' in answer.text


def test_a_rank_that_is_not_there_is_said(client: FlaskClient, run_id: str) -> None:
    answer = client.post(f"/runs/{run_id}/queries/1/results/9/judgment", data={"relevance": "1"})

    assert answer.status_code == 404
    assert "This run has no such question or card" in answer.text


def test_the_longest_address_a_server_takes_is_nowhere(client: FlaskClient) -> None:
    digits = "%D9%A1" * (Adjustments.max_request_header_size // 6)

    assert client.get(f"/offline/{digits}").status_code == 404


def test_a_file_too_large_is_said(app: Flask, client: FlaskClient) -> None:
    app.config["MAX_CONTENT_LENGTH"] = 2**20

    answer = client.post("/runs/import", data={"notes": "x" * 2**20})

    assert answer.status_code == 413
    assert "The file or the text is too large" in answer.text
    assert "At most 1 MB are read at once." in answer.text


@pytest.mark.parametrize("headers", WAYS)
def test_a_fault_of_ours_shows_no_traceback(
    client: FlaskClient, headers: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_args: object) -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr("webapp.services.runs.runs.run_page", broken)

    answer = client.get("/runs/any", headers=headers)

    assert answer.status_code == 500
    assert "Something went wrong on our side" in answer.text
    assert "secret" not in answer.text
    assert "Traceback" not in answer.text


def test_a_typed_form_larger_than_any_text_is_refused_unread(client: FlaskClient) -> None:
    answer = client.post("/study/", data={"name": "%" * 2_000_000})

    assert answer.status_code == 413


def test_the_owner_gets_no_link(app: Flask) -> None:
    visitors.lock(app.extensions["database"])

    answer = visitors.owner(app).post("/raters/1/invitations")

    assert answer.status_code == 409
    assert "The owner signs in with the password" in answer.text
