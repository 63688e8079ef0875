"""A study planned, rated until every order is settled, reported, packed and verified."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import Server
from tests.browser.typists import asked_now
from tests.cli.relevansi import document, relevansi

pytestmark = pytest.mark.journey

QUESTIONS = 8
CARDS = 3
GOOD, BAD = "melati", "mawar"
"""The words by which a rater tells the properties of one run from those of the other."""
MOST_SECONDS = 600
PLANNED = "Selisih 0,15 memerlukan 39 pertanyaan dengan daya uji 90%, diuji pada taraf 5%."
"""The non-central t distribution of scipy gives it for a standard deviation of 0.28."""


def test_rating_may_end_when_nothing_left_can_change_the_order(
    empty_server: Server, page: Page, tmp_path: Path
) -> None:
    """One run is always right and the other never, so five questions of eight decide."""
    runs = empty_server.import_runs(*_files(tmp_path))
    _plan(empty_server, page)

    judged = _rate_until_settled(empty_server, page)

    assert 0 < judged < QUESTIONS * CARDS * 2
    report = _compared(empty_server, "json")
    assert {frozenset(one["runs"]) for one in json.loads(report)["settled"]} == {frozenset(runs)}
    markdown = _compared(empty_server, "markdown")
    assert "Every order is settled" in markdown
    page.goto(f"{empty_server.url}/study/planning")
    expect(page.locator("main")).to_contain_text("Semua urutan sudah pasti")
    pack = tmp_path / "pack.zip"
    relevansi(empty_server.instance, "export", "--format", "proof-pack", "-o", pack)
    verified = document(relevansi(tmp_path, "verify", pack, "--format", "json"))
    assert verified["differences"] == []
    assert relevansi(empty_server.instance, "check").stdout.startswith("Equal")


def _plan(server: Server, page: Page) -> None:
    """Plan with the page's form, before any verdict."""
    page.goto(f"{server.url}/study/planning")
    plan = page.locator("#plan")
    plan.locator("[name=figure]").select_option("mrr")
    plan.locator("[name=difference]").fill("0,15")
    plan.locator("[name=power]").select_option("90")
    plan.locator("[name=deviation]").fill("0,28")
    plan.get_by_role("button").click()
    expect(page.locator("#plan")).to_contain_text(PLANNED)
    plan.get_by_role("button").click()  # the same again: the page is there already
    expect(plan.locator("form")).not_to_have_attribute("aria-busy", "true")
    expect(page.locator("#plan svg").first).to_be_attached()
    expect(page.locator("#sample")).to_contain_text("urutan biasa")


def _rate_until_settled(server: Server, page: Page) -> int:
    """Type what each page asks for until every order is settled; returns the verdicts given."""
    until = time.monotonic() + MOST_SECONDS
    page.goto(f"{server.url}/rate/")
    before = None
    while True:
        assert time.monotonic() < until, page.url
        asked = asked_now(page)
        if asked.get("task") not in {None, before} or asked.get("finished"):
            settled = json.loads(_compared(server, "json"))["settled"]
            if all(one["settled"] for one in settled):
                break
            assert not asked.get("finished"), settled
            before = asked["task"]
        keys = "".join(_key(asked["kind"], place) for place in asked.get("places", ()))
        page.keyboard.type(keys)
    return sum(event["field"] == "verdict" for event in server.events())


def _key(kind: str, place: dict[str, Any]) -> str:
    if kind == "grades":
        return "5" if GOOD in place["text"].lower() else "0"
    return "y" if GOOD in place["address"] else "t"


def _compared(server: Server, file_format: str) -> str:
    done = relevansi(server.instance, "compare", "--phase", "1", "--format", file_format)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _files(folder: Path) -> Iterator[Path]:
    for method, word in (("hybrid", GOOD), ("api_only", BAD)):
        results = [_result(number, word) for number in range(1, QUESTIONS + 1)]
        path = folder / f"{method}.json"
        made = {
            "timestamp": "20260301_090000",
            "thread_id": f"thread-{method}",
            "search_method": method,
            "llm": "model",
            "total_questions": QUESTIONS,
            "results": results,
        }
        path.write_text(json.dumps(made), "utf-8")
        yield path


def _result(number: int, word: str) -> dict[str, Any]:
    cards = [
        f"{rank}. **Rumah {word.title()} {number}{letter}**\n   📍 Binjai\n   💰 Rp 500.000.000\n"
        f"   🔗 [Lihat Detail](https://rumah.example/properti/{word}-{number}-{letter})"
        for rank, letter in enumerate("abc", start=1)
    ]
    response = "\n\n".join(["Berikut hasilnya:", *cards])
    return {
        "query_id": number,
        "question": f"Carikan rumah nomor {number} di Binjai",
        "category": "location_simple",
        "success": True,
        "response": response,
        "response_length": len(response),
        "results_count": CARDS,
    }
