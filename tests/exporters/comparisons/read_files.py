"""Files of a comparison, and their tables read again."""

from __future__ import annotations

from collections.abc import Sequence
from html.parser import HTMLParser

from msgspec.structs import replace

from tests.exporters.comparisons.comparisons import (
    CORRECT_EMPTY,
    DAY,
    FALSE_NEGATIVE,
    Judged,
    comparison_report,
    run,
)
from webapp.exporters.comparisons.document import document
from webapp.exporters.comparisons.files import FORMATS
from webapp.exporters.frame.tables import Table
from webapp.metrics.comparisons.comparisons import ComparisonReport

HOSTILE = (
    "=1+1|<script>alert(1)</script>",
    r"\input{/etc/passwd} $x$ %&#_{}~^",
    '"quoted" [link](http://x) *a* `b`\x07',
)


def all_tables(report: ComparisonReport) -> list[Table]:
    """Every table of the report's document."""
    return [t for section in document(report, DAY).sections for t in section.tables]


def rendered(report: ComparisonReport, name: str) -> str:
    """The report in one format, as text."""
    return FORMATS[name].render(report, DAY).decode()


def hostile() -> ComparisonReport:
    """A report whose names are code of every format."""
    judged: tuple[Judged, ...] = ("RN", "NR", CORRECT_EMPTY, FALSE_NEGATIVE)
    runs = [run(f"r{n}", *judged, name=name) for n, name in enumerate(HOSTILE)]
    runs = [
        replace(
            one,
            queries=tuple(
                replace(q, category=HOSTILE[n % 3], question=HOSTILE[(n + 1) % 3])
                for n, q in enumerate(one.queries)
            ),
        )
        for one in runs
    ]
    report = comparison_report(runs, raters=[(HOSTILE[1], 3)])
    return replace(report, study=HOSTILE[0])


def shown(found: Sequence[Table]) -> list[list[list[str]]]:
    """The texts of tables as a file shows them."""
    return [
        [[column.heading for column in t.columns], *([c.text for c in row] for row in t.rows)]
        for t in found
    ]


class Tables(HTMLParser):
    """The tables of a page as their cells' texts, and every tag there is."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self._in_cell = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in {"td", "th"}:
            self.tables[-1][-1].append("")
            self._in_cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag in {"td", "th"}:
            self._in_cell = False

    def handle_data(self, data: str) -> None:
        if self._in_cell:
            self.tables[-1][-1][-1] += data.replace("\u00a0", " ")


def html(text: str) -> Tables:
    """The page, read."""
    parser = Tables()
    parser.feed(text)
    return parser
