"""The rating plan of a question set: what is known of two rated runs, the pool and the pace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from statistics import median

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from webapp.db.tables.judging import JudgedThing
from webapp.db.tables.runs import Query, Run
from webapp.db.tables.study import Question, QuestionSet, Study
from webapp.failures import Refused
from webapp.i18n import mark
from webapp.metrics.comparisons.differences import paired_values
from webapp.metrics.planning.power import RatingEffort, RatingPlan, RatingPlanWish, plan, spread
from webapp.records import QueryState
from webapp.services.comparisons import chosen_runs, comparisons
from webapp.services.planning import samples
from webapp.services.rating import pool
from webapp.services.runs import reports
from webapp.services.study import standing, studies

FIGURES = (
    "mean_precision_at_5",
    "mean_overall_precision",
    "mrr",
    "success_rate",
    "mean_response_quality",
)
"""The figures that a plan can be for."""


class NotAPair(Refused):
    message = mark("A plan takes two runs of one question set")
    remedy = mark("Choose two of the runs listed, or enter a standard deviation instead.")
    command_remedy = mark("`relevansi runs` lists them.")
    status = 422


def rating_plan(
    session: Session,
    study: Study,
    question_set: QuestionSet | None,
    wish: RatingPlanWish,
    *,
    pair: tuple[str, str] | None = None,
    raters: int | None = None,
) -> RatingPlan:
    """Return the plan, from the verdicts on a `pair` of runs by their ids.

    Without a `pair` it is the one whose differences vary most of those that are rated. `raters`
    replaces the number of the study's. Before there are questions the wish's deviation is all that
    is known. Raises ``NotAPair``.
    """
    compared = samples.runs_of(session, study, question_set.id) if question_set else []
    names = chosen_runs.names_of(compared)
    if pair is not None and len({*pair} & {*names}) < chosen_runs.FEWEST:
        raise NotAPair(pair)
    found = dict(_rated_pairs(session, study, compared, wish.figure))
    chosen = next((one for one in found if pair is None or {*one} == {*pair}), None)
    if pair is None:
        varying = {one: spread(differences) for one, differences in found.items()}
        chosen = max(found, key=lambda one: getattr(varying[one], "deviation", 0.0), default=None)
    return plan(
        wish,
        effort(session, study, question_set, raters) if question_set else None,
        has=len(question_set.questions) if question_set else 0,
        pair=(names[chosen[0]], names[chosen[1]]) if chosen else None,
        differences=found[chosen] if chosen else (),
    )


def _rated_pairs(
    session: Session, study: Study, compared: Sequence[Run], figure: str
) -> Iterator[tuple[tuple[str, str], tuple[float, ...]]]:
    if len(compared) < chosen_runs.FEWEST:
        return
    judged = comparisons.judged_runs(session, study, compared, reports.rule_of(session, study))
    for one, other in combinations(judged, 2):
        values = paired_values(figure, one, other).values()
        yield (one.run, other.run), tuple(first - second for first, second in values)


def effort(
    session: Session, study: Study, question_set: QuestionSet, raters: int | None = None
) -> RatingEffort:
    in_set = Question.question_set_id == question_set.id
    things = session.scalar(
        select(func.count())
        .select_from(JudgedThing)
        .join(Question, Question.id == JudgedThing.question_id)
        .where(in_set, pool.is_shown(study.id, study.pool_depth))
    )
    answers = session.scalar(
        select(func.count())
        .select_from(Query)
        .join(Question)
        .where(in_set, Query.state != str(QueryState.UNREADABLE))
    )
    present = studies.present(session, study)
    count = raters or max(len(present), 1)
    paces = [standing.rater_standing(session, one).pace for one in present]
    known = [pace for pace in paces if pace is not None]
    asked = max(len(question_set.questions), 1)
    return RatingEffort(
        things=(things or 0) / asked,
        answers=(answers or 0) / asked,
        raters=count,
        times=min(study.overlap or count, count),
        pace=median(known) if known else None,
    )
