"""Without a network the page says what is true, keeps what was typed and sends it later."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Dialog, Page, Route, expect

from tests.browser.plans import Planned, plan, stored
from tests.browser.rating_page import SAVED, UNSAVED, RatingPage
from tests.browser.server import Server

pytestmark = pytest.mark.browser

JUDGMENTS = re.compile(r"/judgment$")
LISTEN = """(rank) => {
  const card = document.querySelector(`#rank-${rank}`);
  const state = () => card.querySelector(".state").dataset.state;
  window.heard = [state()];
  new MutationObserver(() => state() !== window.heard.at(-1) && window.heard.push(state()))
    .observe(card, { subtree: true, childList: true, attributes: true });
}"""


def test_offline_is_unsaved_until_answered(own_server: Server, run_id: str, page: Page) -> None:
    """The card says saving, not saved, and saved only once it is stored; nothing else."""
    rating = RatingPage(page, own_server.url, run_id)
    rating.open(1)
    page.evaluate(LISTEN, 1)
    page.context.set_offline(True)
    rating.press("y")
    rating.expect_state(1, UNSAVED)
    rating.expect_pressed(1, "1")
    expect(page.locator("#status")).to_have_text("Belum tersimpan")
    assert SAVED not in page.evaluate("window.heard")

    page.context.set_offline(False)
    rating.expect_state(1, SAVED)
    assert page.evaluate("window.heard") == ["", "saving", UNSAVED, SAVED]
    assert stored(own_server, run_id)[0].relevance[0] == 1


def test_leaving_warns_of_the_unkept(
    own_server: Server, run_id: str, context_of: Callable[..., BrowserContext]
) -> None:
    """The next page sends a click that this browser keeps; without a store it would be lost."""
    context = context_of()
    page = context.new_page()
    dialogs: list[str] = []

    def stay(dialog: Dialog) -> None:
        dialogs.append(dialog.type)
        dialog.dismiss()

    rating = RatingPage(page, own_server.url, run_id)
    rating.open(1)
    context.set_offline(True)
    rating.press("y")
    rating.expect_state(1, "unsaved")
    page.on("dialog", stay)
    with page.expect_event("close"):
        page.close(run_before_unload=True)
    assert dialogs == []

    context.set_offline(False)
    page = context.new_page()
    page.on("dialog", stay)
    page.add_init_script("indexedDB.open = () => { throw new Error('no store'); }")
    rating = RatingPage(page, own_server.url, run_id)
    rating.open(1)
    context.set_offline(True)
    rating.press("y")
    rating.expect_state(1, "unsaved")
    with page.expect_event("dialog"):
        page.close(run_before_unload=True)
    assert dialogs == ["beforeunload"]

    context.set_offline(False)
    rating.expect_state(1, "saved")
    with page.expect_event("close"):
        page.close(run_before_unload=True)
    assert dialogs == ["beforeunload"]


def test_an_offline_undo_takes_back_what_waits(own_server: Server, run_id: str, page: Page) -> None:
    """Each goes one click further back; both clicks and both undos are told later, in order."""
    rating = RatingPage(page, own_server.url, run_id)
    rating.open(1)
    page.context.set_offline(True)
    rating.press("y", "t", "y")
    rating.expect_state(3, "unsaved")
    rating.press("u", "u")
    rating.expect_focus("2")
    rating.expect_pressed(1, "1")
    rating.expect_pressed(2, None)
    rating.expect_pressed(3, None)

    page.context.set_offline(False)
    rating.expect_state(3, "saved")
    rating.expect_state(2, "saved")
    assert [event["new"] for event in own_server.events()] == ["1", "0", "1", None, None]
    assert stored(own_server, run_id)[0].relevance[:3] == (1, None, None)


def test_a_click_unsent_is_told_and_taken_back(own_server: Server, run_id: str, page: Page) -> None:
    """The page does not wait for its next try, which may be many seconds away."""
    rating = RatingPage(page, own_server.url, run_id)
    page.clock.install(time=0)
    rating.open(1)
    page.context.set_offline(True)
    rating.press("y")
    rating.expect_state(1, "unsaved")
    with page.expect_event("requestfailed"):
        page.clock.pause_at(3_600)  # one more try, and then the page's time stands still
    page.evaluate("fetch('/health').catch(() => null)")  # what that try changed is done by then
    rating.press("t")
    rating.expect_state(2, "unsaved")
    rating.press("u")
    rating.expect_focus("2")
    rating.expect_pressed(2, None)


def test_a_click_is_sent_again_and_stored_once(own_server: Server, run_id: str, page: Page) -> None:
    """The server fails, then commits and its answer never arrives; then it answers."""
    bodies: list[str] = []

    def answer(route: Route) -> None:
        bodies.append(route.request.post_data or "")
        if len(bodies) == 1:
            route.fulfill(status=500, body="no part")
        elif len(bodies) == 2:
            route.fetch()
            route.abort("connectionreset")
        else:
            route.continue_()

    page.route(JUDGMENTS, answer)
    rating = RatingPage(page, own_server.url, run_id)
    rating.open(1)
    rating.press("y")
    rating.expect_state(1, "saved")
    assert bodies == bodies[:1] * 3
    assert [event["new"] for event in own_server.events()] == ["1"]


def test_a_killed_server_loses_no_judgment(own_server: Server, run_id: str, page: Page) -> None:
    """Killed in a burst of verdicts: more is typed, quality leads to the next question.

    All is stored later, once and in order.
    """
    first, second = plan(own_server, run_id)[:2]
    verdicts = [key for key, place in first.keys if place != "grades"]
    rating = RatingPage(page, own_server.url, run_id)
    rating.open(first.query_id)

    rating.press(*verdicts[:3])
    rating.expect_saved(3)
    page.keyboard.type("".join(verdicts[3:-2]))
    own_server.kill()
    rating.press(*verdicts[-2:])
    called_saved = rating.saved_ranks()
    assert {1, 2, 3} <= called_saved
    assert not {len(verdicts) - 1, len(verdicts)} & called_saved
    _expect_kept(own_server, run_id, first, called_saved)
    rating.press(first.keys[-1][0])
    rating.expect_question(second.query_id)
    rating.press(second.keys[0][0])
    rating.expect_state(1, "unsaved")

    own_server.start()
    rating.expect_state(1, "saved")
    expect(page.locator("#outbox")).to_be_hidden()
    _expect_kept(own_server, run_id, first, set(range(1, len(verdicts) + 1)))
    result = stored(own_server, run_id)
    assert result[0].quality == first.quality
    assert result[1].relevance[:2] == (second.relevance[0], None)
    events = own_server.events()
    assert len({event["event_id"] for event in events}) == len(events) == len(first.keys) + 1
    sequences = [event["sequence"] for event in events]
    assert sequences == sorted(sequences)


def _expect_kept(server: Server, run_id: str, question: Planned, ranks: set[int]) -> None:
    result = next(each for each in stored(server, run_id) if each.query_id == question.query_id)
    for rank in ranks:
        assert result.relevance[rank - 1] == question.relevance[rank - 1], rank
