"""An empty answer is looked up, by key and by thumb; a second blind rater is asked about it."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import violations
from tests.browser.blind import invite, join
from tests.browser.conftest import OpenTab
from tests.browser.server import Server

pytestmark = pytest.mark.browser

HOUSE = "Rumah Tulip"  # returned for another question alone


def open_empty_step(page: Page) -> None:
    """Put the first question off, and judge the cards of the second one, left empty by one run.

    A search is in reach at its cards, and then at its empty answer.
    """
    page.keyboard.press("s")
    expect(page.locator("#asked")).to_have_text("Ada ruko di Berastagi?")
    page.keyboard.press("/")
    expect(page.locator("#missing #look-words")).to_be_focused()
    for card in page.locator(".card").all():
        if card.get_attribute("data-verdict") == "":
            card.locator("[value='1']").click()
    expect(page.locator("#outcome")).to_be_attached()
    page.keyboard.press("/")
    expect(page.locator(".emptiness #look-words")).to_be_focused()
    page.keyboard.press("Tab")


def expect_evidence(page: Page, *titles: str) -> None:
    expect(page.locator("#evidence li > b:first-child bdi")).to_have_text([*titles])
    outcome = page.locator("#outcome [value=false_negative]")
    expect(outcome).to_have_attribute("aria-pressed", "true" if titles else "false")


def test_what_one_rater_pins_a_second_one_is_asked_about(
    blind_server: Server, open_tab: OpenTab
) -> None:
    ani, budi = (open_tab(), open_tab(viewport={"width": 390, "height": 844}, has_touch=True))
    join(ani, invite(blind_server, "Ani"))
    open_empty_step(ani)
    ani.keyboard.press("/")
    ani.keyboard.press("Control+a")
    ani.keyboard.type("tulip")
    ani.locator("#found [name=without]").click()  # no shophouse, as the question asks
    expect(ani.locator(".hit bdi")).to_have_text([HOUSE])
    for _ in range(2):  # the second time after an undo, which took back the whole pin
        ani.keyboard.press("/")
        expect(ani.locator("#look-words")).to_be_focused()
        ani.keyboard.press("Control+a")
        ani.keyboard.type("tulip")
        expect(ani.locator(".hit bdi")).to_have_text([HOUSE])
        assert violations(ani) == []
        ani.keyboard.press("ArrowDown")
        ani.keyboard.press("y")
        expect_evidence(ani, HOUSE)
        expect(ani.locator(".hit")).to_be_focused()
        ani.keyboard.press("u")
        expect_evidence(ani)
    ani.locator(".hit .pin").click()
    expect_evidence(ani, HOUSE)
    ani.context.set_offline(True)
    for is_pinned in ("false", "true"):  # taken back and pinned again, which the server hears later
        ani.locator(".hit .pin").click()
        expect(ani.locator(".hit .pin")).to_have_attribute("aria-pressed", is_pinned)
    ani.context.set_offline(False)
    expect(ani.locator("[data-state-of=look]")).to_have_attribute("data-state", "saved")
    ani.reload()
    expect_evidence(ani, HOUSE)

    join(budi, invite(blind_server, "Budi"))
    budi.keyboard.press("s")
    expect(budi.locator(".card h2 bdi")).to_contain_text([HOUSE])
    expect(budi.locator(".card")).to_have_count(3)
    open_empty_step_by_thumb(budi)
    budi.locator(".facet.on").tap()
    budi.locator("#look-words").fill("rumah mel")
    expect(budi.locator(".hit bdi")).to_have_text(["Rumah Melati"])
    budi.locator(".hit .pin").tap()
    expect_evidence(budi, "Rumah Melati")
    assert violations(budi) == []
    budi.locator("#evidence .link").tap()
    expect_evidence(budi)


def open_empty_step_by_thumb(page: Page) -> None:
    for card in page.locator(".card").all():
        card.locator("[value='0']").tap()
    expect(page.locator("#outcome")).to_be_attached()
    page.locator("#steps [data-step=empty]").tap()
    expect(page.locator("#look-words")).to_be_visible()
