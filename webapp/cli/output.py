"""Output of commands: documents as exact bytes, and text for people without control characters."""

from __future__ import annotations

import sys
from pathlib import Path

import click


def write(data: bytes, output: Path | None) -> None:
    """Write `data` to `output`, or to the standard output."""
    if output is None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    output.write_bytes(data)


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
