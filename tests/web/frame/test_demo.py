"""The demo is a finished study in which every page has something to read, the same every time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from relevansi.app import create_app
from relevansi.config import Settings, sqlite_url
from relevansi.web.features import MENUS
from tests.page import Page
from tests.web.conftest import in_english

EMPTY = re.compile(r"[^.:]*\b(?:yet|needs two|No item waits|Nothing of)\b[^.:]*")
FURTHER = ("/gold/", "/study/participants/", "/agreement?of=cards")
"""Pages behind those of the menus."""


@pytest.fixture(name="demo", scope="module")
def _demo(demo_file: Path) -> Iterator[Flask]:
    app = create_app(Settings(sqlite_url(demo_file), demo_file.parent, is_demo=True))
    yield app
    app.extensions["database"].close()


def test_no_page_of_the_menus_is_empty_and_each_says_that_it_is_the_demo(
    demo: Flask, app: Flask
) -> None:
    client, fresh = in_english(demo), in_english(app)
    with app.test_request_context():
        urls = app.url_map.bind("")
        paths = [urls.build(entry.endpoint) for name in ("owner", "study") for entry in MENUS[name]]
    n_empty = 0

    for path in (*paths, *FURTHER):
        page, empty = client.get(path), fresh.get(path)
        unfilled = _sentences(empty)
        n_empty += bool(unfilled)
        assert page.status_code == 200, path
        assert not unfilled & _sentences(page), path
        assert "Demo with invented data" in page.text, path
        assert "relevansi demo --documents" in page.text, path
        assert "Demo with invented data" not in empty.text, path
    assert n_empty >= 7


def _sentences(answer: TestResponse) -> set[str]:
    main = Page(answer).one("main")
    for form in main.all("form"):
        form.element.drop_tree()
    return {result.strip() for result in EMPTY.findall(main.text)}
