"""One way each to use every page: by the keyboard alone, or by a thumb on a phone alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from playwright.sync_api import Download, Locator, Page, ViewportSize, expect

from tests.browser.blind import place

PHONE: ViewportSize = {"width": 390, "height": 844}
MOST_TABS = 200
KEYS = {"1": "y", "0": "t", "correct_empty": "y", "false_negative": "t"}
ROOM = """(target) => {
  const { top, bottom } = target.getBoundingClientRect();
  return [top, innerHeight - (document.querySelector(".bar")?.offsetHeight ?? 0) - bottom];
}"""

Verdict = Callable[[str], str]
"""What somebody says of a card, by its title."""


class Hand(Protocol):
    page: Page

    def press(self, target: Locator) -> None: ...

    def write(self, field: Locator, text: str) -> None: ...

    def rate(self, verdict: Verdict, outcome: str, grade: str) -> None:
        """Rate all that is asked, from the question that is shown until nothing is left."""

    def settle(self, verdict: str) -> None: ...


class Keys:
    def __init__(self, page: Page) -> None:
        self.page = page

    def press(self, target: Locator) -> None:
        self._go_to(target)
        self.page.keyboard.press("Enter")

    def write(self, field: Locator, text: str) -> None:
        self._go_to(field)
        self.page.keyboard.type(text)

    def rate(self, verdict: Verdict, outcome: str, grade: str) -> None:
        while (at := place(self.page))["kind"] != "finished":
            if not at["open"]:
                continue  # on its way
            says = {"outcome": outcome, "grades": grade}.get(at["kind"]) or verdict(at["name"])
            self.page.keyboard.press(KEYS.get(says, says))

    def settle(self, verdict: str) -> None:
        self.page.wait_for_load_state()  # its script hears the keys
        self.page.keyboard.press(KEYS[verdict])

    def _go_to(self, target: Locator) -> None:
        expect(target).to_be_attached()
        for _ in range(MOST_TABS):
            if target.evaluate("target => target === document.activeElement"):
                expect(target).to_be_in_viewport()
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"{target} is not reached by the keyboard")


class Thumb:
    """A thumb that taps what is on the screen and scrolls down, never up within a question."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.act = page.locator("#act")

    def press(self, target: Locator) -> None:
        target.scroll_into_view_if_needed()
        target.tap()

    def write(self, field: Locator, text: str) -> None:
        self.press(field)
        self.page.keyboard.insert_text(text)

    def tap(self, target: Locator) -> None:
        above, below = target.evaluate(ROOM)
        assert above >= 0, f"{target} is above the screen"
        if below < 0:
            self.page.evaluate("by => scrollBy({ top: by, behavior: 'instant' })", -below)
        target.tap()

    def go_on(self, label: str | None = None) -> None:
        if label is not None:
            expect(self.act).to_have_text(label)
        expect(self.act).to_have_attribute("aria-disabled", "false")
        assert min(self.act.evaluate(ROOM)) >= -PHONE["height"] / 8  # in the bar
        self.act.tap()

    def rate(self, verdict: Verdict, outcome: str, grade: str) -> None:
        expect(self.page.locator("html.scripted #question")).to_be_attached()
        step = "cards"
        while step != "finished":
            for card in self.page.locator(".card").all() if step == "cards" else ():
                says = verdict(card.locator("h2 bdi").inner_text())
                self.tap(card.locator(f'.verdict button[value="{says}"]'))
            if step == "empty":
                self.tap(self.page.locator(f'#outcome button[value="{outcome}"]'))
            elif step != "cards":
                self.tap(self.page.locator(f"#quality-{step}-{grade}"))
            step = self._go_on()

    def _go_on(self) -> str:
        """Return the step of a blind question that comes next."""
        here = self.page.locator("#question")
        query, step = (here.get_attribute(name) for name in ("data-query", "data-step"))
        expect(self.act).to_have_attribute("data-to", "on")
        self.go_on()
        same = f'[data-query="{query}"][data-step="{step}"]'
        arrived = f"html.scripted #question:focus-within:not({same})"  # scrolled to its top by then
        destination = self.page.locator(f"{arrived}, h1#finished")
        return destination.get_attribute("data-step") or destination.get_attribute("id") or ""

    def settle(self, verdict: str) -> None:
        self.tap(self.page.locator(f'.decide button[value="{verdict}"]'))


def choose_files(hand: Hand, opener: Locator, files: Sequence[Path]) -> None:
    with hand.page.expect_file_chooser() as chooser:
        hand.press(opener)
    chooser.value.set_files(files)


def take_away(hand: Hand, link: Locator) -> Download:
    with hand.page.expect_download() as download:
        hand.press(link)
    return download.value


PHONE_OPTIONS: dict[str, Any] = {"viewport": PHONE, "is_mobile": True, "has_touch": True}
