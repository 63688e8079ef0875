"""The guide for raters is one sheet of paper, with its pictures."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO

import pytest
from playwright.sync_api import Page
from pypdf import PdfReader

from tests.browser.server import Server

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("locale", ["id-ID", "en-GB"])
def test_the_guide_for_raters_is_printed_on_one_sheet_with_its_pictures(
    server: Server, open_tab: Callable[..., Page], locale: str
) -> None:
    page = open_tab(locale=locale)
    page.goto(f"{server.url}/help/raters")

    (sheet,) = PdfReader(BytesIO(page.pdf(format="A4"))).pages

    assert len(sheet.images) == 3
    assert page.locator(".guide img").count() == 3
