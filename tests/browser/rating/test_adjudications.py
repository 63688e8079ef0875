"""Ties are decided in the queue, with a reason or without, by key and by thumb."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import select

from relevansi.db.tables.judging import Adjudication
from relevansi.services.judging import judgments
from relevansi.services.study import studies
from tests.browser.conftest import OpenTab
from tests.browser.hands import PHONE_OPTIONS
from tests.browser.server import Server
from tests.conftest import NOW
from tests.services.runs.runs import NO, YES, click
from tests.stored_studies import study_in

pytestmark = pytest.mark.browser


@pytest.fixture(name="tied")
def _tied(own_server: Server, run_id: str) -> Server:
    """Two raters disagree on three cards, and one of them says why."""
    with study_in(own_server.instance) as (session, study):
        people = studies.raters(session, study)[0], studies.add_rater(session, study, "Ani", NOW)
        for rater, verdict in zip(people, (YES, NO), strict=True):
            for rank in (1, 2, 3):
                at = click(f"{rater.id}-{rank}")
                judgments.judge(session, rater, run_id, 1, rank, verdict, at)
        judgments.give_reason(session, people[1], run_id, 1, 1, "other: too far", click("r"))
    return own_server


def decided(server: Server) -> list[tuple[str, str]]:
    with study_in(server.instance) as (session, _study):
        rows = session.execute(select(Adjudication.verdict, Adjudication.reason))
        return [(verdict, reason) for verdict, reason in rows]


def expect_dispute(page: Page, number: int) -> None:
    expect(page.locator(".pager b")).to_have_text(str(number))
    page.wait_for_load_state()  # its script hears the keys


def test_ties_are_decided_by_key(tied: Server, page: Page) -> None:
    """A digit chooses a reason and takes it back, and the rater's own reason is shown."""
    page.goto(f"{tied.url}/adjudications/")
    expect_dispute(page, 1)
    expect(page.locator(".votes")).to_contain_text("too far")
    price = page.locator(".reasons [value=price]")
    page.keyboard.press("2")
    expect(price).to_be_checked()
    page.keyboard.press("2")
    expect(price).not_to_be_checked()
    for key in ("1", "t"):
        page.keyboard.press(key)
    expect_dispute(page, 2)
    page.keyboard.press("6")
    expect(page.locator("#words")).to_be_focused()
    page.keyboard.type("2 km away")
    page.keyboard.press("Enter")
    page.keyboard.press("y")
    expect_dispute(page, 3)
    assert decided(tied) == [("0", "location"), ("1", "other: 2 km away")]
    page.keyboard.press("u")
    expect_dispute(page, 2)
    assert decided(tied) == [("0", "location")]


@pytest.mark.thorough
def test_ties_are_decided_by_thumb(tied: Server, open_tab: OpenTab) -> None:
    page = open_tab(**PHONE_OPTIONS)
    page.goto(f"{tied.url}/adjudications/")
    chips = page.locator(".reasons label")
    for target in (*chips.all(), *page.locator(".decide button").all()):
        box = target.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= 44
    chips.nth(1).tap()
    chips.nth(1).tap()
    page.locator(".decide [value='1']").tap()
    expect_dispute(page, 2)
    chips.nth(0).tap()
    page.locator(".decide [value='0']").tap()
    expect_dispute(page, 3)
    assert decided(tied) == [("1", ""), ("0", "location")]
