"""A report as one HTML file: it fits a phone, and its answer is two pages of paper."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page
from pypdf import PdfReader

from relevansi.metrics.comparisons.comparisons import ComparisonReport
from tests.exporters.comparisons.comparisons import (
    comparison_report,
    rendered,
    run,
    three_runs,
)

pytestmark = pytest.mark.browser

# The picture does, in its place: as narrow as a phone its words could not be read.
SIDEWAYS = """() => [
    ...document.querySelectorAll("html, .sheet:not(.appendix) .scroll:not(:has(> svg))")]
  .filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.innerHTML.slice(0, 80))"""


@pytest.fixture(name="opened")
def _opened(tmp_path: Path, open_tab: Callable[..., Page]) -> Callable[[ComparisonReport], Page]:
    """Open a report in a browser that runs no scripts."""

    def opened(report: ComparisonReport) -> Page:
        file = tmp_path / "report.html"
        file.write_text(rendered(report, "html"), "utf-8")
        page = open_tab(viewport={"width": 360, "height": 780}, java_script_enabled=False)
        page.goto(file.as_uri())
        return page

    return opened


def test_the_answer_s_pages_do_not_scroll_sideways_on_a_phone(
    opened: Callable[[ComparisonReport], Page],
) -> None:
    page = opened(three_runs())

    for width in (360, 390):
        page.set_viewport_size({"width": width, "height": 780})
        assert page.evaluate(SIDEWAYS) == [], width


def test_the_answer_of_three_methods_is_two_pages_and_the_appendix_follows(
    opened: Callable[[ComparisonReport], Page],
) -> None:
    judged = ("RRN", "RN", "N", "RRRR", "NNR", "R") * 5
    runs = [run(name, *judged[n:], *judged[:n]) for n, name in enumerate(("api", "vec", "hyb"))]

    paper = opened(comparison_report(runs)).pdf(prefer_css_page_size=True)

    pages = [page.extract_text() for page in PdfReader(io.BytesIO(paper)).pages]
    assert [("A. " in page) for page in pages[:3]] == [False, False, True]
