"""(e) A very large run, in and out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import select

from tests.benchmarks.effort import Effort
from tests.benchmarks.processes import Ran, python, relevansi
from tests.benchmarks.results import Measurement, Section, Times
from tests.benchmarks.studies import answer, category, question_text
from webapp.config import sqlite_url
from webapp.db.engine import Database
from webapp.db.tables.runs import Run

CARDS = 10
"""In each answer."""
HOW = """\
`relevansi import` and `relevansi export` as whole processes, once each, on one run of so many
cards; the cards are read out of the chatbot's text and stored in a new database. Per second counts
cards, MB is the most memory the process held. The yardstick reads the same JSON with Python's
`json` and writes a line for every answer with `csv`, or everything with `json`: it finds no cards,
checks nothing and stores nothing."""
AS_CSV = """\
import csv, json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    document = json.load(file)
with open(sys.argv[2], "w", encoding="utf-8", newline="") as file:
    writer = csv.writer(file)
    for row in document["results"]:
        writer.writerow(row.values())
"""
AS_JSON = """\
import json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    document = json.load(file)
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(document, file, ensure_ascii=False, indent=1)
"""


def files(effort: Effort, folder: Path) -> Section:
    """Return what an import and two exports of a large run take."""
    given, instance, out = folder / "run.json", folder / "instance", folder / "out"
    given.write_text(json.dumps(_document(effort.cards // CARDS)), "utf-8")
    to_csv = python("-c", AS_CSV, given, out)
    to_json = python("-c", AS_JSON, given, out)
    named = f"{effort.cards:,} cards"
    row = _row(effort.cards)
    rows = [
        row(f"import, JSON, {named}", relevansi(instance, "import", given), "json and csv", to_csv)
    ]
    for file_format, yardstick, theirs in (
        ("csv", "json and csv", to_csv),
        ("json", "json in and out", to_json),
    ):
        wanted = ("export", _run_id(instance), "--format", file_format, "-o", out)
        done = relevansi(instance, *wanted)
        rows.append(row(f"export, {file_format.upper()}, {named}", done, yardstick, theirs))
    rows += [row("- json and csv", to_csv), row("- json in and out", to_json)]
    return Section("d. Files", HOW, rows)


def _row(cards: int) -> Callable[..., Measurement]:
    """Return how the row of a process is made."""

    def row(what: str, ran: Ran, yardstick: str = "", theirs: Ran | None = None) -> Measurement:
        return Measurement(
            what,
            Times.of([ran.seconds * 1000]),
            per_second=cards / ran.seconds,
            memory=ran.megabytes,
            yardstick=yardstick,
            ratio=ran.seconds / theirs.seconds if theirs else None,
        )

    return row


def _document(questions: int) -> dict[str, object]:
    """Return a run file of the first format."""
    results = []
    for number in range(1, questions + 1):
        response = answer(number, range(CARDS))
        results.append(
            {
                "query_id": number,
                "question": question_text(number),
                "category": category(number),
                "success": True,
                "response": response,
                "response_length": len(response),
                "results_count": CARDS,
            }
        )
    return {
        "timestamp": "20260301_090000",
        "thread_id": "bench",
        "search_method": "hybrid",
        "llm": "made up",
        "total_questions": questions,
        "successful": questions,
        "results": results,
    }


def _run_id(instance: Path) -> str:
    database = Database(sqlite_url(instance / "relevansi.sqlite"))
    with database.reading() as session:
        found = session.scalars(select(Run.id)).one()
    database.close()
    return found
