"""The rating page as the tests read it: what is asked, what has focus, what it says."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

SAVED, UNSAVED = "saved", "unsaved"
POLLS = 600

FOCUS = """() => {
  const at = document.activeElement;
  const place = at.closest(".card, #outcome, .grades, #notes, #question, body");
  return place.dataset.rank ?? place.id ?? "body";
}"""
STATES = """() => Object.fromEntries(
  [...document.querySelectorAll("[data-state-of]")]
    .map((line) => [line.dataset.stateOf, line.dataset.state]))"""


def wait_for_focus(page: Page, place: str) -> None:
    """Wait until a card (by rank), outcome, grades, notes or question has focus.

    As a function with an argument: a page's policy forbids to evaluate text once it is polled.
    """
    page.wait_for_function(f"(place) => ({FOCUS})() === place", arg=place)


def wait_until(page: Page, holds: Callable[[], bool]) -> None:
    """Wait for what no element of the page shows."""
    for _ in range(POLLS):
        if holds():
            return
        page.wait_for_timeout(100)
    assert holds()


class RatingPage:
    def __init__(self, page: Page, server_url: str, run_id: str) -> None:
        self.page = page
        self.run_url = f"{server_url}/runs/{run_id}"

    def open(self, query_id: int) -> None:
        self.page.goto(f"{self.run_url}/queries/{query_id}")
        expect(self.page.locator("html")).to_have_class("scripted")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    @property
    def focus(self) -> str:
        return str(self.page.evaluate(FOCUS))

    @property
    def states(self) -> dict[str, str]:
        result: dict[str, str] = self.page.evaluate(STATES)
        return result

    def saved_ranks(self) -> set[int]:
        return {int(at) for at, state in self.states.items() if at.isdecimal() and state == SAVED}

    @property
    def question(self) -> int:
        return int(self.page.locator("#question").get_attribute("data-query") or 0)

    def expect_question(self, query_id: int, timeout: float | None = None) -> None:
        both = f'body:has(#question[data-query="{query_id}"]) #walk[data-query="{query_id}"]'
        expect(self.page.locator(both)).to_be_attached(timeout=timeout)
        expect(self.page.locator("html")).to_have_class("scripted")

    def expect_state(self, at: int | str, state: str) -> None:
        line = self.page.locator(f'[data-state-of="{at}"]')
        expect(line).to_have_attribute("data-state", state)

    def expect_saved(self, cards: int) -> None:
        for rank in range(1, cards + 1):
            self.expect_state(rank, SAVED)

    def expect_pressed(self, rank: int, value: str | None) -> None:
        for button in ("1", "0", "unsure"):
            locator = self.page.locator(f'#rank-{rank} button[value="{button}"]')
            expect(locator).to_have_attribute("aria-pressed", str(button == value).lower())

    def expect_focus(self, place: str) -> None:
        wait_for_focus(self.page, place)

    def expect_figure(self, name: str, *, question: str, run: str) -> None:
        """Expect the band of a figure, or its value once it is settled; the panel is open."""
        numbers = self.page.locator(f'#panel [data-figure="{name}"] .num')
        for column, text in enumerate((question, run)):
            expect(numbers.nth(column)).to_contain_text(text)
