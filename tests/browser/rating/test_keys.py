"""The effect of each key on the rating page, and when it must have none."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.blind import invite, join
from tests.browser.conftest import OpenTab
from tests.browser.rating_page import RatingPage, wait_for_focus
from tests.browser.server import Server

pytestmark = pytest.mark.browser

KNOWN = """(keys) => keys.filter((key) => {
  const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true });
  const taken = !document.body.dispatchEvent(event);
  document.querySelector("dialog[open]")?.close();
  return taken;
})"""
PRINTABLE = [chr(code) for code in range(0x21, 0x7F) if not chr(code).isupper()]
ARROWS = {"↑": "ArrowUp", "↓": "ArrowDown", "←": "ArrowLeft", "→": "ArrowRight"}


@pytest.fixture(name="rating")
def _rating(server: Server, run_id: str, page: Page) -> RatingPage:
    return RatingPage(page, server.url, run_id)


def test_arrows_and_j_k_move_between_the_cards_and_stop_at_the_ends(rating: RatingPage) -> None:
    """Down from the last card is quality, up from there the last card."""
    rating.open(1)
    places = []
    for key in ("j", "ArrowDown", "k", "ArrowUp", "ArrowUp", *"jjjjjjjjj", "j", "j", "k"):
        rating.press(key)
        places.append(rating.focus)
    cards = [str(rank) for rank in range(2, 11)]
    assert places == ["2", "3", "2", "1", "1", *cards, "grades", "grades", "10"]


def test_left_and_right_and_p_l_g_walk_between_the_questions(rating: RatingPage) -> None:
    """The address follows, and the browser's own way back leads back."""
    rating.open(2)
    for key, question in (("ArrowRight", 3), ("l", 4), ("p", 3), ("ArrowLeft", 2), ("g", 3)):
        rating.press(key)
        rating.expect_question(question)
        assert rating.page.url == f"{rating.run_url}/queries/{question}"
        rating.expect_focus("1")
    rating.page.go_back()
    rating.expect_question(2)
    rating.expect_focus("1")


def test_the_list_of_keys_closes_as_often_as_it_is_opened(rating: RatingPage) -> None:
    rating.open(1)
    for _ in range(2):
        rating.press("h")
        shown = rating.page.locator("dialog#keys")
        shown.get_by_role("button", name="Tutup").click()
        expect(shown).to_be_hidden()


def test_a_verdict_key_judges_the_focused_card_and_moves_to_the_next_open_one(
    rating: RatingPage,
) -> None:
    """Judged cards are passed over; judged again, a card takes the new verdict."""
    rating.open(24)
    rating.press("j", "y")
    assert rating.focus == "3"
    rating.press("k", "k", "t")
    assert rating.focus == "3", "card 2 has its verdict already"
    rating.press("k", "x")
    rating.expect_pressed(1, "0")
    rating.expect_pressed(2, "0")
    rating.expect_saved(2)


def test_u_undoes_one_change_after_the_other_and_shows_where(rating: RatingPage) -> None:
    """Undo leads back over a finished question, and each undo is an event of its own."""
    rating.open(18)
    rating.press(*"ytyr", "3")
    rating.expect_question(19)
    rating.press("u")
    rating.expect_question(18)
    expect(rating.page.locator("#quality-3")).not_to_be_checked()
    rating.press("u")
    rating.expect_pressed(4, None)
    rating.expect_saying(4, "Belum dinilai")
    rating.expect_pressed(3, "1")
    rating.expect_focus("4")


@pytest.mark.parametrize(("locale", "no"), [("id-ID", "t"), ("en-GB", "x")])
def test_the_key_of_no_is_shown_in_the_page_s_language_and_both_work(
    own_server: Server, run_id: str, open_tab: OpenTab, locale: str, no: str
) -> None:
    """And n, the no of an English reader, opens the notes, of which the sheet tells."""
    rating = RatingPage(open_tab(locale=locale), own_server.url, run_id)
    rating.open(1)
    shown = rating.page.locator('#rank-1 button[value="0"]')
    expect(shown).to_have_attribute("aria-keyshortcuts", no)
    expect(rating.page.locator("#keys tr").nth(2).locator("kbd").first).to_have_text(no)
    rating.press("t", "x", "n")
    rating.expect_pressed(1, "0")
    rating.expect_pressed(2, "0")
    assert rating.focus == "notes"
    rating.open(12)  # an empty list
    rating.press("x")
    outcome = rating.page.locator('#outcome button[value="false_negative"]')
    expect(outcome).to_have_attribute("aria-pressed", "true")


def test_no_grade_has_focus_where_none_is_suggested(blind_server: Server, page: Page) -> None:
    """After the last card a digit grades at once, but no grade is marked or chosen before."""
    join(page, invite(blind_server, "Ani"))
    for _ in range(5):
        page.keyboard.press("y")
    wait_for_focus(page, "grades-A")
    assert page.evaluate("document.activeElement.matches('input')") is False
    expect(page.locator(".scale .suggested")).to_have_count(0)
    page.keyboard.press("4")
    expect(page.locator("#quality-A-4")).to_be_checked()
    wait_for_focus(page, "grades-B")


def test_no_key_fires_while_notes_are_written(rating: RatingPage) -> None:
    """N goes to the notes, letters stay letters there, Escape stores them and goes back."""
    rating.open(5)
    rating.press("n")
    assert rating.focus == "notes"
    rating.page.keyboard.type("yang ke-3 jauh: tutup?")
    assert rating.page.locator("#notes").input_value() == "yang ke-3 jauh: tutup?"
    rating.press("Escape")
    rating.expect_state("notes", "saved")
    assert rating.focus == "1"
    for rank in (1, 2):
        rating.expect_pressed(rank, None)
    expect(rating.page.locator("#keys")).to_be_hidden()


def test_no_key_fires_with_a_modifier(rating: RatingPage) -> None:
    """Ctrl+R, Alt+Y and their like belong to the browser."""
    rating.open(6)
    for modifier in ("Control", "Alt", "Meta", "Shift"):
        rating.press(f"{modifier}+y", f"{modifier}+x", f"{modifier}+j")
        assert rating.focus == "1", modifier
        assert set(rating.sayings.values()) <= {"Belum dinilai", ""}, modifier


def test_a_key_held_down_judges_one_card(rating: RatingPage) -> None:
    """The keyboard's own repetition is not a verdict."""
    rating.open(7)
    for _ in range(4):
        rating.page.keyboard.down("y")
    rating.page.keyboard.up("y")
    rating.expect_state(1, "saved")
    assert rating.focus == "2"
    rating.expect_pressed(2, None)


def test_a_digit_stores_quality_only_where_quality_has_focus(rating: RatingPage) -> None:
    """A digit on a card does nothing, so no answer is graded by a slip."""
    rating.open(8)
    rating.press("4")
    assert rating.focus == "1"
    expect(rating.page.locator("#quality-4")).not_to_be_checked()
    rating.expect_question(8)


def test_an_empty_list_leads_to_its_quality_and_takes_another_digit_later(
    rating: RatingPage,
) -> None:
    """The outcome, a digit and on to the next; back again, a digit alone changes it."""
    rating.open(12)
    rating.press("y")
    assert rating.focus == "grades"
    expect(rating.page.locator("#grades .suggested")).to_contain_text("0")
    expect(rating.page.locator("#grades :checked")).to_have_count(0)  # offered, never set
    for digit in ("0", "2"):
        rating.press(digit)
        rating.expect_question(13)
        rating.open(12)
        expect(rating.page.locator(f"#quality-{digit}")).to_be_checked()


def test_the_help_sheet_opens_takes_no_keys_and_gives_focus_back(rating: RatingPage) -> None:
    """H and ? open it; while it is open nothing is judged; Escape and the button close it."""
    rating.open(9)
    sheet = rating.page.locator("#keys")
    rating.press("j")
    for key in ("h", "?"):
        rating.press(key)
        expect(sheet).to_be_visible()
        rating.press("y", "t", "j")
        rating.press("Escape")
        expect(sheet).to_be_hidden()
        assert rating.focus == "2", key
        rating.press(key)
        sheet.get_by_role("button", name="Tutup").click()
        expect(sheet).to_be_hidden()
        assert rating.focus == "2", key
        rating.expect_pressed(2, None)


def test_the_help_sheet_lists_every_key_and_no_other(rating: RatingPage) -> None:
    """The keys the page takes are exactly those the sheet names."""
    rating.page.route(re.compile("."), lambda route: route.abort()
                      if route.request.method == "POST" else route.continue_())  # fmt: skip
    rating.open(29)
    listed = set()
    for text in rating.page.locator("#keys kbd").all_inner_texts() or []:
        listed |= {ARROWS.get(key, key) for key in _spelled(text)}
    taken = rating.page.evaluate(KNOWN, [*PRINTABLE, *ARROWS.values()])
    assert set(taken) == listed


def test_single_keys_can_be_switched_off_and_stay_off(rating: RatingPage) -> None:
    """Off, no letter does anything, on this page and the next; Tab and Enter still work."""
    rating.open(11)
    switch = rating.page.locator("#keys-on")
    rating.press("h")
    switch.uncheck()
    rating.press("Escape", "y", "j", "h")
    assert rating.focus == "1"
    rating.open(13)
    rating.press("y", "h")
    assert rating.focus == "1"
    rating.expect_pressed(1, None)
    rating.page.locator('#rank-1 button[value="1"]').focus()
    rating.press("Enter")
    rating.expect_state(1, "saved")

    rating.page.locator("#show-keys").click()
    switch.check()
    rating.press("Escape")
    rating.page.locator("#rank-2").focus()
    rating.press("y")
    rating.expect_state(2, "saved")


def _spelled(text: str) -> list[str]:
    """The single keys of one entry of the sheet: "j k", "0–5", "↑ ↓"."""
    first, _, last = text.partition("–")
    if last:
        return [str(digit) for digit in range(int(first), int(last) + 1)]
    return text.split()


def test_the_keys_are_in_their_buttons_until_they_are_known(rating: RatingPage) -> None:
    """They go after twenty uses in this browser, and h brings them back."""
    shown = "(selector) => getComputedStyle(document.querySelector(selector), '::after').content"
    buttons = {
        '#rank-1 [value="1"]': "y",
        '#rank-1 [value="0"]': "t",
        '#rank-1 [value="unsure"]': "r",
        "[data-undo-form] button": "u",
        "#walk [data-jump]": "g",
    }
    rating.open(24)
    for selector, key in buttons.items():
        name = rating.page.locator(selector).get_attribute("aria-keyshortcuts")
        assert name == key
        assert "attr(aria-keyshortcuts)" in rating.page.evaluate(shown, selector) or (
            f'"{key}"' in rating.page.evaluate(shown, selector)
        )
    rating.press(*"jk" * 9, "j")
    rating.open(24)
    assert rating.page.evaluate(shown, '#rank-1 [value="1"]') != "none"
    rating.press("k")
    assert rating.page.evaluate(shown, '#rank-1 [value="1"]') == "none"
    rating.open(24)
    assert rating.page.evaluate(shown, '#rank-1 [value="1"]') == "none"
    rating.press("h")
    assert rating.page.evaluate(shown, '#rank-1 [value="1"]') != "none"


@pytest.mark.parametrize("locale", ["id-ID", "en-GB"])
def test_the_key_of_a_pressed_button_stands_beside_its_words(
    server: Server, run_id: str, open_tab: OpenTab, locale: str
) -> None:
    page = open_tab(locale=locale, viewport={"width": 1366, "height": 900})
    page.goto(f"{server.url}/runs/{run_id}/queries/24")
    expect(page.locator("html")).to_have_class("scripted")
    left = page.evaluate(
        """() => [...document.querySelectorAll("#rank-1 .verdict button[aria-pressed]")].map(
          (button) => {
            button.ariaPressed = "true";
            const words = document.createRange(), key = getComputedStyle(button, "::after");
            words.selectNodeContents(button);
            const needed = ["width", "insetInlineEnd"].map((name) => parseFloat(key[name]));
            return button.getBoundingClientRect().right - words.getBoundingClientRect().right
              - needed[0] - needed[1];
          })"""
    )
    assert len(left) == 3
    assert all(space >= 0 for space in left), left
