from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import FilePayload, Page, expect

from tests.browser.axe import faults
from tests.browser.server import Server
from tests.services.evaluations.scored_files import ANSWERS, CHUNKS, JSON_SET, document, lines

pytestmark = pytest.mark.browser

TOUCH = 44  # CSS pixels
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
    for kind, part, paths in (  # of pages that are alike one is enough
        ("answers", "1", ("", "/items", "/items/1", "/delete")),
        ("chunks", "0", ("/items/1",)),
        ("json-v2", "main_topic", ("/items/1", "/items/2", "/people")),
    ):
        base = upload(page, server, kind)
        page.goto(f"{base}/items/1")
        page.locator(f"#say-{part}-1").click()
        expect(page.locator(f"#say-{part}-1")).to_have_attribute("aria-pressed", "true")
        look_at(page, *(base + path for path in paths))
        let_raters(page, base)
        look_at(page, base, base.replace("/evaluations/", "/items/") + "/1")
        page.goto(f"{base}/items/1")
        page.locator(f"#say-{part}-1").click()  # taken back: the same file is the same evaluation
        expect(page.locator(f"#say-{part}-1")).to_have_attribute("aria-pressed", "false")
    look_at(page, f"{server.url}/items/")
    page.goto(f"{server.url}/evaluations/")
    page.locator("summary").first.click()
    assert faults(page) == []


def test_judging_keeps_focus_and_place_and_fits_a_thumb(
    server: Server, open_tab: Callable[..., Page]
) -> None:
    page = open_tab(viewport={"width": 390, "height": 844}, has_touch=True)
    base = upload(page, server, "answers")
    page.goto(f"{base}/items/1")
    for box in (one.bounding_box() for one in page.locator(".say button").all()):
        assert box is not None
        assert min(box["width"], box["height"]) >= TOUCH
    page.locator("#grade-4").focus()
    page.keyboard.press("Enter")

    expect(page.locator("#grade-4")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#grade-4")).to_be_focused()
    page.locator("#undo").click()
    expect(page.locator("#grade-4")).to_have_attribute("aria-pressed", "false")


def test_items_are_judged_by_keyboard_and_every_word_is_kept(
    server: Server, open_tab: Callable[..., Page]
) -> None:
    """Two sentences and "I don't know", a grade, on to the next item; undo leads back."""
    page = open_tab(viewport={"width": 1280, "height": 800})
    base = upload(page, server, "answers")
    let_raters(page, base)
    theirs = base.replace("/evaluations/", "/items/")
    page.goto(f"{theirs}/1")
    expect(page.locator("#part-0")).to_be_focused()
    for key in "yty":
        page.keyboard.press(key)
    expect(page.locator("#grade-0")).to_be_focused()
    page.keyboard.press("4")
    page.wait_for_url("**/2")

    expect(page.locator("#left")).to_contain_text("1")
    expect(page.locator("#part-0")).to_be_focused()
    page.keyboard.press("u")
    page.wait_for_url("**/1")
    expect(page.locator("#grade-4")).to_have_attribute("aria-pressed", "false")
    page.reload()
    found = [
        page.locator(f"#say-{part}-{value}").get_attribute("aria-pressed")
        for part, value in ((0, 1), (1, 0), (2, 1))
    ]
    assert found == ["true"] * 3
    page.keyboard.press("k")  # up from the grade, which alone is open
    for _ in "abc":
        page.keyboard.press("u")
    expect(page.locator('[aria-pressed="true"]')).to_have_count(0)


def test_a_word_said_without_a_network_waits_over_a_reload_and_is_kept(
    server: Server, open_tab: Callable[..., Page]
) -> None:
    page = open_tab(viewport={"width": 1280, "height": 800}, locale="en-US")
    base = upload(page, server, "chunks")
    let_raters(page, base)
    page.goto(base.replace("/evaluations/", "/items/") + "/2")
    page.route("**/judgment", lambda route: route.abort())
    page.keyboard.press("t")
    expect(page.locator("#part-0 .state")).to_have_text("Not saved yet, will retry")

    page.reload()
    expect(page.locator("#part-0 .state")).to_have_text("Not saved yet, will retry")
    expect(page.locator("#say-0-0")).to_have_attribute("aria-pressed", "true")
    page.unroute("**/judgment")
    expect(page.locator("#part-0 .state")).to_have_text("Saved")
    page.reload()
    expect(page.locator("#say-0-0")).to_have_attribute("aria-pressed", "true")


def let_raters(page: Page, base: str) -> None:
    """Open the evaluation to raters, unless it is open."""
    page.goto(base)
    button = page.locator('#raters button[value="1"]')
    if button.count():
        button.click()
        expect(page.locator('#raters button[value="0"]')).to_be_visible()


def look_at(page: Page, *addresses: str) -> None:
    """Open each page: nothing is wrong with it in either look."""
    for address in addresses:
        page.goto(address)
        assert faults(page) == [], address
