"""The rating page as the tests read it: what is asked, what has focus, what it says."""

from __future__ import annotations

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
    """One run's rating page in a browser's tab."""

    def __init__(self, page: Page, server_url: str, run_id: str) -> None:
        self.page = page
        self.run_url = f"{server_url}/runs/{run_id}"

    def open(self, query_id: int) -> None:
        """Go to a question by its address and wait for the script."""
        self.page.goto(f"{self.run_url}/queries/{query_id}")
        expect(self.page.locator("html")).to_have_class("scripted")

    def press(self, *keys: str) -> None:
        """Press keys one after the other without waiting for anything."""
        for key in keys:
            self.page.keyboard.press(key)

    @property
    def focus(self) -> str:
        """The rank of the card that has focus, or outcome, grades, notes, question, body."""
        return str(self.page.evaluate(FOCUS))

    @property
    def sayings(self) -> dict[str, str]:
        """The page's status texts of each card (by rank), of quality, notes and outcome."""
        found: dict[str, str] = self.page.evaluate(SAYINGS)
        return found

    def saved_ranks(self) -> set[int]:
        """The ranks of the cards that the page calls saved."""
        return {int(at) for at, text in self.sayings.items() if at.isdecimal() and text == SAVED}

    def expect_saying(self, at: int | str, text: str) -> None:
        """Wait until the page says `text` of a card or of quality, notes, outcome."""
        expect(self.page.locator(f'[data-state-of="{at}"]')).to_have_text(text)

    @property
    def question(self) -> int:
        """The question that is shown, by its query id."""
        return int(self.page.locator("#question").get_attribute("data-query") or 0)

    def expect_question(self, query_id: int, timeout: float | None = None) -> None:
        """Wait until this question is shown, the last one is dealt with, and keys are heard."""
        both = f'#rating:has(#question[data-query="{query_id}"]) #walk[data-query="{query_id}"]'
        expect(self.page.locator(both)).to_be_attached(timeout=timeout)
        expect(self.page.locator("html")).to_have_class("scripted")

    def expect_state(self, at: int | str, state: str) -> None:
        """Wait until the page calls a card saving, saved, unsaved or refused."""
        self.expect_saying(at, STATES[state])

    def expect_saved(self, cards: int) -> None:
        """Wait until the first `cards` cards are called saved."""
        for rank in range(1, cards + 1):
            self.expect_saying(rank, SAVED)

    def announced(self) -> str:
        """The text of the live region, once it has one."""
        status = self.page.locator("#status[role=status]")
        expect(status).not_to_be_empty()
        return status.inner_text()

    def expect_pressed(self, rank: int, value: str | None) -> None:
        """Wait until the card shows the verdict `value`, by ``aria-pressed``; none for None."""
        for button in ("1", "0", "unsure"):
            locator = self.page.locator(f'#rank-{rank} button[value="{button}"]')
            expect(locator).to_have_attribute("aria-pressed", str(button == value).lower())

    def expect_focus(self, place: str) -> None:
        """Wait until a card (by rank), outcome, grades, notes or question has focus."""
        wait_for_focus(self.page, place)

    def expect_figure(self, name: str, *, question: str, run: str) -> None:
        """Wait until a live figure is printed so: of this question, and of the run."""
        cells = self.page.locator(f'#figures tr:has([popovertarget="about-{name}"]) td')
        for column, text in ((0, question), (2, run)):
            value = cells.nth(column).locator(".value, [aria-hidden]").first
            expect(value).to_have_text(text)
