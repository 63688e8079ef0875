"""On a phone held in one hand a thumb hits; that nothing runs out is `test_every_page`'s."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from tests.browser.axe import PHONES
from tests.browser.pages import Study, visit

pytestmark = pytest.mark.browser

TOUCH = 44  # CSS pixels


@pytest.fixture(name="phone")
def _phone(open_tab: Callable[..., Page]) -> Page:
    return open_tab(viewport={"width": 390, "height": 844}, has_touch=True, reduced_motion="reduce")


def test_verdicts_grades_and_outcomes_are_large_enough_for_a_thumb(
    study: Study, phone: Page
) -> None:
    """At least 44 by 44 CSS pixels, at both widths."""
    for name, targets in (
        ("rating: cards", ".verdict button[aria-pressed], .scale label, #walk .way"),
        ("rating: empty list", "#outcome button"),
    ):
        visit(phone, study, name)
        for width in PHONES:
            phone.set_viewport_size({"width": width, "height": 844})
            boxes = [one.bounding_box() for one in phone.locator(targets).all()]
            assert boxes
            for box in boxes:
                assert box is not None
                assert min(box["width"], box["height"]) >= TOUCH, (name, width, box)
