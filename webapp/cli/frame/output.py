"""Output of commands: documents as exact bytes, and lines for people as a terminal shows them.

A terminal gets neither control characters nor direction marks: names, methods, LLMs, file names
and messages may be somebody else's. Documents go into files and pipes byte for byte.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import click

from webapp.i18n import gettext
from webapp.printable import json_escaped, printable

INSTEAD = "\N{REPLACEMENT CHARACTER}"
_BREAKS = str.maketrans("\n\t", "  ")
# Bytes of a file's name in another encoding, above the control characters.
_BYTES_OF_NAMES = re.compile("([\udca0-\udcff]+)")


def write(data: bytes, output: Path | None, *, private: bool = False) -> None:
    """Write `data` to `output`, or to the standard output."""
    if output is None:
        write_pieces([data])
        return
    write_file(output, data, private=private)


def write_file(path: Path, data: bytes, *, private: bool = False) -> None:
    """Write a file whole or not at all; a `private` one is its owner's alone to read."""
    with naming_full_disk(str(path)):
        if path.exists() and not path.is_file():
            path.write_bytes(data)  # a pipe or a device takes it as it comes
        else:
            write_files({path: data}, private=private)


def write_files(files: Mapping[Path, bytes], *, private: bool = False) -> None:
    """Write all files or none: a full disk leaves what was there before."""
    written: list[tuple[Path, Path]] = []
    try:
        for given, data in files.items():
            path = given.resolve()  # where a link leads, so that it stays one
            beside = path.with_name(f".{path.name}.part")
            written.append((beside, path))
            beside.unlink(missing_ok=True)
            beside.touch(mode=0o600 if private else 0o666)
            beside.write_bytes(data)
        for beside, path in written:
            beside.replace(path)
    finally:
        for beside, _ in written:
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


def write_pieces(pieces: Iterable[bytes]) -> None:
    """Write a document piece by piece to the standard output; a terminal gets its text only."""
    if sys.stdout.isatty():
        for piece in pieces:
            click.echo(_for_terminal(piece), nl=False)
        return
    sys.stdout.buffer.writelines(pieces)
    sys.stdout.buffer.flush()


def write_json(
    document: object,
    output: Path | None = None,
    *,
    indent: int = 1,
    default: Callable[..., str] | None = None,
) -> None:
    """Write one JSON document, its unprintable characters as escapes."""
    text = json.dumps(document, ensure_ascii=False, indent=indent, default=default)
    write(f"{json_escaped(text)}\n".encode(), output)


def say(line: str, *, err: bool = False) -> None:
    """Print one line for people."""
    click.echo(shown(line), err=err)


def shown(text: str) -> str:
    r"""Return `text` on one line as a terminal may show it.

    >>> shown("Ani\x1b[2J \u202eb\n")
    'Ani\ufffd[2J \ufffdb '
    """
    parts = _BYTES_OF_NAMES.split(text)
    parts[::2] = [printable(part, instead=INSTEAD).translate(_BREAKS) for part in parts[::2]]
    return "".join(parts)


def _for_terminal(piece: bytes) -> str:
    if b"\0" in piece:
        raise click.UsageError(gettext("This file is not text for a terminal: say -o FILE."))
    return printable(piece.decode("utf-8", "replace"), instead=INSTEAD).replace("\t", " ")
