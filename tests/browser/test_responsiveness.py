"""On a phone held in one hand: nothing runs out of the screen, and a thumb hits."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from tests.browser.pages import PAGES, Study, visit

pytestmark = pytest.mark.browser

WIDTHS = (320, 390)
TOUCH = 44  # CSS pixels
TOO_WIDE = """() => document.documentElement.scrollWidth <= innerWidth ? [] :
  [...document.querySelectorAll("body *")]
    .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
    .map((one) => one.tagName + "." + one.className + "#" + one.id).slice(0, 5)"""


@pytest.fixture(name="phone")
def _phone(open_tab: Callable[..., Page]) -> Page:
    return open_tab(viewport={"width": 390, "height": 844}, has_touch=True, reduced_motion="reduce")


@pytest.mark.parametrize("name", PAGES)
def test_no_page_scrolls_sideways_on_a_phone(study: Study, phone: Page, name: str) -> None:
    """Neither at 390 nor at 320 CSS pixels."""
    visit(phone, study, name)
    for width in WIDTHS:
        phone.set_viewport_size({"width": width, "height": 844})
        assert phone.evaluate(TOO_WIDE) == [], width
        assert phone.evaluate("document.documentElement.scrollWidth") <= width


def test_verdicts_grades_and_outcomes_are_large_enough_for_a_thumb(
    study: Study, phone: Page
) -> None:
    """At least 44 by 44 CSS pixels, at both widths."""
    for name, targets in (
        ("rating: cards", ".verdict button[aria-pressed], .scale label, #walk .way"),
        ("rating: empty list", "#outcome button"),
    ):
        visit(phone, study, name)
        for width in WIDTHS:
            phone.set_viewport_size({"width": width, "height": 844})
            boxes = [one.bounding_box() for one in phone.locator(targets).all()]
            assert boxes
            for box in boxes:
                assert box is not None
                assert min(box["width"], box["height"]) >= TOUCH, (name, width, box)
