"""``relevansi check``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click
from msgspec import Struct
from sqlalchemy.orm import Session

from webapp.cli.frame import database
from webapp.cli.frame.output import say
from webapp.db import soundness
from webapp.db.engine import Database
from webapp.i18n import gettext, ngettext
from webapp.services.judging import live_metrics
from webapp.services.machine_judges import judges
from webapp.services.runs import source_files
from webapp.services.runs.source_files import SourceComparison


class Findings(Struct, frozen=True):
    """The result of a check: a line for each difference, and a sentence above them."""

    lines: tuple[str, ...]
    summary: str


def _prompts(session: Session) -> Findings:
    """Name the machine judges whose prompt has another SHA-256 than the recorded one."""
    names = judges.changed_prompts(session)
    lines = tuple(
        gettext(
            "The prompt of %(name)s is not the one with the recorded SHA-256. Restore a "
            "backup in which it is, or make a new machine judge.",
            name=name,
        )
        for name in names
    )
    return Findings(lines, ngettext("%(n)s prompt differs.", "%(n)s prompts differ.", len(names)))


@click.command("check")
@click.argument("paths", nargs=-1, type=click.Path(exists=True, path_type=Path))
def check_command(paths: Sequence[Path]) -> None:
    """Check that the database is whole, recompute every stored figure from the judgments.

    Says equal or what is damaged or differs. Also says which machine judge's prompt is not the
    one with the recorded SHA-256. With PATHS, files or folders of them, compares the source
    files of runs and automatic evaluations with their recorded SHA-256 too.
    """
    files = list(source_files.found(paths))
    with database.opened() as used:
        _refuse_damage(used)
        with used.reading() as session:
            figures = live_metrics.check(session)
            brought = [_prompts(session)]
            sources = source_files.compare(source_files.recorded(session), files)
    if not figures:
        say(gettext("Equal: every stored figure is what the judgments make it."))
    for entry in figures:
        say(
            f"{entry.rater}  {entry.run_id}/{entry.query_id}  {entry.column}: "
            f"{entry.stored} != {entry.computed}"
        )
    for line in (line for found in brought for line in found.lines):
        say(line)
    if paths:
        _tell(sources)
    if wrong := list(_wrong(len(figures), brought, sources)):
        raise click.ClickException(" ".join(wrong))


def _refuse_damage(used: Database) -> None:
    damaged = soundness.faults(used)
    for fault in damaged:
        say(fault)
    if damaged:
        raise click.ClickException(
            gettext(
                "The database is damaged (%(name)s). Restore the latest backup: "
                "relevansi restore FILE --replace",
                name=used.description,
            )
        )


def _tell(sources: SourceComparison) -> None:
    """Print how the given files compare with the recorded ones."""
    if sources.equal:
        n = len({file.sha256 for file in sources.equal})
        say(
            ngettext(
                "Equal: %(n)s source file has the SHA-256 that was recorded.",
                "Equal: %(n)s source files have the SHA-256 that was recorded.",
                n,
            )
        )
    for file, other in sources.differing:
        say(
            gettext(
                "%(path)s differs from the file of %(made)s: SHA-256 %(found)s, recorded "
                "%(recorded)s. Put the original back, or import this file as one of its own.",
                path=str(other.path),
                made=gettext(file.made, id=file.id),
                found=other.sha256,
                recorded=file.sha256,
            )
        )
    for other in sources.unknown:
        say(
            gettext(
                "%(path)s is not the file of any run or evaluation: SHA-256 %(found)s.",
                path=str(other.path),
                found=other.sha256,
            )
        )
    for file in sources.absent:
        say(
            gettext(
                "Not compared: %(name)s of %(made)s is not among the files given.",
                name=file.name,
                made=gettext(file.made, id=file.id),
            )
        )


def _wrong(figures: int, brought: Sequence[Findings], sources: SourceComparison) -> Iterator[str]:
    """Yield a sentence for each kind of thing that differs."""
    if figures:
        yield ngettext("%(n)s figure differs.", "%(n)s figures differ.", figures)
    yield from (found.summary for found in brought if found.lines)
    others = {other.path for _, other in sources.differing} | {one.path for one in sources.unknown}
    if others:
        yield ngettext("%(n)s source file differs.", "%(n)s source files differ.", len(others))
