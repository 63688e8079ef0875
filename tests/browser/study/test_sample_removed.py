"""The sample that an earlier version put into a study of one's own is found and removed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import serving
from tests.conftest import NOW
from tests.services.runs.runs import card, query, run
from tests.stored_studies import study_in
from webapp.config import resource
from webapp.services.runs import imports, samples
from webapp.services.runs.imports import Labels

pytestmark = pytest.mark.browser


def test_the_owner_removes_the_sample_and_is_left_with_the_own_run(
    page: Page, tmp_path: Path
) -> None:
    """Rated run by run while the sample is there, blind again once own runs compete."""
    with study_in(tmp_path / "instance") as (session, study):
        samples.load(session, resource("seeds"), NOW)
        for method in ("mine", "other"):
            read = run(query(1, card("a")), method=method)
            imports.store(session, study, read, Labels(), NOW)
    with serving(tmp_path / "instance") as server:
        page.goto(server.url)
        expect(page.get_by_role("heading", name="3 run di studi ini rekaan")).to_be_visible()
        expect(page.locator('a[href="/rate/"]')).to_have_count(0)

        page.get_by_role("link", name="Hapus contoh").click()
        expect(page.get_by_text(re.compile("kembali otomatis"))).to_be_visible()
        page.get_by_role("button", name="Hapus contoh").click()

        expect(page.locator("li.run")).to_have_count(2)
        expect(page.get_by_role("heading", name=re.compile("rekaan"))).to_have_count(0)
        expect(page.locator('a[href="/rate/"]')).to_be_visible()
        page.goto(f"{server.url}/history/")
        expect(page.get_by_role("main")).not_to_contain_text(re.compile("Relevan\\b"))
