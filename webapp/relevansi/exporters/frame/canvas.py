"""A canvas to draw on and the picture it becomes: SVG with a text alternative."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from xml.etree import ElementTree as ET

import fontpkg_arimo
from msgspec import Struct

from relevansi.printable import printable_line

WIDER = 1.15
"""A viewer may show another font than the one that was measured, and a wider one."""
ELLIPSIS = "…"
UNMEASURED = 0.6
"""The width of a letter that is not in the table, as a multiple of the font's size."""
FULL_WIDTH = 1.05
"""That of a Chinese, Japanese or Korean one."""

# Advance widths in thousandths of the font's size, by the characters that have them: Arimo's,
# which are those of Arial, so that texts can be broken into lines without a font library.
_ADVANCES = {
    191: "'",
    222: "ijl",
    260: "|",
    278: " !,./:;I[\\]ft",
    333: "()-`r{}",
    355: '"',
    389: "*",
    469: "^",
    500: "Jckszvxy",
    556: "#$0123456789?L_abdeghnopqu",
    584: "+<=>~−",
    611: "FTZ",
    667: "&ABEKPSVXY",
    722: "CDHNRUw",
    778: "GOQ",
    833: "Mm",
    889: "%",
    944: "W",
    1015: "@…",
}
_WIDTHS = {letter: advance / 1000 for advance, letters in _ADVANCES.items() for letter in letters}

_PIECES = re.compile(r"[^\s_/-]*[\s_/-]+|[^\s_/-]+")


def text_width(text: str, size: float) -> float:
    """Return the most room that `text` takes at a font size."""
    return WIDER * size * sum(map(_advance, text))


def fitted(text: str, size: float, room: float) -> str:
    """Return `text`, cut with an ellipsis where `room` is too small; never longer than it."""
    if text_width(text, size) <= room:
        return text
    head = text
    while head and text_width(head.rstrip() + ELLIPSIS, size) > room:
        head = head[:-1]
    return head.rstrip() + ELLIPSIS if head else ""


def lines(text: str, size: float, room: float, *, most: int = 100) -> tuple[str, ...]:
    """Return `text` broken after blanks, "_", "-" and "/" into lines within `room`.

    Of more than `most` lines what follows is cut; so is a word that is longer than the room.

    >>> lines("hybrid with reranking", 12, 90), lines("vector_only", 12, 60)
    (('hybrid with', 'reranking'), ('vector_', 'only'))
    """
    broken = list(_broken(text, size, room))
    if len(broken) > most:
        first = broken[: most - 1]
        last = text[sum(map(len, first)) :]  # longer than the room: `fitted` cuts it
        broken = [*first, last]
    return tuple(fitted(line.strip(), size, room) for line in broken)


def _broken(text: str, size: float, room: float) -> Iterator[str]:
    line = ""
    for piece in _PIECES.findall(text):
        if line and text_width((line + piece).rstrip(), size) > room:
            yield line
            line = ""
        line += piece
    if line:
        yield line


def _advance(letter: str) -> float:
    if letter in _WIDTHS:
        return _WIDTHS[letter]
    if unicodedata.combining(letter):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF":
        return FULL_WIDTH
    base = unicodedata.normalize("NFD", letter)[0]
    return _WIDTHS.get(base, UNMEASURED)


WIDE = 720  # as the text of a page, and of a printed sheet
NARROW = 320  # as the sheet of a report on a phone
SMALL = 11.0
NORMAL = 12.0
LARGE = 14.0
LINE = 1.4  # from one line of text to the next, as a multiple of its size
FONTS = "Liberation Sans, Arimo, Arial, Helvetica, sans-serif"
FONT = "Arimo"

Point = tuple[float, float]
Palette = Mapping[str, str]  # the colours of a picture by their names

PRINT: Palette = {
    "ink": "#1c2226",
    "soft": "#56616a",
    "rule": "#dcdfdd",
    "paper": "#ffffff",
    "m1": "#0072b2",
    "m2": "#d55e00",
    "m3": "#009e73",
    "m4": "#9b5aa5",
    "m5": "#a87900",
    "m6": "#4a7fa5",
    "m0": "#7c8a95",
}
"""The light page's colours on white and a font, for files that are opened by themselves."""

PAGE: Palette = {name: f"var(--{name})" for name in PRINT} | {
    "soft": "var(--quiet)",
    "rule": "var(--line)",
    "m0": "var(--axis)",
}
"""The page's own colours and font: light and dark without a second picture."""


class Picture(Struct, frozen=True):
    """A drawn picture: its SVG element, which holds title and description, and its size.

    ``narrow`` is the same drawn for a phone, where it is.
    """

    title: str
    description: str
    width: float
    height: float
    svg: ET.Element
    narrow: Picture | None = None

    @property
    def markup(self) -> str:
        return ET.tostring(self.svg, encoding="unicode")

    def __html__(self) -> str:
        return self.markup  # built as a tree, with every text in it escaped


class Canvas:
    """Where marks are put, in units that are pixels at the picture's natural width."""

    def __init__(self, width: float, palette: Palette) -> None:
        self.width = width
        self.palette = palette
        self._marks: list[ET.Element] = []

    def line(
        self, start: Point, end: Point, *, stroke: str, width: float = 1, opacity: float = 1
    ) -> None:
        """Draw a line; a translucent one, the band of an open figure, has round ends."""
        (x1, y1), (x2, y2) = start, end
        numbers = {"x1": x1, "y1": y1, "x2": x2, "y2": y2, "stroke-width": width}
        mark = self._mark("line", numbers, stroke=stroke)
        if opacity < 1:
            mark.set("opacity", _number(opacity))
            mark.set("stroke-linecap", "round")

    def shape(self, points: Sequence[Point], *, fill: str, stroke: str) -> None:
        """Draw a closed outline."""
        mark = self._mark("polygon", {"stroke-width": 1.5}, fill, stroke)
        mark.set("points", " ".join(f"{_number(x)},{_number(y)}" for x, y in points))

    def dot(self, centre: Point, *, radius: float, fill: str, stroke: str) -> None:
        """Draw a circle."""
        numbers = {"cx": centre[0], "cy": centre[1], "r": radius, "stroke-width": 1.5}
        self._mark("circle", numbers, fill, stroke)

    def text(
        self,
        place: Point,
        words: str,
        *,
        size: float = NORMAL,
        fill: str = "ink",
        anchor: str = "start",
        room: float | None = None,
    ) -> None:
        """Write `words` on one line; where they are cut to `room`, a tooltip has all of them."""
        line = printable_line(words)
        fitting = line if room is None else fitted(line, size, room)
        mark = self._mark("text", {"x": place[0], "y": place[1], "font-size": size}, fill)
        if anchor != "start":
            mark.set("text-anchor", anchor)
        mark.text = fitting
        if fitting != line:
            ET.SubElement(mark, "title").text = line

    def paragraph(
        self,
        place: Point,
        words: str,
        *,
        room: float,
        size: float = SMALL,
        fill: str = "soft",
        most: int = 100,
    ) -> float:
        """Write `words` in as many lines as they need, at `most`; return the height taken."""
        x, top = place
        rows = lines(printable_line(words), size, room, most=most)
        for number, line in enumerate(rows):
            base = top + size * (1 + number * LINE)
            self.text((x, base), line, size=size, fill=fill)
        return len(rows) * size * LINE

    def embed(self, picture: Picture, corner: Point) -> None:
        """Put the marks of another picture here, from a corner on."""
        moved = ET.Element("g", {"transform": f"translate({corner[0]:.0f} {corner[1]:.2f})"})
        moved.extend(mark for mark in picture.svg if mark.tag not in {"title", "desc"})
        self._marks.append(moved)

    def picture(self, name: str, title: str, description: str, height: float) -> Picture:
        """Return the finished picture; `name` makes its ids unique on a page."""
        title_line = printable_line(title)
        description_line = printable_line(description)
        ids = f"{name}-{self.width:.0f}"
        size = {"width": _number(self.width), "height": _number(height)}
        attributes = {
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": f"0 0 {size['width']} {size['height']}",
            **size,
            "role": "img",
            "aria-labelledby": f"{ids}-title {ids}-desc",
        }
        svg = ET.Element("svg", attributes)
        ET.SubElement(svg, "title", {"id": f"{ids}-title"}).text = title_line
        ET.SubElement(svg, "desc", {"id": f"{ids}-desc"}).text = description_line
        if self.palette is PRINT:
            svg.set("font-family", FONTS)
            ET.SubElement(svg, "rect", {**size, "fill": self.palette["paper"]})
        svg.extend(self._marks)
        return Picture(title_line, description_line, self.width, height, svg)

    def _mark(
        self, tag: str, numbers: Mapping[str, float], fill: str = "", stroke: str = ""
    ) -> ET.Element:
        mark = ET.Element(tag)
        for name, colour in (("fill", fill), ("stroke", stroke)):
            if colour:
                mark.set(name, self.palette.get(colour, colour))
        for name, number in numbers.items():
            mark.set(name, _number(number))
        self._marks.append(mark)
        return mark


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def svg_file(picture: Picture) -> bytes:
    """Return a picture as a file of SVG."""
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{picture.markup}\n'.encode()


def png_file(picture: Picture, zoom: float = 2.0) -> bytes:
    """Return a picture as PNG with `zoom` pixels for each unit: at 2 it is sharp on a screen."""
    import resvg_py  # noqa: PLC0415 - few pages draw a PNG

    # The packaged font alone: those of a system make other pictures on every machine.
    picture.svg.set("font-family", FONT)
    font = str(fontpkg_arimo.ROOT / "files" / "Arimo[wght].ttf")
    data = resvg_py.svg_to_bytes(
        svg_string=picture.markup, zoom=zoom, font_files=[font], skip_system_fonts=True
    )
    return bytes(data)
