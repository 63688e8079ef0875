"""Where a page has its place: marked once in the menus, and explained while it is empty."""

from __future__ import annotations

from flask import Flask

from tests.web.conftest import in_english
from webapp.web.features import current


def marked(menu: str, endpoint: str | None) -> list[str]:
    entry = current(menu, endpoint)
    return [] if entry is None else [entry.endpoint]


def assert_explained(app: Flask, path: str, says: str, leads_to: str) -> None:
    page = in_english(app).get(path).text.partition("<main")[2].partition("</main>")[0]

    assert says in page
    assert leads_to in page
