"""The bytes that a browser loads: few at first, and fewer with every click."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, Request

from tests.browser.rating_page import RatingPage
from tests.browser.server import Server

pytestmark = pytest.mark.browser

FIRST_LOAD = 150_000  # bytes
ONE_CLICK = 15_000  # bytes


def test_the_first_load_of_the_rating_page_is_light(
    server: Server, run_id: str, page: Page
) -> None:
    """With a cold cache, all that is fetched, the next question included."""
    requests: list[Request] = []
    page.on("requestfinished", lambda request: requests.append(request))  # noqa: PLW0108 - Playwright marks it
    with page.expect_event("requestfinished", lambda one: one.url.endswith("/queries/2")):
        page.goto(f"{server.url}/runs/{run_id}/queries/1", wait_until="networkidle")
    weights = {request.url: _weight(request) for request in requests}
    assert sum(weights.values()) <= FIRST_LOAD, weights


def test_a_click_is_answered_lightly(server: Server, run_id: str, page: Page) -> None:
    """Each verdict of a long list and its quality: the answer holds what changed."""
    answers: list[Request] = []
    page.on("requestfinished", lambda one: answers.append(one) if one.method == "POST" else None)
    rating = RatingPage(page, server.url, run_id)
    rating.open(1)
    rating.press(*"ytyrtytyty")
    rating.expect_saved(10)
    rating.press("2")
    rating.expect_question(2)
    assert len(answers) == 11
    weights = [_weight(request) for request in answers]
    assert max(weights) <= ONE_CLICK, weights


def _weight(request: Request) -> int:
    sizes = request.sizes()
    return sizes["responseBodySize"] + sizes["responseHeadersSize"]
