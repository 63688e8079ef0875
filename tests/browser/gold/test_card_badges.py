from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from relevansi.services.study import studies
from tests.browser.axe import faults
from tests.browser.forked import serving
from tests.browser.rating_page import RatingPage
from tests.browser.server import Server, copied
from tests.services.gold.gold_files import stored_run
from tests.stored_studies import study_in

pytestmark = pytest.mark.browser

STUDY = {"name": "S", "repeat_percent": "0", "badges_while_blind": "1", "confirmed": "1"}


@pytest.fixture(name="checked_sample", scope="module")
def _checked_sample(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The made-up run of the gold files, its gold questions in force: copy its folder."""
    instance = tmp_path_factory.mktemp("checked")
    with study_in(instance) as (session, study):
        run_id = stored_run(session, study, studies.raters(session, study)[0]).id
    return instance, run_id


@pytest.fixture(name="checked")
def _checked(checked_sample: tuple[Path, str], tmp_path: Path) -> Iterator[tuple[Server, str]]:
    """A server for one test alone, with that run, and the run's id."""
    with serving(copied(checked_sample[0], tmp_path / "instance")) as server:
        yield server, checked_sample[1]


def test_an_override_disturbs_no_key(checked: tuple[Server, str], page: Page) -> None:
    server, run_id = checked
    server.post("/study/", STUDY | {"blind": "no"})
    rating = RatingPage(page, server.url, run_id)
    rating.open(1)
    expect(page.locator(".checks .mark")).to_have_count(0)
    rating.press("t", "t")
    expect(page.locator("#badges-2 .dots span").first).to_be_visible()
    rating.expect_focus("3")
    expect(page.locator("#rank-3")).to_be_in_viewport()
    rating.press("t")
    rating.expect_saved(3)
    expect(page.locator("#checked dd").first).to_contain_text("0,7500")

    page.locator("#badges-2 summary").first.click()
    price = page.locator("#badges-2 details.fail")
    expect(price).to_have_text("✗ Gagal Harga Rp 2 M", use_inner_text=True)
    override = page.locator("#badges-2 .settle")
    override.locator("summary").click()
    expect(override.locator("select")).to_have_value("price")  # what failed is meant first
    override.locator("textarea").fill("y x 1: a typing error")  # keys that judge elsewhere
    override.get_by_role("button", name="Lolos").click()

    expect(page.locator("#checked dd").first).to_contain_text("0,8333")  # (1 + 1 + 1/2) / 3
    expect(page.locator("#status")).to_have_text("Tersimpan")
    expect(override).not_to_have_attribute("open", "")
    expect(override.locator("summary")).to_be_focused()
    by_hand = page.locator("#badges-2 .by-hand")
    by_hand.locator("summary").click()
    expect(by_hand).to_contain_text("y x 1: a typing error")

    page.keyboard.press("y")  # judges the card above and moves on
    rating.expect_pressed(2, "1")
    rating.expect_state(2, "saved")
    rating.expect_focus("grades")
    expect(page.locator("#rank-2")).to_have_attribute("data-verdict", "1")
    expect(by_hand).to_have_attribute("open", "")  # the answer to a verdict folds no badge
    page.locator("#badges-1 summary").first.focus()
    page.keyboard.press("j")
    rating.expect_focus("2")
    page.keyboard.press("k")
    rating.expect_focus("1")


@pytest.mark.thorough
def test_a_decision_that_could_not_be_sent_says_so_and_keeps_its_words(
    checked: tuple[Server, str], context_of: Callable[..., BrowserContext]
) -> None:
    server, run_id = checked
    server.post("/study/", STUDY | {"blind": "no"})
    page = context_of().new_page()
    rating = RatingPage(page, server.url, run_id)
    rating.open(1)
    rating.press("t", "t", "t")
    rating.expect_saved(3)
    page.route("**/decision", lambda route: route.abort())
    page.locator("#badges-3 summary").first.click()
    override = page.locator("#badges-3 .settle")
    override.locator("summary").click()
    override.locator("textarea").fill("beside the gate")
    override.get_by_role("button", name="Lolos").click()

    expect(override.get_by_role("alert")).to_have_text("Tidak tersimpan: muat ulang")
    expect(override.locator("textarea")).to_have_value("beside the gate")
    page.unroute("**/decision")
    override.get_by_role("button", name="Lolos").click()
    expect(page.locator("#badges-3 .by-hand")).to_have_count(1)


@pytest.mark.thorough
def test_axe_finds_nothing_on_badges_unfolded(
    checked: tuple[Server, str], open_tab: Callable[..., Page]
) -> None:
    server, run_id = checked
    page = open_tab(reduced_motion="reduce")
    openly = [f"/runs/{run_id}/queries/{number}" for number in (1, 2)]
    for blind, places in (("no", openly), ("yes", ["/rate/"])):
        server.post("/study/", STUDY | {"blind": blind})
        for place in places:
            page.goto(server.url + place)
            expect(page.locator("html")).to_have_class("scripted")
            page.keyboard.press("t")
            page.keyboard.press("t")
            page.locator(".meets:has(.check:not(.hint)) > details > summary").first.click()
            expect(page.locator(".checks .check:not(.hint)").first).to_be_visible()
            page.locator(".checks summary").evaluate_all("all => all.forEach(one => one.click())")
            expect(page.locator(".checks form").first).to_be_visible()
            assert faults(page) == [], place
