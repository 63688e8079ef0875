"""The answers of a blind question are tabs, one open at a time, below the question in sight."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import Server

pytestmark = pytest.mark.browser


def open_tabs(page: Page) -> list[str]:
    """Return the letters of the answers that are unfolded."""
    letters = page.locator(".tab[open] > summary").all()
    return [str(one.get_attribute("data-letter")) for one in letters]


def rated_cards(page: Page) -> None:
    """Judge the five cards of the first question by keyboard."""
    expect(page.locator("html")).to_have_class("scripted")
    page.keyboard.type("yytty")
    expect(page.locator("#grades-A:focus, #grades-A :focus")).to_be_attached()


def test_one_answer_is_open_and_gives_way_once_it_is_graded(
    blind_server: Server, page: Page
) -> None:
    page.goto(f"{blind_server.url}/rate/")
    rated_cards(page)
    assert open_tabs(page) == ["A"]

    page.keyboard.press("3")
    expect(page.locator("#grades-B:focus, #grades-B :focus")).to_be_attached()
    assert open_tabs(page) == ["B"]

    page.locator("summary[data-letter=A]").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#answer-A")).to_be_visible()
    assert open_tabs(page) == ["A"]
    page.keyboard.press("5")  # the keys are those of the tab in focus
    expect(page.locator("#quality-A-5")).to_be_checked()


@pytest.mark.parametrize(("width", "height"), [(1366, 768), (390, 844)])
def test_a_question_with_judged_cards_opens_at_its_open_answer_with_the_question_in_sight(
    blind_server: Server, page: Page, width: int, height: int
) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.goto(f"{blind_server.url}/rate/")
    rated_cards(page)
    page.keyboard.press("3")
    expect(page.locator('[data-state-of="quality-A"]')).to_have_text("Tersimpan")

    page.reload()

    expect(page.locator("#grades-B:focus, #grades-B :focus")).to_be_attached()
    assert open_tabs(page) == ["B"]
    expect(page.locator("summary[data-letter=B]")).to_be_in_viewport(ratio=1)
    expect(page.locator("#walk .now")).to_be_in_viewport(ratio=1)
    bar = page.locator("#walk .now").bounding_box()
    tab = page.locator("summary[data-letter=B]").bounding_box()
    assert bar is not None
    assert tab is not None
    assert bar["y"] + bar["height"] <= tab["y"] < height / 2


def test_a_first_page_begins_at_its_first_open_card(blind_server: Server, page: Page) -> None:
    page.goto(f"{blind_server.url}/rate/")

    expect(page.locator("#card-1:focus")).to_be_attached()
    assert page.evaluate("scrollY") == 0


def test_the_wording_is_opened_in_place_and_keeps_what_was_typed(
    blind_server: Server, page: Page
) -> None:
    page.goto(f"{blind_server.url}/rate/")
    rated_cards(page)
    assert "📍" not in page.content()
    page.locator("#notes-A").fill("belum selesai")

    page.locator("#wording-A button").click()

    expect(page.locator("#wording-A .prose")).to_contain_text("📍 Binjai")
    expect(page.locator("#notes-A")).to_have_value("belum selesai")
    assert _opened(blind_server) == 1


def test_without_a_script_tabs_unfold_and_the_wording_is_opened_on_the_record(
    blind_server: Server, page: Page, open_tab: Callable[..., Page]
) -> None:
    page.goto(f"{blind_server.url}/rate/")
    rated_cards(page)
    expect(page.locator("#card-5 .state")).to_have_text("Tersimpan")
    plain = open_tab(java_script_enabled=False)
    plain.goto(page.url)

    plain.locator("summary[data-letter=C]").click()
    expect(plain.locator("#answer-A")).to_be_hidden()
    plain.locator("#wording-C button").click()

    expect(plain.locator("#wording-C .prose")).to_contain_text("📍 Binjai")
    assert _opened(blind_server) == 1
    plain.check("#quality-C-2")
    plain.locator("#answer-C .store").click()
    expect(plain.locator("#answer-A")).to_be_visible()
    plain.locator("summary[data-letter=C]").click()
    expect(plain.locator("#quality-C-2")).to_be_checked()


def _opened(server: Server) -> int:
    with closing(sqlite3.connect(server.instance / "relevansi.sqlite")) as database:
        (count,) = database.execute("SELECT count(*) FROM wordings_opened").fetchone()
    return int(count)


def test_a_title_read_from_right_to_left_begins_where_its_other_lines_do(
    blind_server: Server, page: Page
) -> None:
    page.goto(f"{blind_server.url}/rate/")
    rated_cards(page)
    for lines in (page.locator("#card-1 .what"), page.locator(".tab[open] .listed li").first):
        title = lines.locator("bdi").first
        title.evaluate("(title) => { title.textContent = '\u05d1\u05d9\u05ea \u05d9\u05e4\u05d4' }")
        start, below = title.bounding_box(), lines.locator(".money strong").bounding_box()
        assert start is not None
        assert below is not None
        assert start["x"] == below["x"]
