"""Output of commands: documents as exact bytes, and lines for people as a terminal shows them.

A terminal gets neither control characters nor direction marks: names, methods, LLMs, file names
and messages may be somebody else's. Documents go into files and pipes byte for byte.
"""

from __future__ import annotations

import errno
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from relevansi.config import errors_naming
from relevansi.i18n import gettext
from relevansi.printable import json_escaped, printable

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID
    from rich.text import Text

    from relevansi.exporters.frame.tables import Document, Section

INSTEAD = "\N{REPLACEMENT CHARACTER}"
_BREAKS = str.maketrans("\n\t", "  ")
# Bytes of a file's name in another encoding, above the control characters.
_BYTES_OF_NAMES = re.compile("([\udca0-\udcff]+)")


def write(data: bytes, output: Path | None, *, private: bool = False) -> None:
    """Write `data` to `output`, or to the standard output."""
    write_pieces([data], output, private=private)


def is_standard(output: Path | None) -> bool:
    """Whether a document goes to the standard output: no file is named, or ``-``."""
    return output is None or str(output) == "-"


def write_pieces(
    pieces: Iterable[bytes], output: Path | None = None, *, private: bool = False
) -> None:
    """Write a document piece by piece to `output`, or to the standard output.

    A file is written whole or not at all; a `private` one is its owner's alone to read.
    """
    if output is None or is_standard(output):
        _print(pieces)
    elif output.exists() and not output.is_file():
        with errors_naming(output), output.open("wb") as file:
            file.writelines(pieces)  # a pipe or a device takes it as it comes
    else:
        write_files({output: pieces}, private=private)


def write_files(files: Mapping[Path, Iterable[bytes]], *, private: bool = False) -> None:
    """Write all files, each of its pieces, or none: a full disk leaves what was there before."""
    written: list[tuple[Path, Path, Path]] = []
    try:
        for given, pieces in files.items():
            with errors_naming(given):
                path = given.resolve()  # where a link leads, so that it stays one
                if path.exists() and not os.access(path, os.W_OK):  # a folder would let it go
                    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
                beside = path.with_name(f".{path.name}.part")
                written.append((beside, path, given))
                beside.unlink(missing_ok=True)
                beside.touch(mode=0o600 if private else 0o666)
                with beside.open("wb") as file:
                    file.writelines(pieces)
        for beside, path, given in written:
            with errors_naming(given):
                beside.replace(path)
    finally:
        for beside, _, _ in written:
            with suppress(OSError):
                beside.unlink(missing_ok=True)


def _print(pieces: Iterable[bytes]) -> None:
    # A terminal gets the text only.
    if not sys.stdout.isatty():
        sys.stdout.buffer.writelines(pieces)
        sys.stdout.buffer.flush()
        return
    for piece in pieces:
        if b"\0" in piece:
            raise click.UsageError(gettext("This file is not text for a terminal: say -o FILE."))
        text = printable(piece.decode("utf-8", "replace"), instead=INSTEAD)
        click.echo(text.replace("\t", " "), nl=False)


def write_json(
    document: object,
    output: Path | None = None,
    *,
    indent: int = 1,
    default: Callable[..., str] | None = None,
) -> None:
    """Write one JSON document, its unprintable characters as escapes."""
    text = json.dumps(document, ensure_ascii=False, indent=indent, default=default, allow_nan=False)
    write(f"{json_escaped(text)}\n".encode(), output)


def say(line: str, *, err: bool = False) -> None:
    click.echo(shown(line), err=err)


def shown(text: str) -> str:
    """Return `text` on one line as a terminal may show it."""
    parts = _BYTES_OF_NAMES.split(text)
    parts[::2] = [printable(part, instead=INSTEAD).translate(_BREAKS) for part in parts[::2]]
    return "".join(parts)


class TerminalTable:
    """A table whose title, headings and cells are printed as the text they are."""

    def __init__(self, title: str = "", *, boxed: bool = True) -> None:
        from rich.box import HEAVY_HEAD
        from rich.table import Table

        self.table = Table(
            title=_text([title]) if title else None,
            title_justify="left",
            box=HEAVY_HEAD if boxed else None,
        )

    def left(self, *headings: str) -> None:
        for heading in headings:
            self.table.add_column(_text([heading]), overflow="fold")

    def right(self, *headings: str) -> None:
        for heading in headings:
            self.table.add_column(_text([heading]), justify="right", overflow="fold")

    def row(self, *cells: str | Sequence[str]) -> None:
        """Add a row; a cell is one line, or several."""
        self.table.add_row(*(_text([cell] if isinstance(cell, str) else cell) for cell in cells))

    def section(self) -> None:
        self.table.add_section()


def printed(parts: Iterable[TerminalTable | str], *, width: int | None = None) -> bytes:
    """Return tables and sentences in UTF-8, as wide as the terminal unless `width` is given."""
    from rich.console import Console

    console = Console(width=width, color_system=None)
    with console.capture() as captured:
        for part in parts:
            console.print(_text([part]) if isinstance(part, str) else part.table)
    return captured.get().encode("utf-8", "surrogateescape")


def document_text(found: Document, *, width: int) -> bytes:
    """Return each section of a document: its sentences, then its tables with their notes."""
    parts: list[TerminalTable | str] = []
    for section in found.sections:
        if section.sentences:
            parts += [f"{section.title}:", *(f"* {said}" for said in section.sentences)]
        parts += section_tables(section)
    return printed(parts, width=width)


def section_tables(section: Section) -> Iterator[TerminalTable | str]:
    for made in section.tables:
        table = TerminalTable(made.title)
        for column in made.columns:
            (table.right if column.numeric else table.left)(column.heading)
        for row in made.rows:
            table.row(*(cell.lines or cell.text for cell in row))
        yield table
        yield from made.notes


def _text(lines: Sequence[str]) -> Text:
    from rich.text import Text

    return Text("\n".join(map(shown, lines)))


class Bar:
    """A bar that is shown, with lines for people above it."""

    def __init__(self, progress: Progress, task: TaskID) -> None:
        self._progress = progress
        self._task = task

    def at(self, done: int, of: int | None = None) -> None:
        self._progress.update(self._task, completed=done, total=of)

    def advance(self, further: int = 1, *, name: str = "") -> None:
        self._progress.update(self._task, advance=further, description=shown(name))

    def say(self, line: str) -> None:
        self._progress.console.print(_text([line]), soft_wrap=True)

    def stop(self) -> None:
        self._progress.stop()


@contextmanager
def bar(total: int, *, done: int = 0, name: str = "", goes: bool = False) -> Iterator[Bar]:
    """Yield a bar that shows how much is done and how much time is left."""
    from rich import progress as rich_progress
    from rich.console import Console

    progress = rich_progress.Progress(
        rich_progress.TextColumn("{task.description}", markup=False),
        rich_progress.BarColumn(),
        rich_progress.MofNCompleteColumn(),
        rich_progress.TimeElapsedColumn(),
        rich_progress.TextColumn(gettext("left:"), markup=False),
        rich_progress.TimeRemainingColumn(),
        console=Console(stderr=True),
        speed_estimate_period=1800,  # an answer takes up to a minute
        transient=goes,
    )
    with progress:
        task = progress.add_task(shown(name), total=total, completed=done)
        yield Bar(progress, task)


@contextmanager
def steps() -> Iterator[Callable[[int, int], None]]:
    """Yield what shows how many steps of how many are done: a bar, only on a terminal."""
    if not sys.stderr.isatty():
        yield lambda _done, _of: None
        return
    with bar(0, goes=True) as shown_bar:
        yield shown_bar.at
