"""The owner's pages of phase 3 in a real browser: narrow on a phone, and tagging in place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from relevansi.config import sqlite_url
from relevansi.db.engine import Database
from relevansi.records import Relevance
from relevansi.services.phase_3 import findings
from tests.browser.forked import ForkedServer
from tests.browser.server import Server
from tests.conftest import NOW
from tests.services.phase_3.participants import taking_part
from tests.services.phase_3.test_findings import closing, rated
from tests.stored_studies import open_study
from tests.web.visitors import PASSWORD, lock

pytestmark = pytest.mark.browser

YES, NO = Relevance.RELEVANT, Relevance.NOT_RELEVANT
PAGE = "/study/participants/"


@pytest.fixture(name="phase_3", scope="module")
def _phase_3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A served study in which two people asked, rated and wrote; one comment has a theme."""
    folder: Path = tmp_path_factory.mktemp("phase3")
    database = Database(sqlite_url(folder / "relevansi.sqlite"))
    database.prepare()
    lock(database)
    with open_study(database) as (session, study):
        melati = taking_part(session, study)
        rated(session, melati, YES, YES, notes="Harganya cocok")
        closing(session, melati, "5151515151", helped="Cepat")
        findings.add(session, melati, "helped", "speed", NOW)
        rated(session, taking_part(session, study, "Kenari"), NO, YES)
    database.close()
    server = ForkedServer(folder)
    server.start()
    yield server
    server.stop()


def signed_in(server: Server, tab: Page) -> Page:
    tab.goto(f"{server.url}/sign-in")
    tab.fill("input[name=password]", PASSWORD)
    tab.keyboard.press("Enter")
    expect(tab.locator("#status")).to_be_attached()
    tab.wait_for_url(lambda address: "sign-in" not in address)
    return tab


def test_no_table_scrolls_on_a_phone(phase_3: Server, open_tab: Callable[..., Page]) -> None:
    tab = signed_in(phase_3, open_tab(viewport={"width": 360, "height": 780}))
    tab.goto(phase_3.url + PAGE)
    for summary in tab.locator(".fold > summary").all():
        summary.click()
    boxes = tab.locator(".scroll:has(table)")
    assert boxes.count() > 1
    assert all(boxes.evaluate_all("(all) => all.map((one) => one.scrollWidth <= one.clientWidth)"))


def test_tags_are_put_where_they_stand(phase_3: Server, open_tab: Callable[..., Page]) -> None:
    """Without leaving the page: the part that was saved is put in its place."""
    tab = signed_in(phase_3, open_tab())
    tab.goto(f"{phase_3.url}{PAGE}questions")
    tab.evaluate("window.stayed = true")
    tab.fill("#question-2-1 input", "lokasi")
    tab.click("#question-2-1 button")
    expect(tab.locator("#question-2-1 [role=status]")).to_have_text("Tersimpan")
    assert tab.evaluate("window.stayed")
    tab.goto(f"{phase_3.url}{PAGE}comments")
    tab.fill("#comment-1-note-1 input", "harga")
    tab.keyboard.press("Enter")
    expect(tab.locator("#comment-1-note-1 .tag-button")).to_have_count(1)
    tab.click("#comment-1-note-1 .tag-button")
    expect(tab.locator("#comment-1-note-1 .tag-button")).to_have_count(0)
