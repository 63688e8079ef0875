"""(d) A very large run, in and out."""

from __future__ import annotations

import json
from pathlib import Path

from relevansi.config import sqlite_url
from relevansi.db.engine import Database
from tests.benchmarks.load import Ran, python
from tests.benchmarks.report import Measurement, Section
from tests.benchmarks.studies import run_file, run_ids

CARDS, IN_ANSWER = 20_000, 10
HOW = """\
`relevansi import` and `relevansi export` as whole processes, once each, on one run of so many
cards; the cards are read out of the chatbot's text and stored in a new database. Per second counts
cards, MB is the most memory the process held. The yardstick reads the same JSON with Python's
`json` and writes a line for every answer with `csv`, or everything with `json`: it finds no cards,
checks nothing and stores nothing."""
READ = """\
import csv, json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    document = json.load(file)
"""
AS_CSV = f"""{READ}
with open(sys.argv[2], "w", encoding="utf-8", newline="") as file:
    csv.writer(file).writerows(row.values() for row in document["results"])
"""
AS_JSON = f"""{READ}
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(document, file, ensure_ascii=False, indent=1)
"""


def files(folder: Path) -> Section:
    """Return what an import and two exports of a large run take."""
    source, instance, out = folder / "run.json", folder / "instance", folder / "out"
    source.write_text(json.dumps(run_file(CARDS // IN_ANSWER, range(IN_ANSWER))), "utf-8")
    to_csv = python("-c", AS_CSV, source, out)
    to_json = python("-c", AS_JSON, source, out)
    amount = f"{CARDS:,} cards"
    imported = python("-m", "relevansi", "import", source, instance=instance)
    rows = [_row(f"import, JSON, {amount}", imported, "json and csv", to_csv)]
    database = Database(sqlite_url(instance / "relevansi.sqlite"))
    (run_id,) = run_ids(database)
    database.close()
    for file_format, yardstick, theirs in (
        ("csv", "json and csv", to_csv),
        ("json", "json in and out", to_json),
    ):
        expected = ("-m", "relevansi", "export", run_id, "--format", file_format, "-o", out)
        process = python(*expected, instance=instance)
        rows.append(_row(f"export, {file_format.upper()}, {amount}", process, yardstick, theirs))
    rows += [_row("- json and csv", to_csv), _row("- json in and out", to_json)]
    return Section("d. Files", HOW, rows)


def _row(what: str, ran: Ran, yardstick: str = "", theirs: Ran | None = None) -> Measurement:
    ratio = ran.seconds / theirs.seconds if theirs else None
    took, rate = [ran.seconds * 1000], CARDS / ran.seconds
    return Measurement(what, took, rate, ran.megabytes, yardstick, ratio)
