"""Columns of a file are chosen in a browser, and its first cards follow."""

from __future__ import annotations

import pytest
from playwright.sync_api import FilePayload, Page, expect

from tests.browser.server import Server

pytestmark = pytest.mark.browser


def test_the_first_cards_follow_each_choice_of_a_column_and_the_focus_stays(
    page: Page, empty_server: Server
) -> None:
    rows = b"aa,bb,cc\nred,Dress,A long one\nred,Gown,A short one\n"
    file: FilePayload = {"name": "a.csv", "mimeType": "text/csv", "buffer": rows}
    page.goto(f"{empty_server.url}/runs/import")
    page.set_input_files("#files", file)
    titles = page.locator(".first-cards .card > b")
    expect(page.locator(".reading[open]")).to_be_visible()
    expect(titles).to_have_count(0)

    for role, column in (("query", "aa"), ("text", "cc"), ("title", "bb")):
        choice = page.locator(f"select:has([value='{role}={column}'])")
        choice.focus()
        choice.select_option(f"{role}={column}")
    expect(titles).to_have_text(["Dress", "Gown"])
    expect(choice).to_be_focused()
