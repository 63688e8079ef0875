"""The rating page as the tests read it: what is asked, what has focus, what it says."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

SAVING = "Menyimpan..."
SAVED = "Tersimpan"
UNSAVED = "Belum tersimpan, akan dicoba lagi"
UNJUDGED = "Belum dinilai"
REFUSED = "Tidak tersimpan"
STATES = {"saving": SAVING, "saved": SAVED, "unsaved": UNSAVED, "refused": REFUSED}

FOCUS = """() => {
  const at = document.activeElement;
  const place = at.closest(".card, #outcome, .grades, #notes, #question, body");
  return place.dataset.rank ?? place.id ?? "body";
}"""
SAYINGS = """() => Object.fromEntries(
  [...document.querySelectorAll("[data-state-of]")]
    .map((line) => [line.dataset.stateOf, line.textContent.trim()]))"""


def wait_for_focus(page: Page, place: str) -> None:
    """Wait until a card (by rank), outcome, grades, notes or question has focus.

    As a function with an argument: a page's policy forbids to evaluate text once it is polled.
    """
    page.wait_for_function(f"(place) => ({FOCUS})() === place", arg=place)


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
    def sayings(self) -> dict[str, str]:
        found: dict[str, str] = self.page.evaluate(SAYINGS)
        return found

    def saved_ranks(self) -> set[int]:
        return {int(at) for at, text in self.sayings.items() if at.isdecimal() and text == SAVED}

    def expect_saying(self, at: int | str, text: str) -> None:
        expect(self.page.locator(f'[data-state-of="{at}"]')).to_have_text(text)

    @property
    def question(self) -> int:
        return int(self.page.locator("#question").get_attribute("data-query") or 0)

    def expect_question(self, query_id: int, timeout: float | None = None) -> None:
        both = f'#rating:has(#question[data-query="{query_id}"]) #walk[data-query="{query_id}"]'
        expect(self.page.locator(both)).to_be_attached(timeout=timeout)
        expect(self.page.locator("html")).to_have_class("scripted")

    def expect_state(self, at: int | str, state: str) -> None:
        self.expect_saying(at, STATES[state])

    def expect_saved(self, cards: int) -> None:
        for rank in range(1, cards + 1):
            self.expect_saying(rank, SAVED)

    def announced(self) -> str:
        status = self.page.locator("#status[role=status]")
        expect(status).not_to_be_empty()
        return status.inner_text()

    def expect_pressed(self, rank: int, value: str | None) -> None:
        for button in ("1", "0", "unsure"):
            locator = self.page.locator(f'#rank-{rank} button[value="{button}"]')
            expect(locator).to_have_attribute("aria-pressed", str(button == value).lower())

    def expect_focus(self, place: str) -> None:
        wait_for_focus(self.page, place)

    def expect_figure(self, name: str, *, question: str, run: str) -> None:
        cells = self.page.locator(f'#figures tr:has([popovertarget="about-{name}"]) td')
        for column, text in ((0, question), (2, run)):
            value = cells.nth(column).locator(".value, [aria-hidden]").first
            expect(value).to_have_text(re.compile(rf"^{re.escape(text)}( \(|$)"))
