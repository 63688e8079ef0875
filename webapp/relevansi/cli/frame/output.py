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
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click
from msgspec import to_builtins

from relevansi.config import errors_naming
from relevansi.i18n import gettext
from relevansi.printable import json_escaped, printable

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID
    from rich.table import Table as RichTable
    from rich.text import Text

    from relevansi.exporters.frame.tables import Document, Table

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
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
    drafts: list[tuple[Path, Path, Path]] = []
    try:
        for link, pieces in files.items():
            with errors_naming(link):
                path = link.resolve()  # a symbolic link stays one: what it leads to is replaced
                # Renaming asks only whether the folder may be written.
                if path.exists() and not os.access(path, os.W_OK):
                    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
                draft = path.with_name(f".{path.name}.part")
                drafts.append((draft, path, link))
                draft.unlink(missing_ok=True)
                draft.touch(mode=0o600 if private else 0o666)
                with draft.open("wb") as file:
                    file.writelines(pieces)
        for draft, path, link in drafts:
            with errors_naming(link):
                draft.replace(path)
    finally:
        for draft, _, _ in drafts:
            with suppress(OSError):
                draft.unlink(missing_ok=True)


def _print(pieces: Iterable[bytes]) -> None:
    """Print a document: byte for byte into files and pipes, its text alone on a terminal."""
    if not sys.stdout.isatty():
        sys.stdout.buffer.writelines(pieces)
        sys.stdout.buffer.flush()
        return
    for piece in pieces:
        if b"\0" in piece:
            raise click.UsageError(gettext("This file is not text for a terminal: say -o FILE."))
        text = printable(piece.decode("utf-8", "replace"), instead=REPLACEMENT)
        click.echo(text.replace("\t", " "), nl=False)


def write_json(document: object, output: Path | None = None) -> None:
    """Write one JSON document, its unprintable characters as escapes and its times as ISO has."""
    plain = to_builtins(document, builtin_types=(datetime,))
    text = json.dumps(
        plain, ensure_ascii=False, indent=1, default=datetime.isoformat, allow_nan=False
    )
    write(f"{json_escaped(text)}\n".encode(), output)


def say(line: str, *, err: bool = False) -> None:
    """Print a line for people, on the standard error with `err`."""
    click.echo(one_line(line), err=err)


def notice(text: str) -> None:
    """Print what is to be known beside a command's output, on the standard error."""
    say(f"relevansi: {text}", err=True)


def one_line(text: str) -> str:
    """Return `text` on one line as a terminal may show it."""
    parts = []
    for part in _BYTES_OF_NAMES.split(text):
        is_bytes = _BYTES_OF_NAMES.fullmatch(part)
        line = part if is_bytes else printable(part, instead=REPLACEMENT).translate(_BREAKS)
        parts.append(line)
    return "".join(parts)


def printed(parts: Iterable[Table | str], *, width: int | None = None, boxed: bool = True) -> bytes:
    """Return tables and sentences in UTF-8, as wide as the terminal unless `width` is given."""
    from rich.console import Console  # noqa: PLC0415 - few commands draw

    console = Console(width=width, color_system=None)
    with console.capture() as captured:
        for part in parts:
            console.print(_text(part) if isinstance(part, str) else _grid(part, boxed=boxed))
            if not isinstance(part, str):
                for note in part.notes:
                    console.print(_text(note))
    return captured.get().encode("utf-8", "surrogateescape")


def document_text(document: Document, *, width: int) -> bytes:
    """Return each section of a document: its sentences, then its tables with their notes."""
    parts: list[Table | str] = []
    for section in document.sections:
        if section.sentences:
            parts += [f"{section.title}:", *(f"* {sentence}" for sentence in section.sentences)]
        parts += section.tables
    return printed(parts, width=width)


def _grid(table: Table, *, boxed: bool) -> RichTable:
    """Return a table whose title, headings and cells are printed as the text they are."""
    from rich.box import HEAVY_HEAD  # noqa: PLC0415 - few commands draw
    from rich.table import Table as RichTable  # noqa: PLC0415 - few commands draw

    grid = RichTable(
        title=_text(table.title) if table.title else None,
        title_justify="left",
        box=HEAVY_HEAD if boxed else None,
    )
    for column in table.columns:
        justify: Literal["left", "right"] = "right" if column.numeric else "left"
        grid.add_column(_text(column.heading), justify=justify, overflow="fold")
    for row in table.rows:
        grid.add_row(*(_text(*(cell.lines or (cell.text,))) for cell in row))
    return grid


def _text(*lines: str) -> Text:
    from rich.text import Text  # noqa: PLC0415 - few commands draw

    return Text("\n".join(map(one_line, lines)))


class Bar:
    """A progress bar on the standard error, with lines for people above it."""

    def __init__(self, progress: Progress, task: TaskID, completed: int) -> None:
        self._progress = progress
        self._task = task
        self.completed = completed

    def at(self, completed: int, total: int | None = None) -> None:
        """Show that so much is completed, of `total` where that was not known before."""
        self.completed = completed
        self._progress.update(self._task, completed=completed, total=total)

    def advance(self, n: int, *, name: str) -> None:
        """Show that `n` more are completed, and what they are called."""
        self._progress.update(self._task, advance=n, description=one_line(name))

    def say(self, line: str) -> None:
        """Print a line above the bar."""
        self._progress.console.print(_text(line), soft_wrap=True)

    def stop(self) -> None:
        """Leave the bar as it is, and show no more progress."""
        self._progress.stop()


@contextmanager
def bar(
    total: int, *, completed: int = 0, name: str = "", transient: bool = False
) -> Iterator[Bar]:
    """Yield a bar that shows how much is completed and how much time is left."""
    from rich import progress as rich_progress  # noqa: PLC0415 - few commands draw
    from rich.console import Console  # noqa: PLC0415 - few commands draw

    progress = rich_progress.Progress(
        rich_progress.TextColumn("{task.description}", markup=False),
        rich_progress.BarColumn(),
        rich_progress.MofNCompleteColumn(),
        rich_progress.TimeElapsedColumn(),
        rich_progress.TextColumn(gettext("left:"), markup=False),
        rich_progress.TimeRemainingColumn(),
        console=Console(stderr=True),
        speed_estimate_period=1800,  # an answer takes up to a minute
        transient=transient,
    )
    with progress:
        task = progress.add_task(one_line(name), total=total, completed=completed)
        yield Bar(progress, task, completed)


@contextmanager
def resumable_bar(total: int, *, completed: int, name: str = "") -> Iterator[Bar]:
    """Yield a bar of questions; Ctrl+C ends the command with how many of them are kept."""
    with bar(total, completed=completed, name=name) as questions:
        try:
            yield questions
        except KeyboardInterrupt:
            questions.stop()
            refusal = gettext(
                "Interrupted after %(done)s of %(total)s questions; the same command with "
                "--resume goes on.",
                done=questions.completed,
                total=total,
            )
            raise click.ClickException(refusal) from None


@contextmanager
def steps() -> Iterator[Callable[[int, int], None]]:
    """Yield what shows how many steps of how many are done: a bar, only on a terminal."""
    if not sys.stderr.isatty():
        yield lambda _completed, _total: None
        return
    with bar(0, transient=True) as steps_bar:
        yield steps_bar.at
