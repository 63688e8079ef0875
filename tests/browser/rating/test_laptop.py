"""Claims about a laptop of 1366 by 768 pixels: how much of a list is seen while it is rated."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import Server

pytestmark = pytest.mark.browser

LAPTOP = {"width": 1366, "height": 768}
WHOLE = """() => {
  const cards = [...document.querySelectorAll(".card")];
  cards[0].scrollIntoView({ block: "start" });
  const under = document.querySelector("#walk").getBoundingClientRect().bottom;
  return cards.map((card) => card.getBoundingClientRect())
    .filter(({ top, bottom }) => top >= under && bottom <= innerHeight).length;
}"""
FIRST_LINES = """() => new Set([...document.querySelectorAll("#grades .scale label")]
  .map((one) => one.getBoundingClientRect().top)).size"""


@pytest.mark.parametrize("locale", ["id-ID", "en-GB"])
@pytest.mark.parametrize("place", ["server", "blind_server"])
def test_six_cards_of_a_list_are_seen_whole(
    request: pytest.FixtureRequest,
    run_id: str,
    open_tab: Callable[..., Page],
    place: str,
    locale: str,
) -> None:
    """Beside the live figures, on both rating pages; a list of ten cards."""
    server: Server = request.getfixturevalue(place)
    page = open_tab(viewport=LAPTOP, locale=locale)
    page.goto(server.url + (f"/runs/{run_id}/queries/1" if place == "server" else "/rate/"))
    expect(page.locator("html")).to_have_class("scripted")

    assert page.evaluate(WHOLE) >= min(6, page.locator(".card").count())


def test_the_grades_are_one_row_with_all_their_words(
    server: Server, run_id: str, open_tab: Callable[..., Page]
) -> None:
    page = open_tab(viewport=LAPTOP)
    page.goto(f"{server.url}/runs/{run_id}/queries/1")

    assert page.evaluate(FIRST_LINES) == 1
    for words in page.locator("#grades .scale label span").all():
        expect(words).to_be_visible()


def test_folded_figures_stay_folded_and_leave_their_room_to_the_cards(
    server: Server, run_id: str, open_tab: Callable[..., Page]
) -> None:
    page = open_tab(viewport=LAPTOP)
    page.goto(f"{server.url}/runs/{run_id}/queries/1")
    expect(page.locator("html")).to_have_class("scripted")
    table, cards = page.locator("#figures table"), page.locator("#cards")
    narrow = cards.bounding_box()
    page.locator("#figures summary").click()
    expect(table).to_be_hidden()
    wide = cards.bounding_box()
    assert narrow is not None
    assert wide is not None
    assert wide["width"] > narrow["width"] + 200
    page.reload()
    expect(page.locator("html")).to_have_class("scripted")
    expect(table).to_be_hidden()
    page.locator("#figures summary").click()
    expect(table).to_be_visible()
    page.reload()
    expect(page.locator("html")).to_have_class("scripted")
    expect(table).to_be_visible()
