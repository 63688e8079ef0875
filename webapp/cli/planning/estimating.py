"""``relevansi estimate``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from webapp.cli.frame import database
from webapp.cli.frame.output import say, write_json
from webapp.i18n import gettext

if TYPE_CHECKING:
    from webapp.metrics.planning.machine_help import MachineHelp
    from webapp.metrics.planning.samples import QuestionSample

FIGURES = ("mean_precision_at_5", "mean_overall_precision", "mrr", "success_rate")


@click.command("estimate")
@click.option("--run", "run_id", required=True, metavar="ID", help="The run.")
@click.option("--against", metavar="ID", help="Another run: the difference, first minus second.")
@click.option("--figure", type=click.Choice(FIGURES), default=FIGURES[0], show_default=True)
@click.option("--machine", metavar="JUDGE", help="Let this machine judge help.")
@click.option("--rule", help='"majority", "adjudicated" or "rater NAME".')
@click.option("--format", "file_format", type=click.Choice(["table", "json"]), default="table")
def estimate_command(
    *,
    run_id: str,
    against: str | None,
    figure: str,
    machine: str | None,
    rule: str | None,
    file_format: str,
) -> None:
    """Estimate a figure over all questions from the sample of them that people judged.

    \b
    JSON: {run, against, figure, value, low, high, n, of, waiting, valid, rule, people_rule,
      interval: {method, confidence, ...},
      machine: {name, weight, share_saved, correlation, alone: {value, low, high}, why} or null}
    """  # noqa: D301 - \b is click's mark for a paragraph left as it is
    from webapp.exporters.planning import machine_help as words
    from webapp.services.planning import machine_help, samples
    from webapp.services.runs import reports, runs

    wanted = [run_id] if against is None else [run_id, against]
    with database.reading() as (session, study):
        compared = [runs.find(session, study, one) for one in wanted]
        judge = machine_help.machine_named(session, study, machine) if machine else None
        merged = reports.rule_of(session, study, rule)
        found = machine_help.of_runs(session, study, compared, merged, judge, (figure,))
        drawn = {one.question_set_id: one for one in samples.sampling(session, study.id)}
        sampling = drawn.get(compared[0].question_set_id)
        if judge is None and sampling is not None and figure in samples.FIGURES:
            sample = samples.of_runs(session, study, sampling, compared, merged)
            _say_sampled(sample, wanted, figure, merged.name, as_json=file_format == "json")
            return
        if file_format == "json":
            write_json(_document(found), None)
            return
        said = (*_lines(found), words.basis(found), *words.warnings(found), words.method())
        for line in said:
            say(line)


def _say_sampled(
    sample: QuestionSample, wanted: list[str], figure: str, merged: str, *, as_json: bool
) -> None:
    """Print the figure as the rule of the sample gives it: no machine has a part in it."""
    from webapp.exporters.planning import sample as words
    from webapp.exporters.planning.rule_words import rule_json

    one = next(
        (f for f in sample.figures if f.figure == figure and len(f.runs) == len(wanted)), None
    )
    if as_json:
        run, against = (*wanted, None)[:2]
        document = {
            "run": run,
            "against": against,
            "figure": figure,
            "value": one.found.value if one else None,
            "low": one.found.interval.lower if one else None,
            "high": one.found.interval.upper if one else None,
            "n": one.found.values if one else 0,
            "of": sample.rule.of,
            "waiting": sample.drawn - sample.rated,
            "valid": sample.rule.beforehand,
            "rule": rule_json(sample.rule),
            "people_rule": merged,
            "interval": words.sample_json(sample)["interval"],
            "machine": None,
        }
        write_json(document, None)
        return
    if one is not None:
        (row,) = words.table(replace(sample, figures=(one,))).rows
        say("  ".join(cell.text for cell in row))
    for line in (*words.sentences(sample), *words.table(sample).notes):
        say(line)


def _document(found: MachineHelp) -> dict[str, Any]:
    from webapp.exporters.planning import machine_help as words

    document = words.help_json(found)
    one = document["figures"][-1]
    shown = one if found.machine else one["alone"]
    return {
        "run": one["first"],
        "against": one["second"],
        "figure": one["figure"],
        **{key: shown[key] for key in ("value", "low", "high")},
        **{key: one[key] for key in ("n", "of", "waiting")},
        **{key: document[key] for key in ("valid", "rule", "people_rule", "interval")},
        "machine": {
            "name": found.machine,
            **{key: one[key] for key in ("weight", "share_saved", "correlation", "alone", "why")},
        }
        if found.machine
        else None,
    }


def _lines(found: MachineHelp) -> Iterator[str]:
    from webapp.exporters.planning import machine_help as words

    table = words.differences(found) if len(found.names) > 1 else words.figures(found)
    (row,) = table.rows
    headings = [column.heading for column in table.columns]
    cells = dict(zip(headings, (cell.text for cell in row), strict=True))
    yield cells.pop(headings[0])
    if not found.machine:
        kept = (gettext("People alone, same sample"), gettext("Sampled"))
        cells = {heading: text for heading, text in cells.items() if heading in kept}
    yield from (f"  {heading}: {text}" for heading, text in cells.items())
