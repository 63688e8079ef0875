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
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    rating = RatingPage(page, own_server.url, run_id)
    rating.open(1)
    context.set_offline(True)
    rating.press("y")
    rating.expect_state(1, "unsaved")
    page.on("dialog", stay)
    with page.expect_event("close"):
        page.close(run_before_unload=True)
    assert asked == []

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
    assert asked == ["beforeunload"]

    context.set_offline(False)
    rating.expect_state(1, "saved")
    with page.expect_event("close"):
        page.close(run_before_unload=True)
    assert asked == ["beforeunload"]


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


def test_a_click_of_lost_answer_is_stored_once(own_server: Server, run_id: str, page: Page) -> None:
    """The server commits, the answer never arrives, the page repeats it: one event."""
    body: list[str] = []

    def lose_the_first_answer(route: Route) -> None:
        body.append(route.request.post_data or "")
        answer = route.fetch()
        if len(body) == 1:
            route.abort("connectionreset")
        else:
            route.fulfill(response=answer)

    page.route(JUDGMENTS, lose_the_first_answer)
    rating = RatingPage(page, own_server.url, run_id)
    rating.open(1)
    rating.press("y")
    rating.expect_state(1, "saved")
    assert len(body) == 2
    assert body[0] == body[1]
    assert [event["new"] for event in own_server.events()] == ["1"]


def test_a_fault_is_retried_and_a_refusal_told(own_server: Server, run_id: str, page: Page) -> None:
    """A 500 is tried again; a 400 is called not saved, and the page says why."""
    answers = [500, 200, 400]

    def answer(route: Route) -> None:
        status = answers.pop(0)
        if status == 200:
            route.continue_()
        elif status == 500:
            route.fulfill(status=500, body="no part")
        else:
            route.continue_(post_data="relevance=nonsense")

    page.route(JUDGMENTS, answer)
    rating = RatingPage(page, own_server.url, run_id)
    rating.open(1)
    rating.press("y")
    rating.expect_state(1, "saved")
    rating.press("t")
    rating.expect_state(2, "refused")
    expect(page.locator("#notices [role=alert]")).to_be_visible()
    assert stored(own_server, run_id)[0].relevance[:2] == (1, None)


SAVED_FIRST = 3


def test_a_killed_server_loses_no_judgment(own_server: Server, run_id: str, page: Page) -> None:
    """Killed in the middle of a burst of verdicts, with more typed while it is dead."""
    planned = plan(own_server, run_id)
    first, second = planned[0], planned[1]
    verdicts = [key for key, place in first.keys if place != "grades"]
    rating = RatingPage(page, own_server.url, run_id)
    rating.open(first.query_id)

    rating.press(*verdicts[:SAVED_FIRST])
    rating.expect_saved(SAVED_FIRST)
    page.keyboard.type("".join(verdicts[SAVED_FIRST:-2]))
    own_server.kill()
    rating.press(*verdicts[-2:])
    called_saved = rating.saved_ranks()
    assert set(range(1, SAVED_FIRST + 1)) <= called_saved
    _expect_kept(own_server, run_id, first, called_saved)
    assert not {len(verdicts) - 1, len(verdicts)} & called_saved

    own_server.start()
    for rank in range(1, len(verdicts) + 1):
        rating.expect_state(rank, "saved")
    _expect_kept(own_server, run_id, first, set(range(1, len(verdicts) + 1)))
    _expect_no_doubles(own_server, len(verdicts))

    rating.expect_focus("grades")
    rating.press(first.keys[-1][0])
    rating.expect_question(second.query_id)
    assert stored(own_server, run_id)[0].quality == first.quality


def test_a_question_left_offline_loses_nothing(own_server: Server, run_id: str, page: Page) -> None:
    """Quality typed on a dead server leads to the next question; all is stored later, in order."""
    first, second = plan(own_server, run_id)[:2]
    rating = RatingPage(page, own_server.url, run_id)
    rating.open(first.query_id)
    page.keyboard.type("".join(key for key, _ in first.keys[:-1]))
    rating.expect_saved(len(first.relevance))

    own_server.kill()
    rating.press(first.keys[-1][0], *(key for key, _ in second.keys[:2]))
    rating.expect_question(second.query_id)
    rating.expect_state(1, "unsaved")
    rating.expect_state(2, "unsaved")
    expect(page.locator("#outbox")).to_contain_text("3 menunggu")

    own_server.start()
    rating.expect_state(1, "saved")
    rating.expect_state(2, "saved")
    expect(page.locator("#outbox")).to_be_hidden()
    result = stored(own_server, run_id)
    assert result[0].quality == first.quality
    assert result[0].relevance == first.relevance
    assert result[1].relevance[:3] == (*second.relevance[:2], None)
    _expect_no_doubles(own_server, len(first.keys) + 2)
    sequences = [event["sequence"] for event in own_server.events()]
    assert sequences == sorted(sequences)


def _expect_kept(server: Server, run_id: str, question: Planned, ranks: set[int]) -> None:
    result = next(each for each in stored(server, run_id) if each.query_id == question.query_id)
    for rank in ranks:
        assert result.relevance[rank - 1] == question.relevance[rank - 1], rank


def _expect_no_doubles(server: Server, clicks: int) -> None:
    ids = [event["event_id"] for event in server.events()]
    assert len(ids) == len(set(ids)) == clicks
