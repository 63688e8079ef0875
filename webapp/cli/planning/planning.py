"""``relevansi plan``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from webapp.cli.frame import database
from webapp.cli.frame.output import write, write_json
from webapp.cli.frame.tables import TerminalTable, printed
from webapp.cli.planning import question_sets
from webapp.metrics.comparisons.significance import Resampling

if TYPE_CHECKING:
    from webapp.metrics.planning.plans import RatingPlan

WIDTH = 100
FIGURES = (
    "mean_precision_at_5",
    "mean_overall_precision",
    "mrr",
    "success_rate",
    "mean_response_quality",
)


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
@question_sets.option
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
    from webapp.metrics.planning.plans import RatingPlanWish
    from webapp.metrics.planning.power import Demand
    from webapp.services.planning import plans, rules

    wish = RatingPlanWish(figure, difference, Demand(level, power), deviation, seed)
    with database.reading() as (session, study):
        asked = None
        if question_set is not None or rules.question_sets(session, study):
            asked = question_sets.chosen(session, study, question_set)
        found = plans.rating_plan(session, study, asked, wish, pair=pair, raters=raters)
        if file_format == "json":
            write_json(words.plan_json(found), None)
        else:
            write(printed(_parts(found), width=WIDTH), None)


def _parts(found: RatingPlan) -> Iterator[TerminalTable | str]:
    from webapp.exporters.planning import plan as words

    yield from words.sentences(found)
    if found.deviation is None:
        return
    made = words.curve_table(found)
    table = TerminalTable(made.title)
    table.right(*(column.heading for column in made.columns))
    for row in made.rows:
        table.row(*(cell.text for cell in row))
    yield table
    yield from made.notes
