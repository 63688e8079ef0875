"""Claims about a laptop of 1366 by 768 pixels: how much of a list is seen while it is rated."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Request, expect

from tests.browser.rating_page import RatingPage
from tests.browser.server import Server

pytestmark = pytest.mark.browser

LAPTOP = {"width": 1366, "height": 768}
WHOLE = """() => {
  const cards = [...document.querySelectorAll(".card")];
  cards[0].scrollIntoView({ block: "start" });
  const under = document.querySelector("#walk").getBoundingClientRect().bottom;
  return cards.map((card) => card.getBoundingClientRect())
    .filter(({ top, bottom }) => top >= under && bottom <= innerHeight).length;
}"""


@pytest.mark.parametrize("locale", ["id-ID", "en-GB"])
@pytest.mark.parametrize("place", ["server", "blind_server"])
def test_six_cards_of_a_list_are_seen_whole(
    request: pytest.FixtureRequest,
    run_id: str,
    open_tab: Callable[..., Page],
    place: str,
    locale: str,
) -> None:
    """Beside the live figures, on both rating pages; a list of ten cards."""
    server: Server = request.getfixturevalue(place)
    page = open_tab(viewport=LAPTOP, locale=locale)
    page.goto(server.url + (f"/runs/{run_id}/queries/1" if place == "server" else "/rate/"))
    expect(page.locator("html")).to_have_class("scripted")

    assert page.evaluate(WHOLE) >= min(6, page.locator(".card").count())


def test_folded_figures_stay_folded_and_leave_their_room_to_the_cards(
    server: Server, run_id: str, open_tab: Callable[..., Page]
) -> None:
    page = open_tab(viewport=LAPTOP)
    page.goto(f"{server.url}/runs/{run_id}/queries/1")
    expect(page.locator("html")).to_have_class("scripted")
    table, cards = page.locator("#figures table"), page.locator("#cards")
    narrow = cards.bounding_box()
    page.locator("#figures summary").click()
    expect(table).to_be_hidden()
    wide = cards.bounding_box()
    assert narrow is not None
    assert wide is not None
    assert wide["width"] > narrow["width"] + 200
    page.reload()
    expect(page.locator("html")).to_have_class("scripted")
    expect(table).to_be_hidden()
    page.locator("#figures summary").click()
    expect(table).to_be_visible()
    page.reload()
    expect(page.locator("html")).to_have_class("scripted")
    expect(table).to_be_visible()


FIRST_LOAD = 150_000  # bytes


def test_the_first_load_of_a_rating_page_is_light(server: Server, run_id: str, page: Page) -> None:
    """With a cold cache, all that is fetched, the next question included."""
    requests: list[Request] = []
    page.on("requestfinished", lambda request: requests.append(request))  # noqa: PLW0108 - Playwright marks it
    with page.expect_event("requestfinished", lambda one: one.url.endswith("/queries/2")):
        page.goto(f"{server.url}/runs/{run_id}/queries/1", wait_until="networkidle")
    weights = {request.url: _weight(request) for request in requests}
    assert sum(weights.values()) <= FIRST_LOAD, weights


def _weight(request: Request) -> int:
    sizes = request.sizes()
    return sizes["responseBodySize"] + sizes["responseHeadersSize"]


CARDS = 6  # of question 10
VERDICTS = ("1", "0", "unsure", "1", "0", "1")


@pytest.fixture(name="plain")
def _plain(open_tab: Callable[..., Page]) -> Page:
    return open_tab(java_script_enabled=False)


def test_a_whole_question_is_rated_by_forms_alone(server: Server, run_id: str, plain: Page) -> None:
    """Cards, a change of mind, a verdict taken back, quality, notes, and on to the next."""
    rating = RatingPage(plain, server.url, run_id)
    plain.goto(f"{rating.run_url}/queries/10")
    expect(plain.locator(".card")).to_have_count(CARDS)
    for rank, verdict in enumerate(VERDICTS, start=1):
        _judge(rating, rank, verdict)
    _judge(rating, 1, "0")
    plain.locator("#rank-2 .clear").click()
    rating.expect_pressed(2, None)

    plain.check("#quality-3")
    plain.fill("#notes", "Kebanyakan di luar Krakatau.")
    plain.locator("#rate .store").click()
    expect(plain.locator("#quality-3")).to_be_checked()
    expect(plain.locator("#notes")).to_have_value("Kebanyakan di luar Krakatau.")

    plain.locator('#walk a[rel="next"]').click()
    expect(plain.locator("#question")).to_have_attribute("data-query", "11")
    found = server.export(run_id)["queries"][9]
    assert [result["relevance"] for result in found["results"]] == [0, None, "unsure", 1, 0, 1]
    assert (found["quality"], found["notes"]) == (3, "Kebanyakan di luar Krakatau.")


def _judge(rating: RatingPage, rank: int, verdict: str) -> None:
    rating.page.locator(f'#rank-{rank} button[value="{verdict}"]').click()
    rating.expect_pressed(rank, verdict)
    rating.expect_state(rank, "saved")
