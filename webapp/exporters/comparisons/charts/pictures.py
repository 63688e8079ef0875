"""The pictures of a comparison by name: markup for a page, files to download."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType
from xml.etree import ElementTree as ET

from webapp.exporters.comparisons import words
from webapp.exporters.comparisons.charts import categories, intervals, progress, questions
from webapp.exporters.comparisons.charts.canvas import (
    LARGE,
    LINE,
    NARROW,
    PAGE,
    PRINT,
    WIDE,
    Canvas,
    Palette,
    Picture,
)
from webapp.exporters.comparisons.charts.lettering import lines
from webapp.metrics.comparisons.report import ComparisonReport
from webapp.notation import file_day

__all__ = [
    "FORMATS",
    "KINDS",
    "NARROW",
    "WIDE",
    "PictureChoice",
    "PictureFormat",
    "drawn",
    "file_name",
]

KINDS = ("intervals", "categories", "questions", "progress")
"""Every picture, in the order in which a report shows them."""

MARGIN = 24.0
SHARPNESS = 2.0
"""A PNG has so many pixels for each unit, so that it stays sharp on paper."""


@dataclass(frozen=True, slots=True)
class PictureChoice:
    """Which picture: ``figure`` is the heat map's, ``pair`` the two runs of the questions."""

    kind: str
    figure: str = "mean_precision_at_5"
    pair: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class PictureFormat:
    """One kind of picture file: how it is made, and its media type."""

    render: Callable[[ComparisonReport, PictureChoice], bytes]
    media_type: str


def drawn(
    report: ComparisonReport, choice: PictureChoice, *, width: float = WIDE, palette: Palette = PAGE
) -> Picture:
    """Return the chosen picture in the page's colours; ``KeyError`` for none of ``KINDS``."""
    if choice.kind == "categories":
        return categories.draw(report, palette, width, figure=choice.figure)
    if choice.kind == "questions":
        return questions.draw(report, palette, width, pair=choice.pair)
    plain = {"intervals": intervals.draw, "progress": progress.draw}
    return plain[choice.kind](report, palette, width)


def standalone(report: ComparisonReport, choice: PictureChoice) -> Picture:
    """Return the picture on white, with its title above and who rated, and how, below."""
    found = drawn(report, choice, palette=PRINT)
    canvas = Canvas(found.width + 2 * MARGIN, PRINT)
    titles = lines(found.title, LARGE, found.width, most=2)
    for number, line in enumerate(titles):
        canvas.text((MARGIN, MARGIN + LARGE * (1 + number * LINE)), line, size=LARGE)
    top = MARGIN + len(titles) * LARGE * LINE + 12
    below = top + found.height + 8
    below += canvas.paragraph((MARGIN, below), words.provenance(report), room=found.width)
    if choice.kind == "intervals":
        said = words.settings(report.comparison.settings)
        below += canvas.paragraph((MARGIN, below), said, room=found.width)
    whole = canvas.picture(choice.kind, found.title, found.description, below + MARGIN)
    moved = ET.SubElement(whole.svg, "g", {"transform": f"translate({MARGIN:.0f} {top:.2f})"})
    moved.extend(mark for mark in found.svg if mark.tag not in {"title", "desc"})
    return whole


def svg_file(report: ComparisonReport, choice: PictureChoice) -> bytes:
    """Return the picture as an SVG file that needs no other file."""
    markup = standalone(report, choice).markup
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{markup}\n'.encode()


def png_file(report: ComparisonReport, choice: PictureChoice) -> bytes:
    """Return the picture as a PNG file."""
    import vl_convert  # 90 MB that serving need not load

    return bytes(vl_convert.svg_to_png(standalone(report, choice).markup, scale=SHARPNESS))


def pdf_file(report: ComparisonReport, choice: PictureChoice) -> bytes:
    """Return the picture as a PDF file of its own size."""
    import vl_convert

    return bytes(vl_convert.svg_to_pdf(standalone(report, choice).markup))


FORMATS: Mapping[str, PictureFormat] = MappingProxyType(
    {
        "svg": PictureFormat(svg_file, "image/svg+xml"),
        "png": PictureFormat(png_file, "image/png"),
        "pdf": PictureFormat(pdf_file, "application/pdf"),
    }
)
"""Every kind of picture file by its name, which is also its ending."""


def file_name(
    report: ComparisonReport, choice: PictureChoice, picture_format: str, on: date
) -> str:
    """Return the name of a picture's file; raises ``KeyError`` for an unknown format."""
    FORMATS[picture_format]
    start = "" if report.phase is None else f"phase{report.phase}_"
    return f"{start}comparison_{choice.kind}_{file_day(on)}.{picture_format}"
