"""A report as tables and sentences: every format is written from these, whatever they are about.

A cell has its text in the language in force, rounded for display, and the unrounded values
behind it, which spreadsheets keep.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from webapp import notation
from webapp.i18n import gettext

Value = str | int | float | None


class Cell(Struct, frozen=True):
    """One cell: what is shown, and the unrounded values in the order of its column's parts.

    ``lines`` are the parts of the text where there are several: the value, its interval, n.
    """

    text: str
    values: tuple[Value, ...]
    lines: tuple[str, ...] = ()


class Column(Struct, frozen=True):
    """One column; a column of several values per cell names each of them in ``parts``."""

    heading: str
    numeric: bool = False
    parts: tuple[str, ...] = ()


class Table(Struct, frozen=True):
    """One table: a name for programs, a title for people, cells by row, notes below it."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...]


class Section(Struct, frozen=True):
    """A part of a report: its name for programs, its heading, sentences, then tables."""

    name: str
    title: str
    sentences: tuple[str, ...]
    tables: tuple[Table, ...]


class Document(Struct, frozen=True):
    """A whole report, from its title to its notes."""

    title: str
    subtitle: str
    sections: tuple[Section, ...]


def word(text: str) -> Cell:
    """Return a cell of words."""
    return Cell(text, (text,))


def word_or_dash(text: str | None) -> Cell:
    """Return a cell of words, of "-" where there are none."""
    return Cell(text or notation.UNDEFINED, (text,))


def whole_number(value: int) -> Cell:
    """Return a cell of a whole number."""
    return Cell(notation.number(value), (value,))


def stacked(lines: tuple[str, ...], values: tuple[Value, ...], between: str = " ") -> Cell:
    """Return a cell of several lines, joined by `between` where lines are not shown."""
    return Cell(between.join(lines), values, lines)


def settings_table(name: str, title: str, lines: Iterable[tuple[str, str]]) -> Table:
    """Return a table of settings, each with its value."""
    columns = (Column(gettext("Setting")), Column(gettext("Value")))
    return Table(name, title, columns, tuple((word(one), word(said)) for one, said in lines), ())
