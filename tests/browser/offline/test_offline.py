from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.rating_page import SAVED, wait_for_focus
from tests.cli.relevansi import document, relevansi

OpenTab = Callable[..., Page]

IS_STORED = "(text) => JSON.stringify({...localStorage}).includes(text)"

EVIL = "</script><script>window.acted = 1</script><img src=x onerror='window.acted = 1'>"
QUESTIONS: tuple[dict[str, Any], ...] = (
    {
        "question": f"Rumah di Cemara? {EVIL}",
        "response": f"""Berikut: {EVIL} [x](javascript:window.acted=1)

1. **[Rumah A {EVIL}](https://listing.example/properti/rumah-a)**
   📍 Cemara
   💰 Rp 1.670.000.000
2. **[Rumah B](javascript:window.acted=1)**
   📍 Cemara
3. **[Rumah A {EVIL}](https://listing.example/properti/rumah-a)**
   📍 Cemara
   💰 Rp 1.670.000.000
""",
        "results_count": 3,
    },
    {"question": "Gudang di KIM?", "response": "Tidak ada.", "results_count": 0},
    {
        "question": "Ada pilihan lain?",
        "category": "context_followup",
        "response": "1. **[Ruko C](https://listing.example/properti/ruko-c)**\n   📍 Krakatau\n",
        "results_count": 1,
    },
    {"question": "Rumah sewa?", "success": False, "response": "", "error": "timeout"},
)
RUN = {
    "timestamp": "20260126_141433",
    "search_method": "hybrid",
    "total_questions": 4,
    "successful": 3,
    "results": [
        {"query_id": number, "category": "location", "success": True, **question}
        for number, question in enumerate(QUESTIONS, start=1)
    ],
}


@pytest.fixture(name="instance")
def _instance(tmp_path: Path) -> Path:
    return tmp_path / "instance"


@pytest.fixture(name="file")
def _file(tmp_path: Path, instance: Path) -> Path:
    source, page = tmp_path / "test_results.json", tmp_path / "rate.html"
    source.write_text(json.dumps(RUN), "utf-8")
    (run,) = document(relevansi(instance, "import", source, "--json"))["runs"]
    process = relevansi(instance, "export", run["id"], "--format", "html", "-o", page)
    assert process.returncode == 0, process.stderr
    return page


def download(page: Page, what: str, into: Path) -> Path:
    with page.expect_download() as waiting:
        page.locator(f'#take [data-take="{what}"]').click()
    path = into / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def rate_without_a_name(page: Page) -> None:
    """Close the question for a name, and wait: a browser tells that a dialog closed only later."""
    page.locator("#rater").press("Escape")
    wait_for_focus(page, "1")


def expect_question(page: Page, query_id: int) -> None:
    expect(page.locator(f'#question[data-query="{query_id}"]')).to_be_attached()


def rate_two_questions(page: Page) -> None:
    page.keyboard.press("y")  # the same property at rank 3 is judged with it
    wait_for_focus(page, "2")
    page.keyboard.press("t")
    wait_for_focus(page, "grades")
    expect(page.locator("#suggestion")).to_contain_text("3")  # 2 of 3 are relevant: 67 %
    expect(page.locator('[data-number="mean_overall_precision"] b')).to_have_text("2/3")
    expect(page.locator('[data-number="mrr"] b')).to_have_text("1,00")
    page.keyboard.press("u")  # takes back the verdict on card 2
    wait_for_focus(page, "2")
    page.keyboard.press("r")
    page.keyboard.press("n")
    page.keyboard.type('=1+1; "kurang", jelas')
    page.keyboard.press("Escape")
    wait_for_focus(page, "grades")
    page.keyboard.press("4")
    expect_question(page, 2)
    page.keyboard.press("y")  # truly nothing
    wait_for_focus(page, "grades")
    expect(page.locator("#suggestion")).to_contain_text("0")
    expect(page.locator("#left")).to_have_text(
        "Tersisa 3 pertanyaan · 1 kartu, 3 jawaban belum diberi nilai"
    )
    page.keyboard.press("0")
    expect_question(page, 3)


def reload_and_finish(page: Page) -> None:
    page.reload()  # the browser kept every click, and where it was
    expect_question(page, 3)
    expect(page.locator("#turns")).to_contain_text("Gudang di KIM?")
    assert (page.locator("#who").text_content() or "").endswith("Ani")
    page.keyboard.press("p")
    expect_question(page, 2)
    page.keyboard.press("p")
    expect_question(page, 1)
    expect(page.locator("#rank-3 [value='1']")).to_have_attribute("aria-pressed", "true")
    expect(page.locator('[data-state-of="quality"]')).to_have_attribute("data-state", SAVED)
    page.keyboard.press("g")
    expect_question(page, 3)
    page.keyboard.press("t")
    page.keyboard.press("1")
    expect_question(page, 4)  # the call failed, which has a quality too
    expect(page.locator("#left")).to_have_text(
        "Tersisa 1 pertanyaan · 1 jawaban belum diberi nilai"
    )
    wait_for_focus(page, "grades")
    page.keyboard.press("0")
    expect(page.locator("#done")).to_be_visible()
    expect(page.locator("#left")).to_have_text("Tidak ada yang tersisa untuk dinilai")
    page.keyboard.press("Escape")


@pytest.mark.browser
def test_a_run_rated_from_a_file_comes_back_with_nothing_lost(
    open_tab: OpenTab, file: Path, instance: Path, tmp_path: Path
) -> None:
    page = open_tab()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(file.as_uri())
    page.locator("#rater").fill("Ani")
    page.keyboard.press("Enter")
    wait_for_focus(page, "1")
    expect(page.locator("#keeping")).to_be_hidden()

    rate_two_questions(page)
    reload_and_finish(page)
    ratings, rated = download(page, "json", tmp_path), download(page, "csv", tmp_path)
    assert page.evaluate("window.acted") is None
    assert [url for url in requests if not url.startswith(("file:", "blob:"))] == []

    first = document(relevansi(instance, "import", ratings, "--json"))["ratings"][0]
    assert (first["rater"], first["rater_is_new"], first["problems"]) == ("Ani", True, [])
    assert (first["verdicts"], first["empty_outcomes"], first["qualities"]) == (3, 1, 4)
    exported = relevansi(instance, "export", first["run"], "--rater", "Ani")
    assert rated.read_bytes().decode() == exported.stdout
    stored = document(
        relevansi(instance, "export", first["run"], "--rater", "Ani", "--format", "json")
    )["queries"]
    assert [[card["relevance"] for card in query["results"]] for query in stored] == [
        [1, "unsure", 1],
        [],
        [0],
        [],
    ]
    assert [query["quality"] for query in stored] == [4, 0, 1, 0]
    assert stored[1]["empty_outcome"] == "correct_empty"
    again = document(relevansi(instance, "import", ratings, "--json"))["ratings"][0]
    assert again["already_imported"]
    assert again["new_changes"] == 0


@pytest.mark.browser
def test_notes_on_one_file_are_there_again_after_a_reload_in_mid_sentence(
    open_tab: OpenTab, file: Path
) -> None:
    page = open_tab()
    page.goto(file.as_uri())
    page.locator("#rater").fill("Ani")
    page.keyboard.press("Enter")
    wait_for_focus(page, "1")
    page.keyboard.press("n")
    page.keyboard.type("agak jau")
    page.reload()
    expect(page.locator("#notes")).to_have_value("agak jau")
    expect(page.locator('[data-state-of="notes"]')).to_have_attribute("data-state", SAVED)
    page.evaluate("dispatchEvent(new Event('focus'))")
    page.keyboard.press("y")
    expect(page.locator("#rank-1 [value='1']")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#notes")).to_have_value("agak jau")


@pytest.mark.browser
def test_where_the_browser_keeps_nothing_the_page_says_so_and_keeps_the_tab(
    open_tab: OpenTab, file: Path
) -> None:
    page = open_tab(color_scheme="dark", viewport={"width": 360, "height": 780})
    page.add_init_script(
        "Object.defineProperty(window, 'localStorage', {get() { throw new Error('no') }})"
    )
    page.goto(file.as_uri())
    page.locator("#rater").fill("Budi")
    page.keyboard.press("Enter")
    wait_for_focus(page, "1")
    page.keyboard.press("y")

    expect(page.locator("#keeping")).to_be_visible()
    expect(page.locator("#keeping")).to_contain_text("1")
    page.on("dialog", lambda dialog: dialog.accept())  # leaving would lose it, says the browser
    page.reload()
    expect(page.locator("#rank-1 [value='1']")).to_have_attribute("aria-pressed", "true")
    assert "Budi" in (page.locator("#who").text_content() or "")
    assert page.evaluate("document.documentElement.scrollWidth") == 360  # fits a phone


@pytest.mark.browser
def test_one_button_leads_on_in_the_file_too(file: Path, page: Page) -> None:
    """A question by mouse alone: its cards, its grade, and on to the next."""
    page.goto(file.as_uri())
    rate_without_a_name(page)
    act = page.locator("#act")
    for rank in (1, 2):
        page.locator(f'#rank-{rank} button[value="1"]').click()
    expect(act).to_have_attribute("aria-disabled", "true")
    page.locator("#quality-5").click()
    expect(act).to_have_attribute("aria-disabled", "false")
    act.click()
    expect_question(page, 2)


@pytest.mark.browser
def test_notes_of_two_tabs_of_one_file_are_both_kept(open_tab: OpenTab, file: Path) -> None:
    first = open_tab()
    second = first.context.new_page()
    for page in (first, second):
        page.goto(file.as_uri())
        rate_without_a_name(page)
        page.locator("#notes").focus()
    for page, text in ((first, "jauh"), (second, "mahal")):
        page.keyboard.type(text)
        page.keyboard.press("Escape")  # stores it
        for tab in (first, second):
            tab.wait_for_function(IS_STORED, arg=text)

    expect(second.locator("#notes")).to_have_value("jauh\nmahal")
    expect(first.locator("#notes")).to_have_value("jauh\nmahal")


@pytest.mark.browser
def test_undo_with_nothing_left_to_undo_says_so(open_tab: OpenTab, file: Path) -> None:
    page = open_tab()
    page.goto(file.as_uri())
    rate_without_a_name(page)
    nothing_left = page.locator("#told").get_by_role("status")
    for _ in range(2):
        page.locator("#rank-1").focus()
        page.keyboard.press("y")
        expect(page.locator("#rank-1 [value='1']")).to_have_attribute("aria-pressed", "true")
        page.keyboard.press("u")
        expect(page.locator("#rank-1 [value='1']")).to_have_attribute("aria-pressed", "false")
        expect(nothing_left).to_have_count(0)
        page.keyboard.press("u")
        expect(nothing_left).to_be_visible()
        nothing_left.get_by_role("button").click()
        expect(nothing_left).to_have_count(0)
