"""The people who get an answer, and the headers that every answer carries."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from tests.web.conftest import PART
from webapp.web.frame.access import OF_PAGES

PAGES = (
    "/",
    "/runs/",
    "/runs/import",
    "/study/",
    "/study/standing",
    "/conflicts/",
    "/healthz",
    "/nothing",
)


def test_a_browser_that_came_by_https_is_told_to_come_by_nothing_else(client: FlaskClient) -> None:
    by_https = {"X-Forwarded-Proto": "https"}
    for path in PAGES:
        assert "Strict-Transport-Security" not in client.get(path).headers
        answer = client.get(path, headers=by_https)  # the owner is refused by a proxy, told so too
        assert answer.headers["Strict-Transport-Security"] == "max-age=31536000"


@pytest.mark.parametrize("address", PAGES)
@pytest.mark.parametrize("headers", [{}, PART])
def test_every_answer_is_strict(client: FlaskClient, address: str, headers: dict[str, str]) -> None:
    answer = client.get(address, headers=headers)

    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert "https:" not in policy
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Referrer-Policy"] == "same-origin"
    assert answer.headers["Cache-Control"] == "no-store"


def test_how_a_page_may_be_embedded_is_said_of_pages_and_not_of_parts(client: FlaskClient) -> None:
    page, part = client.get("/"), client.get("/", headers=PART)

    assert dict(OF_PAGES).items() <= dict(page.headers).items()
    assert not dict(OF_PAGES).keys() & set(part.headers.keys())


def test_pictures_may_load_only_where_the_owner_wants_them(
    client: FlaskClient, run_id: str
) -> None:
    client.post("/study/", data={"name": "S", "repeat_percent": "5", "show_pictures": "1"})

    policy = client.get(f"/runs/{run_id}/queries/1").headers["Content-Security-Policy"]

    assert "img-src 'self' data: https:;" in policy
    assert "https:" not in client.get("/").headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    ("address", "kept"),
    [
        ("/static/frame/app.css?v=1", "public, max-age=31536000, immutable"),
        ("/static/frame/outbox.js", "no-cache"),
        ("/static/joined/frame/app.css?v=1", "public, max-age=31536000, immutable"),
    ],
)
def test_a_versioned_file_is_kept_for_good_and_any_other_is_asked_about(
    client: FlaskClient, address: str, kept: str
) -> None:
    with client.get(address) as answer:
        assert answer.headers["Cache-Control"] == kept
