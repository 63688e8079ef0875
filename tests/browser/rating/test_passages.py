"""Documents graded by keyboard: one key each, blind, and in one file without a server."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import FilePayload, Page, expect

from relevansi.config import sqlite_url
from relevansi.db.engine import Database
from tests.browser.axe import faults, violations
from tests.browser.blind import invite, join, place
from tests.browser.forked import serving
from tests.browser.rating_page import wait_for_focus
from tests.browser.server import Server
from tests.cli.relevansi import relevansi
from tests.web.documents import GRADED, collection, imported, lines, set_scale
from tests.web.rating.blind_study import set_study

pytestmark = pytest.mark.browser

OpenTab = Callable[..., Page]

NAMES = ("Ani", "Budi")
QUESTIONS, OF_EACH = 50, 2
DOCUMENTS = QUESTIONS * OF_EACH
KEYS = {"0": "0", "1": "1", "2": "2", "3": "3", "r": "unsure"}
MOST_TURNS = 6_000
LATEST = """SELECT raters.name, json_extract(judged_items.card, '$.title'), judgments.verdict
FROM judgments JOIN raters ON raters.id = rater_id
JOIN judged_items ON judged_items.id = judged_item_id WHERE judgments.verdict IS NOT NULL"""


def fill(instance: Path, *files: tuple[str, bytes], **switches: object) -> str:
    """Import files into a new study with grades; return the id of its first run."""
    instance.mkdir(parents=True, exist_ok=True)
    database = Database(sqlite_url(instance / "relevansi.sqlite"))
    database.prepare()
    stored = imported(database, *files)
    set_scale(database)
    set_study(database, repeat_percent=0, **switches)
    database.close()
    return stored.runs[0].id


@pytest.fixture(name="passages")
def _passages(tmp_path: Path) -> Iterator[Server]:
    fill(tmp_path / "instance", *collection(QUESTIONS, OF_EACH))
    with serving(tmp_path / "instance") as server:
        yield server


class Grader:
    """Somebody who grades each document by a key of their own, and takes every tenth back."""

    def __init__(self, name: str, page: Page) -> None:
        self.name, self.page = name, page
        self.pressed: dict[str, str] = {}
        self.undone: list[str] = []
        self.is_reloaded = False

    def key(self, title: str) -> str:
        return "0123r"[sum(map(ord, self.name + title)) % 5]

    def turn(self) -> bool:
        """Press the key that the document in focus asks for; false once all is done."""
        at = place(self.page)
        if at["kind"] != "card" or not at["open"]:
            if at["kind"] == "outcome" and at["open"]:
                self.page.keyboard.press("y")
            return bool(at["kind"] != "finished")
        name = at["name"]
        if len(self.pressed) == DOCUMENTS // 2 and not self.is_reloaded:
            self.is_reloaded = True
            self.page.reload()
            return True
        self.page.keyboard.press(self.key(name))
        self.pressed[name] = KEYS[self.key(name)]
        if len(self.pressed) % 10 == 0 and name not in self.undone:
            self.undone.append(name)
            self._take_back(name)
        return True

    def _take_back(self, name: str) -> None:
        self.page.keyboard.press("u")
        for _ in range(MOST_TURNS):
            at = place(self.page)
            if (at["kind"], at.get("name"), at["open"]) == ("card", name, True):
                del self.pressed[name]
                return
        raise AssertionError(f"{name} was not taken back")


@pytest.mark.journey
def test_two_raters_grade_fifty_questions_by_one_key_a_document(
    passages: Server, open_tab: OpenTab
) -> None:
    """With ten undos and a reload between, what is stored is what was pressed last."""
    graders = []
    for name in NAMES:
        page = open_tab(reduced_motion="reduce")
        join(page, invite(passages, name))
        graders.append(Grader(name, page))

    for _ in range(MOST_TURNS):
        if not sum(grader.turn() for grader in graders):
            break

    with closing(passages.database()) as connection:
        stored: dict[str, dict[str, str]] = {name: {} for name in NAMES}
        for name, title, verdict in connection.execute(LATEST):
            if title is not None:
                stored[name][title] = verdict
    for grader in graders:
        expect(grader.page.locator("h1#finished")).to_be_visible()
        assert len(grader.undone) == DOCUMENTS // 10
        assert grader.is_reloaded
        assert stored[grader.name] == grader.pressed
        assert len(grader.pressed) == DOCUMENTS
    causes = Counter(event["cause"] for event in passages.events())
    assert causes["undo"] == len(NAMES) * DOCUMENTS // 10


def verdicts(page: Page) -> list[str]:
    result: list[str] = page.locator(".card").evaluate_all(
        "cards => cards.map(card => card.dataset.verdict)"
    )
    return result


def test_letters_are_unbound_digits_go_by_their_place_and_o_opens_the_text(
    tmp_path: Path, page: Page
) -> None:
    text = "Copper bends. " * 60
    rows = [
        {"query": "Does copper bend?", "system": "a", "doc_id": f"d{n}", "text": f"{n}. {text}"}
        for n in range(3)
    ]
    run_id = fill(tmp_path / "instance", ("t.jsonl", lines(rows)))
    with serving(tmp_path / "instance") as server:
        page.goto(f"{server.url}/runs/{run_id}/queries/1")
        expect(page.locator(".card:focus")).to_have_count(1)

        page.keyboard.type("ytxv45")
        assert verdicts(page) == ["", "", ""]
        page.keyboard.press("o")
        expect(page.locator("#rank-1 .fold")).to_have_attribute("open", "")
        page.evaluate(  # the first key of the row on a French keyboard
            "document.activeElement.dispatchEvent("
            "new KeyboardEvent('keydown', {key: '&', code: 'Digit1', bubbles: true}))"
        )
        page.keyboard.press("r")
        expect(page.locator("#rank-2 .state")).to_have_attribute("data-state", "saved")

        assert verdicts(page) == ["1", "unsure", ""]


def test_keys_go_on_where_the_pool_ends_and_judge_below_it_on_purpose(
    tmp_path: Path, page: Page
) -> None:
    rows = [
        {"query": f"Case {q}?", "system": "a", "doc_id": f"d{n}", "text": "x"}
        for q in range(2)
        for n in range(4)
    ]
    run_id = fill(tmp_path / "instance", ("t.jsonl", lines(rows)), blind=False, pool_depth=2)
    with serving(tmp_path / "instance") as server:
        page.goto(f"{server.url}/runs/{run_id}/queries/1")
        expect(page.locator(".card:focus")).to_have_count(1)

        page.keyboard.type("33")
        expect(page.locator('#question[data-query="2"]')).to_be_attached()
        page.keyboard.type("pjjj2")
        expect(page.locator('#question[data-query="1"] #rank-3')).to_have_attribute(
            "data-verdict", "2"
        )
        expect(page.locator("#rank-4:focus")).to_have_count(1)


def test_six_passages_fit_a_laptop(tmp_path: Path, open_tab: OpenTab) -> None:
    text = "Copper bends when it is drawn into wire, unless it was hardened before. " * 9
    rows = [
        {"query": "Does copper bend?", "system": "a", "doc_id": f"d{n}", "text": f"{n} {text}"}
        | {"title": f"Copper {n}", "shelf": "Metals"}
        for n in range(6)
    ]
    fill(tmp_path / "instance", ("t.jsonl", lines(rows)), blind=True)
    with serving(tmp_path / "instance") as server:
        page = open_tab(viewport={"width": 1366, "height": 768})
        page.goto(f"{server.url}/rate/")
        expect(page.locator("html")).to_have_class("scripted")
        last = page.locator(".card").nth(5).bounding_box()
        assert last is not None
        assert last["y"] + last["height"] <= 768


def test_a_digit_too_many_grades_no_answer(tmp_path: Path, page: Page) -> None:
    rows = [
        {"query": f"Case {n}?", "system": "a", "doc_id": f"d{n}", "text": "x", "answer": "It does."}
        for n in range(2)
    ]
    run_id = fill(tmp_path / "instance", ("t.jsonl", lines(rows)), asks_quality=True)
    with serving(tmp_path / "instance") as server:
        page.goto(f"{server.url}/runs/{run_id}/queries/1")
        expect(page.locator(".card:focus")).to_have_count(1)

        page.keyboard.type("3331")
        expect(page.locator(".grades:focus")).to_have_count(1)
        expect(page.locator("[name=quality]:checked")).to_have_count(0)
        page.keyboard.type("j4")

        expect(page.locator('#question[data-query="2"]')).to_be_attached()
        result = [(event["field"], event["new"]) for event in server.events()]
        assert result == [("verdict", "3"), ("quality", "4")]


def test_the_question_stays_in_sight_on_a_phone_and_grades_are_as_large_as_a_thumb(
    tmp_path: Path, open_tab: OpenTab
) -> None:
    question_text = (
        "Does copper wire bend when it is pulled around a corner in the cold, and how far?"
    )
    rows = [
        {
            "query": question_text,
            "system": "a",
            "doc_id": f"d{n}",
            "text": f"{n} Copper bends. " * 20,
        }
        for n in range(6)
    ]
    run_id = fill(tmp_path / "instance", ("t.jsonl", lines(rows)))
    with serving(tmp_path / "instance") as server:
        page = open_tab(viewport={"width": 360, "height": 740}, has_touch=True)
        page.goto(f"{server.url}/runs/{run_id}/queries/1")
        page.evaluate("scrollTo(0, 900)")
        question = page.locator("#asked").bounding_box()
        assert question is not None
        assert question["y"] >= 0
        buttons = page.locator("form.graded").first.locator("button[aria-pressed]")
        boxes = [box for button in buttons.all() if (box := button.bounding_box())]
        assert len(boxes) == 5
        assert len({round(box["y"]) for box in boxes}) == 1
        assert min(min(box["height"], box["width"]) for box in boxes) >= 44


def test_grades_are_given_in_one_file_and_come_back(tmp_path: Path, open_tab: OpenTab) -> None:
    instance = tmp_path / "instance"
    run_id = fill(instance, *collection(3, 2))
    file = tmp_path / "rate.html"
    process = relevansi(instance, "export", run_id, "--format", "html", "-o", file)
    assert process.returncode == 0, process.stderr
    page = open_tab(accept_downloads=True, bypass_csp=True)  # which axe needs
    page.goto(file.as_uri())
    page.fill("#rater", "Sari")
    page.locator("#naming button[value=named]").click()
    wait_for_focus(page, "1")
    assert violations(page) == []

    page.locator(".card").first.focus()
    for key, query in (("3", 1), ("2", 1), ("0", 2), ("r", 2), ("y", 3)):
        expect(page.locator(f'#question[data-query="{query}"]')).to_be_attached()
        page.keyboard.press(key)
    with page.expect_download() as waiting:
        page.locator('#done [data-take="json"]').click()
    back = tmp_path / "back.json"
    waiting.value.save_as(back)

    decoded: dict[str, Any] = json.loads(back.read_text("utf-8"))
    grades = [result["relevance"] for query in decoded["queries"] for result in query["results"]]
    assert grades == [3, 2, 0, "unsure"]
    process = relevansi(instance, "import", back)
    assert process.returncode == 0, process.stdout + process.stderr
    with closing(Server(instance).database()) as connection:
        stored = [verdict for _, title, verdict in connection.execute(LATEST) if title]
    assert sorted(stored) == ["0", "2", "3", "unsure"]


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["blind", "set-up", "report", "formats", "run"])
def test_the_pages_of_documents_are_for_everybody(
    tmp_path: Path, open_tab: OpenTab, name: str
) -> None:
    run_id = fill(tmp_path / "instance", *collection(3, 4))
    with serving(tmp_path / "instance") as server:
        page = open_tab(reduced_motion="reduce", service_workers="block")
        paths = {"blind": "/rate/", "set-up": "/study/?part=scale", "run": f"/runs/{run_id}"}
        page.goto(server.url + paths.get(name, "/runs/import/formats"))
        if name == "report":
            page.goto(f"{server.url}/runs/import")
            files = [*collection(4, 2), ("qrels.txt", b"q1 0 d1x0 2\nq2 0 d2x0 0\n")]
            body: list[FilePayload] = [
                {"name": file_name, "mimeType": "text/plain", "buffer": data}
                for file_name, data in files
            ]
            page.set_input_files("#files", body)
            expect(page.locator(".report")).to_be_visible()
        assert GRADED.words[3] in page.content() or name in {"report", "formats", "run"}
        page.locator("main summary").evaluate_all("all => all.forEach(one => one.click())")

        assert faults(page) == []
