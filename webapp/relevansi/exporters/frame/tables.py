"""A report as tables and sentences: every format is written from these, whatever they are about.

A cell has its text in the language in force, rounded for display, and the unrounded values
behind it, which spreadsheets keep.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Container, Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from markupsafe import Markup
from msgspec import Struct

from relevansi import notation
from relevansi.config import resource
from relevansi.exporters.frame.canvas import Picture, svg_file
from relevansi.exporters.frame.csv_cells import Value
from relevansi.i18n import direction, gettext, language
from relevansi.printable import printable_line

if TYPE_CHECKING:
    from jinja2 import Template

Line = TypeVar("Line")


class Cell(Struct, frozen=True):
    """One cell: what is shown, and the unrounded values in the order of its column's parts.

    ``lines`` are the parts of the text where there are several: the value, its interval, n.
    ``of`` is the total of which the value is a part, where pages draw how far it has come. A figure
    that is open is its band; ``so_far`` says what it is over the complete questions. ``is_strong``
    is a significant result, which is printed bold.
    """

    text: str
    values: tuple[Value, ...]
    lines: tuple[str, ...] = ()
    of: int | None = None
    so_far: str = ""
    is_strong: bool = False


class Column(Struct, frozen=True):
    """One column; a column of several values per cell names each of them in ``parts``.

    ``best`` is the largest value a cell can have, where pages shade cells by their values.
    """

    heading: str
    numeric: bool = False
    parts: tuple[str, ...] = ()
    best: float | None = None

    def shade(self, cell: Cell) -> int | None:
        """Return the shade of a cell, from 0 for none to 4 for the best value."""
        value = cell.values[0]
        if self.best is None or not isinstance(value, int | float):
            return None
        return round(4 * value / self.best)


class Table(Struct, frozen=True):
    """One table: a name for programs, a title for people, cells by row, notes below it."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...]

    @property
    def heading(self) -> int:
        """The place of the column whose cells name their rows: the first one of words."""
        are_numeric = [column.numeric for column in self.columns]
        return are_numeric.index(False) if False in are_numeric else 0

    @property
    def is_wide(self) -> bool:
        """Whether a phone has no room for the columns, and shows each row as a block."""
        return len(self.columns) > 4


class Section(Struct, frozen=True):
    """A part of a report: its name for programs, its heading, sentences, tables, pictures.

    A single sentence is a paragraph, several are a list; the heading may be empty.
    """

    name: str
    title: str
    sentences: tuple[str, ...]
    tables: tuple[Table, ...]
    pictures: tuple[Picture, ...] = ()


class Document(Struct, frozen=True):
    """A report, from its title to its notes.

    ``state`` is how far everything is rated, ``answer`` what a page says first, ``figure`` the
    picture for print and the name of its file without an ending. A report that can be handed in
    has an ``appendix`` after its ``sections``, whose tables are then numbered, and an ``overline``
    above its title.
    """

    title: str
    subtitle: str
    sections: tuple[Section, ...]
    answer: tuple[str, ...] = ()
    state: str = ""
    figure: tuple[str, Picture] | None = None
    overline: str = ""
    appendix: tuple[Section, ...] = ()

    @property
    def every_section(self) -> tuple[Section, ...]:
        """The sections and those of the appendix, in the order in which they are printed."""
        return (*self.sections, *self.appendix)

    def number_of(self, table: Table) -> int:
        """Return the number of a table in a report to hand in; 0 for others and in the appendix."""
        if not self.appendix:
            return 0
        names = [each.name for section in self.sections for each in section.tables]
        return names.index(table.name) + 1 if table.name in names else 0

    def caption(self, table: Table) -> str:
        """Return the title of a table, after its number if it has one."""
        n = self.number_of(table)
        return f"{gettext('Table %(n)s', n=n)}. {table.title}" if n else table.title

    def figure_caption(self, picture: Picture) -> str:
        """Return the title of the picture, after its number in a report to hand in."""
        if not self.appendix:
            return picture.title
        return f"{gettext('Figure %(n)s', n=1)}. {picture.title}"

    @property
    def lead(self) -> tuple[str, ...]:
        """The sentences at the head of a file."""
        return (f"{self.state}.", *self.answer) if self.state else self.answer


def word(text: str) -> Cell:
    """Return a cell whose value is its text."""
    return Cell(text, (text,))


def word_or_dash(text: str | None) -> Cell:
    """Return a cell with a text, or with "-" where there is none."""
    return Cell(text or notation.UNDEFINED, (text,))


def whole_number(value: int) -> Cell:
    """Return a cell with a count, its thousands apart."""
    return Cell(notation.number(value), (value,))


def stacked(lines: tuple[str, ...], values: tuple[Value, ...], between: str = " ") -> Cell:
    """Return a cell of several lines, joined by `between` where lines are not shown."""
    return Cell(between.join(lines), values, lines)


def estimated(
    value: float | None,
    lower: float | None,
    upper: float | None,
    unit: str,
    *,
    is_difference: bool = False,
) -> Cell:
    """Return a cell with an estimate, its interval below it where it has one."""
    write = notation.difference if is_difference else notation.figure
    lines = [write(value, unit)]
    if lower is not None:
        lines.append(notation.interval(lower, upper, unit, signed=is_difference))
    return stacked(tuple(lines), (value, lower, upper))


def numbers(heading: str, *parts: str, best: float | None = None) -> Column:
    """Return a column of numbers; of several in a cell, `parts` names each."""
    return Column(heading, numeric=True, parts=parts, best=best)


ColumnOf = tuple[str | Column, Callable[[Line], Cell | str | int]]
"""A heading, and the function that makes the cell under it of what a row is about."""


def table_of(
    name: str,
    title: str,
    lines: Iterable[Line],
    columns: Sequence[ColumnOf[Line]],
    *notes: str,
) -> Table:
    """Return a table with a row for each of `lines`.

    Each of `columns` is a heading and the function that makes its cell of a line; a text or a
    count becomes a cell by itself.
    """
    headings = (Column(each) if isinstance(each, str) else each for each, _ in columns)
    rows = (tuple(_cell(make_cell(line)) for _, make_cell in columns) for line in lines)
    return Table(name, title, tuple(headings), tuple(rows), notes)


def _cell(content: Cell | str | int) -> Cell:
    if isinstance(content, Cell):
        return content
    return word(content) if isinstance(content, str) else whole_number(content)


def text_table(
    title: str,
    headings: Iterable[str],
    rows: Iterable[Iterable[str]],
    *notes: str,
    name: str = "",
    numeric: Container[int] = (),
) -> Table:
    """Return a table whose values are the texts of its cells; `numeric` are places of columns."""
    columns = tuple(Column(heading, place in numeric) for place, heading in enumerate(headings))
    return Table(name, title, columns, tuple(tuple(map(word, row)) for row in rows), notes)


def settings_table(name: str, title: str, lines: Iterable[tuple[str, str]]) -> Table:
    """Return a table of settings, each with its value."""
    return text_table(title, (gettext("Setting"), gettext("Value")), lines, name=name)


# The characters that Markdown could take for markup: a bracket makes a link only before one
# of ( [ : an underscore between letters is a letter, and "&" alone begins no entity.
_MARKUP = re.compile(r"[\\|*`<~$]|&(?=#?\w+;)|\](?=[(\[:])|(?<![^\W_])_|_(?![^\W_])")
_BLOCK = re.compile(r"^(#|>|\+|-|=|\d+(?=[.)]))")


def markdown(document: Document) -> bytes:
    """Return a document as Markdown."""
    parts = [escaped(document.overline)] if document.overline else []
    parts += [f"# {escaped(document.title)}", f"**{escaped(document.subtitle)}**"]
    parts += map(escaped, document.lead)
    for section in document.every_section:
        parts += [f"## {escaped(section.title)}"] if section.title else []
        if len(section.sentences) == 1:
            parts.append(escaped(section.sentences[0]))
        elif section.sentences:
            parts.append("\n".join(f"- {escaped(sentence)}" for sentence in section.sentences))
        if document.figure and section is document.sections[0]:
            _, picture = document.figure
            data = b64encode(svg_file(picture)).decode()
            caption = inline(document.figure_caption(picture))
            parts.append(f"![{caption}](data:image/svg+xml;base64,{data})")
        for table in section.tables:
            parts += [f"### {escaped(document.caption(table))}", markdown_table(table)]
            if table.notes:
                parts.append("\n>\n".join(f"> {escaped(note)}" for note in table.notes))
    return ("\n\n".join(parts) + "\n").encode()


def markdown_table(table: Table) -> str:
    """Return the headings and rows of a table as Markdown, without title and notes."""
    header = [inline(column.heading) for column in table.columns]
    rule = ["---:" if column.numeric else "---" for column in table.columns]
    rows = ([_markdown_cell(cell) for cell in row] for row in table.rows)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, rule, *rows))


def _markdown_cell(cell: Cell) -> str:
    return f"**{inline(cell.text)}**" if cell.is_strong and cell.text else inline(cell.text)


def inline(text: str) -> str:
    r"""Return `text` on one line, with what Markdown would read as markup escaped.

    >>> inline("a|b location_simple _x_ <b> [0.5; 1.0] [x](y)")
    'a\\|b location_simple \\_x\\_ \\<b> [0.5; 1.0] [x\\](y)'
    >>> inline("A & B &amp; &#39;")
    'A & B \\&amp; \\&#39;'
    """
    return _MARKUP.sub(lambda match: f"\\{match[0]}", printable_line(text))


def escaped(text: str) -> str:
    r"""Return `text` as ``inline`` does, where it begins a line and could begin a block.

    >>> escaped("# no heading"), escaped("1. no list")
    ('\\# no heading', '1\\. no list')
    """
    # Of "1." the dot is escaped, behind the number; of others the mark itself.
    return _BLOCK.sub(lambda m: f"{m[0]}\\" if m[0].isdigit() else f"\\{m[0]}", inline(text))


UNBROKEN = re.compile(
    r"\[[^\[\]]+; [^\[\]]+\]|\b[nKp] [=<] |\bHolm (?=\d)|W\+ / W−|^[\d.,]+ (?:\w+|/) [\d.,]+$"
)
"""Parts that stay on one line: an interval, the value of n, K or p, W+ / W−, two numbers."""


def html(document: Document) -> bytes:
    """Return a document with its pictures as one HTML file: for screen, phone and paper."""
    static = resource("static")
    sources = (static / "frame" / "tokens.css", static / "comparisons" / "report.css")
    style = "".join(source.read_text("utf-8") for source in sources)
    page = _template().render(
        document=document,
        language=language(),
        direction=direction(),
        policy="default-src 'none'; style-src 'unsafe-inline'",  # its own style, and nothing else
        unbroken=unbroken,
        style=Markup(style),  # noqa: S704 - a file of our own
    )
    return f"{page}\n".encode()


@cache
def _template() -> Template:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415 - a tenth of a second

    loader = FileSystemLoader(resource("templates"))
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined)
    environment.trim_blocks = environment.lstrip_blocks = True
    environment.filters["line"] = printable_line
    return environment.get_template("comparisons/report.html")


def unbroken(text: str) -> str:
    r"""Return `text` so that no interval, n, K or p in it is broken between two lines.

    >>> unbroken("0.76 [0.60; 0.90] n = 25").split(" ")
    ['0.76', '[0.60;\xa00.90]', 'n\xa0=\xa025']
    """
    return UNBROKEN.sub(lambda match: match[0].replace(" ", "\N{NBSP}"), printable_line(text))
