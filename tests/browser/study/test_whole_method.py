"""The whole method on one machine: collect, rate, compare, let users ask, hand in the report."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.hands import PHONE_OPTIONS
from tests.browser.served import PASSWORD, Person, made_link
from tests.browser.server import Server
from tests.browser.typists import rate_everything
from tests.cli.relevansi import document, environment, process, relevansi
from tests.page import Page as Received

pytestmark = pytest.mark.journey

METHODS = ("api_only", "hybrid", "vector_only")
PHONE = PHONE_OPTIONS | {"locale": "id-ID"}
WISHES = (
    "Rumah dijual di Johor di bawah 1 M",
    "Apartemen disewa di Podomoro",
    "Ruko di Krakatau",
    "Rumah 3 kamar di Ringroad",
    "Tanah dijual di Marelan",
)


def test_the_whole_method_runs_here(empty_server: Server, browser: Browser, tmp_path: Path) -> None:
    """Three runs from the demo chatbot, rated blind, compared; five users at once; reports."""
    with _chatbot(tmp_path) as address:
        runs = [_collect(empty_server, address, method, tmp_path) for method in METHODS]
        owner = Person(empty_server.url)
        owner.post("/sign-in/first", password=PASSWORD, again=PASSWORD)
        rate_everything(browser, owner)
        _compare(empty_server, owner, runs, tmp_path)
        _take_part(browser, _open_phase_3(owner, address))
    _report_phase_3(empty_server, owner)


@contextmanager
def _chatbot(folder: Path) -> Iterator[str]:
    """Yield the address of the demo chatbot, run as a user runs it."""
    command = [sys.executable, "-m", "relevansi", "chatbot", "--port", "0"]
    settings = environment(folder, "en")
    bot = subprocess.Popen(command, env=settings, stdout=subprocess.PIPE, encoding="utf-8")
    try:
        assert bot.stdout is not None
        matches = re.search(r"http://\S+?(?=[\s,]|$)", bot.stdout.readline())
        assert matches is not None
        yield matches[0]
    finally:
        bot.terminate()
        bot.communicate(timeout=30)


def _collect(server: Server, address: str, method: str, folder: Path) -> str:
    """Collect and import a run of the 30 questions; returns its id."""
    labels = ("--method", method, "--llm", "demo")
    finished = process(
        server.instance, "collect", "--endpoint", address, *labels, "-o", folder / "evaluation"
    )
    assert finished.returncode == 0, finished.stderr
    listed = document(relevansi(server.instance, "runs", "--json"))["runs"]
    (result,) = [run for run in listed if run["search_method"] == method]
    assert (result["queries"], result["failed"]) == (30, 0)
    identity: str = result["id"]
    return identity


def _compare(server: Server, owner: Person, runs: list[str], folder: Path) -> None:
    """The page, the report of the command and the proof pack stand on finished runs."""
    page = Received(owner.get("/comparisons/?phase=1"))
    assert page.has("a[href$='phase=1'][aria-current=page]")
    assert {*runs} <= {*page.values("input[name=runs][checked]")}
    report = document(relevansi(server.instance, "compare", "--phase", "1", "--format", "json"))
    assert sorted(run["search_method"] for run in report["runs"]) == sorted(METHODS)
    assert all(entry["n"] > 15 for entry in report["differences"] if entry["figure"] == "mrr")
    pack = folder / "pack.zip"
    relevansi(server.instance, "export", "--format", "proof-pack", "-o", pack)
    assert "Equal" in relevansi(folder, "verify", pack).stdout
    assert relevansi(server.instance, "check").stdout.startswith("Equal")


def _open_phase_3(owner: Person, address: str) -> str:
    """Open the study to users; returns the link that everybody gets."""
    settings = {"is_open": "1", "endpoint": address, "search_method": "hybrid", "api": "contract"}
    limits = {"most_questions": "10", "answer_seconds": "60", "tries": "2", "at_once": "3"}
    owner.post("/study/users/", **settings, **limits, pause_seconds="0")
    return made_link(owner.post("/study/users/links"))


def _take_part(browser: Browser, link: str) -> None:
    """Five people at once on telephones: each step is taken by all before the next."""
    with ExitStack() as stack:
        pages = [stack.enter_context(browser.new_context(**PHONE)).new_page() for _ in WISHES]
        for page in pages:
            page.goto(link)
            page.get_by_role("button", name="setuju").tap()
        for turn in ("", ", ada pilihan lain?"):
            for page, wish in zip(pages, WISHES, strict=True):
                page.locator("#question").fill(wish + turn)
                page.get_by_role("button", name="Tanyakan").tap()
            for page in pages:
                _rate_own(page)
        for page in pages:
            page.goto(f"{link.partition('/take-part')[0]}/closing/")
            for number in range(1, 11):
                page.locator(f"#sus-{number} label").nth(3 if number % 2 else 1).tap()
            page.get_by_role("button", name="Selesai").last.tap()
            expect(page.locator("h1")).to_contain_text("Terima kasih")


def _rate_own(page: Page) -> None:
    """Judge every card of one's own answer, or its emptiness, and grade it."""
    expect(page.locator("#rating")).to_be_visible()
    expect(page.locator("html")).to_have_class("scripted")
    for card in page.locator("article[data-rank]").all():
        card.locator('button[value="1"]').tap()
    if page.locator("#outcome").count():
        page.locator("#outcome button").first.tap()
    if page.locator(".scale").count():
        page.locator(".scale label").nth(4).tap()
        expect(page.locator('[data-state-of="quality"]')).to_have_attribute("data-state", "saved")
    page.locator("#end .last button").tap()
    expect(page.locator("#question")).to_be_visible()


def _report_phase_3(server: Server, owner: Person) -> None:
    """Five participants and their usability in the JSON, the summary and the page."""
    printed = document(relevansi(server.instance, "compare", "--phase", "3", "--format", "json"))
    assert (printed["counts"]["participants"], printed["counts"]["questions"]) == (5, 10)
    # Fours on the odd statements, twos on the even ones: (5 x 3 + 5 x 3) x 2.5.
    assert (printed["usability"]["n"], printed["usability"]["mean"]) == (5, 75.0)
    summary = relevansi(server.instance, "compare", "--phase", "3")
    assert summary.returncode == 0, summary.stderr
    page = owner.get("/study/participants/")
    for person in printed["participants"]:
        assert person["usability"]["score"] == 75.0
        assert person["participant"] in page
    for text in (summary.stdout, page):
        assert "75" in text
    assert relevansi(server.instance, "check").stdout.startswith("Equal")
