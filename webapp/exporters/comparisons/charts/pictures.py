"""The pictures of a comparison by name: markup for a page, files to download."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from types import MappingProxyType

from msgspec import Struct

from webapp.exporters.comparisons import words
from webapp.exporters.comparisons.charts import categories, intervals, progress, questions
from webapp.exporters.comparisons.charts.canvas import (
    LARGE,
    NARROW,
    PAGE,
    PRINT,
    WIDE,
    Canvas,
    Drawing,
    Palette,
    Picture,
    pdf_file,
    png_file,
    svg_file,
)
from webapp.metrics.comparisons.comparisons import ComparisonReport
from webapp.notation import file_day

__all__ = [
    "FORMATS",
    "KINDS",
    "NARROW",
    "WIDE",
    "PictureChoice",
    "PictureFormat",
    "drawing",
    "drawn",
    "file_name",
]

KINDS = ("intervals", "categories", "questions", "progress")
"""Every picture, in the order in which a report shows them."""

MARGIN = 24.0


class PictureChoice(Struct, frozen=True):
    """Which picture: ``figure`` is the heat map's, ``pair`` the two runs of the questions."""

    kind: str
    figure: str = "mean_precision_at_5"
    pair: tuple[str, str] | None = None


class PictureFormat(Struct, frozen=True):
    """One kind of picture file: how it is made of a picture, and its media type."""

    written: Callable[[Picture], bytes]
    media_type: str

    def render(self, report: ComparisonReport, choice: PictureChoice) -> bytes:
        """Return the file of a picture, which needs no other file."""
        return self.written(standalone(report, choice))


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


def drawing(report: ComparisonReport, choice: PictureChoice) -> Drawing:
    """Return the chosen picture for a page and for a phone."""
    wide, narrow = (drawn(report, choice, width=width) for width in (WIDE, NARROW))
    return Drawing(choice.kind, wide, narrow)


def standalone(report: ComparisonReport, choice: PictureChoice) -> Picture:
    """Return the picture on white, with its title above and who rated, and how, below."""
    found = drawn(report, choice, palette=PRINT)
    canvas = Canvas(found.width + 2 * MARGIN, PRINT)
    place, room = (MARGIN, MARGIN), found.width
    top = MARGIN + 12
    top += canvas.paragraph(place, found.title, room=room, size=LARGE, fill="ink", most=2)
    canvas.put(found, (MARGIN, top))
    below = top + found.height + 8
    below += canvas.paragraph((MARGIN, below), words.provenance(report), room=room)
    if choice.kind == "intervals":
        said = words.settings(report.comparison.settings)
        below += canvas.paragraph((MARGIN, below), said, room=room)
    return canvas.picture(choice.kind, found.title, found.description, below + MARGIN)


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
