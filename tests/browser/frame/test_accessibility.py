"""Focus and announcements for people with other senses; `test_every_page` looks at every page."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.rating_page import RatingPage
from tests.browser.server import Server

pytestmark = pytest.mark.browser

WATCH_FOCUS = """() => {
  window.lost = 0;
  const look = () => {
    if (document.hasFocus() && document.activeElement === document.body) window.lost += 1;
    requestAnimationFrame(look);
  };
  look();
}"""


def test_focus_and_announcements_survive_every_key(server: Server, run_id: str, page: Page) -> None:
    rating = RatingPage(page, server.url, run_id)
    rating.open(16)
    page.evaluate(WATCH_FOCUS)
    for rank, key in enumerate("ytyrty", start=1):
        rating.press(key)
        rating.expect_state(rank, "saved")
        assert rating.focus == ("grades" if rank == 6 else str(rank + 1))
    expect(page.locator("#status[role=status]")).to_have_text("Kartu 6 dari 6: Ya")
    rating.press("3")
    rating.expect_question(17)
    rating.expect_focus("outcome")
    expect(page.locator("#status")).to_have_text("Pertanyaan 17 dari 30")
    rating.press("y")
    assert rating.focus == "grades"
    rating.press("0")
    rating.expect_question(18)
    rating.press("u")
    rating.expect_question(17)
    rating.expect_focus("grades")
    rating.press("u")
    rating.expect_focus("outcome")
    assert page.evaluate("window.lost") == 0


def test_focus_stays_where_the_mouse_put_it(server: Server, run_id: str, page: Page) -> None:
    rating = RatingPage(page, server.url, run_id)
    rating.open(20)
    page.evaluate(WATCH_FOCUS)
    relevant = page.locator('#rank-2 button[value="1"]')
    relevant.click()
    rating.expect_state(2, "saved")
    expect(relevant).to_be_focused()
    relevant.click()  # once more, which takes it back
    expect(relevant).to_have_attribute("aria-pressed", "false")
    expect(relevant).to_be_focused()
    page.locator("#quality-2").check()
    rating.expect_state("quality", "saved")
    expect(page.locator("#quality-2")).to_be_focused()
    page.locator('a[rel="next"]').click()
    rating.expect_question(21)
    rating.expect_focus("1")
    assert page.evaluate("window.lost") == 0


def test_an_answer_that_arrives_while_notes_are_written_disturbs_nothing(
    server: Server, run_id: str, page: Page
) -> None:
    waiting: list[Any] = []
    page.route("**/judgment", lambda route: waiting.append(route))  # noqa: PLW0108 - Playwright marks it
    rating = RatingPage(page, server.url, run_id)
    rating.open(22)
    with page.expect_request("**/judgment"):
        rating.press("y", "n")
    page.keyboard.type("banyak tempat")
    rating.press("ArrowLeft", "ArrowLeft")
    with page.expect_response("**/judgment"):
        waiting.pop().continue_()
    rating.expect_state(1, "saved")
    assert rating.focus == "notes"
    page.keyboard.type("-")
    expect(page.locator("#notes")).to_have_value("banyak temp-at")


FOCUSED = """() => {
  const cell = document.activeElement.closest(".heat [role]");
  const row = cell.parentElement;
  return [[...row.parentElement.children].indexOf(row), [...row.children].indexOf(cell)];
}"""
"""Which question's row of the map of progress has the focus, and which of its cells."""


@pytest.mark.parametrize(
    ("width", "onward", "across"),
    [
        (1366, "ArrowRight", "ArrowDown"),
        pytest.param(390, "ArrowDown", "ArrowRight", marks=pytest.mark.thorough),
    ],
)
def test_the_map_of_progress_is_one_stop_that_arrows_move_in(
    server: Server, page: Page, width: int, onward: str, across: str
) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    page.goto(f"{server.url}/study/standing")
    expect(page.get_by_role("grid")).to_have_count(1)
    expect(page.locator(".heat a[tabindex='0']")).to_have_count(1)

    page.locator(".heat a").first.focus()
    assert page.evaluate(FOCUSED) == [1, 0]
    page.keyboard.press(onward)
    page.keyboard.press(across)
    assert page.evaluate(FOCUSED) == [2, 1]  # the second question, the only rater
    page.keyboard.press(across)  # there is nobody else
    assert page.evaluate(FOCUSED) == [2, 1]
    page.keyboard.press("Tab")
    assert not page.evaluate("document.activeElement.closest('.heat') !== null")
    page.keyboard.press("Shift+Tab")
    assert page.evaluate(FOCUSED) == [2, 1]
    page.keyboard.press("Enter")
    page.wait_for_url("**/comparisons/questions/2?*")
