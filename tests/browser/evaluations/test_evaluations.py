from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import FilePayload, Page, expect

from tests.browser.axe import faults
from tests.browser.server import Server
from tests.services.evaluations.scored_files import ANSWERS, CHUNKS, JSON_SET, document, lines

pytestmark = pytest.mark.browser

DATA = {"answers": lines(*ANSWERS), "chunks": lines(*CHUNKS), "json-v2": document(JSON_SET)}


def upload(page: Page, server: Server, kind: str) -> str:
    """Return the address of the evaluation that the form leads to.

    The form has the fields of the chosen kind alone.
    """
    page.goto(f"{server.url}/evaluations/")
    page.locator(f"input[value={kind}]").check()
    expect(page.locator("#outputs")).to_be_visible(visible=kind == "json-v2")
    name = f"a_rather_long_name_of_a_file_of_{kind}.jsonl"
    file: FilePayload = {"name": name, "mimeType": "application/json", "buffer": DATA[kind]}
    page.locator("#file").set_input_files([file])
    page.locator(".scoring button").click()
    expect(page.locator("h1")).to_have_text(name)
    return page.url.partition("?")[0]


@pytest.mark.thorough
def test_every_page_of_an_evaluation_is_for_everybody(
    server: Server, open_tab: Callable[..., Page]
) -> None:
    """Axe finds nothing, and nothing runs out of a phone's screen."""
    page = open_tab(reduced_motion="reduce")
    for kind, paths in (  # of pages that are alike one is enough
        ("answers", ("", "/items", "/items/1", "/delete")),
        ("chunks", ("/items/1",)),
        ("json-v2", ("/items/1", "/items/2")),
    ):
        base = upload(page, server, kind)
        look_at(page, *(base + path for path in paths))
    page.goto(f"{server.url}/evaluations/")
    page.locator("summary").first.click()
    assert faults(page) == []


def look_at(page: Page, *addresses: str) -> None:
    """Open each page: nothing is wrong with it in either look."""
    for address in addresses:
        page.goto(address)
        assert faults(page) == [], address
