"""The page and the addresses of the catalogue."""

from __future__ import annotations

import json
import zipfile
from io import BytesIO

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.page import Page
from tests.web.conftest import PART
from tests.web.documents import collection
from tests.web.programs.program import Program

LISTINGS = [
    {"slug": "a", "name": "Rumah Johor", "price": 900_000_000, "bedrooms": 3},
    {"slug": "b", "name": "Ruko Ringroad", "price": 2_000_000_000},
]


def drop(client: FlaskClient, data: bytes, mode: str = "add") -> TestResponse:
    form = {"files": (BytesIO(data), "listings.json"), "mode": mode}
    return client.post("/catalogue", data=form, content_type="multipart/form-data")


def test_files_are_taken_in_on_the_page_and_what_they_did_is_shown(
    client: FlaskClient, app: Flask
) -> None:
    added = drop(client, json.dumps(LISTINGS).encode())
    replaced = drop(client, json.dumps(LISTINGS[1:]).encode(), "replace")

    assert (added.status_code, replaced.status_code) == (200, 200)
    assert "listings.json" in added.text
    items = Program(app, "read").get("/catalogue")["items"]
    assert [item["slug"] for item in items] == ["b"]


def test_a_file_that_cannot_be_read_changes_nothing_and_says_why(client: FlaskClient) -> None:
    drop(client, json.dumps(LISTINGS).encode())

    refused = drop(client, b'[{"bedrooms": 3}]', "replace")
    none = client.post("/catalogue", data={"mode": "add"})

    assert (refused.status_code, none.status_code) == (422, 422)
    assert "listings.json" in refused.text
    assert "2 items" in client.get("/catalogue").text


@pytest.mark.parametrize("is_zip", [False, True])
def test_a_collection_that_comes_with_runs_is_kept_by_one_press(
    client: FlaskClient, app: Flask, is_zip: bool
) -> None:
    """Its six documents can be looked up, and the runs wait as before."""
    files = [(BytesIO(data), name) for name, data in collection()]
    if is_zip:
        packed = BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for file, name in files:
                archive.writestr(name, file.read())
        files = [(BytesIO(packed.getvalue()), "beir.zip")]
    page = Page(client.post("/runs/import", data={"files": files}, follow_redirects=True))
    [button] = page.all("[id^=collection-] button")

    report = client.post(button["formaction"], headers=PART)
    again = client.post(button["formaction"])

    assert (report.status_code, again.status_code) == (200, 200)
    assert "6" in Page(report).all("[role=status]")[0].text
    assert Program(app, "read").get("/catalogue")["total"] == 6
    token = page.values("[name=token]")[0]
    stored = client.post("/runs/import", data={"token": token, "action": "store"})
    assert stored.status_code == 303


def test_a_program_takes_files_in_and_searches_them(app: Flask) -> None:
    program, reader = Program(app, "import"), Program(app, "read")

    response = program.upload("/catalogue", ("listings.json", json.dumps(LISTINGS).encode()))
    page = reader.get("/catalogue", q="rum", price_to="1000000000")

    outcome = response.json
    assert outcome is not None
    assert (outcome["kind"], outcome["added"], outcome["total"]) == ("property", 2, 2)
    assert (page["count"], page["total"], page["is_imported"]) == (1, 2, True)
    assert page["items"][0]["title"] == "Rumah Johor"


def test_a_search_of_a_program_finds_what_runs_returned(app: Flask, run_id: str) -> None:
    page = Program(app, "read").get("/catalogue", limit="1")

    assert run_id
    assert (len(page["items"]), page["is_imported"]) == (1, False)
    assert page["count"] == page["total"] > 1
