"""``relevansi plan``, ``sample`` and ``estimate``: the rating plan in a terminal, and as JSON."""

from __future__ import annotations

from typing import Any

import click
from msgspec.structs import replace
from sqlalchemy.orm import Session

from relevansi.cli.frame import options
from relevansi.cli.frame.options import Reply, replies
from relevansi.cli.frame.output import say
from relevansi.db.tables.planning import RuleKind
from relevansi.db.tables.study import QuestionSet, Study
from relevansi.exporters.frame.tables import Section
from relevansi.exporters.planning import machine_help as help_words
from relevansi.exporters.planning import plan as plan_words
from relevansi.exporters.planning import samples as sample_words
from relevansi.i18n import gettext
from relevansi.metrics.planning.power import Demand, RatingPlanWish
from relevansi.records import LARGEST_INTEGER
from relevansi.services.machine_judges import judges
from relevansi.services.planning import machine_help, samples
from relevansi.services.runs import reports, runs
from relevansi.services.study import studies

HELPED_FIGURES = tuple(machine_help.HELPED_FIGURES)
question_set_option = click.option(
    "--question-set", type=click.IntRange(1), help="Which; the newest."
)


def _question_set(session: Session, study: Study, number: int | None) -> QuestionSet:
    sets = samples.question_sets(session, study)
    if not sets:
        raise click.ClickException(gettext("There are no questions yet: import a run first."))
    if number is not None and number > len(sets):
        message = gettext("The study has %(n)s question sets.", n=len(sets))
        raise click.BadParameter(message, param_hint="--question-set")
    return sets[number - 1 if number else -1]


@click.command("plan")
@click.option("--figure", type=click.Choice(samples.PLAN_FIGURES), default=samples.PLAN_FIGURES[0])
@click.option(
    "--difference",
    type=options.FiniteRange(0, 5, min_open=True),
    default=0.1,
    help="The smallest difference that is worth seeing.",
)
@click.option("--power", type=options.FiniteRange(0.05, 0.999), default=0.8)
@click.option("--level", type=options.FiniteRange(0.0001, 0.5), default=0.05)
@click.option("--runs", "pair", nargs=2, metavar="ID ID", help="Take the deviation from these.")
@click.option(
    "--sd",
    "--deviation",
    "deviation",
    type=options.FiniteRange(0, 5, min_open=True),
    help="The standard deviation of the paired differences, where no pair is rated.",
)
@click.option("--raters", type=click.IntRange(1, 1000), help="How many; those of the study.")
@question_set_option
@replies("table", "json")
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
    reply: Reply,
) -> None:
    """Say how many questions a difference takes, and what the questions there are can show.

    It is made for the test of the comparison, from how two rated runs differ: those that vary
    most, unless --runs names two others; their level is divided by the pairs of their phase. With
    --sd a plan needs no run: it comes before there is one, and is a lower limit.
    """
    wish = RatingPlanWish(figure, difference, Demand(level, power), deviation)
    with options.reading() as (session, study):
        chosen_set = None
        if question_set is not None or samples.question_sets(session, study):
            chosen_set = _question_set(session, study, question_set)
        plan = samples.rating_plan(session, study, chosen_set, wish, pair=pair, raters=raters)
    if reply.is_json:
        reply.json(plan_words.plan_json(plan))
    else:
        _write_section(plan_words.section(plan), reply)


def _write_section(section: Section, reply: Reply, *notes: str) -> None:
    reply.text([*section.sentences, *notes, *section.tables])


@click.command("sample")
@click.option("--questions", type=click.IntRange(1), help="Draw so many.")
@click.option(
    "--seed", type=click.IntRange(0, LARGEST_INTEGER), help="Of the draw; else one is drawn."
)
@click.option(
    "--kind",
    type=click.Choice(["fixed", "machine_help"]),
    help='"fixed" (its size, so chosen) or "machine_help".',
)
@click.option("--close", "closes", is_flag=True, help="End the sample.")
@question_set_option
@replies("table", "json")
def sample_command(
    *,
    questions: int | None,
    seed: int | None,
    kind: str | None,
    closes: bool,
    question_set: int | None,
    reply: Reply,
) -> None:
    """Draw questions at random, or say how far the sample is.

    A sample is drawn before the first verdict. Raters are then asked its questions only; the
    others are "not asked", and missing nowhere. Without an option that changes it, the sample in
    force is printed with the figures that its rule allows by now.

    \b
    JSON: {rule: {kind, seed, chosen_at, verdicts_before, settings, n, of, sample} or null,
      rated, figures: [{figure, runs, value, lower, upper, n, drawn, of}]}
    """  # noqa: D301 - \b is click's mark for a paragraph left as it is
    for name, value in (("--seed", seed), ("--kind", kind)):
        if questions is None and value is not None:
            refusal = gettext("%(option)s goes with %(other)s.", option=name, other="--questions")
            raise click.UsageError(refusal)
    if questions is not None and closes:
        raise click.UsageError(gettext("Say either --questions or --close."))
    with options.writing() as (session, study):
        chosen = _question_set(session, study, question_set)
        if questions is not None:
            owner, now = studies.raters(session, study)[0], options.now()
            rule_kind = RuleKind(kind or "fixed")
            samples.draw_sample(session, owner, chosen, questions, now, kind=rule_kind, seed=seed)
        elif closes:
            samples.end_rule(session, study, chosen, options.now())
        sample = samples.sample_of_set(session, study, chosen)
    if reply.is_json:
        empty: dict[str, Any] = {"rule": None, "rated": 0, "figures": []}
        reply.json(sample_words.part_json(sample) if sample else empty)
    elif sample is None:
        say(gettext("No sample is drawn: raters are asked all questions."))
    else:
        _write_section(sample_words.section(sample), reply, sample_words.drawn(sample))


@click.command("estimate")
@click.option("--run", "run_id", required=True, metavar="ID", help="The run.")
@click.option("--against", metavar="ID", help="Another run: the difference, first minus second.")
@click.option("--figure", type=click.Choice(HELPED_FIGURES), default=HELPED_FIGURES[0])
@click.option("--machine", metavar="JUDGE", help="Let this machine judge help.")
@options.rule_option
@replies("table", "json")
def estimate_command(
    *,
    run_id: str,
    against: str | None,
    figure: str,
    machine: str | None,
    rule: str | None,
    reply: Reply,
) -> None:
    """Estimate a figure over all questions from the sample of them that people judged.

    \b
    JSON: {run, against, figure, value, low, high, n, of, waiting, valid, rule, people_rule,
      interval: {method, confidence, ...},
      machine: {name, weight, share_saved, correlation, alone: {value, low, high}, why} or null}
    """  # noqa: D301 - \b is click's mark for a paragraph left as it is
    run_ids = [run_id] if against is None else [run_id, against]
    with options.reading() as (session, study):
        compared = [runs.find(session, study, each) for each in run_ids]
        judge = judges.find_machine(session, study, machine) if machine else None
        merged = reports.rule_of(session, study, rule)
        estimates = machine_help.of_runs(session, study, compared, merged, judge, (figure,))
        set_id, sample = compared[0].question_set_id, None
        if judge is None and figure in samples.SAMPLE_FIGURES:
            sample = samples.sample_of_runs(session, study, set_id, compared, merged)
        if sample is not None:
            # The figure as the rule of the sample gives it: no machine has a part in it.
            of_figure = tuple(line for line in sample.figures if line.figure == figure)
            sample = replace(sample, figures=of_figure)
            section = sample_words.section(sample)
            document = _of_sample(sample_words.part_json(sample), len(run_ids))
            document |= {"valid": sample.rule.beforehand, "people_rule": merged.name}
        else:
            section = help_words.section(estimates)
            document = _of_people(help_words.part_json(estimates))
    if reply.is_json:
        reply.json({"run": run_id, "against": against, "figure": figure, **document})
    else:
        _write_section(section, reply)


def _of_sample(part: dict[str, Any], n_runs: int) -> dict[str, Any]:
    """Return the estimate of a figure, or of its difference, as the rule of the sample gives it."""
    nothing = {"value": None, "lower": None, "upper": None, "n": 0}
    line = next((each for each in part["figures"] if len(each["runs"]) == n_runs), nothing)
    return {
        "value": line["value"],
        "low": line["lower"],
        "high": line["upper"],
        "n": line["n"],
        "of": part["rule"]["of"],
        "waiting": part["rule"]["n"] - part["rated"],
        "rule": part["rule"],
        "interval": part["interval"],
        "machine": None,
    }


def _of_people(part: dict[str, Any]) -> dict[str, Any]:
    """Return the estimate of people, with a machine's help where one was named."""
    line = part["figures"][-1]  # of two runs the difference, which comes after their figures
    estimate = line if part["machine"] else line["alone"]
    helped = {key: line[key] for key in ("weight", "share_saved", "correlation", "alone", "why")}
    return {
        **{key: estimate[key] for key in ("value", "low", "high")},
        **{key: line[key] for key in ("n", "of", "waiting")},
        **{key: part[key] for key in ("valid", "rule", "people_rule", "interval")},
        "machine": {"name": part["machine"], **helped} if part["machine"] else None,
    }
