"""A phone of 390 by 844 pixels, held in one hand; links that are shared; guides on paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from io import BytesIO

import pytest
from playwright.sync_api import Locator, Page, expect
from pypdf import PdfReader

from tests.browser.hands import PHONE
from tests.browser.pages import Study, visit
from tests.browser.served import PASSWORD, Person
from tests.browser.server import Server

pytestmark = pytest.mark.browser

SIDEWAYS = """(selector) => {
  const box = document.querySelector(selector).parentElement;
  return box.scrollWidth - box.clientWidth;
}"""
SEEN = """() => {
  const box = (selector) => document.querySelector(selector).getBoundingClientRect();
  const buttons = [...document.querySelectorAll(".bar > button, .bar form button, .pager a")];
  return {
    question: [box("#asked").top, box("#asked").bottom], card: box(".card").bottom,
    bar: box(".bar").top, height: box(".card .verdict button").height,
    small: Math.min(...buttons.map((one) => one.getBoundingClientRect())
      .map(({ height, width }) => Math.min(height, width))),
    wide: document.documentElement.scrollWidth,
    key: getComputedStyle(document.querySelector(".card .verdict kbd")).display,
  };
}"""


ON_SCREEN = """(list) => {
  const { left, right } = list.getBoundingClientRect();
  return left >= 0 && right <= document.documentElement.clientWidth;
}"""


def test_a_phone_folds_what_wide_screens_and_paper_show_at_once(
    server: Server, open_tab: Callable[..., Page]
) -> None:
    page = open_tab(viewport=PHONE, java_script_enabled=False)
    page.goto(f"{server.url}/measures/")
    chapter = page.locator(".chapter .fold > summary").first
    summary, folded = page.locator(".measure summary").first, page.locator("dl").first
    expect(summary).to_be_hidden()
    chapter.click()
    expect(folded).to_be_hidden()
    page.emulate_media(media="print")
    expect(folded).to_be_visible()
    page.emulate_media(media="screen")
    summary.click()
    expect(folded).to_be_visible()
    page.set_viewport_size({"width": 1280, "height": 800})
    expect(folded).to_be_visible()
    expect(chapter).to_be_hidden()


@pytest.mark.parametrize(
    "name",
    [
        "run",
        *(
            pytest.param(name, marks=pytest.mark.thorough)
            for name in ("comparison", "comparison of one question", "raters")
        ),
    ],
)
def test_what_a_menu_opens_lies_on_the_screen(study: Study, page: Page, name: str) -> None:
    page.set_viewport_size(PHONE)
    visit(page, study, name)
    for menu in page.locator("main details.menu").all():
        menu.locator("summary").first.click()
        page.wait_for_function(ON_SCREEN, arg=menu.locator("> .pop").element_handle())
        page.keyboard.press("Escape")


def test_a_phone_shows_one_list_of_a_compared_question_and_a_laptop_all(
    study: Study, page: Page
) -> None:
    page.set_viewport_size({"width": 1366, "height": 768})
    visit(page, study, "comparison of one question")
    lists = page.locator(".list")
    n = lists.count()
    assert n > 1
    expect(page.locator(".list:visible")).to_have_count(n)

    page.set_viewport_size(PHONE)
    expect(page.locator(".list:visible")).to_have_count(1)
    page.locator(".which label").last.click()
    expect(lists.last).to_be_visible()
    expect(page.locator(".list:visible")).to_have_count(1)


@pytest.mark.parametrize("place", ["server", "blind_server"])
def test_the_question_and_its_first_card_are_on_the_first_screen(
    request: pytest.FixtureRequest, run_id: str, open_tab: Callable[..., Page], place: str
) -> None:
    """On both rating pages; what is pressed is as large as a thumb, undo is under it, no keys.

    A verdict moves none of the cards below.
    """
    server: Server = request.getfixturevalue(place)
    page = open_tab(viewport=PHONE, is_mobile=True, has_touch=True)
    page.goto(server.url + (f"/runs/{run_id}/queries/2" if place == "server" else "/rate/"))
    expect(page.locator("html")).to_have_class("scripted")
    visited = page.evaluate(SEEN)

    assert visited["wide"] == PHONE["width"]
    assert 0 < visited["question"][0] < visited["question"][1] < visited["card"] < visited["bar"]
    assert PHONE["height"] - visited["bar"] < 60
    assert min(visited["small"], visited["height"]) >= 44
    assert visited["key"] == "none"
    next_card = "document.querySelectorAll('.card')[1].offsetTop"
    before = page.evaluate(next_card)
    page.locator(".card .verdict button").nth(1).tap()
    expect(page.locator(".card").first).to_have_attribute("data-verdict", "0")
    expect(page.locator(".card .state").first).to_have_attribute("data-state", "saved")
    assert page.evaluate(next_card) == before
    page.locator(".bar [data-undo-form] button").tap()
    expect(page.locator(".card").first).to_have_attribute("data-verdict", "")


def tops(table: Locator) -> set[float]:
    return set(
        table.locator("tbody tr")
        .first.locator("td")
        .evaluate_all(
            "(cells) => cells.filter((cell) => cell.innerText)"
            ".map((cell) => cell.getBoundingClientRect().top)"
        )
    )


def read_out(page: Page) -> Counter[str]:
    tree = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    return Counter(node["role"]["value"] for node in tree if not node["ignored"])


def test_the_questions_of_a_run_stand_in_blocks_and_are_still_a_table(
    server: Server, run_id: str, open_tab: Callable[..., Page]
) -> None:
    page = open_tab(viewport=PHONE)
    page.goto(f"{server.url}/runs/{run_id}")
    table = page.locator(".question-list")
    for width in (360, 390):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate(SIDEWAYS, ".question-list") == 0, width
    assert len(tops(table)) > 1
    roles = read_out(page)
    n_rows = table.locator("tbody tr").count()
    assert roles["columnheader"] >= 4
    assert roles["row"] > roles["rowheader"] >= n_rows
    assert roles["cell"] >= n_rows * 3
    table.get_by_role("link", name="P@5", exact=True).click()
    page.wait_for_url("**sort=mean_precision_at_5**")
    expect(table.locator("[aria-sort=ascending]")).to_have_text("P@5")
    expect(table.locator("tbody tr").first).to_be_visible()
    page.set_viewport_size({"width": 1280, "height": 800})
    assert len(tops(table)) == 1


def test_a_new_link_is_copied_and_shared_by_a_button(blind_server: Server, page: Page) -> None:
    owner = Person(blind_server.url)
    owner.post("/sign-in/first", password=PASSWORD, again=PASSWORD)
    owner.lend(page)
    page.add_init_script("""
      Object.defineProperty(navigator, "clipboard", {
        value: { writeText: async (text) => { window.copied = text; } },
      });
      navigator.share = async ({ url }) => { window.shared = url; };
    """)
    page.goto(f"{blind_server.url}/raters/")
    page.fill("[aria-labelledby=add] input[name=name]", "Ani")
    page.locator("[aria-labelledby=add] button").first.click()
    address = page.locator(".address").inner_text()
    page.get_by_role("button", name="Salin tautan").click()
    expect(page.locator(".acts [role=status]")).to_have_text("Tersalin")
    page.get_by_role("button", name="Bagikan").click()

    assert page.evaluate("[window.copied, window.shared]") == [address, address]


@pytest.mark.parametrize("locale", ["id-ID", pytest.param("en-GB", marks=pytest.mark.thorough)])
def test_the_guide_for_raters_is_printed_on_one_sheet_with_its_pictures(
    server: Server, open_tab: Callable[..., Page], locale: str
) -> None:
    page = open_tab(locale=locale)
    page.goto(f"{server.url}/help/raters")

    (sheet,) = PdfReader(BytesIO(page.pdf(format="A4"))).pages

    assert len(sheet.images) == 3
    assert page.locator(".guide img").count() == 3
