"""How the results of ``relevansi score`` are written: a summary, and items of any number.

Items are kept in a temporary file until all are scored, so that the summary can stand first,
nothing half is ever printed, and no number of rows fills the memory.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO, Any, BinaryIO, Self

import click

from webapp.exporters.csv_cells import csv_bytes
from webapp.exporters.score_files import csv_line, json_end, json_entry, json_start
from webapp.i18n import gettext
from webapp.importers import problems
from webapp.importers.problems import ImportRefused
from webapp.records import Problem

_SHOWN_FROM_BYTES = 2 * 2**20
"""From this size of a file on, its reading is shown on a terminal."""


class Items:
    """Items on their way out, as JSON or CSV; a table shows none."""

    def __init__(self, file_format: str, columns: Sequence[str]) -> None:
        self.file_format = file_format
        self.columns = columns
        self.n = 0
        self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by __exit__

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def add(self, item: Mapping[str, Any]) -> None:
        """Take one item in."""
        if self.file_format == "json":
            self._file.write(json_entry(item, is_first=not self.n))
        elif self.file_format == "csv":
            self._file.write(csv_line(item, self.columns))
        self.n += 1

    def write(self, head: Mapping[str, Any], output: Path | None) -> None:
        """Write all items: JSON behind the keys of `head`, CSV under its columns."""
        with _opened(output) as out:
            self._file.seek(0)
            if self.file_format == "csv":
                out.write(csv_bytes([self.columns]))
                shutil.copyfileobj(self._file, out)
                return
            out.write(json_start(head))
            shutil.copyfileobj(self._file, out)
            out.write(json_end(self.n))


def tell(found: Problem) -> None:
    """Say on the standard error what is wrong with a file."""
    click.echo(f"relevansi: {problems.message(found)}", err=True)


def failure_of(refused: ImportRefused) -> click.ClickException:
    """Return the failure to end with, every other problem of the file said before."""
    for problem in refused.problems[1:]:
        tell(problem)
    return click.ClickException(problems.message(refused.problem))


@contextmanager
def reading(path: Path) -> Iterator[BinaryIO]:
    """`path` opened to be read, with a bar on a terminal while a large one is."""
    size = path.stat().st_size
    with path.open("rb") as file:
        if size < _SHOWN_FROM_BYTES or not sys.stderr.isatty():
            yield file
            return
        from rich.console import Console
        from rich.progress import wrap_file

        console = Console(stderr=True)
        words = gettext("Scoring %(file)s", file=path.name)
        with wrap_file(file, size, description=words, console=console, transient=True) as shown:
            yield shown


@contextmanager
def _opened(output: Path | None) -> Iterator[IO[bytes]]:
    if output is not None:
        with output.open("wb") as file:
            yield file
        return
    yield sys.stdout.buffer
    sys.stdout.buffer.flush()
