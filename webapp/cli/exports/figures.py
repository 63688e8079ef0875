"""``relevansi metrics``."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import click

from webapp import labels, notation
from webapp.cli.frame import database
from webapp.cli.frame.options import FILE, formats
from webapp.cli.frame.output import say, shown, write, write_json
from webapp.cli.frame.tables import TerminalTable, printed
from webapp.exporters.comparisons.words import positions
from webapp.exporters.exports import metrics_tables
from webapp.exporters.exports.measures import measures_markdown
from webapp.exporters.frame.csv_cells import rounded
from webapp.i18n import gettext
from webapp.importers.runs import csv_ratings, problems
from webapp.metrics.judging.figures import RunReport, figures, totals, undefined
from webapp.metrics.judging.queries import EXPLANATIONS
from webapp.metrics.judging.registry import MEASURES, measure_of
from webapp.records import Problem
from webapp.services.runs import reports

WIDTH = 100
RULES = click.Choice(["majority", "adjudicated"])


@click.command("metrics")
@click.option("--run", "run_id", help="Id of a run.")
@click.option(
    "--input",
    "rated_file",
    type=FILE,
    help="A rated CSV, of this app or of the original page.",
)
@click.option("--rater", help="Only this rater's judgments.")
@click.option("--rule", type=RULES, help="How several raters' judgments become one.")
@formats("table", "json", "markdown", "csv")
@click.option("--explain", is_flag=True, help="Print what each figure and column means.")
def metrics_command(
    run_id: str | None,
    rated_file: Path | None,
    rater: str | None,
    rule: str | None,
    file_format: str,
    output: Path | None,
    *,
    explain: bool,
) -> None:
    """Print the figures of a run, or recompute those of a rated CSV.

    Without --run and --input the newest data/evaluation/**/evaluation_rated_*.csv is offered,
    or taken where there is no terminal to ask on.
    """
    if explain:
        write(measures_markdown().encode(), output)
        return
    if run_id is None and rated_file is None and not (rater or rule):
        rated_file = _newest_rated(Path())
    if (run_id is None) == (rated_file is None):
        raise click.UsageError(gettext("Say either --run or --input."))
    if rated_file is not None and (rater or rule):
        raise click.UsageError(gettext("A rated CSV has its judgments merged already."))
    found: Sequence[Problem] = ()
    if rated_file is not None:
        rated = csv_ratings.read(rated_file.name, rated_file.read_bytes())
        report, found = rated.report, rated.problems
    else:
        assert run_id is not None
        report = _report(run_id, rater, rule)
    for problem in found:
        say(f"relevansi: {problems.message(problem)}", err=True)
    if file_format == "json":
        write_json(_document(report, found, from_file=rated_file is not None), output)
    else:
        write(FORMATS[file_format](report), output)
    if found and not report.rows:
        raise SystemExit(1)


def _newest_rated(folder: Path) -> Path | None:
    """Return the newest rated CSV below `folder` as the original scripts lay it down.

    The newest is the one with the latest day and time in its name; of those with the same, the
    one that was changed last. On a terminal the user is asked whether to take it, else it is
    named.
    """
    found = (folder / "data" / "evaluation").rglob("evaluation_rated_*.csv")
    newest = max(
        (path for path in found if path.is_file()),
        key=lambda path: (re.findall(r"\d{4,}", path.stem), path.stat().st_mtime, path),
        default=None,
    )
    if newest is None:
        return None
    told = gettext("%(file)s is the newest rated CSV here.", file=newest)
    if sys.stdin.isatty() and sys.stderr.isatty():
        offer = shown(f"{told} {gettext('Compute its figures?')}")
        return newest if click.confirm(offer, default=True, err=True) else None
    say(f"relevansi: {told}", err=True)
    return newest


def rule_name(rater: str | None, rule: str | None) -> str | None:
    """Return the name of the rule that the two options choose; ``None`` for the default."""
    if rater and rule:
        raise click.UsageError(gettext("Say either --rater or --rule."))
    return f"rater {rater}" if rater else rule


def _report(run_id: str, rater: str | None, rule: str | None) -> RunReport:
    with database.reading() as (session, study):
        chosen = reports.rule_of(session, study, rule_name(rater, rule))
        return reports.in_words(session, study, run_id, chosen)


def _document(report: RunReport, found: Sequence[Problem], *, from_file: bool) -> dict[str, object]:
    document: dict[str, object] = rounded(metrics_tables.metrics_json(report))
    if from_file:
        document["undefined"] = [
            {"figure": figure, "why": str(why), "query_ids": list(ids)}
            for (figure, why), ids in undefined(report).items()
        ]
    if found:
        document["problems"] = [problems.to_dict(problem) for problem in found]
    return document


def _table(report: RunReport) -> Iterator[TerminalTable | str]:
    """Yield the headline figures as a table, then why figures have no value."""
    whole = totals(report)
    table = TerminalTable(f"{report.run} ({labels.rule(report.rule)})")
    table.left(gettext("Figure"))
    found = figures(whole)
    value, lower, upper = metrics_tables.value_headings(found)
    table.right(value, lower, upper, "n")
    for name, figure in found.items():
        values = map(notation.four, (figure.value, figure.lower, figure.upper))
        label = gettext(MEASURES[name].label)
        table.row(label, *values, metrics_tables.said_n(figure))
    yield table
    yield gettext(
        "%(done)s of %(of)s questions complete, %(failed)s failed, %(lost)s unreadable",
        done=whole.n_complete,
        of=whole.n_counted,
        failed=whole.n_failed,
        lost=whole.n_unreadable,
    )
    yield from metrics_tables.conventions(report)
    yield from filter(None, [metrics_tables.said_blindness(report.blindness)])
    for (name, why), ids in undefined(report).items():
        yield gettext(
            "%(figure)s has no value for %(questions)s: %(why)s",
            figure=gettext(measure_of(name).label),
            questions=positions(ids),
            why=gettext(EXPLANATIONS[why]),
        )


FORMATS: Mapping[str, Callable[[RunReport], bytes]] = {
    "table": lambda report: printed(_table(report), width=WIDTH),
    "markdown": lambda report: metrics_tables.metrics_markdown(report).encode(),
    "csv": metrics_tables.metrics_csv,
}
"""How a report is written, beside JSON."""
