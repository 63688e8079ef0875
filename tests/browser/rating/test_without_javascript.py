"""Everything can be said with forms alone: no script, no keys, POST and back to the page."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.rating_page import RatingPage
from tests.browser.server import HYBRID, Server

pytestmark = pytest.mark.browser

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


def test_an_empty_list_is_classified_and_undone_by_forms_alone(
    server: Server, run_id: str, plain: Page
) -> None:
    """The outcome is a form as well, and so is taking it back."""
    rating = RatingPage(plain, server.url, run_id)
    plain.goto(f"{rating.run_url}/queries/12")
    button = plain.locator('#outcome button[value="false_negative"]')
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    assert server.export(run_id)["queries"][11]["empty_outcome"] == "false_negative"
    plain.locator("[data-undo-form] button").click()
    expect(button).to_have_attribute("aria-pressed", "false")
    assert server.export(run_id)["queries"][11]["empty_outcome"] is None


def test_a_file_is_imported_and_the_language_switched_by_forms_alone(
    server: Server, plain: Page
) -> None:
    """The report comes without a script too: this very file is known already."""
    plain.goto(f"{server.url}/runs/import")
    plain.set_input_files("#files", HYBRID)
    plain.get_by_role("button", name="Periksa berkas").click()
    expect(plain.locator(".report")).to_contain_text("sudah pernah diimpor")
    plain.locator('.languages button[value="en"]').click()
    expect(plain.locator("html")).to_have_attribute("lang", "en")
    expect(plain.locator(".report")).to_contain_text("imported before")


def _judge(rating: RatingPage, rank: int, verdict: str) -> None:
    rating.page.locator(f'#rank-{rank} button[value="{verdict}"]').click()
    rating.expect_pressed(rank, verdict)
    rating.expect_state(rank, "saved")
