"""Indonesian first, English beside it, chosen by the browser or by the reader."""

from __future__ import annotations

import re

import pytest
from flask import Flask
from flask.testing import FlaskClient

from webapp.i18n import language

PAGES = ("/", "/runs/", "/runs/import", "/study/", "/study/standing", "/conflicts/")


@pytest.mark.parametrize(
    ("accepted", "expected"),
    [
        ("id", "id"),
        ("en", "en"),
        ("en-GB,en;q=0.9,id;q=0.8", "en"),
        ("fr", "id"),
        ("", "id"),
        ("en," * 5_000, "id"),
    ],
)
def test_the_browser_chooses(app: Flask, accepted: str, expected: str) -> None:
    answer = app.test_client().get("/", headers={"Accept-Language": accepted})

    assert f'<html lang="{expected}"' in answer.text


def test_the_readers_choice_outlasts_the_browsers(client: FlaskClient) -> None:
    client.post("/language", data={"to": "id"})

    assert '<html lang="id"' in client.get("/").text


def test_the_language_ends_with_its_request(client: FlaskClient) -> None:
    client.get("/")

    assert language() == "id"


@pytest.mark.parametrize(
    ("came_from", "goes_to"),
    [
        ("http://localhost/study/", "/study/"),
        ("http://localhost/runs/?a=1", "/runs/?a=1"),
        ("http://localhost//evil.example/", "/evil.example/"),
        ("http://localhost/\\evil.example", "/evil.example"),
        ("http://evil.example/study/", "/"),
        ("javascript:alert(1)", "/"),
        ("http://[", "/"),
        ("", "/"),
    ],
)
def test_switching_goes_back_and_never_away(
    client: FlaskClient, came_from: str, goes_to: str
) -> None:
    answer = client.get("/language?to=en", headers={"Referer": came_from})

    assert answer.status_code == 303
    assert answer.location == goes_to


@pytest.mark.parametrize("wanted", ["", "xx", "en" * 20])
def test_a_language_that_is_not_there_is_refused(client: FlaskClient, wanted: str) -> None:
    assert client.post("/language", data={"to": wanted}).status_code == 400
    assert client.get(f"/language?to={wanted}").status_code == 400


def words(page: str) -> str:
    """Return what a page says, without its tags and their attributes."""
    return re.sub(r"<[^>]*>", " ", page)


@pytest.mark.parametrize("address", PAGES)
def test_a_page_speaks_one_language(client: FlaskClient, address: str, run_id: str) -> None:
    english = words(client.get(address).text)
    client.post("/language", data={"to": "id"})
    indonesian = words(client.get(address).text)

    for word in ("Beranda", "Pengaturan", "Basis data", "pertanyaan", "Simpan", "Berkas"):
        assert word not in english
    for word in ("Home", "Settings", "Database:", "questions", "Save", "Nothing is stored"):
        assert word not in indonesian
    assert run_id
    assert "Beranda" in indonesian
