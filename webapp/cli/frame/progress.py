"""Progress on the standard error, as bars with plain text beside and above them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

from webapp.cli.frame.output import shown
from webapp.i18n import gettext

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

ESTIMATE_SECONDS = 1800
"""An answer takes up to a minute: the time left is judged over many of them."""


class Bar:
    """A bar that is shown, with lines for people above it."""

    def __init__(self, progress: Progress, task: TaskID) -> None:
        self._progress = progress
        self._task = task

    def at(self, done: int, of: int | None = None) -> None:
        """Show that `done` of all are done, of `of` where that was not known before."""
        self._progress.update(self._task, completed=done, total=of)

    def advance(self, further: int = 1, *, name: str = "") -> None:
        """Show that `further` more are done, and the `name` of what is being done."""
        self._progress.update(self._task, advance=further, description=shown(name))

    def say(self, line: str) -> None:
        """Print one line above the bar."""
        from rich.text import Text

        self._progress.console.print(Text(shown(line)), soft_wrap=True)

    def stop(self) -> None:
        """Leave the bar as it is."""
        self._progress.stop()


@contextmanager
def bar(total: int, *, done: int = 0, name: str = "", goes: bool = False) -> Iterator[Bar]:
    """Yield a bar that shows how much is done and how much time is left.

    One that `goes` leaves nothing behind at its end.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    progress = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn(gettext("left:"), markup=False),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        speed_estimate_period=ESTIMATE_SECONDS,
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


@contextmanager
def reading(file: BinaryIO, size: int, words: str) -> Iterator[BinaryIO]:
    """Yield `file` with a bar that shows how much of it was read; the bar goes at its end."""
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import wrap_file

    console = Console(stderr=True, emoji=False)
    name = escape(shown(words))
    with wrap_file(file, size, description=name, console=console, transient=True) as shown_file:
        yield shown_file
