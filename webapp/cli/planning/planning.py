"""``relevansi plan``, ``sample`` and ``estimate``: the rating plan in a terminal, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace
from sqlalchemy.orm import Session

from webapp.cli.frame import options
from webapp.cli.frame.output import TerminalTable, printed, say, write, write_json
from webapp.i18n import gettext
from webapp.metrics.comparisons.significance import Resampling

if TYPE_CHECKING:
    from webapp.db.tables.study import QuestionSet, Study
    from webapp.exporters.frame.tables import Table
    from webapp.metrics.planning.assisted import MachineHelp
    from webapp.metrics.planning.power import RatingPlan
    from webapp.metrics.planning.sampling import QuestionSample

WIDTH = 100
HEADLINES = ("mean_precision_at_5", "mean_overall_precision", "mrr", "success_rate")
FIGURES = (*HEADLINES, "mean_response_quality")

question_set_option = click.option(
    "--question-set", type=click.IntRange(1), help="Which; the newest."
)


def _question_set(session: Session, study: Study, number: int | None) -> QuestionSet:
    """Return the question set with this number, counted from 1; without a number the newest."""
    from webapp.services.planning import rules

    sets = rules.question_sets(session, study)
    if not sets:
        raise click.ClickException(gettext("There are no questions yet: import a run first."))
    if number is not None and number > len(sets):
        message = gettext("The study has %(n)s question sets.", n=len(sets))
        raise click.BadParameter(message, param_hint="--question-set")
    return sets[number - 1 if number else -1]


@click.command("plan")
@click.option("--figure", type=click.Choice(FIGURES), default=FIGURES[0], show_default=True)
@click.option(
    "--difference",
    type=click.FloatRange(0, 5, min_open=True),
    default=0.1,
    show_default=True,
    help="The smallest difference that is worth seeing.",
)
@click.option("--power", type=click.FloatRange(0.05, 0.999), default=0.8, show_default=True)
@click.option("--level", type=click.FloatRange(0.0001, 0.5), default=0.05, show_default=True)
@click.option("--runs", "pair", nargs=2, metavar="ID ID", help="Take the deviation from these.")
@click.option(
    "--sd",
    "--deviation",
    "deviation",
    type=click.FloatRange(0, 5, min_open=True),
    help="The standard deviation of the paired differences, where no pair is rated.",
)
@click.option("--raters", type=click.IntRange(1, 1000), help="How many; those of the study.")
@question_set_option
@click.option("--seed", type=click.IntRange(0), default=Resampling().seed, show_default=True)
@click.option("--format", "file_format", type=click.Choice(["table", "json"]), default="table")
def plan_command(  # noqa: PLR0913 (a parameter for each option)
    *,
    figure: str,
    difference: float,
    power: float,
    level: float,
    pair: tuple[str, str] | None,
    deviation: float | None,
    raters: int | None,
    question_set: int | None,
    seed: int,
    file_format: str,
) -> None:
    """Say how many questions a difference takes, and what the questions there are can show.

    The deviation is that of the two rated runs whose differences vary most, unless --runs names
    two others or --sd gives it. With --sd a plan needs no run: it comes before there is one.
    """
    from webapp.exporters.planning import plan as words
    from webapp.metrics.planning.power import Demand, RatingPlanWish
    from webapp.services.planning import plans, rules

    wish = RatingPlanWish(figure, difference, Demand(level, power), deviation, seed)
    with options.reading() as (session, study):
        asked = None
        if question_set is not None or rules.question_sets(session, study):
            asked = _question_set(session, study, question_set)
        found = plans.rating_plan(session, study, asked, wish, pair=pair, raters=raters)
        if file_format == "json":
            write_json(words.plan_json(found), None)
        else:
            write(printed(_parts(found), width=WIDTH), None)


def _parts(found: RatingPlan) -> Iterator[TerminalTable | str]:
    from webapp.exporters.planning import plan as words

    yield from words.sentences(found)
    if found.deviation is not None:
        yield from _table(words.curve_table(found), 0)


def _table(made: Table, texts: int) -> Iterator[TerminalTable | str]:
    """Yield a table, whose first columns are `texts`, and its notes."""
    table = TerminalTable(made.title)
    table.left(*(column.heading for column in made.columns[:texts]))
    table.right(*(column.heading for column in made.columns[texts:]))
    for row in made.rows:
        table.row(*(cell.text for cell in row))
    yield table
    yield from made.notes


@click.command("sample")
@click.option("--questions", type=click.IntRange(1), help="Draw so many.")
@click.option("--by", type=click.Choice(["category"]), help="Each category in proportion.")
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), help="Of the draw; else one is drawn.")
@click.option(
    "--kind",
    type=click.Choice(["fixed", "machine_help"]),
    help='"fixed" (its size, so chosen) or "machine_help".',
)
@click.option("--more", type=click.IntRange(1), help="Draw so many more; what was drawn stays.")
@click.option("--category", help="All of these of this category.")
@click.option("--close", "closes", is_flag=True, help="End the sample.")
@question_set_option
@click.option("--format", "file_format", type=click.Choice(["table", "json"]), default="table")
def sample_command(  # noqa: PLR0913 (a parameter for each option)
    *,
    questions: int | None,
    by: str | None,
    seed: int | None,
    kind: str | None,
    more: int | None,
    category: str | None,
    closes: bool,
    question_set: int | None,
    file_format: str,
) -> None:
    """Draw questions at random, add to those drawn, or say how far the sample is.

    A sample is drawn before the first verdict. Raters are then asked its questions only; the
    others are "not asked", and missing nowhere. Without an option that changes it, the sample in
    force is printed with the figures that its rule allows by now.

    \b
    JSON: {rule: {kind, seed, chosen_at, verdicts_before, settings, n, of, sample, strata} or null,
      rated, figures: [{figure, runs, value, lower, upper, n, drawn, of}]}
    """  # noqa: D301 - \b is click's mark for a paragraph left as it is
    from webapp.services.planning import samples
    from webapp.services.planning.rules import RuleKind
    from webapp.services.study import studies

    _only_with("--questions", questions, {"--by": by, "--seed": seed, "--kind": kind})
    _only_with("--more", more, {"--category": category})
    if sum((questions is not None, more is not None, closes)) > 1:
        raise click.UsageError(gettext("Say one of --questions, --more and --close."))
    with options.opened() as opened, opened.writing() as session:
        study = studies.open_or_make(session, options.now())
        chosen = _question_set(session, study, question_set)
        if questions is not None:
            wish = samples.SampleWish(
                questions, RuleKind(kind or "fixed"), stratified=by is not None, seed=seed
            )
            owner = studies.raters(session, study)[0]
            samples.draw(session, owner, chosen, wish, options.now())
        elif more is not None:
            samples.extend(session, chosen, more, category)
        elif closes:
            samples.finish(session, study, chosen, options.now())
        _print(session, study, chosen, as_json=file_format == "json")
        session.commit()


def _only_with(name: str, given: object, others: dict[str, object]) -> None:
    for other, value in others.items():
        if given is None and value is not None:
            raise click.UsageError(
                gettext("%(option)s goes with %(other)s.", option=other, other=name)
            )


def _print(session: Session, study: Study, chosen: QuestionSet, *, as_json: bool) -> None:
    from webapp.exporters.planning import samples as words
    from webapp.services.planning import samples

    found = samples.of_set(session, study, chosen)
    if as_json:
        nothing: dict[str, Any] = {"rule": None, "rated": 0, "figures": []}
        write_json(words.part_json(found) if found else nothing, None)
    else:
        write(printed(_sample_parts(found), width=WIDTH), None)


def _sample_parts(found: QuestionSample | None) -> Iterator[TerminalTable | str]:
    from webapp.exporters.planning import samples as words

    if found is None:
        yield gettext("No sample is drawn: raters are asked all questions.")
        return
    yield from words.sentences(found)
    yield words.drawn(found)
    if found.figures:
        yield from _table(words.table(found), 2)


@click.command("estimate")
@click.option("--run", "run_id", required=True, metavar="ID", help="The run.")
@click.option("--against", metavar="ID", help="Another run: the difference, first minus second.")
@click.option(
    "--figure",
    type=click.Choice(HEADLINES),
    default=HEADLINES[0],
    show_default=True,
)
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
    with options.reading() as (session, study):
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
    from webapp.exporters.planning import samples as words

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
            "rule": words.rule_json(sample.rule),
            "people_rule": merged,
            "interval": words.part_json(sample)["interval"],
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

    document = words.part_json(found)
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
