"""Rated CSVs, this product's and the original evaluation page's, as a report.

A row holds counts, no list of verdicts. A list that has these counts is made up again, so
that every figure comes out of the one core; no figure depends on which such list it is.

The original page has a thirteenth column, ``relevant_in_top5``, and wrote 0 into the rows
that nobody had rated. Such a row reads like one in which nothing is relevant: it is taken
as rated, and when nothing else in it speaks of a rating, a warning says so. A query that
was rated in part comes back as not rated at all, but for its "cannot tell" results: its row
has no counts. Its bounds are then wider than they were.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from webapp.i18n import mark
from webapp.importers import csv_table, rated_cells, rated_lists
from webapp.importers.csv_table import Record, read_table
from webapp.importers.rated_cells import Fault, Number, RatedCells
from webapp.metrics.summaries import (
    QueryJudgments,
    QueryRow,
    QuerySummary,
    RunReport,
    summarise,
)
from webapp.records import EmptyOutcome, Problem, QueryState, Severity

RULE = "rated file"
"""The rule of a report whose file does not say who rated."""

REQUIRED = ("query_id", "results_count", "relevant_count", "first_relevant_rank")

MESSAGES = {
    **csv_table.MESSAGES,
    **rated_cells.MESSAGES,
    **rated_lists.MESSAGES,
    "csv_query_repeated": mark(
        "%(file)s, line %(line)s: question number %(query)s stands in an earlier line too, which "
        "counts, so this one is left out. Keep one of them."
    ),
    "csv_above_results": mark(
        "%(file)s, line %(line)s: %(column)s is %(value)s, above results_count (%(results)s), so "
        "the line is left out. Correct either."
    ),
    "csv_relevant_without_rank": mark(
        "%(file)s, line %(line)s: relevant_count is %(relevant)s but there is no "
        "first_relevant_rank, so the line is left out. Fill it in."
    ),
    "csv_rank_without_relevant": mark(
        "%(file)s, line %(line)s: first_relevant_rank is %(rank)s but relevant_count is 0, so "
        "the line is left out. Correct either."
    ),
    "csv_contradiction": mark(
        "%(file)s, line %(line)s: %(column)s is %(given)s, but the other columns make it "
        "%(computed)s, which is used. Check the line."
    ),
    "csv_figures_without_count": mark(
        "%(file)s, line %(line)s: relevant_count is blank, so the question counts as not rated, "
        "although %(columns)s is filled in. Fill in relevant_count if it was rated."
    ),
    "csv_perhaps_unrated": mark(
        "%(file)s, line %(line)s: counted as rated, with nothing relevant. The original page "
        "writes the same for a question that nobody has rated; if it is one, leave "
        "relevant_count to success blank."
    ),
}
"""The problems of a rated CSV by code, as message ids."""


@dataclass(frozen=True, slots=True)
class RatedFile:
    """A rated CSV as read: the good rows in file order, and what is wrong, by line."""

    report: RunReport
    problems: tuple[Problem, ...]


def read(name: str, data: bytes, *, rule: str = RULE) -> RatedFile:
    """The report of the rated CSV `name`, which also becomes the name of the run.

    Commas or semicolons, a byte order mark or none, decimal point or comma, blanks or
    ``N/A``; columns go by their names. A row with an error is left out, one with a warning
    kept. Where a given figure contradicts the counts, the recomputed one stands.
    """
    table = read_table(name, data, required=REQUIRED)
    rows: dict[int, QueryRow] = {}
    problems = list(table.problems)
    for record in table.records:
        row, faults = _row(record)
        if row and rows.setdefault(row.query_id, row) is not row:
            faults = [Fault("csv_query_repeated", {"query": row.query_id})]
        problems += [_problem(name, record, fault) for fault in faults]
    problems.sort(key=lambda problem: problem.line or 0)
    return RatedFile(RunReport(name, rule, tuple(rows.values())), tuple(problems))


def _problem(name: str, record: Record, fault: Fault) -> Problem:
    number = record.cells["query_id"].strip()
    query_id = int(number) if number.isdecimal() and len(number) < 10 else None
    return Problem(fault.severity, fault.code, name, query_id, record.line, fault.details)


def _row(record: Record) -> tuple[QueryRow | None, list[Fault]]:
    """The row of `record` with its warnings, or ``None`` with its errors."""
    cells = rated_cells.typed_cells(record.cells)
    if isinstance(cells, list):
        return None, cells
    state = _state(cells)
    faults = list(_faults(cells, state))
    if faults:
        return None, faults
    verdicts = rated_lists.verdicts(cells) if state is QueryState.RESULTS else ()
    if isinstance(verdicts, Fault):
        return None, [verdicts]
    summary = summarise(QueryJudgments(state, verdicts, _outcome(cells), cells.response_quality))
    row = QueryRow(
        cells.query_id, cells.question, cells.category, _words(cells, state), summary, verdicts
    )
    return row, list(_warnings(cells, summary))


def _state(cells: RatedCells) -> QueryState:
    """What came back for the query; the notes say it where the numbers do not speak against it."""
    named = cells.notes.state
    if named is QueryState.UNREADABLE and cells.relevant_count is None and cells.success is None:
        return QueryState.UNREADABLE
    if named is QueryState.FAILED and not cells.results_count and "mrr" not in cells.figures:
        return QueryState.FAILED
    return QueryState.RESULTS if cells.results_count else QueryState.EMPTY


def _words(cells: RatedCells, state: QueryState) -> str:
    """The rater's own words: all of the notes, unless their beginning was a mark."""
    marked = state is cells.notes.state or (
        state is QueryState.RESULTS and cells.notes.unsure_ranks
    )
    return cells.notes.words if marked else cells.notes.whole


def _outcome(cells: RatedCells) -> EmptyOutcome | None:
    if cells.success is None:
        return None
    return EmptyOutcome.CORRECT_EMPTY if cells.success else EmptyOutcome.FALSE_NEGATIVE


def _faults(cells: RatedCells, state: QueryState) -> Iterator[Fault]:
    """What cannot be in `cells` taken together."""
    if state not in {QueryState.RESULTS, QueryState.EMPTY}:
        return
    results, relevant = cells.results_count, cells.relevant_count
    if results is None:
        yield Fault("csv_value_missing", {"column": "results_count"})
        return
    ranks = max(cells.notes.unsure_ranks, default=0) if results else 0
    for column, value in (
        ("relevant_count", relevant),
        ("relevant_in_top5", cells.relevant_in_top5),
        ("first_relevant_rank", cells.first_relevant_rank),
        ("notes (cannot tell: rank)", ranks),
    ):
        if value is not None and value > results:
            yield Fault("csv_above_results", {"column": column, "value": value, "results": results})
    if relevant and cells.first_relevant_rank is None:
        yield Fault("csv_relevant_without_rank", {"relevant": relevant})
    if relevant == 0 and cells.first_relevant_rank:
        yield Fault("csv_rank_without_relevant", {"rank": cells.first_relevant_rank})


def _warnings(cells: RatedCells, summary: QuerySummary) -> Iterator[Fault]:
    """What does not fit in a row that is kept."""
    if summary.state is QueryState.RESULTS and not summary.complete:
        others = {"first_relevant_rank": cells.first_relevant_rank, "success": cells.success}
        filled = [*cells.figures, *(name for name, value in others.items() if value is not None)]
        if filled:
            details = {"columns": ", ".join(filled)}
            yield Fault("csv_figures_without_count", details, Severity.WARNING)
    elif summary.complete:
        yield from _contradictions(cells, summary)
    if _perhaps_unrated(cells, summary):
        yield Fault("csv_perhaps_unrated", severity=Severity.WARNING)


def _contradictions(cells: RatedCells, summary: QuerySummary) -> Iterator[Fault]:
    """Each given figure that is not what the counts make it."""
    computed = {
        "overall_precision": summary.overall_precision.value,
        "precision_at_5": summary.precision_at_5.value,
        "mrr": summary.reciprocal_rank.value,
    }
    for column, given in cells.figures.items():
        if not _agree(given, computed[column], summary.state):
            yield _contradiction(column, f"{given.value:g}", computed[column])
    if cells.success is not None and cells.success != summary.success.value:
        yield _contradiction("success", str(cells.success), summary.success.value)
    top = cells.relevant_in_top5
    if (
        top is not None
        and summary.results_count <= rated_lists.TOP
        and top != summary.relevant_count
    ):
        yield _contradiction("relevant_in_top5", str(top), summary.relevant_count)


def _agree(given: Number, computed: float | None, state: QueryState) -> bool:
    """Whether `given` is `computed` to the 2 to 4 decimals it was written with.

    Without results an undefined figure may be written 0, as the original does.
    """
    if computed is None:
        return state is not QueryState.RESULTS and given.value == 0
    decimals = min(max(given.decimals, 2), 4)
    return abs(given.value - computed) <= 0.500001 * 10.0**-decimals


def _contradiction(column: str, given: str, computed: float | None) -> Fault:
    expected = "-" if computed is None else f"{computed:.4g}"
    details = {"column": column, "given": given, "computed": expected}
    return Fault("csv_contradiction", details, Severity.WARNING)


def _perhaps_unrated(cells: RatedCells, summary: QuerySummary) -> bool:
    """Whether a row of the original page has nothing in it that only a rater can write."""
    negative = summary.complete and summary.success.value == 0 and not summary.relevant_count
    silent = not cells.response_quality and not cells.notes.whole.strip()
    return cells.original and negative and silent
