"""What is typed into notes is never lost, and a page in the back does not stay stale."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.rating_page import RatingPage
from tests.browser.server import Server

pytestmark = pytest.mark.browser

NewContext = Callable[..., BrowserContext]

TEXT = "yang ke-3 jauh dari Cemara"
DRAFTS = "() => Object.keys(localStorage).filter((name) => name.startsWith('draft ')).length"


def expect_no_draft(page: Page) -> None:
    """Wait until the browser keeps nothing typed that is not stored."""
    page.wait_for_function(f"(n) => ({DRAFTS})() === n", arg=0)


def test_notes_are_saved_while_typed(own_server: Server, run_id: str, page: Page) -> None:
    """A second after the last key, with focus still in the field; the page says so truly."""
    rating = RatingPage(page, own_server.url, run_id)
    rating.open(1)
    rating.press("n")
    page.keyboard.type(TEXT)
    rating.expect_saying("notes", "Belum tersimpan")
    rating.expect_state("notes", "saved")
    assert rating.focus == "notes"
    assert [(one["field"], one["new"]) for one in own_server.events()] == [("notes", TEXT)]
    expect_no_draft(page)


def test_a_reload_loses_nothing_typed(own_server: Server, run_id: str, page: Page) -> None:
    rating = RatingPage(page, own_server.url, run_id)
    rating.open(1)
    rating.press("n")
    page.keyboard.type(TEXT)
    page.reload()
    expect(page.locator("#notes")).to_have_value(TEXT)
    rating.expect_state("notes", "saved")
    expect_no_draft(page)
    assert {one["new"] for one in own_server.events()} == {TEXT}


def test_offline_notes_arrive(own_server: Server, run_id: str, context_of: NewContext) -> None:
    """Even where nothing but the draft was kept: the tab went without a word to the page."""
    context = context_of()
    rating = RatingPage(context.new_page(), own_server.url, run_id)
    rating.open(1)
    rating.page.evaluate("navigator.serviceWorker.ready.then(() => null)")
    rating.press("y")
    rating.expect_state(1, "saved")
    expect(rating.page.locator("#rating[data-ahead]")).to_be_attached()  # pages are kept
    context.set_offline(True)
    rating.press("n")
    rating.page.keyboard.type(TEXT)
    rating.expect_state("notes", "unsaved")
    rating.page.reload()
    expect(rating.page.locator("#notes")).to_have_value(TEXT)
    rating.expect_state("notes", "unsaved")
    rating.page.close()

    again = RatingPage(context.new_page(), own_server.url, run_id)
    context.set_offline(False)
    again.open(1)
    expect(again.page.locator("#notes")).to_have_value(TEXT)
    again.expect_state("notes", "saved")
    expect_no_draft(again.page)
    assert own_server.events()[-1]["new"] == TEXT


def test_an_old_draft_writes_nothing(
    own_server: Server, run_id: str, context_of: NewContext
) -> None:
    """The telephone's tab was ended in mid-sentence; the laptop's words are newer."""
    pocket = context_of()
    telephone = RatingPage(pocket.new_page(), own_server.url, run_id)
    telephone.open(1)
    telephone.page.route("**/rating", lambda route: route.abort())
    telephone.page.locator("#notes").fill("setengah kal")
    telephone.page.close()
    laptop = RatingPage(context_of().new_page(), own_server.url, run_id)
    laptop.open(1)
    laptop.page.locator("#notes").fill(TEXT)
    laptop.expect_state("notes", "saved")

    again = RatingPage(pocket.new_page(), own_server.url, run_id)
    again.open(1)
    expect_no_draft(again.page)
    expect(again.page.locator("#notes")).to_have_value(TEXT)
    found = [one["new"] for one in own_server.events() if one["field"] == "notes"]
    assert sorted(found) == sorted(["setengah kal", TEXT]), "both are in the history"
