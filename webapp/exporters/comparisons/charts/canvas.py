"""A canvas to draw on and the picture it becomes: SVG with a text alternative."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from webapp.exporters.comparisons.charts import lettering
from webapp.printable import printable_line

NARROW = 360
"""As wide as a phone: one unit is one pixel there."""
WIDE = 720
"""As wide as the text of a page, and of a printed sheet."""

SMALL = 11.0
NORMAL = 12.0
LARGE = 14.0
LINE = 1.4
"""From one line of text to the next, as a multiple of its size."""

FONTS = "Liberation Sans, Arial, Helvetica, sans-serif"


@dataclass(frozen=True, slots=True)
class Palette:
    """The colours of a picture by what they are for; ``paper`` is ``None`` on a page."""

    ink: str
    soft: str
    rule: str
    edge: str
    accent: str
    bad: str
    paper: str | None = None
    fonts: str | None = None

    def shade(self, share: float) -> str:
        """Return the accent thinned to `share` of itself.

        On white it is a colour of its own: transparent parts come in another order in a PDF
        each time.
        """
        if self.paper is None:
            return f"color-mix(in srgb, {self.accent} {_number(100 * share)}%, transparent)"
        mixed = (
            round(share * int(self.accent[at : at + 2], 16) + (1 - share) * 255) for at in (1, 3, 5)
        )
        return "#" + "".join(f"{part:02x}" for part in mixed)


PAGE = Palette(
    ink="var(--ink)",
    soft="var(--soft)",
    rule="var(--rule)",
    edge="var(--edge)",
    accent="var(--accent)",
    bad="var(--bad)",
)
"""The page's own colours and font: light and dark without a second picture."""

PRINT = Palette(
    ink="#1c2226",
    soft="#56616a",
    rule="#dcdfdd",
    edge="#87919a",
    accent="#0b5f6b",
    bad="#a3271d",
    paper="#ffffff",
    fonts=FONTS,
)
"""The light page's colours on white, for files that are opened by themselves."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawn picture: its SVG element, which holds title and description, and its size."""

    title: str
    description: str
    width: float
    height: float
    svg: ET.Element

    @property
    def markup(self) -> str:
        """The picture as SVG markup, the same bytes for the same picture."""
        return ET.tostring(self.svg, encoding="unicode")


class Canvas:
    """Where marks are put, in units that are pixels at the picture's natural width."""

    def __init__(self, width: float, palette: Palette) -> None:
        self.width = width
        self.palette = palette
        self._marks: list[ET.Element] = []

    def line(
        self,
        start: tuple[float, float],
        end: tuple[float, float],
        *,
        stroke: str,
        width: float = 1,
        dash: str = "",
    ) -> None:
        """Draw a straight line."""
        mark = self._add("line", stroke=stroke)
        for name, value in zip(("x1", "y1", "x2", "y2"), (*start, *end), strict=True):
            mark.set(name, _number(value))
        mark.set("stroke-width", _number(width))
        if dash:
            mark.set("stroke-dasharray", dash)

    def box(
        self,
        corner: tuple[float, float],
        size: tuple[float, float],
        *,
        fill: str = "none",
        stroke: str = "",
        dash: str = "",
    ) -> None:
        """Draw a rectangle from its top left corner."""
        mark = self._add("rect", fill=fill)
        for name, value in zip(("x", "y", "width", "height"), (*corner, *size), strict=True):
            mark.set(name, _number(value))
        if stroke:
            mark.set("stroke", stroke)
        if dash:
            mark.set("stroke-dasharray", dash)

    def hatching(self, corner: tuple[float, float], size: tuple[float, float], stroke: str) -> None:
        """Draw slanted lines within a rectangle, so that it is recognised without colour."""
        (left, top), (width, height) = corner, size
        step, offset = 5.0, 5.0
        while offset < width + height:
            start = (left + max(0.0, offset - height), top + min(offset, height))
            end = (left + min(offset, width), top + max(0.0, offset - width))
            self.line(start, end, stroke=stroke)
            offset += step

    def shape(
        self, points: Sequence[tuple[float, float]], *, fill: str = "none", stroke: str = ""
    ) -> None:
        """Draw a closed shape through `points`."""
        mark = self._add("polygon", fill=fill)
        mark.set("points", " ".join(f"{_number(x)},{_number(y)}" for x, y in points))
        if stroke:
            mark.set("stroke", stroke)
            mark.set("stroke-width", "1.5")

    def dot(
        self, centre: tuple[float, float], *, radius: float = 4.5, fill: str, stroke: str
    ) -> None:
        """Draw a circle; a `fill` of "none" leaves it hollow."""
        mark = self._add("circle", fill=fill)
        for name, value in zip(("cx", "cy", "r"), (*centre, radius), strict=True):
            mark.set(name, _number(value))
        mark.set("stroke", stroke)
        mark.set("stroke-width", "1.5")

    def text(
        self,
        place: tuple[float, float],
        words: str,
        *,
        size: float = NORMAL,
        fill: str = "",
        anchor: str = "start",
        room: float | None = None,
    ) -> None:
        """Write `words` on their base line; if they are cut to `room`, a tooltip has them all."""
        said = printable_line(words)
        shown = said if room is None else lettering.fitted(said, size, room)
        mark = self._add("text", fill=fill or self.palette.ink)
        mark.set("x", _number(place[0]))
        mark.set("y", _number(place[1]))
        mark.set("font-size", _number(size))
        if anchor != "start":
            mark.set("text-anchor", anchor)
        mark.text = shown
        if shown != said:
            ET.SubElement(mark, "title").text = said

    def paragraph(self, place: tuple[float, float], words: str, *, room: float) -> float:
        """Write `words` small and soft in as many lines as they need; return the height taken."""
        found = lettering.lines(printable_line(words), SMALL, room)
        for number, line in enumerate(found):
            down = place[1] + SMALL + number * SMALL * LINE
            self.text((place[0], down), line, size=SMALL, fill=self.palette.soft)
        return len(found) * SMALL * LINE

    def picture(self, name: str, title: str, description: str, height: float) -> Picture:
        """Return the finished picture; `name` makes its ids unique on a page."""
        said, told = printable_line(title), printable_line(description)
        ids = f"{name}-{self.width:.0f}"
        svg = ET.Element(
            "svg",
            {
                "xmlns": "http://www.w3.org/2000/svg",
                "viewBox": f"0 0 {_number(self.width)} {_number(height)}",
                "width": _number(self.width),
                "height": _number(height),
                "role": "img",
                "aria-labelledby": f"{ids}-title {ids}-desc",
            },
        )
        if self.palette.fonts:
            svg.set("font-family", self.palette.fonts)
        ET.SubElement(svg, "title", {"id": f"{ids}-title"}).text = said
        ET.SubElement(svg, "desc", {"id": f"{ids}-desc"}).text = told
        if self.palette.paper:
            size = {"width": _number(self.width), "height": _number(height)}
            ET.SubElement(svg, "rect", {**size, "fill": self.palette.paper})
        svg.extend(self._marks)
        return Picture(said, told, self.width, height, svg)

    def _add(self, tag: str, **attributes: str) -> ET.Element:
        mark = ET.Element(tag, attributes)
        self._marks.append(mark)
        return mark


def _number(value: float) -> str:
    """`value` with two decimals at most: the same on every machine, and short."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
