"""A whole run by keyboard alone: few keys, none lost, everything stored as typed."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.plans import Planned, plan, stored
from tests.browser.rating_page import FOCUS, RatingPage
from tests.browser.server import Server

pytestmark = pytest.mark.browser

MOST_KEYS_PER_CARD = 1.15
BURST = slice(9, 13)  # four questions, the third with an empty list
RECORD = f"""() => {{
  const place = {FOCUS};
  window.record ??= addEventListener("keydown",
    ({{ key }}) => window.pressed.push([key, place()]), true) ?? true;
  window.pressed = [];
}}"""
FINISHED = "Run ini sudah dinilai sampai tuntas"


@pytest.mark.journey
def test_every_card_of_the_sample_is_rated_by_keyboard_alone(
    own_server: Server, run_id: str, page: Page
) -> None:
    """Each key finds its card in focus; the page says finished; all is stored as typed."""
    _rate_all(RatingPage(page, own_server.url, run_id), own_server, run_id)


@pytest.mark.journey
@pytest.mark.real
def test_every_card_of_the_real_run_is_rated_by_keyboard_alone(
    empty_server: Server, real_run: Path, page: Page
) -> None:
    """237 cards, as the sample."""
    (run_id,) = empty_server.import_runs(real_run / "test_results.json")
    cards = _rate_all(RatingPage(page, empty_server.url, run_id), empty_server, run_id)
    assert cards == 237


def test_a_burst_of_keys_loses_none_and_hits_no_wrong_card(
    own_server: Server, run_id: str, page: Page
) -> None:
    """Four questions, an empty list among them, typed before the server answers the first."""
    planned = plan(own_server, run_id)
    burst, after = planned[BURST], planned[BURST.stop]
    rating = RatingPage(page, own_server.url, run_id)
    rating.open(burst[0].query_id)
    held: list[Route] = []
    page.route("**/judgment", lambda route: held.append(route), times=1)  # noqa: PLW0108 - Playwright marks it
    with page.expect_request("**/judgment"):
        page.keyboard.type("".join(key for question in burst for key, _ in question.keys))
    assert rating.question == burst[0].query_id
    held.pop().continue_()
    rating.expect_question(after.query_id)
    _expect_stored(own_server, run_id, burst)


def _rate_all(rating: RatingPage, server: Server, run_id: str) -> int:
    """Rate a whole run as fast as the page allows; returns the number of its cards."""
    planned, page = plan(server, run_id), rating.page
    pressed = 0
    rating.open(planned[0].query_id)
    for question in planned:
        rating.expect_question(question.query_id)
        rating.expect_focus(question.keys[0][1])
        page.evaluate(RECORD)
        page.keyboard.type("".join(key for key, _ in question.keys))
        assert page.evaluate("window.pressed") == [list(pair) for pair in question.keys]
        pressed += len(question.keys)
    _expect_finished(rating)
    _expect_stored(server, run_id, planned)
    cards = sum(len(question.relevance) for question in planned)
    assert pressed <= MOST_KEYS_PER_CARD * cards
    return cards


def _expect_finished(rating: RatingPage) -> None:
    expect(rating.page.locator("#finished")).to_have_text(FINISHED)


def _expect_stored(server: Server, run_id: str, planned: list[Planned]) -> None:
    """The export says what was typed, each key is one event, and no event came twice."""
    answers = {found.query_id: found for found in stored(server, run_id)}
    for question in planned:
        found = answers[question.query_id]
        assert found.relevance == question.relevance, found.query_id
        assert found.quality == question.quality, found.query_id
        assert found.empty_outcome == question.empty_outcome, found.query_id
    events = server.events()
    assert len({event["event_id"] for event in events}) == len(events)
    assert len(events) == sum(len(question.keys) for question in planned)
