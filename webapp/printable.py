"""Text that others wrote, fit to be shown: it moves no cursor and turns no text around."""

from __future__ import annotations

import logging
import re

_LINE_END = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
# Control characters, marks that reorder the text around them, halves of characters, and two code
# points that are none: neither pages, XML, LaTeX nor a terminal has a place for these.
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f"
    "\ud800-\udfff\ufffe\uffff]"
)


def printable(text: str, *, instead: str = "") -> str:
    r"""`text` without control characters, direction marks and halves of characters.

    Lines and tabs stay, and every line ends with LF. `instead` is put in the place of each
    character that is taken out.

    >>> printable("rumah\u202e murah\x00\r\n\x1b[2J", instead="?")
    'rumah? murah?\n?[2J'
    """
    if text.isprintable():
        return text
    return _UNPRINTABLE.sub(instead, _LINE_END.sub("\n", text))


def printable_line(text: str, *, instead: str = "") -> str:
    r"""`text` as `printable` returns it, on one line, with single blanks.

    >>> printable_line("a\x07 b\n c")
    'a b c'
    """
    return " ".join(printable(text, instead=instead).split())


def json_escaped(document: str) -> str:
    r"""A JSON `document` that means the same, its unprintable characters written as escapes.

    >>> json_escaped('{"rater": "Ani\u202e"}')
    '{"rater": "Ani\\u202e"}'
    """
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", document)


class LogLineFormatter(logging.Formatter):
    """Formats a record as one line, and a traceback below it, that terminals only show."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - as logging calls it
        """Return the line of a record, whatever names and addresses are in it."""
        return printable_line(super().formatMessage(record), instead="\N{REPLACEMENT CHARACTER}")

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record with its traceback."""
        return printable(super().format(record), instead="\N{REPLACEMENT CHARACTER}")
