"""Taking part in phase 3 on a telephone: from the link to the thanks, on two devices."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import violations
from tests.browser.conftest import OpenTab
from tests.browser.hands import PHONE_OPTIONS
from tests.browser.served import PASSWORD, Person, made_link
from tests.browser.server import Server
from tests.chatbot import bots

pytestmark = pytest.mark.browser

PHONE = PHONE_OPTIONS | {"reduced_motion": "reduce"}
CARDS = "".join(
    f"{rank}. **[Rumah {rank}](https://listing.example/properti/rumah-{rank})**\n   📍 Johor\n"
    for rank in (1, 2, 3)
)
SECONDS = 30


def slow(handler: bots.Handler, body: Any) -> None:
    """Answer with three cards; from the second question on only once that is let through."""
    server = handler.server
    if len(server.asked) > 1:
        server.waiting.set()
        server.released.wait(SECONDS)
    body = {"response": CARDS, "session_id": body["session_id"]}
    bots.status(200, body)(handler, body)


@pytest.mark.journey
def test_taking_part_on_two_devices(empty_server: Server, open_tab: OpenTab) -> None:
    """Consent, two questions, a closed browser, the way back, the questionnaire, the thanks."""
    with bots.serving(slow) as bot:
        link = _opened(empty_server, bot.address)
        first = open_tab(**PHONE)
        first.goto(link)
        _looks_right(first)
        first.get_by_role("button", name="Saya sudah membaca dan setuju").tap()
        back = first.locator("#link code").inner_text()
        _looks_right(first)
        _ask(first, "Rumah di Johor?")
        _rate(first)
        first.locator("#end [name=new_conversation]").uncheck()
        first.locator("#end textarea").fill("Yang dua lantai?")
        first.locator("#end .ask button").tap()
        assert bot.waiting.wait(SECONDS)
        expect(first.locator("#asking")).to_contain_text("Chatbot sedang menjawab")
        _looks_right(first)
        first.context.close()
        bot.released.set()

        second = open_tab(**PHONE, color_scheme="dark", locale="en-GB")
        second.goto(back)
        second.get_by_role("button", name="Go on as").tap()
        expect(second.locator(".current .asked")).to_have_text("Yang dua lantai?")
        second.get_by_role("link", name="Go on with this question").tap()
        _rate(second)
        expect(second.locator("#turns")).to_contain_text("Rumah di Johor?")
        second.locator("#end .last button").tap()
    second.get_by_role("link", name="I have no more questions").tap()
    _close(second)
    assert len(bot.asked) == 2
    assert _stored(empty_server) == {"questions": 2, "verdicts": 6, "items": 11, "finished": 1}


def test_a_draft_outlives_its_page(empty_server: Server, open_tab: OpenTab) -> None:
    """A draft stays in the browser until it has been asked, and is gone then."""
    with bots.serving(bots.good) as bot:
        link = _opened(empty_server, bot.address)
        page = open_tab(**PHONE)
        page.goto(link)
        page.get_by_role("button", name="setuju").tap()
        page.wait_for_url("**/ask/")  # and until the page's script has been read
        page.locator("textarea#question").fill("Ruko di Amplas, tiga lantai")
        page.goto("about:blank")
        page.goto(f"{empty_server.url}/ask/")
        expect(page.locator("textarea#question")).to_have_value("Ruko di Amplas, tiga lantai")
        page.get_by_role("button", name="Tanyakan").tap()
        expect(page.locator("#rating")).to_be_visible()
        page.goto(f"{empty_server.url}/ask/")
        expect(page.locator("[name=question]")).to_have_count(0)


@pytest.mark.thorough
def test_notes_outlive_a_reload(empty_server: Server, open_tab: OpenTab) -> None:
    """And a verdict that another device gave meanwhile shows once the page is in front again."""
    with bots.serving(bots.good) as bot:
        link = _opened(empty_server, bot.address)
        page = open_tab(**PHONE)
        page.goto(link)
        page.get_by_role("button", name="setuju").tap()
        back = page.locator("#link code").inner_text()
        _ask(page, "Rumah di Johor?")
        notes = page.locator("textarea[name=notes]")
        notes.press_sequentially("Agak jau")
        page.reload()
        expect(notes).to_have_value("Agak jau")
        expect(page.locator('[data-state-of="notes"]')).to_have_attribute("data-state", "saved")

        laptop = open_tab()
        laptop.goto(back)
        laptop.get_by_role("button", name="Lanjutkan sebagai").click()
        laptop.wait_for_url("**/ask/")
        laptop.goto(page.url)
        laptop.locator('#rank-1 button[value="0"]').click()
        expect(laptop.locator('[data-state-of="1"]')).to_have_attribute("data-state", "saved")
        page.evaluate("dispatchEvent(new Event('focus'))")
        pressed = page.locator('#rank-1 button[value="0"]')
        expect(pressed).to_have_attribute("aria-pressed", "true")


def _opened(server: Server, endpoint: str) -> str:
    """Set phase 3 up as its owner; returns the address of everybody's link."""
    owner = Person(server.url)
    owner.post("/sign-in/first", password=PASSWORD, again=PASSWORD)
    settings = {"is_open": "1", "endpoint": endpoint, "search_method": "hybrid", "api": "contract"}
    limits = {"most_questions": "10", "answer_seconds": "60", "tries": "1", "at_once": "2"}
    owner.post("/study/users/", **settings, **limits, pause_seconds="0")
    return made_link(owner.post("/study/users/links"))


def _looks_right(page: Page) -> None:
    """Nothing that axe would say, and nothing wider than the telephone."""
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def _ask(page: Page, question: str) -> None:
    page.locator("textarea#question").fill(question)
    page.get_by_role("button", name="Tanyakan").tap()
    expect(page.locator("h1")).to_have_text(question)
    expect(page.locator("html")).to_have_class("scripted")


def _rate(page: Page) -> None:
    """Judge the three cards, grade and note; every click is saved."""
    expect(page.locator("html")).to_have_class("scripted")
    for rank, verdict in ((1, "1"), (2, "0"), (3, "unsure")):
        page.locator(f'#rank-{rank} button[value="{verdict}"]').tap()
    page.locator(".scale label").nth(2).tap()
    page.locator("textarea[name=notes]").fill("Cukup")
    page.locator("textarea[name=notes]").blur()
    for name in ("1", "2", "3", "quality", "notes"):
        expect(page.locator(f'[data-state-of="{name}"]')).to_have_attribute("data-state", "saved")
    expect(page.locator("#end .done-card")).to_be_visible()
    _looks_right(page)
    page.locator("#act").tap()
    expect(page.locator("#next-question")).to_be_in_viewport()
    expect(page.locator("#act")).to_be_hidden()


def _close(page: Page) -> None:
    """Answer the questionnaire, leaving one item out at first."""
    for number in range(1, 10):
        page.locator(f"#sus-{number} label").nth(3).tap()
    page.locator("#helped").fill("Cepat")
    page.get_by_role("button", name="Finish").tap()
    expect(page.locator("#left-out")).to_contain_text("Statement 10")
    _looks_right(page)
    page.locator("#sus-10 label").nth(3).tap()
    page.get_by_role("button", name="Finish", exact=True).tap()
    expect(page.locator("h1")).to_contain_text("Thank you")
    _looks_right(page)


def _stored(server: Server) -> dict[str, int]:
    """The numbers of rows in the database that taking part has stored, by name."""
    counts = {
        "questions": "SELECT count(*) FROM own_questions WHERE state = 'answered'",
        "verdicts": "SELECT count(*) FROM judgments WHERE verdict IS NOT NULL",
        "items": "SELECT count(*) FROM questionnaire_answers",
        "finished": "SELECT count(*) FROM participants WHERE finished_at IS NOT NULL",
    }
    with closing(sqlite3.connect(server.instance / "relevansi.sqlite")) as connection:
        return {name: connection.execute(query).fetchone()[0] for name, query in counts.items()}
