"""A first evening with the product: from an empty database to a rated file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.rating_page import RatingPage
from tests.browser.server import HYBRID, Server
from tests.cli.relevansi import document, relevansi

pytestmark = pytest.mark.browser

DROP = """([name, text]) => {
  const files = new DataTransfer();
  files.items.add(new File([text], name, { type: "application/json" }));
  return files;
}"""

HOLD = """addEventListener("submit", (event) => {
  window.sent = (window.sent ?? 0) + 1;
  event.preventDefault();
})"""
"""Counts what would be sent, and holds it back."""


def test_a_newcomer_imports_a_run_rates_a_question_and_takes_the_csv_away(
    empty_server: Server, page: Page
) -> None:
    _drop(page, empty_server, HYBRID)
    _expect_report(page)
    page.locator('button[value="discard"]').click()
    expect(page.locator("#files")).to_be_visible()
    assert _runs(empty_server) == []

    page.goto(empty_server.url)
    page.set_input_files("#files", HYBRID)
    _expect_report(page)
    assert _runs(empty_server) == [], "nothing is stored before the owner said so"
    page.get_by_role("button", name="Simpan dan mulai menilai").click()
    page.wait_for_url("**/queries/1")

    (run_id,) = _runs(empty_server)
    rating = RatingPage(page, empty_server.url, run_id)
    _rate_the_first_question(rating)
    _expect_same_csv(empty_server, rating, run_id)


def test_a_form_that_was_sent_is_busy_and_is_not_sent_twice(
    empty_server: Server, page: Page
) -> None:
    page.goto(f"{empty_server.url}/runs/import")
    page.evaluate(HOLD)
    page.set_input_files("#files", HYBRID)

    expect(page.locator("form.drop")).to_have_attribute("aria-busy", "true")
    expect(page.locator("form.drop .file .btn")).to_have_class(re.compile("at-work"))
    expect(page.locator("#status")).to_have_text("Mohon tunggu sebentar: sedang dikerjakan.")
    page.set_input_files("#files", HYBRID)
    assert page.evaluate("window.sent") == 1

    page.keyboard.press("Escape")  # which stops what is on its way
    expect(page.locator("form.drop")).not_to_have_attribute("aria-busy", "true")
    expect(page.locator("#status")).to_be_empty()
    page.set_input_files("#files", [])
    page.set_input_files("#files", HYBRID)
    page.wait_for_function("window.sent === 2")


def _drop(page: Page, server: Server, file: Path) -> None:
    page.goto(server.url)
    files = page.evaluate_handle(DROP, [file.name, file.read_text("utf-8")])
    page.locator("[data-drop]").dispatch_event("drop", {"dataTransfer": files})


def _expect_report(page: Page) -> None:
    expect(page.get_by_text("Belum ada yang disimpan.")).to_be_visible()
    expect(page.locator(".report")).to_contain_text("test_results.json")
    counts = page.locator(".runs-found tbody tr").first.locator("td").all_inner_texts()
    assert {"30", "256", "2"} <= {count.strip() for count in counts}


def _runs(server: Server) -> list[str]:
    return [run["id"] for run in document(relevansi(server.instance, "runs", "--json"))["runs"]]


def _rate_the_first_question(rating: RatingPage) -> None:
    rating.expect_question(1)
    rating.press(*"ytyyt", *"tttry")
    rating.expect_saved(10)
    rating.press("m")
    rating.expect_figure("mean_precision_at_5", question="0,60", run="0,02–0,99")
    rating.expect_figure("mean_overall_precision", question="0,40", run="0,01–0,98")
    rating.expect_figure("mrr", question="1,00", run="0,04–1,00")
    rating.press("m", "3")
    rating.expect_question(2)
    rating.expect_figure("mean_precision_at_5", question="0,00–1,00", run="0,02–0,99")
    rating.expect_figure("mean_response_quality", question="0,00–5,00", run="0,10–4,93")
    rating.expect_focus("1")


def _expect_same_csv(server: Server, rating: RatingPage, run_id: str) -> None:
    rating.page.goto(rating.run_url)
    rating.page.get_by_text("Unduh", exact=True).click()
    with rating.page.expect_download() as waiting:
        rating.page.locator('a[download][href*="/export.csv"]').first.click()
    downloaded = Path(waiting.value.path()).read_bytes()
    written = server.instance / "rated.csv"
    process = relevansi(server.instance, "export", run_id, "-o", written)
    assert process.returncode == 0, process.stderr
    assert downloaded == written.read_bytes()
    first = downloaded.decode().splitlines()[1]
    assert ",10,4,1,0.4000,0.6000,1.0000,1,3," in first
