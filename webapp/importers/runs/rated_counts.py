"""The counts of a rated row as a summary, with what they leave open or contradict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from webapp.i18n import mark
from webapp.importers.runs.rated_cells import CellFault, RatedCells, WrittenNumber
from webapp.metrics.judging.figures import TOP, ListCounts, Placing, placings, summarise_counts
from webapp.metrics.judging.queries import QuerySummary, Span
from webapp.records import Severity

MESSAGES = {
    "csv_top_open": mark(
        "%(file)s, line %(line)s: precision_at_5 is blank and the counts leave it open between "
        "%(lowest)s and %(highest)s, so this question has none. Fill it in to have it counted."
    ),
    "csv_rank_open": mark(
        "%(file)s, line %(line)s: first_relevant_rank is blank and the counts leave mrr open "
        "between %(lowest)s and %(highest)s, so this question has none. Fill it in to have it "
        "counted."
    ),
    "csv_impossible_list": mark(
        "%(file)s, line %(line)s: no list of %(results)s results has %(relevant)s relevant ones, "
        "the first at rank %(rank)s and %(top)s in the first 5, so the line is left out. Check "
        "relevant_count, first_relevant_rank and precision_at_5."
    ),
}


def counted_summary(cells: RatedCells) -> QuerySummary | CellFault:
    """The summary of a row with a relevant_count, or why no list of results has its counts."""
    counts = ListCounts(
        results=cells.results_count or 0,
        relevant=cells.relevant_count or 0,
        unsure_ranks=cells.notes.unsure_ranks,
        first_relevant_rank=cells.first_relevant_rank,
        relevant_in_top=_relevant_in_top(cells),
    )
    possible = placings(counts)
    if not possible:
        return CellFault("csv_impossible_list", _told(counts))
    return summarise_counts(
        counts,
        _of_mrr(cells, possible),
        cells.response_quality,
        cannot_tell=cells.notes.cannot_tell or "not_relevant",
    )


def left_open(summary: QuerySummary) -> Iterator[CellFault]:
    """The figures of a counted row that more than one value is possible for."""
    for code, span in (
        ("csv_top_open", summary.precision_at_5),
        ("csv_rank_open", summary.reciprocal_rank),
    ):
        if span.value is None and span.lower is not None:
            details = {"lowest": f"{span.lower:.4g}", "highest": f"{span.upper:.4g}"}
            yield CellFault(code, details, Severity.WARNING)


def agrees(given: WrittenNumber, span: Span) -> bool:
    """Whether a written figure is that of `span`, or one of those that are left open."""
    if span.lower is None or span.upper is None:
        return False
    margin = given.margin
    return span.lower - margin <= given.value <= span.upper + margin


def _relevant_in_top(cells: RatedCells) -> int | None:
    """Number of relevant results in the first five as the row states it, where it decides."""
    if (cells.results_count or 0) <= TOP:
        return None  # all of them; another number is reported as a contradiction
    if cells.relevant_in_top5 is not None:
        return cells.relevant_in_top5
    given = cells.figures.get("precision_at_5")
    if given is None:
        return None
    left_out = cells.notes.unsure_ranks if cells.notes.cannot_tell == "left_out" else ()
    return int(given.value * (TOP - sum(rank <= TOP for rank in left_out)) + 0.5)


def _of_mrr(cells: RatedCells, possible: Sequence[Placing]) -> Sequence[Placing]:
    """Those of the `possible` placings that a written mrr names; all, where it names none."""
    given = cells.figures.get("mrr")
    if given is None:
        return possible
    named = [way for way in possible if way.first and agrees(given, Span.settled(1 / way.first))]
    return named or possible


def _told(counts: ListCounts) -> dict[str, str | int]:
    first, top = counts.first_relevant_rank, counts.relevant_in_top
    return {
        "results": counts.results,
        "relevant": counts.relevant,
        "rank": first or "-",
        "top": min(counts.relevant, TOP) if top is None else top,
    }
