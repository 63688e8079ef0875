"""Keys that are pressed while the script of a rating page is still on its way."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.server import Server

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("place", ["server", "blind_server"])
def test_keys_pressed_before_the_script_runs_count_once_and_on_this_page_alone(
    request: pytest.FixtureRequest, run_id: str, page: Page, place: str
) -> None:
    """Two verdicts, then a note: its letters stay in the field and judge nothing."""
    server: Server = request.getfixturevalue(place)
    address = server.url + (f"/runs/{run_id}/queries/16" if place == "server" else "/rate/")
    held: list[Route] = []
    page.route("**/rating/rating.js*", lambda route: held.append(route))  # noqa: PLW0108 - Playwright marks it
    with page.expect_request("**/rating/rating.js*"):
        page.goto(address, wait_until="commit")
    cards = page.locator(".card")
    expect(cards.nth(2)).to_be_visible()
    assert not page.locator("html.scripted").count()
    for key in "yt":
        page.keyboard.press(key)
    expect(cards.nth(0)).to_have_attribute("data-verdict", "")
    notes = page.locator("textarea[name=notes]").first
    is_shown = notes.is_visible()
    if is_shown:
        notes.focus()
        page.keyboard.type("y1")
    held.pop().continue_()

    expect(cards.nth(0)).to_have_attribute("data-verdict", "1")
    expect(cards.nth(1)).to_have_attribute("data-verdict", "0")
    for at in (0, 1):
        expect(cards.nth(at).locator(".clear")).to_be_visible()
    assert is_shown == (place == "server")  # blind, quality is asked after the cards
    if is_shown:
        expect(notes).to_have_value("y1")
    page.unroute("**/rating/rating.js*")
    page.reload()
    expect(page.locator("html")).to_have_class("scripted")
    verdicts = [one["new"] for one in server.events() if one["judged_thing_id"]]
    assert verdicts == ["1", "0"]
    expect(cards.nth(2)).to_have_attribute("data-verdict", "")
