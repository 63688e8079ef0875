"""Who looks at the demo takes part in it and comes back; elsewhere a study has its doors."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask

from relevansi.app import create_app
from relevansi.config import Settings, sqlite_url
from tests.page import Page
from tests.web.conftest import in_english
from tests.web.phase_3.participants import agree


@pytest.fixture(name="demo", scope="module")
def _demo(demo_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flask]:
    file = Path(shutil.copy(demo_file, tmp_path_factory.mktemp("demo") / "demo.sqlite"))
    app = create_app(Settings(sqlite_url(file), file.parent, is_demo=True))
    yield app
    app.extensions["database"].close()


def test_a_visitor_of_the_demo_takes_part_and_comes_back_as_the_owner(demo: Flask) -> None:
    client = in_english(demo)
    assert "/take-part/demo" in client.get("/study/users/").text
    assert "/take-part/demo" in client.get("/sign-in").text

    agree(client, "/take-part/demo")
    asking, refused = client.get("/ask/"), client.get("/")
    client.post("/sign-out")
    home = client.get("/")

    assert "as a participant sees it" in asking.text
    assert "What would you like to ask about property?" in asking.text
    assert refused.status_code == 403
    assert "/ask/" in Page(refused).links("a.btn")
    assert home.status_code == 200
    assert "Sari" in home.text


def test_outside_the_demo_a_link_for_participants_ends_the_open_house(
    demo_file: Path, tmp_path: Path
) -> None:
    file = Path(shutil.copy(demo_file, tmp_path / "demo.sqlite"))
    app = create_app(Settings(sqlite_url(file), tmp_path))

    assert app.test_client().get("/").location == "/sign-in?next=/"
    app.extensions["database"].close()
