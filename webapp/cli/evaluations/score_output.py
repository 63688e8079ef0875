"""How the results of ``relevansi score`` are written: a summary, and items of any number."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import click

from webapp.cli.evaluations.score_tables import report_table
from webapp.cli.frame import progress
from webapp.cli.frame.output import say, write, write_pieces
from webapp.exporters.evaluations import score_reports
from webapp.exporters.evaluations.score_files import csv_file, json_file
from webapp.exporters.evaluations.waiting_rows import WaitingRows
from webapp.i18n import gettext
from webapp.importers.evaluations import expected_json
from webapp.importers.evaluations.expected_json import JsonQuestionSet
from webapp.importers.runs import problems
from webapp.importers.runs.problems import ImportRefused
from webapp.records import Problem

ITEM_FORMATS = ("json", "csv")
"""The formats that hold every item; the others hold the summary."""

_SHOWN_FROM_BYTES = 2 * 2**20
"""From this size of a file on, its reading is shown on a terminal."""


def write_items(
    rows: WaitingRows,
    head: Mapping[str, Any],
    columns: Sequence[str],
    file_format: str,
    output: Path | None,
) -> None:
    """Write all items: JSON behind the keys of `head`, CSV under its columns."""
    pieces = csv_file(columns, rows) if file_format == "csv" else json_file(head, rows)
    if output is None:
        write_pieces(pieces)
        return
    with output.open("wb") as file:
        file.writelines(pieces)


def write_report(
    kind: str,
    name: str,
    head: Mapping[str, Any],
    figures: Sequence[Mapping[str, Any]],
    file_format: str,
    output: Path | None,
) -> None:
    """Write the summary of a file as a table for the terminal, or as a report."""
    report = score_reports.report(kind, name, head, figures)
    writer = score_reports.WRITERS.get(file_format)
    write(writer(report) if writer else report_table(report), output)


def tell(found: Problem) -> None:
    """Print a problem of a file on the standard error."""
    say(f"relevansi: {problems.message(found)}", err=True)


def failure_of(refused: ImportRefused) -> click.ClickException:
    """Return the failure to end with; every other problem of the file is printed before."""
    for problem in refused.problems[1:]:
        tell(problem)
    return click.ClickException(problems.message(refused.problem))


def questions_in(path: Path) -> JsonQuestionSet:
    """Return the questions with expected JSON answers in a file, its problems printed."""
    try:
        asked = expected_json.read_questions(path.name, path.read_bytes())
    except ImportRefused as refused:
        raise failure_of(refused) from refused
    for problem in asked.problems:
        tell(problem)
    return asked


@contextmanager
def reading(path: Path) -> Iterator[BinaryIO]:
    """`path` opened to be read, with a bar on a terminal while a large one is."""
    size = path.stat().st_size
    with path.open("rb") as file:
        if size < _SHOWN_FROM_BYTES or not sys.stderr.isatty():
            yield file
            return
        words = gettext("Scoring %(file)s", file=path.name)
        with progress.reading(file, size, words) as shown:
            yield shown
