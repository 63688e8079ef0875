"""``relevansi compare``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from webapp.cli import database
from webapp.cli.output import write
from webapp.i18n import gettext
from webapp.metrics.significance import Resampling

if TYPE_CHECKING:
    from webapp.metrics.comparison_report import ComparisonReport

USERS = 3
"""The phase that is summed up and not compared."""

FORMATS = ("markdown", "latex", "html", "xlsx", "json")


@click.command("compare")
@click.option("--phase", type=click.IntRange(1, 3), help="1: search methods, 2: LLMs, 3: users.")
@click.option("--runs", "first", metavar="ID ID...", help="Ids of two runs or more.")
@click.argument("others", nargs=-1, metavar="")
@click.option("--rule", help='"majority", "adjudicated" or "rater NAME".')
@click.option("--resamples", type=click.IntRange(100, 1_000_000), default=10_000, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=Resampling().seed, show_default=True)
@click.option(
    "--format",
    "file_format",
    type=click.Choice(FORMATS),
    default="markdown",
    show_default=True,
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="A file; in a folder, phase1_comparison_YYYYMMDD.md and so on.",
)
def compare_command(
    *,
    phase: int | None,
    first: str | None,
    others: tuple[str, ...],
    rule: str | None,
    resamples: int,
    seed: int,
    file_format: str,
    output: Path | None,
) -> None:
    """Compare the runs of a phase, or those that --runs names, as a report.

    A phase takes the newest complete run of each search method (1) or LLM (2). Phase 3 is
    summed up: its users ask questions of their own, so nothing is paired.
    """
    from webapp.exporters import comparison_files

    if (phase is None) == (first is None) or (others and first is None):
        raise click.UsageError(gettext("Say either --phase or --runs."))
    named = (first, *others) if first is not None else ()
    settings = Resampling(resamples, seed)
    if phase == USERS:
        if rule is not None:
            raise click.UsageError(gettext("In phase 3 each participant rates alone: no --rule."))
        _sum_up(settings, file_format, output)
        return
    report = _report(phase, named, rule, settings)
    today = database.now().astimezone().date()
    if output is not None and output.is_dir():
        output /= comparison_files.file_name(report, file_format, today)
    write(comparison_files.FORMATS[file_format].render(report, today), output)


def _sum_up(settings: Resampling, file_format: str, output: Path | None) -> None:
    """Write the summary of phase 3, and log that there is a copy of what participants gave."""
    from webapp.exporters import user_study_files
    from webapp.services import findings, studies, withdrawals

    now = database.now()
    today = now.astimezone().date()
    name = user_study_files.file_name(file_format, today)
    if output is not None and output.is_dir():
        output /= name
    with database.opened() as used, used.writing() as session:
        study = studies.open_or_make(session, now)
        report = findings.report(session, study, now, settings=settings)
        withdrawals.note_export(session, study, name, now)
        session.commit()
    write(user_study_files.FORMATS[file_format].render(report, today), output)


def _report(
    phase: int | None, named: tuple[str, ...], rule: str | None, settings: Resampling
) -> ComparisonReport:
    from webapp.services import comparisons, reports

    with database.reading() as (session, study):
        chosen = reports.rule_of(session, study, rule)
        ids = comparisons.of_phase(session, study, phase) if phase else named
        return comparisons.report(session, study, ids, chosen, settings=settings)
