"""Tables and sentences for the terminal, made of plain text.

Every text goes through ``output.shown``, and none of it is read as rich's markup. Only this
module and ``progress`` import rich.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from webapp.cli.frame.output import shown

if TYPE_CHECKING:
    from rich.console import JustifyMethod
    from rich.table import Table
    from rich.text import Text


class TerminalTable:
    """A table whose title, headings and cells are printed as the text they are."""

    def __init__(self, title: str = "", *, boxed: bool = True) -> None:
        from rich.box import HEAVY_HEAD
        from rich.table import Table

        self._table = Table(
            title=_text([title]) if title else None,
            title_justify="left",
            box=HEAVY_HEAD if boxed else None,
        )

    def left(self, *headings: str) -> None:
        """Add columns of text."""
        self._add(headings, "left")

    def right(self, *headings: str) -> None:
        """Add columns of numbers."""
        self._add(headings, "right")

    def row(self, *cells: str | Sequence[str]) -> None:
        """Add a row; a cell is one line, or several."""
        self._table.add_row(*(_text([cell] if isinstance(cell, str) else cell) for cell in cells))

    def section(self) -> None:
        """Draw a line below the last row."""
        self._table.add_section()

    def __rich__(self) -> Table:
        return self._table

    def _add(self, headings: Sequence[str], side: JustifyMethod) -> None:
        for heading in headings:
            self._table.add_column(_text([heading]), justify=side, overflow="fold")


def printed(parts: Iterable[TerminalTable | str], *, width: int | None = None) -> bytes:
    """Return tables and sentences in UTF-8, as wide as the terminal unless `width` is given."""
    from rich.console import Console

    console = Console(width=width, color_system=None)
    with console.capture() as captured:
        for part in parts:
            console.print(_text([part]) if isinstance(part, str) else part)
    return captured.get().encode("utf-8", "surrogateescape")


def _text(lines: Sequence[str]) -> Text:
    from rich.text import Text

    return Text("\n".join(map(shown, lines)))
