"""Claims about a phone of 390 by 844 pixels, held in one hand: what is seen without scrolling."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.server import Server

pytestmark = pytest.mark.browser

PHONE = {"width": 390, "height": 844}
SIDEWAYS = """(selector) => {
  const box = document.querySelector(selector).parentElement;
  return box.scrollWidth - box.clientWidth;
}"""
SEEN = """() => {
  const box = (selector) => document.querySelector(selector).getBoundingClientRect();
  const covered = Math.min(...["#figures", ".ways"].map((one) => box(one).top || innerHeight));
  const verdict = box(".card .verdict button");
  return {
    question: [box("#asked").top, box("#asked").bottom], card: box(".card").bottom, covered,
    top: document.querySelector("header.site").getBoundingClientRect().bottom,
    bars: [...document.querySelectorAll(".ways > *, .ways button, #figures summary")]
      .map((one) => one.getBoundingClientRect())
      .map(({ height, width }) => Math.min(height, width)),
    height: verdict.height, undo: box("[data-undo-form] button").top,
    wide: document.documentElement.scrollWidth,
    header: document.querySelector("header.site").scrollWidth,
    key: getComputedStyle(document.querySelector(".card .verdict button"), "::after").content,
  };
}"""
ROWS = """(selector) => new Set(
  [...document.querySelectorAll(selector)].map((link) => link.getBoundingClientRect().top)).size"""


@pytest.mark.parametrize("locale", ["id-ID", "en-US"])
def test_the_parts_of_the_study_are_one_row(
    server: Server, open_tab: Callable[..., Page], locale: str
) -> None:
    """On a phone, and on the narrowest one that is still sold."""
    page = open_tab(viewport=PHONE, locale=locale)
    page.goto(f"{server.url}/agreement")
    assert page.locator(".parts a").count() == 4
    for width in (390, 360):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate(ROWS, ".parts a") == 1
        assert page.evaluate("document.documentElement.scrollWidth") == width


def test_a_phone_folds_what_wide_screens_and_paper_show_at_once(
    server: Server, open_tab: Callable[..., Page]
) -> None:
    page = open_tab(viewport=PHONE, java_script_enabled=False)
    page.goto(f"{server.url}/measures/")
    chapter = page.locator(".chapter .fold > summary").first
    summary, folded = page.locator(".measure .fold > summary").first, page.locator("dl").first
    expect(summary).to_be_hidden()
    chapter.click()
    expect(folded).to_be_hidden()
    page.emulate_media(media="print")
    expect(folded).to_be_visible()
    page.emulate_media(media="screen")
    summary.click()
    expect(folded).to_be_visible()
    summary.click()
    page.set_viewport_size({"width": 1280, "height": 800})
    expect(folded).to_be_visible()
    expect(summary).to_be_hidden()
    expect(chapter).to_be_hidden()


def test_the_index_of_figures_opens_the_fold_of_a_figure(
    server: Server, open_tab: Callable[..., Page]
) -> None:
    """The page is a reference of some fifty figures: on a phone it is its own index."""
    page = open_tab(viewport=PHONE)
    page.goto(f"{server.url}/measures/")
    assert page.evaluate("document.documentElement.scrollHeight") < 5 * PHONE["height"]
    page.locator(".contents summary").click()
    page.get_by_role("link", name="MRR", exact=True).click()
    heading = page.locator(".measure:has(:target) h3")
    expect(heading).to_contain_text("MRR")
    expect(heading).to_be_in_viewport()
    page.goto(f"{server.url}/measures/#agreement")
    chapter = page.locator(".chapter:has(> .fold > .anchor:target)")
    expect(chapter.locator("h2")).to_be_in_viewport()
    expect(chapter.locator(".measure").first).to_be_visible()


@pytest.mark.parametrize(
    "name", ["thesis", "operators", "machine-judge", "benchmarks", "faults", "planning-coverage"]
)
def test_the_tables_of_a_guide_fit_the_narrowest_phone(
    server: Server, open_tab: Callable[..., Page], name: str
) -> None:
    page = open_tab(viewport={"width": 360, "height": 780})
    page.goto(f"{server.url}/help/{name}")
    tables = page.locator(".guide table")
    assert tables.count() > 0
    assert all(tables.evaluate_all("(all) => all.map((one) => one.scrollWidth <= one.clientWidth)"))


def test_the_text_of_a_guide_stands_still_while_its_pictures_come(
    server: Server, open_tab: Callable[..., Page]
) -> None:
    """But for a fraction of a pixel for each, by which whole numbers differ from their shape."""
    page = open_tab(viewport=PHONE)
    waiting: list[Route] = []
    page.route("**/screenshots/*", lambda route: waiting.append(route))  # noqa: PLW0108
    page.goto(f"{server.url}/help/raters", wait_until="domcontentloaded")
    pictures, guide = page.locator(".guide img"), page.locator("article")
    pictures.evaluate_all("(all) => all.forEach((one) => (one.loading = 'eager'))")
    height = "(one) => one.getBoundingClientRect().height"
    before = guide.evaluate(height)

    for route in waiting:
        route.continue_()
    pictures.evaluate_all("(all) => Promise.all(all.map((one) => one.decode()))")

    assert len(waiting) == pictures.count() > 0
    assert abs(guide.evaluate(height) - before) < pictures.count()


@pytest.mark.parametrize("place", ["server", "blind_server"])
def test_the_question_and_its_first_card_are_on_the_first_screen(
    request: pytest.FixtureRequest, run_id: str, open_tab: Callable[..., Page], place: str
) -> None:
    """On both rating pages; verdicts are as large as a thumb, undo is under it, without keys.

      A verdict moves none of the cards below. Header and bars take at most 100 pixels, and what
    is pressed in the bar is as large as a thumb.
    """
    server: Server = request.getfixturevalue(place)
    page = open_tab(viewport=PHONE, is_mobile=True, has_touch=True)
    page.goto(server.url + (f"/runs/{run_id}/queries/2" if place == "server" else "/rate/"))
    expect(page.locator("html")).to_have_class("scripted")
    page.evaluate("scrollTo(0, 0)")
    seen = page.evaluate(SEEN)

    assert seen["wide"] == seen["header"] == PHONE["width"]
    assert 0 < seen["question"][0] < seen["question"][1] < seen["card"]
    assert seen["card"] <= seen["covered"]
    assert seen["height"] >= 48
    assert seen["top"] + PHONE["height"] - seen["covered"] <= 100
    assert min(seen["bars"]) >= 44
    assert seen["undo"] > PHONE["height"] * 2 / 3
    assert seen["key"] == "none"
    next_card = "document.querySelectorAll('.card')[1].offsetTop"
    before = page.evaluate(next_card)
    page.locator(".card .verdict button").nth(1).tap()
    expect(page.locator(".card").first).to_have_attribute("data-verdict", "0")
    expect(page.locator(".card").first.locator(".clear")).to_be_visible()
    assert page.evaluate(next_card) == before
    page.locator("[data-undo-form] button").tap()
    expect(page.locator(".card").first).to_have_attribute("data-verdict", "")


def test_the_categories_of_a_run_fit_its_page(
    server: Server, run_id: str, open_tab: Callable[..., Page]
) -> None:
    """At each width the table is inside its page, with each category in words and as it is."""
    page = open_tab(viewport=PHONE)
    page.goto(f"{server.url}/runs/{run_id}?part=categories")
    table = page.locator(".figures.many")
    expect(table.locator("tbody th").first).to_contain_text("location_simple")
    expect(table.locator("tbody th").first).to_contain_text("Lokasi")
    for width in (360, 390, 768, 1024, 1281, 1440):
        page.set_viewport_size({"width": width, "height": 844})
        box = page.evaluate("""() => {
          const table = document.querySelector(".figures.many");
          const page = table.closest("section").getBoundingClientRect();
          const cells = [...table.querySelectorAll("tbody th, tbody td")];
          return [page.right, Math.max(...cells.map((cell) => cell.getBoundingClientRect().right)),
            Math.max(...cells.map((cell) => cell.scrollWidth - cell.clientWidth))];
        }""")
        assert box[1] <= box[0] + 1, width
        assert box[2] <= 0, width


def tops(table: Locator) -> set[float]:
    """Where the cells of the first row of a table begin, from above."""
    return set(
        table.locator("tbody tr")
        .first.locator("td")
        .evaluate_all(
            "(cells) => cells.filter((cell) => cell.innerText)"
            ".map((cell) => cell.getBoundingClientRect().top)"
        )
    )


def read_out(page: Page) -> Counter[str]:
    """How many elements of each role a screen reader finds on a page."""
    tree = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    return Counter(node["role"]["value"] for node in tree if not node["ignored"])


def test_the_questions_of_a_run_stand_in_blocks_and_are_still_a_table(
    server: Server, run_id: str, open_tab: Callable[..., Page]
) -> None:
    """Nothing scrolls sideways on a phone; screen readers are told rows, headings and cells."""
    page = open_tab(viewport=PHONE)
    page.goto(f"{server.url}/runs/{run_id}")
    table = page.locator(".of-questions")
    for width in (360, 390):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate(SIDEWAYS, ".of-questions") == 0, width
    assert len(tops(table)) > 1
    roles = read_out(page)
    n_rows = table.locator("tbody tr").count()
    assert roles["columnheader"] >= 12
    assert roles["row"] > roles["rowheader"] >= n_rows
    assert roles["cell"] >= n_rows * 10

    table.get_by_role("link", name="Relevan", exact=True).click()
    page.wait_for_url("**sort=relevant_count**")
    expect(table.locator("[aria-sort=ascending]")).to_have_text("Relevan")
    expect(table.locator("tbody tr").first).to_be_visible()
    page.set_viewport_size({"width": 1280, "height": 800})
    assert len(tops(table)) == 1


def test_the_filter_shows_what_is_chosen_and_a_button_to_apply_it(
    server: Server, run_id: str, open_tab: Callable[..., Page]
) -> None:
    page = open_tab(viewport=PHONE)
    page.goto(f"{server.url}/runs/{run_id}/queries/2?open=1")
    apply = page.locator(".filter .apply").bounding_box()
    chosen = page.locator(".filter select").bounding_box()
    assert apply is not None
    assert chosen is not None
    assert chosen["width"] > 200  # "Lokasi, harga, spesifikasi"
    assert apply["height"] >= 44
    assert apply["x"] + apply["width"] <= PHONE["width"]
    expect(page.locator(".filter .apply")).to_have_css("border-top-width", "1px")
