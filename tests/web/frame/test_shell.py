"""The app opens without a network, and each request names the person whose click it carries."""

from __future__ import annotations

import json
import os
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.web import visitors
from tests.web.conftest import PART
from tests.web.template_names import files_named
from webapp.config import resource
from webapp.web import feature
from webapp.web.frame.access import RATER

TEMPLATES = ("frame/layout.html", "rating/judgments/page.html", "rating/rate/page.html")


def said(client: FlaskClient) -> dict[str, Any]:
    """The description of the app that the service worker gets."""
    script = client.get("/service-worker.js").text
    found: dict[str, Any] = json.loads(script.partition("\n")[0][len("const SHELL = ") : -1])
    return found


def test_the_worker_is_a_script_for_the_whole_app_that_no_cache_holds(client: FlaskClient) -> None:
    answer = client.get("/service-worker.js")

    assert answer.mimetype == "text/javascript"
    assert answer.headers["Cache-Control"] == "no-store"
    assert "default-src 'self'" in answer.headers["Content-Security-Policy"]
    assert said(client)["base"] == "/"


def test_every_file_that_the_worker_is_to_keep_is_there(client: FlaskClient) -> None:
    for file in said(client)["files"]:
        answer = client.get(file)
        assert answer.status_code == 200, file
        answer.close()


def test_the_worker_keeps_all_that_the_rating_pages_are_made_of() -> None:
    """The worker keeps the files that the templates name, joined as they join them."""
    named = {"joined/frame/app.css", "joined/frame/page.js"}.union(*map(files_named, TEMPLATES))

    assert len(named) >= 7
    assert named <= set(feature.kept_files())


def test_another_version_of_a_file_is_another_worker(
    app: Flask, client: FlaskClient, tmp_path: Path
) -> None:
    before = said(client)
    copytree(resource("static"), tmp_path, dirs_exist_ok=True)
    folder, app.static_folder = app.static_folder, str(tmp_path)
    try:
        same = said(client)
        (tmp_path / "rating/rating.js").write_text("// another version", "utf-8")
        os.utime(tmp_path / "rating/rating.js", (1, 1))
        after = said(client)
    finally:
        app.static_folder = folder

    assert same == before
    assert after["version"] != before["version"]
    assert after["files"] != before["files"]


@pytest.mark.parametrize(
    ("language", "title"),
    [("id", "Server tidak dapat dihubungi"), ("en", "The server cannot be reached")],
)
def test_the_page_for_a_missing_network_speaks_to_nobody_in_particular(
    client: FlaskClient, language: str, title: str
) -> None:
    answer = client.get(f"/offline/{language}")

    assert title in answer.text
    assert "data-rater" not in answer.text
    assert RATER not in answer.headers
    assert "Database" not in answer.text
    assert client.get("/offline/xx").status_code == 404


def test_pages_say_whose_they_are_by_a_name_that_says_nothing_else(app: Flask, run_id: str) -> None:
    """Owner and rater differ, a stranger has none; the same page to page."""
    visitors.lock(app.extensions["database"])
    visitors.assert_told_apart(
        app,
        (visitors.owner(app), f"/runs/{run_id}/queries/1"),
        (visitors.invited(app, "Ani"), "/history/"),
    )


def test_a_click_of_somebody_else_is_not_stored_as_whoever_is_here(
    client: FlaskClient, run_id: str
) -> None:
    """The browser made it on one rater's page and sends it while another is at work."""
    address = f"/runs/{run_id}/queries/1/results/1/judgment"
    mine = client.get(f"/runs/{run_id}/queries/1").headers[RATER]

    refused = client.post(address, data={"relevance": "1"}, headers={**PART, RATER: "0" * 16})
    before = client.get(f"/runs/{run_id}/metrics.json").get_json()["queries"][0]["judged_count"]
    stored = client.post(address, data={"relevance": "1"}, headers={**PART, RATER: mine})
    after = client.get(f"/runs/{run_id}/metrics.json").get_json()["queries"][0]["judged_count"]

    assert (refused.status_code, before) == (412, 0)
    assert "Another person is using this browser now" in refused.text
    assert (stored.status_code, after) == (200, 1)


def test_a_click_of_somebody_who_is_signed_out_asks_to_sign_in(app: Flask, run_id: str) -> None:
    visitors.lock(app.extensions["database"])
    client = visitors.browser(app)
    address = f"/runs/{run_id}/queries/1/results/1/judgment"

    answer = client.post(address, data={"relevance": "1"}, headers={**PART, RATER: "0" * 16})

    assert answer.status_code == 401
