"""Output of commands: documents as exact bytes, and text for people without control characters."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from webapp.i18n import gettext


def write(data: bytes, output: Path | None) -> None:
    """Write `data` to `output`, or to the standard output."""
    if output is None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    write_file(output, data)


def write_file(path: Path, data: bytes) -> None:
    """Write a file whole or not at all: a full disk leaves what was there before."""
    with naming_full_disk(str(path)):
        if path.exists() and not path.is_file():
            path.write_bytes(data)  # a pipe or a device takes it as it comes
            return
        path = path.resolve()  # where a link leads, so that it stays one
        beside = path.with_name(f".{path.name}.part")
        try:
            beside.write_bytes(data)
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)


@contextmanager
def naming_full_disk(target: str) -> Iterator[None]:
    """Say in one line that the disk of `target` is full, where that is what goes wrong."""
    try:
        yield
    except Exception as failure:
        from webapp.db.outages import Outage, outage

        if outage(failure) is not Outage.FULL:
            raise
        text = gettext("The disk of %(name)s is full or failing. Nothing was stored.", name=target)
        raise click.ClickException(text) from failure


def say(text: str, *, nl: bool = True, err: bool = False) -> None:
    """Print a text for people; names and messages in it may be somebody else's."""
    click.echo("\n".join(map(printable, text.split("\n"))), nl=nl, err=err)


def printable(line: str) -> str:
    r"""Return `line` without anything that would move a terminal's cursor or turn its direction.

    >>> printable("Ani\x1b[2J \u202eb")
    'Ani\ufffd[2J \ufffdb'
    """
    return "".join(mark if _is_harmless(mark) else "\N{REPLACEMENT CHARACTER}" for mark in line)


def _is_harmless(mark: str) -> bool:
    """Whether a terminal only shows `mark`: text, a blank, a byte of a name in another encoding."""
    return mark.isprintable() or mark == "\N{NO-BREAK SPACE}" or "\udca0" <= mark <= "\udcff"
