"""``relevansi agreement`` and ``relevansi conflicts``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from relevansi.cli.frame import options
from relevansi.cli.frame.options import Reply, replies
from relevansi.cli.frame.output import notice, steps
from relevansi.exporters.agreement import conflicts
from relevansi.exporters.agreement import report as words
from relevansi.i18n import gettext
from relevansi.importers.runs import problems
from relevansi.metrics.agreement.conflicts import JudgedRun
from relevansi.services.agreement import agreement
from relevansi.services.agreement.agreement import MANUAL_FILE, RUN_FILE
from relevansi.services.gold import card_agreement

WIDTH = 120


@click.command("agreement")
@replies("table", *words.FORMATS)
def agreement_command(reply: Reply) -> None:
    """Show how far the study's raters agree, with one another and with themselves.

    \b
    JSON: {raters, interval, cards, empty_lists, quality, repeats}. Each kind:
      {raters, scale, n_items, n_shared,
       cannot_tell: {n, judged, rate, raters: {NAME: {n, judged, rate}}} | null,
       overall: FIGURES, pairs: [{raters: [A, B], FIGURES}],
       categories: {NAME: {n_items, FIGURES}},
       over_time: [{part, n_items, first, last, FIGURES}]}
    repeats: [{rater, kind, asked, answered, FIGURES}]. FIGURES: raw, cohen_kappa,
    fleiss_kappa, krippendorff_alpha, gwet_ac1, each
      {value, n, lower, upper, why_undefined}; graded cards have
      linear_kappa and quadratic_kappa (weighted) too;
    seconds_per_verdict: {RATER: {median, n}}, in studies of documents;
    undefined is null, and why_undefined one of too_few_raters, not_two_raters,
    no_shared_item, one_label.
    """  # noqa: D301 - \b is click's mark for a paragraph left as it is
    with options.reading() as (session, study), steps() as on_progress:
        report = agreement.report(session, study, on_progress=on_progress)
    if reply.file_format == "table":
        reply.document(words.document(report), width=WIDTH)
    else:
        today = options.now().astimezone().date()
        reply.write(words.FORMATS[reply.file_format].render(report, today))


@click.command("conflicts")
@click.argument("folders", metavar="[DIR...]", nargs=-1, type=click.Path(path_type=Path))
@replies("table", "json")
def conflicts_command(folders: Sequence[Path], reply: Reply) -> None:
    """Show where verdicts by hand on the same property differ from run to run.

    Each DIR holds a run's results.json (V2) and its manual_input.json. Without any the runs of the
    study are compared by the decisions on whole cards, made or imported run by run.
    """
    report = agreement.compare(judged_runs(folders) if folders else _judged_in_study())
    for problem in report.problems:
        notice(problems.message(problem))
    for place in report.self_contradictions:
        notice(conflicts.contradicts_itself(*place))
    if reply.is_json:
        reply.json(conflicts.conflict_json(report))
    else:
        reply.document(conflicts.conflict_document(report), width=WIDTH)


def _judged_in_study() -> list[JudgedRun]:
    with options.reading() as (session, study):
        judged = [*card_agreement.judged_by_hand(session, study)]
    if len(judged) < 2:
        refusal = gettext(
            "Fewer than two runs of the study have decisions on whole cards. Name folders that "
            "hold results.json and manual_input.json."
        )
        raise click.ClickException(refusal)
    return judged


def judged_runs(folders: Sequence[Path]) -> list[JudgedRun]:
    """The runs in `folders`, each named after its folder, by the shortest distinct names."""
    names = agreement.run_names([folder.resolve().parts for folder in folders])
    runs = []
    for folder, name in zip(folders, names, strict=True):
        try:
            files = [(folder / file).read_bytes() for file in (RUN_FILE, MANUAL_FILE)]
        except OSError as failure:
            refusal = gettext(
                "%(folder)s is no folder of a judged run: %(name)s cannot be read (%(why)s). "
                "Name folders that hold results.json and manual_input.json.",
                folder=folder,
                name=Path(failure.filename).name,
                why=failure.strerror,
            )
            raise click.ClickException(refusal) from failure
        runs.append(agreement.judged_run(name, *files))
    return runs
