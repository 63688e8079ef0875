"""Claims about a phone of 390 by 844 pixels, held in one hand: what is seen without scrolling."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from tests.browser.server import Server

pytestmark = pytest.mark.browser

PHONE = {"width": 390, "height": 844}
ROWS = """(selector) => new Set(
  [...document.querySelectorAll(selector)].map((link) => link.getBoundingClientRect().top)).size"""


@pytest.mark.parametrize("locale", ["id-ID", "en-US"])
def test_the_parts_of_the_study_are_one_row(
    server: Server, open_tab: Callable[..., Page], locale: str
) -> None:
    """On a phone, and on the narrowest one that is still sold."""
    page = open_tab(viewport=PHONE, locale=locale)
    page.goto(f"{server.url}/agreement")
    assert page.locator(".parts a").count() == 5
    for width in (390, 360):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate(ROWS, ".parts a") == 1
        assert page.evaluate("document.documentElement.scrollWidth") == width
