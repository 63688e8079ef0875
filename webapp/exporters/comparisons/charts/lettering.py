"""How much room a text takes, so that no two texts of a picture overlap.

The reader's font is not known when a picture is drawn. Widths are those of Helvetica, which
Arial and Liberation Sans share, with a tenth and a half added for fonts that run wider.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

WIDER = 1.15
ELLIPSIS = "…"
OTHERS = 0.6
FULL_WIDTH = 1.05

# Advance widths in thousandths of the font's size, by the characters that have them.
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


def width(text: str, size: float) -> float:
    """Return the most room that `text` takes at a font size.

    >>> width("", 12), width("ill", 12) < width("WWW", 12)
    (0.0, True)
    """
    return WIDER * size * sum(map(_advance, text))


def fitted(text: str, size: float, room: float) -> str:
    """Return `text`, cut with an ellipsis where `room` is too small; never longer than it.

    >>> fitted("vector_only", 12, 200), fitted("vector_only", 12, 45)
    ('vector_only', 'vect…')
    """
    if width(text, size) <= room:
        return text
    kept = text
    while kept and width(kept.rstrip() + ELLIPSIS, size) > room:
        kept = kept[:-1]
    return kept.rstrip() + ELLIPSIS if kept else ""


def lines(text: str, size: float, room: float, *, most: int = 100) -> tuple[str, ...]:
    """Return `text` broken after blanks, "_", "-" and "/" into lines within `room`.

    Of more than `most` lines the rest is cut; so is a word that is longer than the room.

    >>> lines("hybrid with reranking", 12, 90), lines("vector_only", 12, 60)
    (('hybrid with', 'reranking'), ('vector_', 'only'))
    """
    found = list(_broken(text, size, room))
    if len(found) > most:
        found = [*found[: most - 1], text[len("".join(found[: most - 1])) :]]
    return tuple(fitted(line.strip(), size, room) for line in found)


def _broken(text: str, size: float, room: float) -> Iterator[str]:
    """Yield the lines of `text`, which joined are `text` again."""
    line = ""
    for piece in _PIECES.findall(text):
        if line and width((line + piece).rstrip(), size) > room:
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
    return _WIDTHS.get(base, OTHERS)
