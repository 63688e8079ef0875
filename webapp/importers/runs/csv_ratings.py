"""Rated CSVs, this product's and the original evaluation page's, as a report.

A row holds counts and no list of verdicts. A figure has a value where every list with these
counts has the same one; else its bounds are the lowest and the highest of them, and the line
is reported. Blank figures, and columns that are not there, are computed from the counts.

The original page has a thirteenth column, ``relevant_in_top5``, and wrote 0 into the rows
that nobody had rated. Such a row reads like one in which nothing is relevant: it is taken
as rated, and when nothing else in it speaks of a rating, a warning says so. A query that
was rated in part comes back as not rated at all, but for its "cannot tell" results: its row
has no counts. Its bounds are then wider than they were.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from webapp.i18n import mark
from webapp.importers.runs import csv_table, rated_cells, rated_counts
from webapp.importers.runs.csv_table import Record, read_table
from webapp.importers.runs.prices import said
from webapp.importers.runs.rated_cells import CellFault, RatedCells
from webapp.metrics.judging.figures import TOP, QueryRow, RunReport
from webapp.metrics.judging.queries import QueryJudgments, QuerySummary, Span, summarise
from webapp.records import EmptyOutcome, Problem, QueryState, Relevance, Severity

RULE = "rated file"
"""The rule of a report whose file does not say who rated."""

REQUIRED = ("query_id", "results_count", "relevant_count")

MESSAGES = {
    **csv_table.MESSAGES,
    **rated_cells.MESSAGES,
    **rated_counts.MESSAGES,
    "csv_query_repeated": mark(
        "%(file)s, line %(line)s: question number %(query)s is in an earlier line too. "
        "That line counts and this one is left out. Keep one of them."
    ),
    "csv_above_results": mark(
        "%(file)s, line %(line)s: %(column)s is %(value)s, above results_count (%(results)s), so "
        "the line is left out. Correct either."
    ),
    "csv_rank_without_relevant": mark(
        "%(file)s, line %(line)s: first_relevant_rank is %(rank)s but relevant_count is 0, so "
        "the line is left out. Correct either."
    ),
    "csv_contradiction": mark(
        "%(file)s, line %(line)s: %(column)s is %(given)s, but the other columns make it "
        "%(computed)s, which is used. Check the line."
    ),
    "csv_outcome_contradiction": mark(
        "%(file)s, line %(line)s: success is %(success)s, but the notes say “%(notes)s”; success "
        "is used. Correct either."
    ),
    "csv_figures_without_count": mark(
        "%(file)s, line %(line)s: relevant_count is blank, so the question counts as not rated, "
        "although %(columns)s is filled in. Fill in relevant_count if it was rated."
    ),
    "csv_cannot_tell_differs": mark(
        '%(file)s counts "cannot tell" in another way than %(other)s: in one it is not relevant, '
        "in the other left out, so their precisions cannot be compared. Export both from studies "
        "with the same setting."
    ),
    "csv_perhaps_unrated": mark(
        "%(file)s, line %(line)s: counted as rated, with nothing relevant. The original page "
        "writes the same for a question that nobody has rated; if it is one, leave "
        "relevant_count to success blank."
    ),
}
"""The problems of a rated CSV by code, as message ids."""


class RatedFile(Struct, frozen=True):
    """A rated CSV as read: the good rows in file order, and the problems by line."""

    report: RunReport
    problems: tuple[Problem, ...]


def recognises(data: bytes) -> bool:
    """Whether the first line of a file is that of a rated CSV."""
    first, _, _ = data[: csv_table.LONGEST_HEADER].partition(b"\n")
    return not read_table("", first, required=REQUIRED).problems


def read(name: str, data: bytes, *, rule: str = RULE) -> RatedFile:
    """The report of the rated CSV `name`, which also becomes the name of the run.

    Commas or semicolons, a byte order mark or none, decimal point or comma, blanks or
    ``N/A``; columns go by their names. A row with an error is left out, one with a warning
    kept. Where a given figure contradicts the counts, the recomputed one is used.
    """
    table = read_table(name, data, required=REQUIRED)
    rows: dict[int, QueryRow] = {}
    problems = list(table.problems)
    for record in table.records:
        row, faults = _row(record)
        if row and rows.setdefault(row.query_id, row) is not row:
            faults = [CellFault("csv_query_repeated", {"query": row.query_id})]
        problems += [_problem(name, record, fault) for fault in faults]
    problems.sort(key=lambda problem: problem.line or 0)
    notes = (rated_cells.parsed_notes(one.cells.get("notes", "")) for one in table.records)
    ways = {one.cannot_tell for one in notes} - {None}
    cannot_tell = ways.pop() if len(ways) == 1 else None
    report = RunReport(name, rule, tuple(rows.values()), cannot_tell=cannot_tell)
    return RatedFile(report, tuple(problems))


def _problem(name: str, record: Record, fault: CellFault) -> Problem:
    number = record.cells["query_id"].strip()
    query_id = int(number) if number.isdecimal() and len(number) < 10 else None
    return Problem(fault.severity, fault.code, name, query_id, record.line, fault.details)


def _row(record: Record) -> tuple[QueryRow | None, list[CellFault]]:
    """The row of `record` with its warnings, or ``None`` with its errors."""
    cells = rated_cells.typed_cells(record.cells)
    if isinstance(cells, list):
        return None, cells
    state = _state(cells)
    faults = list(_faults(cells, state))
    if faults:
        return None, faults
    summary = _summary(cells, state)
    if isinstance(summary, CellFault):
        return None, [summary]
    row = QueryRow(
        query_id=cells.query_id,
        question=cells.question,
        category=cells.category,
        notes=_words(cells, state),
        summary=summary,
        verdicts=_known(cells, state) if summary.unsure_count else (),
    )
    return row, list(_warnings(cells, summary))


def _summary(cells: RatedCells, state: QueryState) -> QuerySummary | CellFault:
    """The summary of a row, or why no list of results has its counts."""
    if state is QueryState.RESULTS and cells.relevant_count is not None:
        return rated_counts.counted_summary(cells)
    outcome = _outcome(cells) if state is QueryState.EMPTY else None
    known = QueryJudgments(state, _known(cells, state), outcome, cells.response_quality)
    return summarise(known, cannot_tell=cells.notes.cannot_tell or "not_relevant")


def _known(cells: RatedCells, state: QueryState) -> tuple[Relevance | None, ...]:
    """The verdicts by rank that the row names: "cannot tell", and ``None`` for the others."""
    count = (cells.results_count or 0) if state is QueryState.RESULTS else 0
    unsure = cells.notes.unsure_ranks
    return tuple(Relevance.UNSURE if rank in unsure else None for rank in range(1, count + 1))


def _state(cells: RatedCells) -> QueryState:
    """The state of the query; the notes decide it unless the numbers contradict them."""
    named = cells.notes.state
    if named is QueryState.UNREADABLE and cells.relevant_count is None and cells.success is None:
        return QueryState.UNREADABLE
    if named is QueryState.FAILED and not cells.results_count and "mrr" not in cells.figures:
        return QueryState.FAILED
    return QueryState.RESULTS if cells.results_count else QueryState.EMPTY


def _words(cells: RatedCells, state: QueryState) -> str:
    """The rater's own words: all of the notes, but for a mark at their beginning.

    A note that is only a blank sign, such as "-", is not a note.
    """
    marked = state is cells.notes.state or (
        state is QueryState.RESULTS and cells.notes.unsure_ranks
    )
    words = cells.notes.words if marked else cells.notes.whole
    return words if said(words) else ""


def _outcome(cells: RatedCells) -> EmptyOutcome | None:
    """The outcome of an empty list: from success, else from the notes."""
    if cells.success is None:
        return cells.notes.outcome
    return EmptyOutcome.CORRECT_EMPTY if cells.success else EmptyOutcome.FALSE_NEGATIVE


def _faults(cells: RatedCells, state: QueryState) -> Iterator[CellFault]:
    """The contradictions between `cells` that make the row unusable."""
    if state not in {QueryState.RESULTS, QueryState.EMPTY}:
        return
    results, relevant = cells.results_count, cells.relevant_count
    if results is None:
        yield CellFault("csv_value_missing", {"column": "results_count"})
        return
    ranks = max(cells.notes.unsure_ranks, default=0) if results else 0
    for column, value in (
        ("relevant_count", relevant),
        ("relevant_in_top5", cells.relevant_in_top5),
        ("first_relevant_rank", cells.first_relevant_rank),
        ("notes (cannot tell: rank)", ranks),
    ):
        if value is not None and value > results:
            yield CellFault(
                "csv_above_results", {"column": column, "value": value, "results": results}
            )
    if relevant == 0 and cells.first_relevant_rank:
        yield CellFault("csv_rank_without_relevant", {"rank": cells.first_relevant_rank})


def _warnings(cells: RatedCells, summary: QuerySummary) -> Iterator[CellFault]:
    """The contradictions in a row that is kept."""
    if summary.state is QueryState.RESULTS and not summary.complete:
        others = {"first_relevant_rank": cells.first_relevant_rank, "success": cells.success}
        filled = [*cells.figures, *(name for name, value in others.items() if value is not None)]
        if filled:
            details = {"columns": ", ".join(filled)}
            yield CellFault("csv_figures_without_count", details, Severity.WARNING)
    elif summary.complete:
        yield from rated_counts.left_open(summary)
        yield from _contradictions(cells, summary)
    if summary.empty_outcome and cells.notes.outcome not in {None, summary.empty_outcome}:
        said = {"success": str(cells.success), "notes": cells.notes.whole[:80]}
        yield CellFault("csv_outcome_contradiction", said, Severity.WARNING)
    if _perhaps_unrated(cells, summary):
        yield CellFault("csv_perhaps_unrated", severity=Severity.WARNING)


def _contradictions(cells: RatedCells, summary: QuerySummary) -> Iterator[CellFault]:
    """Each given figure that differs from the one computed from the counts."""
    computed = {
        "overall_precision": summary.overall_precision,
        "precision_at_5": summary.precision_at_5,
        "mrr": summary.reciprocal_rank,
    }
    for column, given in cells.figures.items():
        undefined = summary.state is not QueryState.RESULTS and given.value == 0
        if not undefined and not rated_counts.agrees(given, computed[column]):
            yield _contradiction(column, f"{given.value:g}", computed[column])
    if cells.success is not None and cells.success != summary.success.value:
        yield _contradiction("success", str(cells.success), summary.success)
    top = cells.relevant_in_top5
    if top is not None and summary.results_count <= TOP and top != summary.relevant_count:
        yield _contradiction("relevant_in_top5", str(top), Span.settled(summary.relevant_count))


def _contradiction(column: str, given: str, computed: Span) -> CellFault:
    bounds = sorted({f"{end:.4g}" for end in (computed.lower, computed.upper) if end is not None})
    expected = " - ".join(bounds) or "-"
    details = {"column": column, "given": given, "computed": expected}
    return CellFault("csv_contradiction", details, Severity.WARNING)


def _perhaps_unrated(cells: RatedCells, summary: QuerySummary) -> bool:
    """Whether a row of the original page has nothing in it that only a rater can write."""
    negative = summary.complete and summary.success.value == 0 and not summary.relevant_count
    silent = not cells.response_quality and not said(cells.notes.whole)
    return cells.original and negative and silent
