"""A comparison as one HTML file: it prints well, and asks nothing of any network."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import date
from html import escape
from itertools import combinations

from webapp.exporters.comparisons.charts.canvas import Picture
from webapp.exporters.comparisons.charts.pictures import NARROW, WIDE, PictureChoice, drawn
from webapp.exporters.comparisons.document import document
from webapp.exporters.frame.tables import Document, Section, Table
from webapp.i18n import direction, language
from webapp.metrics.comparisons.report import ComparisonReport
from webapp.printable import printable_line

MOST_PAIRS = 3
"""Of so many pairs of runs each gets its picture of the questions; of more, the first ones."""

NOTHING_ELSE = "default-src 'none'; style-src 'unsafe-inline'"
"""The content policy of the file: it may use its own style and load nothing."""

STYLE = """
:root { color-scheme: light dark;
  --paper: light-dark(#fcfcfa, #15181b); --ink: light-dark(#1c2226, #e7eaec);
  --soft: light-dark(#56616a, #a5b0b8); --rule: light-dark(#dcdfdd, #343b41);
  --edge: light-dark(#87919a, #75818a); --accent: light-dark(#0b5f6b, #6ccbd6);
  --bad: light-dark(#a3271d, #ff9d91);
  font: 16px/1.5 system-ui, sans-serif; font-variant-numeric: tabular-nums; }
body { margin: 0; background: var(--paper); color: var(--ink); overflow-wrap: break-word; }
main { max-width: 64rem; margin: 0 auto; padding: 2rem clamp(1rem, 4vw, 2.5rem) 4rem; }
h1 { font-size: 1.625rem; line-height: 1.25; margin: 0 0 .25rem; text-wrap: balance; }
h2 { font-size: 1.1875rem; margin: 2.5rem 0 .75rem; border-top: 1px solid var(--rule);
  padding-top: 1.25rem; }
.subtitle, .note { color: var(--soft); }
.note { font-size: .8125rem; margin: .375rem 0 0; max-width: 48rem; }
li { margin-bottom: .375rem; max-width: 48rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .875rem; }
caption { text-align: start; font-weight: 650; padding: 1rem 0 .375rem; }
th, td { text-align: start; vertical-align: top; padding: .3125rem .625rem;
  border-bottom: 1px solid var(--rule); font-weight: 400; }
th:first-child, td:first-child { padding-inline-start: 0; }
thead th { color: var(--soft); font-size: .8125rem; vertical-align: bottom;
  border-bottom-color: var(--edge); }
.number { text-align: end; }
figure { margin: 1.5rem 0 0; break-inside: avoid; }
figcaption { font-weight: 650; font-size: .875rem; margin-bottom: .5rem; }
svg { direction: ltr; max-width: 100%; height: auto; display: block; }
.phone { display: none; }
@media (max-width: 48rem) { .wide { display: none; } .phone { display: block; } }
@media print {
  :root { color-scheme: light; font-size: 10pt; }
  body { background: none; }
  main { max-width: none; padding: 0; }
  .scroll { overflow: visible; }
  .phone { display: none; } .wide { display: block; }
  h2, h3, caption { break-after: avoid; }
  tr, .note { break-inside: avoid; }
  thead { display: table-header-group; }
  table { font-size: .75rem; }
  th, td { padding: .2rem .35rem; }
  @page { margin: 16mm; }
}
"""


def comparison_html(report: ComparisonReport, on: date) -> bytes:
    """Return the whole report with its pictures, readable on screen, phone and paper."""

    def pictures(section: str) -> Iterator[str]:
        for choice in _choices(report, section):
            yield from _drawn(report, choice)

    return html(document(report, on), pictures)


def html(found: Document, pictures: Callable[[str], Iterable[str]]) -> bytes:
    """Return a document as one HTML file; `pictures` yields the markup of a section's own."""
    parts = [
        "<!doctype html>",
        f'<html lang="{language()}" dir="{direction()}">',
        '<head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{escape(NOTHING_ELSE)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{_text(found.title)}</title>",
        f"<style>{STYLE}</style></head>",
        "<body><main>",
        f"<h1>{_text(found.title)}</h1>",
        f'<p class="subtitle">{_text(found.subtitle)}</p>',
    ]
    for section in found.sections:
        parts += _section(section, pictures(section.name))
    parts.append("</main></body></html>")
    return ("\n".join(parts) + "\n").encode()


def _section(section: Section, pictures: Iterable[str]) -> Iterator[str]:
    yield f'<section id="{section.name}">'
    yield f"<h2>{_text(section.title)}</h2>"
    if section.sentences:
        yield "<ul>"
        for sentence in section.sentences:
            yield f"<li>{_text(sentence)}</li>"
        yield "</ul>"
    yield from pictures
    for table in section.tables:
        yield from _table(table)
    yield "</section>"


def _choices(report: ComparisonReport, section: str) -> Iterator[PictureChoice]:
    """Yield the pictures that belong to a section."""
    kinds = {"configuration": "progress", "summary": "intervals", "categories": "categories"}
    if section in kinds:
        yield PictureChoice(kinds[section])
    if section == "questions":
        runs = [contender.run.run for contender in report.comparison.contenders]
        for pair in list(combinations(runs, 2))[:MOST_PAIRS]:
            yield PictureChoice("questions", pair=pair)


def _drawn(report: ComparisonReport, choice: PictureChoice) -> Iterator[str]:
    return figure(drawn(report, choice, width=WIDE), drawn(report, choice, width=NARROW))


def figure(wide: Picture, narrow: Picture) -> Iterator[str]:
    """Yield the markup of a picture that is drawn for a page and, narrower, for a phone."""
    yield f"<figure><figcaption>{_text(wide.title)}</figcaption>"
    yield f'<div class="wide">{wide.markup}</div>'
    yield f'<div class="phone">{narrow.markup}</div></figure>'


def _table(table: Table) -> Iterator[str]:
    sides = [' class="number"' if column.numeric else "" for column in table.columns]
    label = _text(table.title)
    yield f'<div class="scroll" role="region" tabindex="0" aria-label="{label}">'
    yield f'<table id="table-{table.name}">'
    yield f"<caption>{_text(table.title)}</caption>"
    headings = (
        f'<th scope="col"{side}>{_text(column.heading)}</th>'
        for column, side in zip(table.columns, sides, strict=True)
    )
    yield f"<thead><tr>{''.join(headings)}</tr></thead>"
    yield "<tbody>"
    for row in table.rows:
        cells = (
            f"<td{side}>{_cell(cell.text)}</td>" for cell, side in zip(row, sides, strict=True)
        )
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</tbody></table></div>"
    for note in table.notes:
        yield f'<p class="note">{_text(note)}</p>'


def _text(text: str) -> str:
    return escape(printable_line(text))


def _cell(text: str) -> str:
    """The text of a cell, in which an interval or an n is not broken between two lines."""
    return _text(text).replace("n = ", "n&nbsp;=&nbsp;").replace("; ", ";&nbsp;")
