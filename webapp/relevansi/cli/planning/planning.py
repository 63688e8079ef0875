"""``relevansi plan``, ``sample`` and ``estimate``: the rating plan in a terminal, and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace
from sqlalchemy.orm import Session

from relevansi.cli.frame import options
from relevansi.cli.frame.output import printed, say, section_tables, write, write_json
from relevansi.i18n import gettext

if TYPE_CHECKING:
    from relevansi.db.tables.study import QuestionSet, Study
    from relevansi.exporters.frame.tables import Section

WIDTH = 100
HEADLINES = ("mean_precision_at_5", "mean_overall_precision", "mrr", "success_rate")
FIGURES = (*HEADLINES, "mean_response_quality")

question_set_option = click.option(
    "--question-set", type=click.IntRange(1), help="Which; the newest."
)


def _question_set(session: Session, study: Study, number: int | None) -> QuestionSet:
    from relevansi.services.planning import samples

    sets = samples.question_sets(session, study)
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
    type=options.FiniteRange(0, 5, min_open=True),
    default=0.1,
    show_default=True,
    help="The smallest difference that is worth seeing.",
)
@click.option("--power", type=options.FiniteRange(0.05, 0.999), default=0.8, show_default=True)
@click.option("--level", type=options.FiniteRange(0.0001, 0.5), default=0.05, show_default=True)
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
    file_format: str,
) -> None:
    """Say how many questions a difference takes, and what the questions there are can show.

    It is made for the test of the comparison, from how two rated runs differ: those that vary
    most, unless --runs names two others; their level is divided by the pairs of their phase. With
    --sd a plan needs no run: it comes before there is one, and is a lower limit.
    """
    from relevansi.exporters.planning import plan as words
    from relevansi.metrics.planning.power import Demand, RatingPlanWish
    from relevansi.services.planning import samples

    wish = RatingPlanWish(figure, difference, Demand(level, power), deviation)
    with options.reading() as (session, study):
        asked = None
        if question_set is not None or samples.question_sets(session, study):
            asked = _question_set(session, study, question_set)
        found = samples.rating_plan(session, study, asked, wish, pair=pair, raters=raters)
        if file_format == "json":
            write_json(words.plan_json(found))
        else:
            _print(words.section(found))


def _print(section: Section, *further: str) -> None:
    write(printed([*section.sentences, *further, *section_tables(section)], width=WIDTH), None)


@click.command("sample")
@click.option("--questions", type=click.IntRange(1), help="Draw so many.")
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), help="Of the draw; else one is drawn.")
@click.option(
    "--kind",
    type=click.Choice(["fixed", "machine_help"]),
    help='"fixed" (its size, so chosen) or "machine_help".',
)
@click.option("--close", "closes", is_flag=True, help="End the sample.")
@question_set_option
@click.option("--format", "file_format", type=click.Choice(["table", "json"]), default="table")
def sample_command(
    *,
    questions: int | None,
    seed: int | None,
    kind: str | None,
    closes: bool,
    question_set: int | None,
    file_format: str,
) -> None:
    """Draw questions at random, or say how far the sample is.

    A sample is drawn before the first verdict. Raters are then asked its questions only; the
    others are "not asked", and missing nowhere. Without an option that changes it, the sample in
    force is printed with the figures that its rule allows by now.

    \b
    JSON: {rule: {kind, seed, chosen_at, verdicts_before, settings, n, of, sample} or null,
      rated, figures: [{figure, runs, value, lower, upper, n, drawn, of}]}
    """  # noqa: D301 - \b is click's mark for a paragraph left as it is
    from relevansi.db.tables.planning import RuleKind
    from relevansi.exporters.planning import samples as words
    from relevansi.services.planning import samples
    from relevansi.services.study import studies

    for name, value in (("--seed", seed), ("--kind", kind)):
        if questions is None and value is not None:
            raise click.UsageError(
                gettext("%(option)s goes with %(other)s.", option=name, other="--questions")
            )
    if questions is not None and closes:
        raise click.UsageError(gettext("Say either --questions or --close."))
    with options.opened() as opened, opened.writing() as session:
        study = studies.open_or_make(session, options.now())
        chosen = _question_set(session, study, question_set)
        if questions is not None:
            owner = studies.raters(session, study)[0]
            samples.draw(
                *(session, owner, chosen, questions, options.now()),
                kind=RuleKind(kind or "fixed"),
                seed=seed,
            )
        elif closes:
            samples.finish(session, study, chosen, options.now())
        found = samples.of_set(session, study, chosen)
        if file_format == "json":
            nothing: dict[str, Any] = {"rule": None, "rated": 0, "figures": []}
            write_json(words.part_json(found) if found else nothing)
        elif found is None:
            say(gettext("No sample is drawn: raters are asked all questions."))
        else:
            _print(words.section(found), words.drawn(found))
        session.commit()


@click.command("estimate")
@click.option("--run", "run_id", required=True, metavar="ID", help="The run.")
@click.option("--against", metavar="ID", help="Another run: the difference, first minus second.")
@click.option("--figure", type=click.Choice(HEADLINES), default=HEADLINES[0], show_default=True)
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
    from relevansi.exporters.planning import machine_help as words
    from relevansi.exporters.planning import samples as sample_words
    from relevansi.services.planning import machine_help, samples
    from relevansi.services.runs import reports, runs

    wanted = [run_id] if against is None else [run_id, against]
    with options.reading() as (session, study):
        compared = [runs.find(session, study, one) for one in wanted]
        judge = machine_help.find_machine(session, study, machine) if machine else None
        merged = reports.rule_of(session, study, rule)
        found = machine_help.of_runs(session, study, compared, merged, judge, (figure,))
        set_id, sample = compared[0].question_set_id, None
        if judge is None and figure in samples.FIGURES:
            sample = samples.of_runs(session, study, set_id, compared, merged)
        if sample is not None:
            # The figure as the rule of the sample gives it: no machine has a part in it.
            of_figure = tuple(one for one in sample.figures if one.figure == figure)
            section = sample_words.section(replace(sample, figures=of_figure))
            document = _of_sample(sample_words.part_json(sample), wanted, figure)
            document |= {"valid": sample.rule.beforehand, "people_rule": merged.name}
        else:
            section, document = words.section(found), _of_people(words.part_json(found))
    if file_format == "json":
        write_json({"run": run_id, "against": against, "figure": figure, **document})
    else:
        _print(section)


def _of_sample(part: dict[str, Any], wanted: list[str], figure: str) -> dict[str, Any]:
    found = (one for one in part["figures"] if one["figure"] == figure)
    none = {"value": None, "lower": None, "upper": None, "n": 0}
    one = next((one for one in found if len(one["runs"]) == len(wanted)), none)
    return {
        "value": one["value"],
        "low": one["lower"],
        "high": one["upper"],
        "n": one["n"],
        "of": part["rule"]["of"],
        "waiting": part["rule"]["n"] - part["rated"],
        **{key: part[key] for key in ("rule", "interval")},
        "machine": None,
    }


def _of_people(part: dict[str, Any]) -> dict[str, Any]:
    one = part["figures"][-1]
    shown = one if part["machine"] else one["alone"]
    helped = {key: one[key] for key in ("weight", "share_saved", "correlation", "alone", "why")}
    return {
        **{key: shown[key] for key in ("value", "low", "high")},
        **{key: one[key] for key in ("n", "of", "waiting")},
        **{key: part[key] for key in ("valid", "rule", "people_rule", "interval")},
        "machine": {"name": part["machine"], **helped} if part["machine"] else None,
    }
