"""A comparison of many answers is made beside the requests, and its files are of the same state."""

from __future__ import annotations

import re
from html import unescape

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.web.comparisons.test_comparisons import rated_pair
from tests.web.comparisons.test_rated_comparisons import API, HYBRID, drop, rated
from webapp.db.engine import Database
from webapp.db.tables.workers import LongWork
from webapp.services.comparisons import long_kind
from webapp.web.frame.workers import workers

WAIT = 60
PART = {"HX-Request-Type": "partial"}


@pytest.fixture(name="pair")
def _pair(web_database: Database) -> tuple[str, str]:
    return rated_pair(web_database)


@pytest.fixture(autouse=True)
def _long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_kind, "LONG_FROM", 1)


def made(app: Flask, client: FlaskClient, address: str) -> str:
    """Return the address of the comparison after its progress was looked at."""
    progress = client.get(address)
    assert progress.status_code == 303
    assert workers(app).is_idle(WAIT)
    done = client.get(progress.headers["Location"])
    assert done.status_code == 303
    return done.headers["Location"]


def test_its_progress_leads_to_the_comparison(
    app: Flask, client: FlaskClient, pair: tuple[str, str]
) -> None:
    page = made(app, client, "/comparisons/")
    text = client.get(page).text

    assert all(f"runs={run}" in page for run in pair)
    assert "This comparison shows the study as it was at" in text
    assert "kept=" in page
    for said in ("api", "Hybrid", "P@5"):
        assert said in text


def test_every_link_of_it_shows_the_same_state(
    app: Flask, client: FlaskClient, pair: tuple[str, str]
) -> None:
    page = made(app, client, "/comparisons/")
    before = client.get(page).text
    report = next(
        unescape(link) for link in re.findall(r'href="([^"]+)"', before) if "report.json" in link
    )
    kept = client.get(report).json
    client.post(f"/runs/{pair[0]}/queries/1/results/1/judgment", data={"relevance": "0"})

    assert client.get(page).text == before
    assert client.get(report).json == kept
    without = re.sub(r"&?kept=\w+", "", report)
    assert client.get(without).json != kept
    pictures = [unescape(link) for link in re.findall(r'href="(/comp[^"]+\.svg[^"]*)"', before)]
    assert pictures
    assert all("kept=" in picture for picture in pictures)
    assert all(client.get(picture).status_code == 200 for picture in pictures)


def test_it_is_made_anew_only_when_something_changed(
    app: Flask, client: FlaskClient, pair: tuple[str, str]
) -> None:
    page = made(app, client, "/comparisons/")
    assert made(app, client, "/comparisons/") == page
    client.post(f"/runs/{pair[0]}/queries/1/results/1/judgment", data={"relevance": "0"})
    anew = made(app, client, "/comparisons/")

    assert anew != page
    assert client.get(page).status_code == 303  # the one of before is gone
    assert client.get(anew).status_code == 200
    in_indonesian = client.get(anew, headers={"Accept-Language": "id"})
    assert in_indonesian.status_code == 303  # its names are in the language of its reader


def test_one_that_cannot_be_read_is_made_anew(
    app: Flask, client: FlaskClient, pair: tuple[str, str], web_database: Database
) -> None:
    page = made(app, client, "/comparisons/")
    with web_database.writing() as session:
        session.get_one(LongWork, page.rpartition("kept=")[2]).data = b"of another version"
        session.commit()

    assert pair
    assert client.get(made(app, client, page)).status_code == 200


def test_the_part_of_its_progress_is_replaced_by_the_comparison(
    app: Flask, client: FlaskClient, pair: tuple[str, str]
) -> None:
    assert pair
    progress = client.get("/comparisons/").headers["Location"]
    assert workers(app).is_idle(WAIT)

    assert client.get(progress, headers=PART).headers["HX-Refresh"] == "true"


def test_long_files_are_compared_beside_the_requests_too(app: Flask, client: FlaskClient) -> None:
    dropped = drop(client, hybrid=rated(*HYBRID), api_only=rated(*API))
    assert [answer.status_code for answer in dropped.history] == [303, 303]
    waiting = dropped.history[0].headers["Location"]
    page = made(app, client, waiting)
    text = client.get(page).text

    assert "Hybrid is 0.27 higher than API Only" in text
    links = [unescape(link) for link in re.findall(r'href="(/comp[^"]+)" download', text)]
    assert links
    assert all("kept=" in link and client.get(link).status_code == 200 for link in links)
    assert made(app, client, f"{waiting}&name=Ours&name=Theirs") != page
    for unlike in (rated(*API, last="another"), b"no,columns\n"):
        refused = drop(client, hybrid=rated(*HYBRID), api_only=unlike)
        assert [answer.status_code for answer in refused.history] == [303]


def test_runs_that_cannot_be_compared_are_told_at_once(
    client: FlaskClient, pair: tuple[str, str]
) -> None:
    answer = client.get(f"/comparisons/?runs={pair[0]}")

    assert answer.status_code == 200
    assert "A comparison needs two runs of one question set." in answer.text
