"""The counted results of each fault, as a table on the terminal and in docs/faults.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.benchmarks.machine import machine

COLUMNS = (
    "fault",
    "database",
    "server",
    "acknowledged",
    "found",
    "stored twice",
    "missing",
    "what was done",
)
WIDTH = 160
PAGE = """# Faults, and what survived them

Written by `nox -s faults`, which makes each fault for real and counts, on waitress (one machine or
one room) and on granian (a network). Four devices click without pause. Like the page's outbox they
keep a click, under its id, until the server has called it saved, and send it again after a refusal
or silence.

{table}

{total}

The columns:

- **acknowledged**: clicks that the server called saved
- **found**: those of them that are in the database afterwards
- **stored twice**: clicks that are there more than once
- **missing**: acknowledged and not there. Any of these, a damaged file, a refusal that is not in
  plain words, a verdict that is not what its device said last, a figure that `relevansi check`
  finds wrong, or a traceback in the log makes the command end with 1.

The machine: {machine}.
Made with `{command}` in {minutes:.0f} minutes.

How the faults are made:

- **Killed**: SIGKILL, up to half a second after the first click was answered, then a new server.
- **Full disk**: a small file system of its own under the database is filled to the last block.
- **File removed or replaced**: the file and its journals are moved away under the running server;
  an older copy takes its place, or nothing does. The right file comes back once the server is
  killed.
- **Locked**: another connection holds the write lock (SQLite) or the tables (PostgreSQL) for longer
  than a writer waits.
- **Half-open**: so many connections at once that send no request, or its first byte only; somebody
  else comes meanwhile, again and again, and has to be answered within 10 s.
- **Primary**: two servers, `synchronous_standby_names = '*'`; all processes of the primary are
  ended by SIGKILL, the standby is promoted, the other one becomes its standby from a copy. The
  server knows both by one address and is told nothing.
"""


CLUSTER = "\n## Two servers behind nginx\n"
CLUSTER_SECTION = f"""{CLUSTER}
Written by `nox -s cluster`: nginx with `docs/nginx.conf` and TLS, two granian servers, one
PostgreSQL, as in `docs/compose.yaml` but without containers. Any click may come to either server.
While the four devices click, one server is killed at a time, both are upgraded in turn, or
PostgreSQL is killed. An upgrade is the guide's: `relevansi upgrade` of a later release, with a
migration that this release does not know, runs beside both servers; then one after the other is
stopped and the later release started in its place. Afterwards a program asks both servers for the
figures of the run, and they must be equal.

{{table}}

{{total}}

The machine: {{machine}}.
Made with `nox -s cluster` in {{minutes:.0f}} minutes. Waits are of that machine and its other work.
"""


class CannotBeMade(Exception):
    """This machine lacks what a fault needs; the message says what."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the report.

    ``action`` says in words what was done, ``damage`` whatever is missing or wrong. A fault that
    could not be made here has a ``reason`` and counts nothing.
    """

    fault: str
    database: str
    action: str = ""
    acknowledged: int = 0
    stored: int = 0
    doubled: int = 0
    missing: int = 0
    damage: tuple[str, ...] = ()
    reason: str = ""
    server: str = ""

    @property
    def is_good(self) -> bool:
        """Whether all that was acknowledged is there, once, and nothing else went wrong."""
        if self.reason:
            return True
        counts = self.acknowledged > 0 and self.stored == self.acknowledged
        return counts and not (self.doubled or self.missing or self.damage)


def show(rows: Sequence[Row]) -> None:
    """Print the table, and below it whatever went wrong."""
    table = Table(*COLUMNS)
    for row in rows:
        table.add_row(*_cells(row))
    console = Console()
    console.width = max(console.width, WIDTH)
    console.print(table)
    for row in rows:
        for line in row.damage:
            console.print(f"{row.fault}, {row.database}: {line}", markup=False)


def cluster_of(page: str) -> str:
    """Return the section of a page about two servers, empty if it has none."""
    start = page.find(CLUSTER)
    return "" if start < 0 else page[start:]


def with_cluster(page: str, rows: Sequence[Row], seconds: float, folder: Path) -> str:
    """Return a page with its section about two servers written anew."""
    return page.removesuffix(cluster_of(page)) + _filled(CLUSTER_SECTION, rows, seconds, folder)


def written(rows: Sequence[Row], command: str, seconds: float, folder: Path) -> str:
    """Return the page about these rows; `folder` is where their databases lay."""
    return _filled(PAGE, rows, seconds, folder, command=command)


def _filled(
    text: str, rows: Sequence[Row], seconds: float, folder: Path, *, command: str = ""
) -> str:
    dashes = ["---"] * 3 + ["--:"] * 4 + ["---"]
    lines = [COLUMNS, dashes, *map(_cells, rows)]
    acknowledged, stored = sum(row.acknowledged for row in rows), sum(row.stored for row in rows)
    return text.format(
        table="\n".join(f"| {' | '.join(line)} |" for line in lines),
        total=f"In all: acknowledged {acknowledged:,}, found {stored:,}.",
        machine="; ".join(
            f"{name}: {what}" for name, what in machine(folder) if "load" not in name
        ),
        command=command,
        minutes=seconds / 60,
    )


def _cells(row: Row) -> list[str]:
    if row.reason:
        return [row.fault, row.database, row.server, "", "", "", "", f"not made here: {row.reason}"]
    numbers = (row.acknowledged, row.stored, row.doubled, row.missing)
    action = row.action if row.is_good else f"FAILED: {row.action}"
    return [row.fault, row.database, row.server, *(f"{number:,}" for number in numbers), action]
