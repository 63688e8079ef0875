"""Quality, notes and empty outcomes of a rated CSV, stored as its rater's own.

Verdicts on cards are not in such a file, so none are stored. A value that the rater has here
already is never changed silently: it is reported, and replaced only on request.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from uuid import uuid4

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.db.tables.runs import Query
from relevansi.db.tables.study import Study
from relevansi.exporters.exports.csv_ratings import OUTCOME_WORDS, rated_rows
from relevansi.exporters.frame.csv_cells import Value, rounded
from relevansi.importers.runs import csv_ratings
from relevansi.importers.runs.csv_ratings import RatedFile
from relevansi.importers.runs.prices import content_of
from relevansi.metrics.judging.figures import QueryRow, RunReport
from relevansi.printable import name_line
from relevansi.records import Click, Problem
from relevansi.services.exports.rated_runs import is_rated
from relevansi.services.exports.ratings import FileOfRatings, FileValue, RatingCounts, is_refused
from relevansi.services.judging import events
from relevansi.services.judging.events import Target, TargetChange
from relevansi.services.people import raters
from relevansi.services.runs import reports, runs

FIGURE_CELLS = slice(3, 11)  # results_count to response_quality: notes are for people


class RatedFileReport(Struct, frozen=True):
    """One rated CSV compared with the run it belongs to: ``run_id``, ``None`` if it is not here.

    ``rated`` counts its rated questions; ``differing`` are those whose figures differ here.
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
    rated = sum(cells[1] is not None for cells in lines.values())
    fits = runs_of(session, study, read.report, run_ids)
    if not fits:
        return RatedFileReport(name, rated=rated, problems=read.problems)
    rule = reports.rule_of(session, study)
    here = reports.report(session, study, fits[0], rule, with_unasked=True)
    lines_here = _lines(here)
    differing = tuple(number for number in lines if lines[number] != lines_here[number])
    return RatedFileReport(name, fits[0], rated, is_rated(here), differing, read.problems)


def runs_of(session: Session, study: Study, report: RunReport, run_ids: Sequence[str]) -> list[str]:
    """Return those of `run_ids` with the questions and numbers of results of `report`.

    Where no run has exactly these, those that have more: the file may lack a line.
    """
    lists_of_file, rule = _lists(report), reports.rule_of(session, study)
    lists = {
        run_id: _lists(reports.report(session, study, run_id, rule, with_unasked=True))
        for run_id in (run_ids if lists_of_file else ())
    }
    same = [run_id for run_id, of_run in lists.items() if of_run == lists_of_file]
    return same or [run_id for run_id, of_run in lists.items() if of_run > lists_of_file]


def _lists(report: RunReport) -> set[tuple[int, str, int]]:
    """Return (number, question, number of results) of each list: equal for two files of a run."""
    return {
        (row.query_id, " ".join(row.question.split()), row.summary.results_count)
        for row in report.rows
    }


def _lines(report: RunReport) -> Mapping[int, list[Value]]:
    """Return the cells with figures of each line, by query id, rounded as files have them."""
    original = replace(report, is_original=True)  # the columns that are read from files
    lines: dict[int, list[Value]] = {}
    for row, cells in zip(report.rows, rated_rows(original), strict=True):
        figures = cells[FIGURE_CELLS]
        lines[row.query_id] = [rounded(c) if isinstance(c, float) else c for c in figures]
    return lines


class RatedImport(FileOfRatings, frozen=True):
    """The effect of importing a rated CSV: ``new`` values, and ``others`` that differ.

    ``lines`` are those that can be used. ``fits`` are the runs with the file's questions and
    numbers of results; ``run_id`` is the only one of them.
    """

    lines: int = 0
    fits: tuple[str, ...] = ()
    new: tuple[FileValue, ...] = ()
    others: tuple[FileValue, ...] = ()
    replaced: bool = False

    @property
    def brings_something(self) -> bool:
        """Whether storing the file can change anything."""
        return self.storable and bool(self.new or self.others)

    def stored(self, *, overwrite: bool) -> tuple[FileValue, ...]:
        """Return the values that are stored: the new ones, with `overwrite` the others too."""
        return (*self.new, *self.others) if overwrite else self.new


def examine(session: Session, study: Study, read: RatedFile, rater: str | None) -> RatedImport:
    """Return the report of importing a rated CSV as `rater`'s, without storing anything.

    Without a rater it has only the run and the counts.
    """
    by_id = {run.id: run for run in runs.in_order(session, study)}
    fits = runs_of(session, study, read.report, [*by_id])
    rater_name = name_line(rater or "")
    stored_rater = raters.find_named(session, study, rater_name) if rater_name else None
    report = RatedImport(
        name=read.report.run,
        rater=stored_rater.name if stored_rater else rater_name,
        rater_is_new=bool(rater_name) and stored_rater is None,
        refused=is_refused(stored_rater),
        lines=len(read.report.rows),
        fits=tuple(fits),
        counts=RatingCounts.of(field for row in read.report.rows for field, _ in _values(row)),
        problems=read.problems,
    )
    if len(fits) != 1:
        return report
    run = by_id[fits[0]]
    report = replace(report, run_id=run.id, search_method=run.search_method, llm=run.llm)
    if not report.storable:
        return report
    here: dict[tuple[int, str], str] = {}
    if stored_rater is not None:
        stored = reports.report(
            session, study, run.id, reports.of_rater(stored_rater), with_unasked=True
        )
        here = {
            (row.query_id, field): value for row in stored.rows for field, value in _values(row)
        }
    new: list[FileValue] = []
    others: list[FileValue] = []
    for row in read.report.rows:
        for field, value in _values(row):
            stored_value = here.get((row.query_id, field))
            if stored_value != value:
                values = new if stored_value is None else others
                values.append(FileValue(row.query_id, field, stored_value, value))
    return replace(report, new=tuple(new), others=tuple(others))


def store(
    session: Session,
    study: Study,
    read: RatedFile,
    rater: str,
    now: datetime,
    *,
    overwrite: bool = False,
) -> RatedImport:
    """Store the values that `rater` lacks; replace those that differ with `overwrite`.

    A rater of that name is made if there is none. Nothing is stored where the report is not
    ``storable``.
    """
    stored_rater = raters.find_named(session, study, rater)
    if stored_rater is not None:
        # No click comes between the report and what is stored by it.
        events.lock(session, stored_rater)
    report = examine(session, study, read, rater)
    if report.run_id is None or not report.storable:
        return report
    # A new rater needs no lock: nobody else knows of it yet.
    stored_rater = stored_rater or raters.add(session, study, report.rater, now)
    in_run = select(Query).where(Query.run_id == report.run_id)
    queries = {query.query_id: query for query in session.scalars(in_run)}
    changes = []
    for value in report.stored(overwrite=overwrite):
        query = queries[value.query_id]
        target = Target(value.field, None, query.id)
        if value.field == "empty_outcome":
            target = Target("verdict", query.emptiness_id, query.id)
        # A rated CSV has no ids of clicks, so each value becomes a new event.
        changes.append(TargetChange(target, value.in_file, Click(uuid4().hex, now)))
    events.record_all(session, stored_rater, changes, cause="import")
    events.refresh(session, stored_rater, [change.target for change in changes])
    return replace(report, replaced=overwrite)


def _values(row: QueryRow) -> Iterator[tuple[str, str]]:
    """The values of a question that a rater can give, as events hold them.

    A quality between two grades is the median of several raters, not the grade of one. Notes
    that only state the outcome of an empty list are not a note.
    """
    quality, outcome = row.summary.quality, row.summary.empty_outcome
    if quality is not None and quality == int(quality):
        yield "quality", str(int(quality))
    only_outcome = outcome is not None and row.notes.strip() == OUTCOME_WORDS[outcome]
    if content_of(row.notes) and not only_outcome:
        yield "notes", row.notes.strip()
    if outcome is not None:
        yield "empty_outcome", outcome.value
