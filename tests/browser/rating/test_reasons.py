"""Why a card is not relevant, by two keys and by thumb, and never in the way of the next card."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.hands import PHONE_OPTIONS
from tests.browser.rating_page import RatingPage
from tests.browser.server import Server

pytestmark = pytest.mark.browser


def expect_reason(page: Page, rank: int, reason: str) -> None:
    expect(page.locator(f"#tag-{rank}")).to_have_attribute("data-reason", reason)


def stored_changes(server: Server, since: int) -> list[tuple[str, str | None]]:
    return [(event["field"], event["new"]) for event in server.events()[since:]]


def test_a_reason_takes_two_keys_after_the_verdict(server: Server, run_id: str, page: Page) -> None:
    """Digits choose while the chips are open; any other key closes them and does what it does."""
    rating = RatingPage(page, server.url, run_id)
    since = len(server.events())
    rating.open(1)
    rating.press("t")
    rating.expect_focus("2")
    rating.press("w")
    expect(page.locator("#rank-1 #reasons")).to_be_visible()
    rating.press("2")
    expect(page.locator("#reasons")).to_be_hidden()
    expect_reason(page, 1, "price")
    rating.expect_focus("2")

    rating.press("t", "w", "y")
    rating.expect_pressed(3, "1")
    expect(page.locator("#reasons")).to_be_hidden()
    rating.press("t", "w", "6")
    page.keyboard.type("3 km lebih jauh")
    rating.press("Enter")
    expect_reason(page, 4, "other: 3 km lebih jauh")
    rating.expect_focus("5")
    rating.expect_saved(4)
    rating.press("u")
    expect_reason(page, 4, "")
    rating.expect_pressed(4, "0")

    assert stored_changes(server, since) == [
        *(("verdict", "0"), ("reason", "price"), ("verdict", "0"), ("verdict", "1")),
        *(("verdict", "0"), ("reason", "other: 3 km lebih jauh"), ("reason", None)),
    ]


def test_a_thumb_gives_and_takes_back_a_reason(
    server: Server, run_id: str, open_tab: Callable[..., Page]
) -> None:
    page = open_tab(**PHONE_OPTIONS)
    RatingPage(page, server.url, run_id).open(6)
    tag = page.locator("#tag-1")
    expect(tag).to_be_hidden()
    page.locator('#rank-1 button[value="0"]').tap()
    page.evaluate("document.activeElement.blur()")  # in Safari a tap gives no focus
    offered, bar = tag.bounding_box(), page.locator(".bar").bounding_box()
    assert offered is not None
    assert bar is not None
    assert offered["y"] >= bar["y"], "the offer covers a card"
    tag.tap()
    chips = page.locator("#reasons button")
    for target in (tag, *chips.all()):
        box = target.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= 44
    chips.nth(0).tap()
    expect_reason(page, 1, "location")
    tag.tap()
    chips.nth(0).tap()
    expect_reason(page, 1, "")
    page.locator('#rank-1 button[value="1"]').tap()
    expect(tag).to_be_hidden()
