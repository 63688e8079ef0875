"""The rated CSV, in the original evaluation page's columns, and its long form."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from relevansi import labels
from relevansi.exporters.exports.judging_sentences import unsampled_sentence
from relevansi.exporters.exports.metrics_tables import by_column, values_by_column
from relevansi.exporters.frame.csv_cells import DECIMALS, CsvStyle, Value, csv_bytes
from relevansi.exporters.frame.json_files import fields
from relevansi.i18n import ngettext
from relevansi.metrics.judging.figures import QueryRow, RunReport, averaged
from relevansi.metrics.judging.queries import MEANS, QUALITY
from relevansi.notation import half_up
from relevansi.records import CannotTell, EmptyOutcome, QueryState, Relevance

RATED_COLUMNS = (
    *("query_id", "question", "category", "results_count", "relevant_count"),
    *("first_relevant_rank", "overall_precision", "precision_at_5", "mrr", "success"),
    *("response_quality", "notes"),
)
"""The columns of the original evaluation page's CSV, in its order."""

# English in every language: the original page's scripts read these words.
_STATE_WORDS = {QueryState.FAILED: "call failed", QueryState.UNREADABLE: "unreadable answer"}
OUTCOME_WORDS = {
    EmptyOutcome.CORRECT_EMPTY: "no data exists",
    EmptyOutcome.FALSE_NEGATIVE: "should have results",
}
"""The notes of an empty list where the rater wrote none."""
_OWN_WORDS = "own words: "
# A rater may write what the notes begin with by themselves: then these words come before it.
_TAKEN_FOR_OURS = re.compile(
    rf"(?:{_OWN_WORDS})*(?:call failed|unreadable answer|cannot tell(?: \(not relevant\))?: rank )",
    re.IGNORECASE,
)


def columns_of(report: RunReport) -> tuple[str, ...]:
    """The columns of the rated CSV: the original ones for a study of the original method.

    Other studies have their own figures in the place of its, and the quality where it is asked.
    """
    if report.is_original:
        return RATED_COLUMNS
    figures = (MEANS.get(name, name) for name in averaged(report.headline) if name != QUALITY)
    quality = (MEANS[QUALITY],) if report.asks_quality else ()
    return (*RATED_COLUMNS[:6], *figures, *quality, "notes")


def rated_rows(report: RunReport) -> list[tuple[Value, ...]]:
    """The cells of every query of `report` in run order under ``columns_of``, numbers unrounded.

    An incomplete query and an unreadable answer have no figures; the number of results of
    the latter is not known. An empty list has ``mrr`` 0 even where it is undefined, as the
    original has it. The notes begin with what the columns cannot hold (``call failed``,
    ``unreadable answer``, ``cannot tell: rank 2, 5``), parted from the rater's words by
    ``; ``. Where "cannot tell" results stay in the denominators, so that the row can be
    recomputed from its own columns, they are ``cannot tell (not relevant): rank 2, 5``.
    """
    columns = columns_of(report)
    lines = []
    for row in report.rows:
        summary = row.summary
        is_known = summary.state is not QueryState.UNREADABLE
        cells: dict[str, Value] = {
            **values_by_column(summary),
            **by_column(summary),
            "query_id": row.query_id if report.is_original else row.external_id or row.query_id,
            **fields(row, "question", "category"),
            "results_count": summary.results_count if is_known else None,
            "response_quality": summary.quality if is_known else None,
            "notes": _notes(row, report.cannot_tell),
        }
        if summary.complete and summary.state is QueryState.EMPTY:
            cells["mrr"] = 0
        lines.append(tuple(cells[name] for name in columns))
    return lines


def _notes(row: QueryRow, cannot_tell: CannotTell | None) -> str:
    ours, theirs = _STATE_WORDS.get(row.summary.state), row.notes
    unsure = [n for n, verdict in enumerate(row.verdicts, 1) if verdict is Relevance.UNSURE]
    if unsure and not ours:
        how = " (not relevant)" if cannot_tell == "not_relevant" else ""
        ours = f"cannot tell{how}: rank {', '.join(map(str, unsure))}"
    if not theirs and row.summary.empty_outcome:
        return OUTCOME_WORDS[row.summary.empty_outcome]
    if _TAKEN_FOR_OURS.match(theirs):
        theirs = f"{_OWN_WORDS}{theirs}"
    return "; ".join(part for part in (ours, theirs) if part)


LONG_COLUMNS = (
    *("run", "rater", "query_id", "rank", "property", "content", "title", "relevance"),
    *("provenance", "evidence", "reason"),
)
LONG_COLUMNS_OF_DOCUMENTS = (
    *("document" if name == "property" else name for name in LONG_COLUMNS),
    *("grade_word", "seconds"),
)


def rated_csv(report: RunReport, *, style: CsvStyle = CsvStyle.PLAIN) -> bytes:
    """The rated CSV of `report`, one line per query in run order; precisions and mrr to 4 decimals.

    ``rated_rows`` explains each blank, ``CsvStyle`` the styles.
    """
    return csv_bytes([columns_of(report), *_rows(report, style)], style=style)


def remarks(report: RunReport) -> Iterator[str]:
    """Yield the notes beside a file in these columns.

    Which questions it leaves out, what "cannot tell" is in it, and what a 0 in it can mean.
    """
    yield from unsampled_sentence(report.unasked)
    if any(row.summary.unsure_count for row in report.rows):
        yield labels.cannot_tell(report.cannot_tell)
    outcomes = [row.summary.empty_outcome for row in report.rows]
    n_correct_empty = outcomes.count(EmptyOutcome.CORRECT_EMPTY)
    if report.is_original and n_correct_empty:
        yield ngettext(
            "Of %(n)s list that is rightly empty the column mrr is 0, as in the original form of "
            "the file; elsewhere its reciprocal rank is undefined.",
            "Of %(n)s lists that are rightly empty the column mrr is 0, as in the original form of "
            "the file; elsewhere their reciprocal rank is undefined.",
            n_correct_empty,
        )


def wide_csv(
    report: RunReport, by_rater: Mapping[str, RunReport], *, style: CsvStyle = CsvStyle.PLAIN
) -> bytes:
    """The rated CSV of `report`, with the judgments of each rater on the same queries beside it.

    A rater's columns are those of the rated CSV from relevant_count on, each with the name
    in brackets, so that a script that reads by header finds the merged ones unchanged.
    """
    columns = columns_of(report)
    first_rated = columns.index("relevant_count")
    header = [*columns]
    rows = _rows(report, style)
    for rater, of_rater in by_rater.items():
        header += [f"{name} ({rater})" for name in columns[first_rated:]]
        for row, cells in zip(rows, _rows(of_rater, style), strict=True):
            row.extend(cells[first_rated:])
    return csv_bytes([header, *rows], style=style)


def _rows(report: RunReport, style: CsvStyle) -> list[list[Value]]:
    """The cells of ``rated_rows`` with all figures rounded but the quality, which has halves."""
    columns = columns_of(report)

    def rounded(name: str, cell: Value) -> Value:
        if isinstance(cell, float) and name != "response_quality":
            return style.number(f"{half_up(cell, DECIMALS):f}")
        return cell

    return [[*map(rounded, columns, row)] for row in rated_rows(report)]
