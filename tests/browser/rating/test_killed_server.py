"""The server is killed without warning: what was called saved is there, the rest follows."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.plans import Planned, plan, stored
from tests.browser.rating_page import RatingPage
from tests.browser.server import Server

pytestmark = pytest.mark.browser

SAVED_FIRST = 3


def test_every_saved_judgment_survives_a_kill_and_the_others_are_sent_after_it(
    own_server: Server, run_id: str, page: Page
) -> None:
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


def test_a_question_is_left_while_the_server_is_gone_and_nothing_of_it_is_lost(
    own_server: Server, run_id: str, page: Page
) -> None:
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
    found = stored(own_server, run_id)
    assert found[0].quality == first.quality
    assert found[0].relevance == first.relevance
    assert found[1].relevance[:3] == (*second.relevance[:2], None)
    _expect_no_doubles(own_server, len(first.keys) + 2)
    sequences = [event["sequence"] for event in own_server.events()]
    assert sequences == sorted(sequences)


def _expect_kept(server: Server, run_id: str, question: Planned, ranks: set[int]) -> None:
    """The database holds the verdict that was typed on each card of `ranks`."""
    found = next(each for each in stored(server, run_id) if each.query_id == question.query_id)
    for rank in ranks:
        assert found.relevance[rank - 1] == question.relevance[rank - 1], rank


def _expect_no_doubles(server: Server, clicks: int) -> None:
    """The log holds each click once: neither lost nor stored twice."""
    ids = [event["event_id"] for event in server.events()]
    assert len(ids) == len(set(ids)) == clicks
