"""``relevansi compare``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from relevansi.cli.frame import options
from relevansi.cli.frame.output import is_standard, notice, steps, write
from relevansi.exporters.comparisons import files as comparison_files
from relevansi.exporters.phase_3 import summary
from relevansi.i18n import gettext
from relevansi.importers.runs import problems
from relevansi.metrics.comparisons.comparisons import ComparisonReport
from relevansi.services.comparisons import chosen_runs, comparisons, rated_comparisons
from relevansi.services.comparisons.rated_comparisons import RatedCsv
from relevansi.services.phase_3 import findings, participants
from relevansi.services.runs import reports
from relevansi.services.study import studies

USERS = 3
"""The phase that is summed up and not compared."""

FORMATS = tuple(comparison_files.FORMATS)


@click.command("compare")
@click.option("--phase", type=click.IntRange(1, 3), help="1: search methods, 2: LLMs, 3: users.")
@click.option("--runs", "first", metavar="ID ID...", help="Ids of two runs or more.")
@click.option("--input", "rated", metavar="FILE FILE...", help="Two rated CSVs or more.")
@click.option("--names", help="What to call the rated CSVs, with commas between.")
@click.argument("others", nargs=-1, metavar="")
@options.rule_option
@click.option(
    "--figures", metavar="NAMES", help="Other figures than the headline, as `nDCG@10,AP,RBP(0.8)`."
)
@click.option(
    "--format",
    "formats",
    type=click.Choice(FORMATS),
    multiple=True,
    help="markdown if not said; several are written into a folder.",
)
@click.option("--output", "spelled", metavar="FORMAT", help="The same as --format.")
@click.option(
    "-o",
    "output",
    type=click.Path(path_type=Path),
    help="A file; in a folder, phase1_comparison_YYYYMMDD.md and so on.",
)
def compare_command(  # noqa: PLR0913 (a parameter for each option)
    *,
    phase: int | None,
    first: str | None,
    rated: str | None,
    names: str | None,
    others: tuple[str, ...],
    rule: str | None,
    figures: str | None,
    formats: tuple[str, ...],
    spelled: str | None,
    output: Path | None,
) -> None:
    """Compare the runs of a phase, those that --runs names, or rated CSVs, as a report.

    A phase takes the newest complete run of each search method (1) or LLM (2). Phase 3 is
    summed up: its users ask questions of their own, so nothing is paired. Rated CSVs are
    compared by their counts, without a database; with --phase they are of its methods or LLMs.
    """
    chosen_formats, output = _destination(formats, spelled, output)
    is_chosen_twice = first is not None and (rated is not None or phase is not None)
    is_chosen = first is not None or rated is not None
    # Without --runs or --input there is nothing that further arguments could belong to.
    if is_chosen_twice or (not is_chosen and (others or phase is None)):
        raise click.UsageError(gettext("Say either --phase, --runs or --input."))
    if names is not None and rated is None:
        raise click.UsageError(gettext("--names goes with --input."))
    if figures and (rated is not None or phase == USERS):
        raise click.UsageError(gettext("--figures goes with the runs of a study."))
    if rated is not None:
        if rule is not None or phase == USERS:
            raise click.UsageError(gettext("A rated CSV has its judgments merged already."))
        report = _of_files((rated, *others), names, phase)
    elif phase == USERS:
        if rule is not None:
            refusal = gettext("In phase 3 everybody rates alone, so --rule cannot be used.")
            raise click.UsageError(refusal)
        _sum_up(chosen_formats, output)
        return
    else:
        run_ids = (first, *others) if first is not None else others
        report = _report(phase, run_ids, rule, figures or "")
    today = options.now().astimezone().date()
    for file_format in chosen_formats:
        name = comparison_files.file_name(report, file_format, today)
        _write(comparison_files.FORMATS[file_format].render(report, today), output, name)


def _write(file: bytes, output: Path | None, name: str) -> None:
    """Write a file to `output`, in a folder under its `name`."""
    write(file, output / name if output is not None and output.is_dir() else output)


def _destination(
    formats: tuple[str, ...], spelled: str | None, output: Path | None
) -> tuple[tuple[str, ...], Path | None]:
    """Return the formats to write, and to which file or folder.

    ``--output`` is a format's name, else a file as ``-o`` is.
    """
    if spelled in FORMATS:
        formats = (*formats, spelled)
    elif spelled is not None:
        if output is not None:
            refusal = gettext(
                '--output "%(name)s" is not a format: choose one of %(formats)s.',
                name=spelled,
                formats=", ".join(FORMATS),
            )
            raise click.UsageError(refusal)
        output = Path(spelled)
    chosen = tuple(dict.fromkeys(formats)) or FORMATS[:1]
    if len(chosen) > 1:
        if output is None or is_standard(output) or output.is_file():
            raise click.UsageError(gettext("Several formats need a folder: say -o FOLDER."))
        output.mkdir(parents=True, exist_ok=True)
    return chosen, output


def _of_files(paths: Sequence[str], names: str | None, phase: int | None) -> ComparisonReport:
    """Return the comparison of rated CSVs, by their `names` if there are any."""
    missing = [path for path in paths if not Path(path).is_file()]
    if missing:
        raise click.UsageError(gettext("There is no file %(name)s.", name=", ".join(missing)))
    labels: Sequence[str | None] = [None] * len(paths)
    if names is not None:
        labels = [" ".join(name.split()) for name in names.split(",")]
        if len(labels) != len(paths) or not all(labels):
            refusal = gettext("--names needs a name for each of the %(n)s files.", n=len(paths))
            raise click.UsageError(refusal)
    pairs = zip(paths, labels, strict=True)
    files = [RatedCsv(path, Path(path).read_bytes(), label) for path, label in pairs]
    report, remarks = rated_comparisons.compare_files(files, phase=phase)
    for problem in remarks:
        notice(problems.message(problem))
    return report


def _sum_up(formats: Sequence[str], output: Path | None) -> None:
    """Write the summary of phase 3, and log that there is a copy of what participants gave."""
    now = options.now()
    today = now.astimezone().date()
    with options.writing() as (session, study):
        report = findings.report(session, study, now)
        names = {file_format: summary.file_name(file_format, today) for file_format in formats}
        for name in names.values():
            participants.log_export(session, study, name, now)
    for file_format, name in names.items():
        _write(summary.FORMATS[file_format].render(report, today), output, name)


def _report(
    phase: int | None, run_ids: tuple[str, ...], rule: str | None, figures: str
) -> ComparisonReport:
    names = studies.figures_in(figures)
    with options.reading() as (session, study), steps() as on_progress:
        chosen = reports.rule_of(session, study, rule)
        ids = chosen_runs.of_phase(session, study, phase) if phase else run_ids
        return comparisons.report(
            session, study, ids, chosen, on_progress=on_progress, figures=names, with_agreement=True
        )
