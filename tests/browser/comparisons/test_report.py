"""A report as one HTML file: a phone folds it, wide screens and paper show everything."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.exporters.comparisons.comparisons import rendered, three_runs

pytestmark = pytest.mark.browser

PHONE = {"width": 360, "height": 780}
SEEN = """() => [...document.querySelectorAll("table, figure, li, .note")]
  .map((part) => part.checkVisibility({contentVisibilityAuto: true}))"""
SIDEWAYS = """() => [...document.querySelectorAll("html, .scroll:has(table)")]
  .filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.innerHTML.slice(0, 80))"""


@pytest.fixture(name="report")
def _report(tmp_path: Path, open_tab: Callable[..., Page]) -> Page:
    """A comparison of three runs, opened on a phone that runs no scripts."""
    file = tmp_path / "report.html"
    file.write_text(rendered(three_runs(), "html"), "utf-8")
    page = open_tab(viewport=PHONE, java_script_enabled=False)
    page.goto(file.as_uri())
    return page


def test_a_phone_shows_the_summary_and_folds_the_rest(report: Page) -> None:
    assert report.locator("#table-summary").is_visible()
    assert report.locator("table:visible").count() == 1
    headings = report.locator("h2")
    assert headings.count() == report.locator("h2:visible").count() > 5
    assert report.evaluate("document.documentElement.scrollHeight") < 7 * PHONE["height"]


def test_nothing_but_pictures_scrolls_sideways_on_a_phone(report: Page) -> None:
    for summary in report.locator("details:not([open]) > summary").all()[::-1]:
        summary.click()
    assert report.locator("table:visible").count() == report.locator("table").count()
    for width in (360, 390):
        report.set_viewport_size({"width": width, "height": 780})
        assert report.evaluate(SIDEWAYS) == [], width


def test_wide_screens_and_paper_show_everything_without_a_fold(report: Page) -> None:
    assert not all(report.evaluate(SEEN))
    report.emulate_media(media="print")
    assert all(report.evaluate(SEEN))
    assert report.locator("summary:visible").count() == 0
    report.emulate_media(media="screen")
    report.set_viewport_size({"width": 1280, "height": 800})
    assert all(report.evaluate(SEEN))
    assert report.locator("summary:visible").count() == 0
