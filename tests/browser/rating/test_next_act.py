"""One button says what comes next and leads there: a thumb rates a question without going back."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.hands import PHONE_OPTIONS, Thumb
from tests.browser.rating_page import RatingPage
from tests.browser.server import Server

pytestmark = pytest.mark.browser


@pytest.fixture(name="phone")
def _phone(open_tab: Callable[..., Page]) -> Page:
    return open_tab(**PHONE_OPTIONS)


def test_a_blind_question_with_three_answers_is_rated_by_a_thumb(
    blind_server: Server, phone: Page
) -> None:
    phone.goto(f"{blind_server.url}/rate/")
    expect(phone.locator("html")).to_have_class("scripted")
    thumb, first = Thumb(phone), phone.url
    for remaining in (5, 4, 3, 2, 1):
        expect(thumb.act).to_have_text(f"{remaining} kartu lagi")
        thumb.tap(phone.locator(".card[data-verdict=''] button[value='1']").first)
    for letter, following in (("A", "B"), ("B", "C"), ("C", "")):
        thumb.go_on(f"Jawaban {letter}")
        expect(phone.locator(f"#answer-{letter}")).to_be_in_viewport()
        unmarked = f"#listed-{letter} li:not(:has(.mine[data-verdict='1']))"
        expect(phone.locator(unmarked)).to_have_count(0)
        expect(thumb.act).to_have_attribute("aria-disabled", "true")
        after = f"Jawaban {following}" if following else "Pertanyaan berikutnya"
        thumb.tap(phone.locator(f"#quality-{letter}-4"))
        expect(thumb.act).to_have_text(after)
    thumb.go_on("Pertanyaan berikutnya")
    expect(phone).not_to_have_url(first)
    expect(phone.locator(".card[data-verdict='']")).not_to_have_count(0)

    stored = [event["new"] for event in blind_server.events()]
    assert stored == [*"11111", *"444"]


def test_nothing_is_graded_by_a_thumb_before_it_is_seen(blind_server: Server, phone: Page) -> None:
    """An empty list comes before the answers, and grades come with the answer they are for."""
    phone.goto(f"{blind_server.url}/rate/")
    expect(phone.locator("html")).to_have_class("scripted")
    phone.keyboard.type("yytty345")
    thumb, docks = Thumb(phone), phone.locator(".dock[data-letter]")
    expect(phone.locator("#walk .at .vh")).to_contain_text("2 dari 3")
    expect(phone.locator(".card").first).to_be_focused()  # and scrolled to, by then
    for card in (0, 1):
        thumb.tap(phone.locator(".card").nth(card).locator("button[value='1']"))
    thumb.go_on("Jawaban tanpa hasil")
    thumb.tap(phone.locator("#outcome button").first)
    expect(phone.locator("#answer-A")).to_be_attached()
    expect(docks).to_have_count(3)
    expect(docks.locator("visible=true")).to_have_count(0)
    thumb.go_on("Jawaban A")
    expect(phone.locator("#answer-A")).to_be_in_viewport()
    expect(docks.locator("visible=true")).to_have_count(1)


def test_a_question_of_a_run_is_rated_by_a_thumb_and_what_is_missing_is_shown(
    server: Server, run_id: str, phone: Page
) -> None:
    rating = RatingPage(phone, server.url, run_id)
    rating.open(10)
    thumb = Thumb(phone)
    for rank in range(1, 6):
        thumb.tap(phone.locator(f'#rank-{rank} button[value="0"]'))
    thumb.go_on("1 kartu lagi")
    expect(phone.locator("#rank-6")).to_be_focused()
    thumb.tap(phone.locator('#rank-6 button[value="1"]'))
    expect(thumb.act).to_have_text("Pertanyaan berikutnya")
    expect(thumb.act).to_have_attribute("aria-disabled", "true")
    thumb.act.tap(force=True)  # the grade is still missing
    expect(phone.locator("#grades")).to_be_in_viewport()
    rating.expect_question(10)
    thumb.tap(phone.locator("#quality-2"))
    thumb.go_on("Pertanyaan berikutnya")
    rating.expect_question(11)

    actual = server.export(run_id)["queries"][9]
    assert [result["relevance"] for result in actual["results"]] == [0, 0, 0, 0, 0, 1]
    assert actual["quality"] == 2


PRESS = """([key, code]) => document.activeElement.dispatchEvent(
  new KeyboardEvent("keydown", { key, code, bubbles: true, cancelable: true }))"""


def test_letters_go_by_their_place_where_a_layout_has_no_latin_ones(
    server: Server, run_id: str, page: Page
) -> None:
    """Russian, Arabic and Korean judge by the places of y, t and r; German z is where y was."""
    rating = RatingPage(page, server.url, run_id)
    rating.open(13)
    for key, code in (("н", "KeyY"), ("ف", "KeyT"), ("ㄱ", "KeyR"), ("z", "KeyY")):
        page.evaluate(PRESS, [key, code])

    for rank, verdict in ((1, "1"), (2, "0"), (3, "unsure"), (4, None)):
        rating.expect_pressed(rank, verdict)
