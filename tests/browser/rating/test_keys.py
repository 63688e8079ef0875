"""The effect of each key on the rating page, and when it must have none."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Request, Route, expect

from tests.browser.hands import PHONE
from tests.browser.plans import Planned, plan, stored
from tests.browser.rating_page import FOCUS, RatingPage
from tests.browser.server import Server

pytestmark = pytest.mark.browser


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
        assert set(rating.states.values()) == {""}, modifier


def test_a_key_held_down_judges_one_card(rating: RatingPage) -> None:
    """The keyboard's own repetition is not a verdict."""
    rating.open(7)
    for _ in range(4):
        rating.page.keyboard.down("y")
    rating.page.keyboard.up("y")
    rating.expect_state(1, "saved")
    assert rating.focus == "2"
    rating.expect_pressed(2, None)


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

    rating.page.locator("#menu > summary").click()
    rating.page.locator("#show-keys").click()
    switch.check()
    rating.press("Escape")
    rating.page.locator("#rank-2").focus()
    rating.press("y")
    rating.expect_state(2, "saved")


def test_early_keys_count_once(rating: RatingPage, server: Server) -> None:
    """Two verdicts, then a note: its letters stay in the field and judge nothing."""
    page, before = rating.page, len(server.events())
    scripts: list[Route] = []
    page.route("**/rating/rating.js*", lambda route: scripts.append(route))  # noqa: PLW0108 - Playwright marks it
    with page.expect_request("**/rating/rating.js*"):
        page.goto(f"{rating.run_url}/queries/16", wait_until="commit")
    expect(page.locator(".card").nth(2)).to_be_visible()
    assert not page.locator("html.scripted").count()
    page.keyboard.type("yt")
    rating.expect_pressed(1, None)
    page.locator("#notes").focus()
    page.keyboard.type("y1")
    scripts.pop().continue_()

    rating.expect_saved(2)
    rating.expect_pressed(1, "1")
    rating.expect_pressed(2, "0")
    expect(page.locator("#notes")).to_have_value("y1")
    page.unroute("**/rating/rating.js*")
    page.reload()
    expect(page.locator("html")).to_have_class("scripted")
    verdicts = [event["new"] for event in server.events()[before:] if event["judged_item_id"]]
    assert verdicts == ["1", "0"]
    rating.expect_pressed(3, None)


BURST = slice(9, 13)  # four questions, the third with an empty list
WHOLE = """() => {
  const { bottom: under } = document.querySelector(".walk").getBoundingClientRect();
  const over = Math.min(...[".docked", ".bar"]
    .map((bar) => document.querySelector(bar).getBoundingClientRect().top || innerHeight));
  return [...document.querySelectorAll(".card")].map((card) => card.getBoundingClientRect())
    .filter(({ top, bottom }) => top >= under && bottom <= over + 1).length;
}"""
"""How many cards are on the screen from edge to edge."""


def test_a_burst_of_keys_hits_no_wrong_card(own_server: Server, run_id: str, page: Page) -> None:
    """Four questions, an empty list among them, typed before the server answers the first."""
    planned = plan(own_server, run_id)
    burst, after = planned[BURST], planned[BURST.stop]
    rating = RatingPage(page, own_server.url, run_id)
    rating.open(burst[0].query_id)
    waiting: list[Route] = []
    page.route("**/judgment", lambda route: waiting.append(route), times=1)  # noqa: PLW0108 - Playwright marks it
    with page.expect_request("**/judgment"):
        page.keyboard.type("".join(key for question in burst for key, _ in question.keys))
    assert rating.question == burst[0].query_id
    waiting.pop().continue_()
    rating.expect_question(after.query_id)
    _expect_stored(own_server, run_id, burst)


MOST_KEYS_PER_CARD = 1.15
RECORD = f"""() => {{
  const place = {FOCUS};
  window.pressed = [];
  addEventListener("keydown", ({{ key }}) => window.pressed.push([key, place()]), true);
}}"""


@pytest.mark.journey
def test_the_whole_sample_is_rated_by_keys(own_server: Server, run_id: str, page: Page) -> None:
    """Each key finds its card in focus; hardly more keys than cards; all is stored as typed."""
    planned = plan(own_server, run_id)
    rating = RatingPage(page, own_server.url, run_id)
    rating.open(planned[0].query_id)
    page.evaluate(RECORD)
    for question in planned:
        rating.expect_question(question.query_id)
        rating.expect_focus(question.keys[0][1])
        page.evaluate("window.pressed = []")
        page.keyboard.type("".join(key for key, _ in question.keys))
        assert page.evaluate("window.pressed") == [list(pair) for pair in question.keys]
    expect(page.locator("main p").first).to_contain_text("Lengkap")
    _expect_stored(own_server, run_id, planned)
    pressed = sum(len(question.keys) for question in planned)
    assert pressed <= MOST_KEYS_PER_CARD * sum(len(question.relevance) for question in planned)


def _expect_stored(server: Server, run_id: str, planned: list[Planned]) -> None:
    answers = {result.query_id: result for result in stored(server, run_id)}
    for question in planned:
        result = answers[question.query_id]
        assert result.relevance == question.relevance, result.query_id
        assert result.quality == question.quality, result.query_id
        assert result.empty_outcome == question.empty_outcome, result.query_id
    events = server.events()
    assert len({event["event_id"] for event in events}) == len(events)
    assert len(events) == sum(len(question.keys) for question in planned)


@pytest.mark.parametrize("locale", ["id-ID", pytest.param("en-GB", marks=pytest.mark.thorough)])
@pytest.mark.parametrize("place", ["server", "blind_server"])
@pytest.mark.parametrize(
    ("viewport", "cards"),
    [
        ({"width": 1366, "height": 768}, 9),
        pytest.param(PHONE, 3, marks=pytest.mark.thorough),
    ],
)
def test_a_list_is_seen_as_the_page_opens(
    request: pytest.FixtureRequest,
    run_id: str,
    open_tab: Callable[..., Page],
    place: str,
    locale: str,
    viewport: dict[str, int],
    cards: int,
) -> None:
    """Whole cards of a list of ten, not scrolled, on both rating pages."""
    server: Server = request.getfixturevalue(place)
    page = open_tab(viewport=viewport, locale=locale)
    page.goto(server.url + (f"/runs/{run_id}/queries/1" if place == "server" else "/rate/"))
    expect(page.locator("html")).to_have_class("scripted")

    assert page.evaluate(WHOLE) >= min(cards, page.locator(".card").count())


FIRST_LOAD = 150_000  # bytes, beside the font


def test_the_first_load_of_a_rating_page_is_light(server: Server, run_id: str, page: Page) -> None:
    """With a cold cache, all that is fetched, the next question included."""
    requests: list[Request] = []
    page.on("requestfinished", lambda request: requests.append(request))  # noqa: PLW0108 - Playwright marks it
    with page.expect_event("requestfinished", lambda request: request.url.endswith("/queries/2")):
        page.goto(f"{server.url}/runs/{run_id}/queries/1", wait_until="networkidle")
    fetched = [request for request in requests if not request.url.split("?")[0].endswith("woff2")]
    weights = {request.url: _weight(request) for request in fetched}
    assert sum(weights.values()) <= FIRST_LOAD, weights


def _weight(request: Request) -> int:
    sizes = request.sizes()
    return sizes["responseBodySize"] + sizes["responseHeadersSize"]


@pytest.fixture(name="plain")
def _plain(open_tab: Callable[..., Page]) -> Page:
    return open_tab(java_script_enabled=False)


def test_a_question_is_rated_by_forms_alone(server: Server, run_id: str, plain: Page) -> None:
    """A verdict, a change of mind, one taken back, quality, notes, and on to the next."""
    rating = RatingPage(plain, server.url, run_id)
    plain.goto(f"{rating.run_url}/queries/10")
    for rank, verdict in ((1, "1"), (1, "0"), (2, "unsure")):
        plain.locator(f'#rank-{rank} button[value="{verdict}"]').click()
        rating.expect_pressed(rank, verdict)
        rating.expect_state(rank, "saved")
    plain.locator("#rank-2 .clear").click()
    rating.expect_pressed(2, None)

    plain.check("#quality-3")
    plain.fill("#notes", "Kebanyakan di luar Krakatau.")
    plain.locator("#rate .store").click()
    expect(plain.locator("#quality-3")).to_be_checked()
    expect(plain.locator("#notes")).to_have_value("Kebanyakan di luar Krakatau.")

    plain.locator('a[rel="next"]').click()
    expect(plain.locator("#question")).to_have_attribute("data-query", "11")
    actual = server.export(run_id)["queries"][9]
    assert [result["relevance"] for result in actual["results"]][:3] == [0, None, None]
    assert (actual["quality"], actual["notes"]) == (3, "Kebanyakan di luar Krakatau.")
