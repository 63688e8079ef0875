"""Rated CSVs that lie beside imported runs: their figures against those stored here.

Such a file has counts but not the verdicts on single cards, so these cannot be imported from it.
It can be compared, which shows its owner whether it is still needed.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence

from msgspec import Struct
from sqlalchemy.orm import Session

from webapp.db.tables.study import Study
from webapp.exporters.exports.csv_ratings import rated_csv
from webapp.importers.runs import csv_ratings
from webapp.metrics.judging.figures import RunReport
from webapp.records import Problem
from webapp.services.exports.trees import is_rated
from webapp.services.runs import reports

FIGURES = slice(3, 11)  # results_count to response_quality: notes are for people


class RatedFileReport(Struct, frozen=True):
    """One rated CSV compared with the run it belongs to.

    ``run_id`` is ``None`` where no imported run has its questions. ``rated`` counts its rated
    questions; ``differing`` are those whose figures differ here. ``rated_here`` is true
    if the run has any rating at all.
    """

    name: str
    run_id: str | None = None
    rated: int = 0
    rated_here: bool = False
    differing: tuple[int, ...] = ()
    problems: tuple[Problem, ...] = ()


def compare(
    session: Session, study: Study, name: str, data: bytes, run_ids: Sequence[str]
) -> RatedFileReport:
    """Compare the rated CSV with the one of `run_ids` that it has the questions of."""
    read = csv_ratings.read(name, data)
    lines = _lines(read.report)
    rated = sum(bool(cells[1]) for cells in lines.values())
    rule = reports.rule_of(session, study)
    for run_id in run_ids:
        here = reports.report(session, study, run_id, rule, whole=True)
        asked = reports.report(session, study, run_id, rule)
        # A file written before a sample was drawn has the other questions too.
        if _lists(read.report) in (_lists(here), _lists(asked)):
            own = _lines(here)
            differing = tuple(number for number in lines if lines[number] != own[number])
            return RatedFileReport(name, run_id, rated, is_rated(here), differing, read.problems)
    return RatedFileReport(name, rated=rated, problems=read.problems)


def runs_of(session: Session, study: Study, report: RunReport, run_ids: Sequence[str]) -> list[str]:
    """Return those of `run_ids` with the questions and numbers of results of `report`.

    Where no run has just these, those that have more: a line of the file may be missing.
    """
    wanted = set(_lists(report))
    rule = reports.rule_of(session, study)
    lists = {
        run_id: set(_lists(reports.report(session, study, run_id, rule, whole=True)))
        for run_id in run_ids
    }
    if not wanted:
        return []
    whole = [run_id for run_id, found in lists.items() if found == wanted]
    return whole or [run_id for run_id, found in lists.items() if found > wanted]


def _lists(report: RunReport) -> list[tuple[int, str, int]]:
    """Return (number, question, number of results) of each list: equal for two files of a run."""
    return [
        (row.query_id, " ".join(row.question.split()), row.summary.results_count)
        for row in report.rows
    ]


def _lines(report: RunReport) -> Mapping[int, list[str]]:
    """Return the figures of each question as the file has them, by query id."""
    rows = csv.reader(io.StringIO(rated_csv(report).decode()))
    next(rows)
    return {int(row[0]): row[FIGURES] for row in rows}
