"""The rated CSV, in the original evaluation page's columns, and its long form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from webapp import labels
from webapp.exporters.exports.metrics_tables import said_unasked
from webapp.exporters.exports.rated_rows import RATED_COLUMNS, rated_rows
from webapp.exporters.frame.csv_cells import Cell, CsvStyle, csv_bytes
from webapp.i18n import ngettext
from webapp.metrics.judging.figures import RunReport
from webapp.records import EmptyOutcome, Relevance

LONG_COLUMNS = (
    *("run", "rater", "query_id", "rank", "property", "content", "title", "relevance"),
    "provenance",
)
"""The columns of the long form."""

_FOUR_DECIMALS = frozenset(
    RATED_COLUMNS.index(name) for name in ("overall_precision", "precision_at_5", "mrr")
)


class JudgedResult(Struct, frozen=True):
    """One result of one run with one rater's verdict, by ids that stay the same.

    ``property_id`` is the property's identity and ``content`` the number of the content
    that was shown; `rater` may also name a merging rule ("majority"), and ``provenance``
    then names where the label comes from: unanimous, majority, adjudicated or open.
    """

    run: str
    rater: str
    query_id: int
    rank: int
    property_id: str
    content: int
    title: str
    relevance: Relevance | None = None
    provenance: str | None = None


def rated_csv(report: RunReport, *, style: CsvStyle = CsvStyle.PLAIN) -> bytes:
    """The rated CSV of `report`, one line per query in run order; precisions and mrr to 4 decimals.

    ``rated_rows.rated_cells`` explains each blank, ``CsvStyle`` the styles.
    Raises ``ValueError`` when a query has "cannot tell" results and its row no verdicts.
    """
    rows = [_to_four_decimals(row, style) for row in rated_rows(report)]
    return csv_bytes([RATED_COLUMNS, *rows], style=style)


def said(report: RunReport) -> Iterator[str]:
    """Yield what is said beside a file in these columns.

    Which questions it leaves out, what "cannot tell" is in it, and what a 0 in it can mean.
    """
    yield from said_unasked(report.unasked)
    if any(row.summary.unsure_count for row in report.rows):
        yield labels.cannot_tell(report.cannot_tell)
    undefined = [
        row for row in report.rows if row.summary.empty_outcome is EmptyOutcome.CORRECT_EMPTY
    ]
    if undefined:
        yield ngettext(
            "Of %(n)s list that is rightly empty the column mrr is 0, as in the original form of "
            "the file; elsewhere its reciprocal rank is undefined.",
            "Of %(n)s lists that are rightly empty the column mrr is 0, as in the original form of "
            "the file; elsewhere their reciprocal rank is undefined.",
            len(undefined),
        )


def wide_csv(
    report: RunReport, own: Mapping[str, RunReport], *, style: CsvStyle = CsvStyle.PLAIN
) -> bytes:
    """The rated CSV of `report`, then each rater's judgments: ``own`` by name, same queries.

    A rater's columns are those of the rated CSV from relevant_count on, each with the name
    in brackets, so that a script that reads by header finds the merged ones unchanged.
    """
    given = slice(RATED_COLUMNS.index("relevant_count"), None)
    header = [*RATED_COLUMNS, *(f"{name} ({who})" for who in own for name in RATED_COLUMNS[given])]
    reports = (report, *own.values())
    parts = [[_to_four_decimals(row, style) for row in rated_rows(one)] for one in reports]
    rows = [
        [*merged, *(cell for row in others for cell in row[given])]
        for merged, *others in zip(*parts, strict=True)
    ]
    return csv_bytes([header, *rows], style=style)


def long_csv(results: Iterable[JudgedResult], *, style: CsvStyle = CsvStyle.PLAIN) -> bytes:
    """One line per result; ``relevance`` is 1, 0, ``unsure`` or, unjudged, blank.

    ``provenance`` is blank for one rater's own verdicts.
    """
    rows: list[tuple[Cell, ...]] = [
        (
            result.run,
            result.rater,
            result.query_id,
            result.rank,
            result.property_id,
            result.content,
            result.title,
            result.relevance and result.relevance.value,
            result.provenance,
        )
        for result in results
    ]
    return csv_bytes([LONG_COLUMNS, *rows], style=style)


def _to_four_decimals(row: tuple[Cell, ...], style: CsvStyle) -> list[Cell]:
    return [_rounded(cell, style) if i in _FOUR_DECIMALS else cell for i, cell in enumerate(row)]


def _rounded(cell: Cell, style: CsvStyle) -> Cell:
    return style.number(f"{cell:.4f}") if isinstance(cell, float) else cell
