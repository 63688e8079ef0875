"""A blind question's way by keyboard: its cards, its empty answers, its answers one by one."""

from __future__ import annotations

import re
from contextlib import closing

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import Server

pytestmark = pytest.mark.browser


@pytest.fixture(name="rating")
def _rating(blind_server: Server, page: Page) -> Page:
    page.goto(f"{blind_server.url}/rate/")
    expect(page.locator("html")).to_have_class("scripted")
    return page


def focus_on(page: Page, selector: str) -> None:
    expect(page.locator(f"{selector}:focus, {selector} :focus").first).to_be_attached()


def test_a_burst_of_keys_runs_through_all_stages(rating: Page, blind_server: Server) -> None:
    """Five cards and three answers; two cards, the empty list, three answers."""
    rating.keyboard.type("yytty" + "345" + "yt" + "t" + "120")
    expect(rating.locator("#walk .at .vh")).to_contain_text("3 dari 3")
    focus_on(rating, '.card[data-position="1"]')
    stored = [event["new"] for event in blind_server.events()]
    assert stored == [*"11001", *"345", *"10", "false_negative", *"120"]


def test_the_same_property_with_another_price_can_be_confirmed_by_mouse(rating: Page) -> None:
    """The card tells before and now as soon as the other was judged; confirming keeps focus."""
    melati = rating.locator(".card:has-text('Rumah Melati')")
    melati.nth(0).locator('button[value="0"]').click()
    repriced = melati.nth(1)
    expect(repriced.locator(".remark")).to_contain_text("Anda menilainya Tidak saat harganya")
    repriced.locator(".confirm").click()
    expect(repriced.locator('button[value="0"]').first).to_have_attribute("aria-pressed", "true")
    expect(repriced.locator(".state")).to_have_attribute("data-state", "saved")
    expect(repriced.locator(".confirm")).to_have_count(0)
    expect(repriced).to_be_focused()


def test_keys_put_off_and_go_on(rating: Page) -> None:
    first = rating.url
    rating.keyboard.press("s")
    expect(rating).not_to_have_url(first)
    focus_on(rating, '.card[data-position="1"]')
    second = rating.url
    rating.keyboard.press("p")
    expect(rating).to_have_url(first)
    expect(rating.locator("#put-off")).to_be_visible()
    rating.keyboard.press("g")
    expect(rating).to_have_url(second)
    rating.keyboard.press("l")
    expect(rating).not_to_have_url(second)
    rating.keyboard.press("h")
    expect(rating.locator("#keys kbd", has_text=re.compile("^s$"))).to_be_visible()
    rating.keyboard.press("Escape")
    rating.goto(first)
    expect(rating.locator("#put-off")).to_be_visible()
    rating.locator("#menu > summary").click()
    rating.locator("[data-later-form] button").click()
    expect(rating).to_have_url(second)


def shown_answers(page: Page) -> list[str]:
    answers = page.locator(".answer:has(.whole:visible)").all()
    return [str(answer.get_attribute("data-letter")) for answer in answers]


def test_one_answer_is_open_until_it_is_graded(rating: Page) -> None:
    rating.keyboard.type("yytty")
    focus_on(rating, "#grades-A")
    assert shown_answers(rating) == ["A"]

    rating.keyboard.press("3")
    focus_on(rating, "#grades-B")
    assert shown_answers(rating) == ["B"]

    rating.locator("#steps [data-step=A]").focus()
    rating.keyboard.press("Enter")
    expect(rating.locator("#answer-A .whole")).to_be_visible()
    assert shown_answers(rating) == ["A"]
    rating.keyboard.press("5")  # the keys are those of the answer in turn
    expect(rating.locator("#quality-A-5")).to_be_checked()


def test_opening_the_wording_keeps_what_was_typed(rating: Page, blind_server: Server) -> None:
    rating.keyboard.type("yytty")
    focus_on(rating, "#grades-A")
    assert "📍" not in rating.content()
    rating.locator("#notes-A").fill("belum selesai")

    rating.locator("#wording-A summary").click()
    rating.locator("#wording-A button").click()

    expect(rating.locator("#wording-A .prose")).to_contain_text("📍 Binjai")
    expect(rating.locator("#notes-A")).to_have_value("belum selesai")
    with closing(blind_server.database()) as connection:
        assert connection.execute("SELECT count(*) FROM wordings_opened").fetchone() == (1,)
