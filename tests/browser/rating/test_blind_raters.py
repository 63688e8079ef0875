"""Three people rate a study at once, by keyboard, and none of them learns what a run is."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import violations
from tests.browser.blind import CARDS_SHOWN, METHODS, QUALITIES, THINGS, invite, join, place
from tests.browser.server import Server
from tests.cli.relevansi import relevansi

pytestmark = pytest.mark.browser

NAMES = ("Ani", "Budi", "Citra")
VERDICTS = {"y": "1", "t": "0", "r": "unsure"}
MOST_TURNS = 600
THANKS = "Semuanya sudah dinilai. Terima kasih."
LATEST = """SELECT raters.name, json_extract(judged_items.card, '$.title'), judgments.verdict
FROM judgments JOIN raters ON raters.id = rater_id
JOIN judged_items ON judged_items.id = judged_item_id"""


def key_for(name: str, title: str) -> str:
    return "ytr"[(len(title) + NAMES.index(name)) % 3]


class Typist:
    def __init__(self, name: str, page: Page) -> None:
        self.name, self.page = name, page
        self.seen: list[str] = []
        self.typed: Counter[str] = Counter()
        self.stages: set[str] = set()

    def turn(self) -> bool:
        """Type what the place in focus asks for, if it asks; false once all is done."""
        at = place(self.page)
        self.seen.append(at["text"])
        if at["kind"] == "finished":
            return False
        if not at["open"]:
            return True  # on its way
        self._look(at["kind"])
        self.page.keyboard.press(self._key(at))
        self.typed[at["kind"]] += 1
        return True

    def _key(self, at: dict[str, Any]) -> str:
        if at["kind"] == "card":
            return key_for(self.name, at["name"])
        return "t" if at["kind"] == "outcome" else str(1 + NAMES.index(self.name))

    def _look(self, stage: str) -> None:
        if stage not in self.stages:
            self.stages.add(stage)
            assert violations(self.page) == []


@pytest.mark.journey
def test_three_raters_rate_a_study_at_once_by_keyboard_and_blind(
    blind_server: Server, blind_sample: tuple[Path, list[str]], open_tab: Callable[..., Page]
) -> None:
    """Each gives a verdict for each distinct thing, stored as typed; pages name no run."""
    typists = []
    for name in NAMES:
        page = open_tab(reduced_motion="reduce")
        join(page, invite(blind_server, name))
        typists.append(Typist(name, page))

    for _ in range(MOST_TURNS):
        if sum(typist.turn() for typist in typists) == 0:
            break

    for typist in typists:
        expect(typist.page.locator("h1#finished")).to_have_text(THANKS)
        assert dict(typist.typed) == {"card": THINGS - 1, "outcome": 1, "grades": QUALITIES}
        assert typist.stages == {"card", "outcome", "grades"}
        for secret in (*blind_sample[1], *METHODS, "rahasia", "data-rank"):
            assert secret not in "".join(typist.seen), secret
    assert THINGS - 1 < CARDS_SHOWN
    _expect_stored(blind_server)


def _expect_stored(server: Server) -> None:
    """Every verdict is the one its rater typed, each key is one event, figures are in step."""
    with closing(server.database()) as connection:
        rows = connection.execute(LATEST).fetchall()
        owner = connection.execute("SELECT name FROM raters WHERE is_owner").fetchone()[0]
    judged = Counter(name for name, _, _ in rows)
    assert judged == dict.fromkeys(NAMES, THINGS)
    assert owner not in judged
    for name, title, verdict in rows:
        expected = "false_negative" if title is None else VERDICTS[key_for(name, title)]
        assert verdict == expected, (name, title)
    events = server.events()
    assert len({(event["rater_id"], event["event_id"]) for event in events}) == len(events)
    assert len(events) == len(NAMES) * (THINGS + QUALITIES)
    process = relevansi(server.instance, "check")
    assert process.returncode == 0, process.stdout + process.stderr


@pytest.fixture(name="rating")
def _rating(blind_server: Server, page: Page) -> Page:
    page.goto(f"{blind_server.url}/rate/")
    expect(page.locator("html")).to_have_class("scripted")
    return page


def focus_on(page: Page, selector: str) -> None:
    expect(page.locator(f"{selector}:focus, {selector} :focus").first).to_be_attached()


def test_a_burst_of_keys_runs_through_all_stages(rating: Page, blind_server: Server) -> None:
    """Five cards and three answers; two cards, the empty list, three answers."""
    rating.keyboard.type("yytty" + "345" + "yt" + "t" + "120")
    expect(rating.locator("#walk .at .vh")).to_contain_text("3 dari 3")
    focus_on(rating, '.card[data-position="1"]')
    said = [event["new"] for event in blind_server.events()]
    assert said == [*"11001", *"345", *"10", "false_negative", *"120"]


def test_the_same_property_with_another_price_can_be_confirmed_by_mouse(rating: Page) -> None:
    """The card tells before and now as soon as the other was judged; confirming keeps focus."""
    melati = rating.locator(".card:has-text('Rumah Melati')")
    melati.nth(0).locator('button[value="0"]').click()
    other = melati.nth(1)
    expect(other.locator(".remark")).to_contain_text("Anda menilainya Tidak saat harganya")
    other.locator(".confirm").click()
    expect(other.locator('button[value="0"]').first).to_have_attribute("aria-pressed", "true")
    expect(other.locator(".state")).to_have_attribute("data-state", "saved")
    expect(other.locator(".confirm")).to_have_count(0)
    expect(other).to_be_focused()


def test_keys_put_off_and_go_on(rating: Page) -> None:
    first = rating.url
    rating.keyboard.press("s")
    expect(rating).not_to_have_url(first)
    focus_on(rating, '.card[data-position="1"]')
    second = rating.url
    rating.keyboard.press("p")
    expect(rating).to_have_url(first)
    expect(rating.locator("#put-off")).to_be_visible()
    rating.keyboard.press("g")
    expect(rating).to_have_url(second)
    rating.keyboard.press("l")
    expect(rating).not_to_have_url(second)
    rating.keyboard.press("h")
    expect(rating.locator("#keys kbd", has_text=re.compile("^s$"))).to_be_visible()
    rating.keyboard.press("Escape")
    rating.goto(first)
    expect(rating.locator("#put-off")).to_be_visible()
    rating.locator("#menu > summary").click()
    rating.locator("[data-later-form] button").click()
    expect(rating).to_have_url(second)


def shown_answers(page: Page) -> list[str]:
    answers = page.locator(".answer:has(.whole:visible)").all()
    return [str(answer.get_attribute("data-letter")) for answer in answers]


def rated_cards(page: Page) -> None:
    expect(page.locator("html")).to_have_class("scripted")
    page.keyboard.type("yytty")
    expect(page.locator("#grades-A:focus, #grades-A :focus")).to_be_attached()


def test_one_answer_is_open_until_it_is_graded(blind_server: Server, page: Page) -> None:
    page.goto(f"{blind_server.url}/rate/")
    rated_cards(page)
    assert shown_answers(page) == ["A"]

    page.keyboard.press("3")
    expect(page.locator("#grades-B:focus, #grades-B :focus")).to_be_attached()
    assert shown_answers(page) == ["B"]

    page.locator("#steps [data-step=A]").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#answer-A .whole")).to_be_visible()
    assert shown_answers(page) == ["A"]
    page.keyboard.press("5")  # the keys are those of the answer in turn
    expect(page.locator("#quality-A-5")).to_be_checked()


def test_opening_the_wording_keeps_what_was_typed(blind_server: Server, page: Page) -> None:
    page.goto(f"{blind_server.url}/rate/")
    rated_cards(page)
    assert "📍" not in page.content()
    page.locator("#notes-A").fill("belum selesai")

    page.locator("#wording-A summary").click()
    page.locator("#wording-A button").click()

    expect(page.locator("#wording-A .prose")).to_contain_text("📍 Binjai")
    expect(page.locator("#notes-A")).to_have_value("belum selesai")
    assert _opened(blind_server) == 1


def _opened(server: Server) -> int:
    with closing(sqlite3.connect(server.instance / "relevansi.sqlite")) as database:
        (count,) = database.execute("SELECT count(*) FROM wordings_opened").fetchone()
    return int(count)
