"""The blind rating page as the tests read it, and a small study of three runs for it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from playwright.sync_api import Error, Page, expect

from tests.browser.server import Server, import_runs
from tests.cli.relevansi import relevansi

METHODS = ("hybrid", "api_only", "vector_only")
QUESTIONS = (
    ("Carikan rumah di Binjai", "location_simple"),
    ("Ada ruko di Berastagi?", "property_type"),
    ("Ada pilihan lain?", "context_followup"),
)
LISTS: dict[str, tuple[tuple[tuple[str, int], ...], ...]] = {
    "hybrid": (
        (("Rumah Melati", 500), ("Rumah Kenanga", 650), ("Rumah Dahlia", 700)),
        (("Ruko Jaya", 900),),
        (("Rumah Tulip", 400),),
    ),
    "api_only": ((("Rumah Kenanga", 650), ("Rumah Mawar", 480)), (), (("Rumah Tulip", 400),)),
    "vector_only": (
        (("Rumah Melati", 550), ("Rumah Dahlia", 700)),
        (("Ruko Jaya", 900), ("Ruko Abadi", 800)),
        (("Rumah Tulip", 400), ("Rumah Anggrek", 300)),
    ),
}
"""The cards that each method lists for each question: titles and prices in millions."""

PLACE = """() => {
  const at = document.activeElement;
  const text = location.href + document.documentElement.outerHTML;
  if (document.querySelector("h1#finished")) return {kind: "finished", text};
  const place = at?.closest(".card, #outcome, .grades");
  if (!place || !document.documentElement.classList.contains("scripted")) return {text};
  if (place.matches(".grades")) {
    return {kind: "grades", name: place.id, open: !place.querySelector(":checked"), text};
  }
  const kind = place.id === "outcome" ? "outcome" : "card";
  const name = (place.querySelector("h2 bdi") ?? place).textContent.trim();
  return {kind, name, open: !place.dataset.verdict, text};
}"""


def study_files(folder: Path) -> list[Path]:
    paths = [folder / f"rahasia_{method}.json" for method in METHODS]
    for method, path in zip(METHODS, paths, strict=True):
        results = [
            _result(number, question, category, LISTS[method][number - 1])
            for number, (question, category) in enumerate(QUESTIONS, start=1)
        ]
        document = {
            "timestamp": "20260301_090000",
            "thread_id": f"thread-{method}",
            "search_method": method,
            "llm": "model-rahasia",
            "total_questions": len(results),
            "results": results,
        }
        path.write_text(json.dumps(document), "utf-8")
    return paths


def import_study(instance: Path, folder: Path) -> list[str]:
    return import_runs(instance, *study_files(folder))


def invite(server: Server, name: str) -> str:
    process = relevansi(server.instance, "invite", name)
    matches = re.search(r"/join/\S+", process.stdout)
    assert matches, process.stdout + process.stderr
    return server.url + matches[0]


def join(page: Page, link: str) -> None:
    page.goto(link)
    page.locator("main form button").click()
    expect(page.locator("html")).to_have_class("scripted")


def place(page: Page) -> dict[str, Any]:
    """The place with focus (a card, the outcome, the grades of an answer), or that all is done.

    It comes with every byte of the page; between two pages its kind is "none".
    """
    nothing: dict[str, Any] = {"kind": "none", "open": False, "text": ""}
    try:
        return {**nothing, **page.evaluate(PLACE)}
    except Error:
        return nothing


def _result(
    number: int, question: str, category: str, cards: tuple[tuple[str, int], ...]
) -> dict[str, Any]:
    lines = [
        f"{rank}. **{title}**\n   📍 Binjai\n   💰 Rp {millions}.000.000\n   🏠 3 Kamar Tidur"
        for rank, (title, millions) in enumerate(cards, start=1)
    ]
    response = "\n\n".join(["Berikut hasilnya:", *lines]) if lines else "Maaf, tidak ada."
    return {
        "query_id": number,
        "question": question,
        "category": category,
        "success": True,
        "response": response,
        "response_length": len(response),
        "results_count": len(cards),
    }
