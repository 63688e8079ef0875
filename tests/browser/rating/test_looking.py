"""An empty answer is looked up by key: what is found is pinned, without a network too."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.blind import invite, join
from tests.browser.server import Server

pytestmark = pytest.mark.browser

HOUSE = "Rumah Tulip"  # returned for another question alone


def expect_evidence(page: Page, *titles: str) -> None:
    expect(page.locator("#evidence li > b:first-child bdi")).to_have_text([*titles])
    outcome = page.locator("#outcome [value=false_negative]")
    expect(outcome).to_have_attribute("aria-pressed", "true" if titles else "false")


@pytest.fixture(name="looking")
def _looking(blind_server: Server, page: Page) -> Page:
    """The second question with all its cards judged; one run left it empty.

    A search is in reach at its cards, and then at its empty answer.
    """
    join(page, invite(blind_server, "Ani"))
    page.keyboard.press("s")
    expect(page.locator("#asked")).to_have_text("Ada ruko di Berastagi?")
    page.keyboard.press("/")
    expect(page.locator("#missing #look-words")).to_be_focused()
    for card in page.locator(".card").all():
        card.locator("[value='1']").click()
    expect(page.locator("#outcome")).to_be_attached()
    page.keyboard.press("/")
    expect(page.locator(".emptiness #look-words")).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.type("tulip")
    page.locator("#found [name=without]").click()  # no shophouse, as the question asks
    expect(page.locator(".hit bdi")).to_have_text([HOUSE])
    return page


def test_what_is_found_is_pinned_by_key_and_without_a_network(looking: Page) -> None:
    """Pinned, undone and pinned again; the server hears later of what a lost network held back."""
    looking.keyboard.press("/")
    looking.keyboard.press("ArrowDown")
    looking.keyboard.press("y")
    expect_evidence(looking, HOUSE)
    expect(looking.locator(".hit")).to_be_focused()
    looking.keyboard.press("u")
    expect_evidence(looking)

    looking.context.set_offline(True)
    for is_pinned in ("true", "false", "true"):
        looking.locator(".hit .pin").click()
        expect(looking.locator(".hit .pin")).to_have_attribute("aria-pressed", is_pinned)
    looking.context.set_offline(False)
    expect(looking.locator("[data-state-of=look]")).to_have_attribute("data-state", "saved")
    looking.reload()
    expect_evidence(looking, HOUSE)
