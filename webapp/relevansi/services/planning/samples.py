"""Which questions are asked and how many are enough: rules, the samples they draw, and plans.

A sample of a fixed size is chosen before the first verdict; a report names the rule, its seed and
when it was chosen. One rule at a time is in force for a question set. A plan is made of what is
known of two rated runs, the pool and the pace.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import combinations, product, takewhile
from math import comb
from statistics import median
from typing import Any

from msgspec.structs import replace
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from relevansi.db.tables.judging import JudgedItem, Judgment
from relevansi.db.tables.people import Rater
from relevansi.db.tables.planning import (
    PlanningRule,
    RuleKind,
    RuleOutcome,
    SampledQuestion,
    restricts_questions,
)
from relevansi.db.tables.runs import Query, Run
from relevansi.db.tables.study import Question, QuestionSet, Study
from relevansi.failures import Conflict, Missing, Refused
from relevansi.i18n import mark
from relevansi.metrics.comparisons.differences import (
    ComparedQuery,
    headline_difference,
    highest_value,
    paired_values,
    value_of,
)
from relevansi.metrics.intervals import NO_INTERVAL
from relevansi.metrics.planning.power import RatingEffort, RatingPlan, RatingPlanWish, mixture, plan
from relevansi.metrics.planning.sampling import (
    STATED,
    ChosenRule,
    QuestionSample,
    SampledFigure,
    random_order,
    sampled_mean,
)
from relevansi.records import QueryState
from relevansi.services.comparisons import chosen_runs
from relevansi.services.judging.judged_runs import judged_runs
from relevansi.services.rating import pool
from relevansi.services.runs import reports
from relevansi.services.runs import runs as order
from relevansi.services.runs.reports import Rule
from relevansi.services.study import progress, studies

LARGEST_SEED = 2**31 - 1


class ChosenTooLate(Conflict):
    message = mark("This rule can no longer be chosen")
    remedy = mark(
        "People have judged these questions already, and a rule that is chosen after their first "
        "verdict could be chosen to suit it. Rate on without it."
    )


class NoRule(Missing):
    message = mark("No rule is in force here")
    remedy = mark("It was ended meanwhile. Reload the page.")


class UnknownPlan(Missing):
    message = mark("This study has no such question set")
    remedy = mark("Open the page of the rating plan again and choose one there.")


def question_sets(session: Session, study: Study) -> list[QuestionSet]:
    # The oldest first: their letters are in this order.
    of_study = select(QuestionSet).where(QuestionSet.study_id == study.id)
    return list(session.scalars(of_study.order_by(QuestionSet.id)))


def question_set(session: Session, study: Study, id_: int) -> QuestionSet:
    """Return one of the study's question sets; raises ``UnknownPlan``."""
    chosen = session.get(QuestionSet, id_)
    if chosen is None or chosen.study_id != study.id:
        raise UnknownPlan(id_)
    return chosen


def runs_of(session: Session, study: Study, question_set_id: int) -> list[Run]:
    return [r for r in order.in_order(session, study) if r.question_set_id == question_set_id]


def choose(
    session: Session,
    rater: Rater,
    question_set_id: int,
    kind: RuleKind,
    now: datetime,
    *,
    settings: Mapping[str, Any] | None = None,
    seed: int | None = None,
) -> PlanningRule:
    """Return the rule that is in force from now on, instead of the one before.

    Without a `seed` one is drawn. A machine's help can be chosen after the first verdict, and its
    reports say so. Raises ``ChosenTooLate``.
    """
    # Two rules chosen at once would both be in force.
    session.execute(select(Study.id).where(Study.id == rater.study_id).with_for_update())
    before = verdicts(session, question_set_id)
    if before and kind is not RuleKind.MACHINE_HELP:
        raise ChosenTooLate(kind)
    earlier = in_force(session, question_set_id)
    if earlier is not None:
        _close(session, earlier, now, RuleOutcome.REPLACED)
    rule = PlanningRule(
        study_id=rater.study_id,
        question_set_id=question_set_id,
        kind=str(kind),
        settings=dict(settings or {}),
        seed=secrets.randbelow(LARGEST_SEED) if seed is None else seed,
        verdicts_before=before,
        rater_id=rater.id,
        chosen_at=now,
    )
    session.add(rule)
    session.flush()
    _log(session, rule, earlier.kind if earlier else None, now)
    return rule


def in_force(session: Session, question_set_id: int) -> PlanningRule | None:
    """Return the rule in force for a question set; ``None`` where there is none."""
    of_set = PlanningRule.question_set_id == question_set_id
    newest = select(PlanningRule).where(of_set, PlanningRule.ended_at.is_(None))
    return session.scalar(newest.order_by(PlanningRule.id.desc()).limit(1))


def rules_of(session: Session, question_set_id: int) -> list[ChosenRule]:
    """Return all rules that a question set had, the earliest first, as reports name them."""
    rules = select(PlanningRule).where(PlanningRule.question_set_id == question_set_id)
    return [chosen_rule(session, rule) for rule in session.scalars(rules.order_by(PlanningRule.id))]


def sampling(session: Session, question_set_id: int) -> ChosenRule | None:
    """Return the newest rule of a question set that drew questions; ``None`` if none did."""
    latest_first = reversed(rules_of(session, question_set_id))
    return next((rule for rule in latest_first if rule.sample), None)


def chosen_rule(session: Session, rule: PlanningRule) -> ChosenRule:
    """Return a rule as reports name it, with the positions that it drew."""
    drawn = session.scalars(
        select(Question.position)
        .join_from(SampledQuestion, Question, Question.id == SampledQuestion.question_id)
        .where(SampledQuestion.rule_id == rule.id)
        .order_by(SampledQuestion.position)
    )
    in_set = Question.question_set_id == rule.question_set_id
    return ChosenRule(
        of=session.scalar(select(func.count()).where(in_set)) or 0,
        sample=tuple(drawn),
        **{name: getattr(rule, name) for name in STATED},
    )


def end_rule(
    session: Session,
    question_set_id: int,
    now: datetime,
    outcome: RuleOutcome = RuleOutcome.STOPPED,
) -> PlanningRule:
    """Return the rule that was in force until now; raises ``NoRule``."""
    rule = in_force(session, question_set_id)
    if rule is None:
        raise NoRule(question_set_id)
    _close(session, rule, now, outcome)
    _log(session, rule, rule.kind, now)
    return rule


def verdicts(session: Session, question_set_id: int) -> int:
    """Return how many verdicts people gave on a question set; a machine's decide nothing."""
    count = session.scalar(
        select(func.count())
        .select_from(Judgment)
        .join(Rater, Rater.id == Judgment.rater_id)
        .join(JudgedItem, JudgedItem.id == Judgment.judged_item_id)
        .join(Question, Question.id == JudgedItem.question_id)
        .where(
            Question.question_set_id == question_set_id,
            Judgment.verdict.is_not(None),
            Rater.is_machine.is_(False),
        )
    )
    return count or 0


def _close(session: Session, rule: PlanningRule, now: datetime, outcome: RuleOutcome) -> None:
    rule.ended_at, rule.outcome = now, str(outcome)
    rule.verdicts_at_end = verdicts(session, rule.question_set_id)
    session.flush()


def _log(session: Session, rule: PlanningRule, old: str | None, now: datetime) -> None:
    study, new = session.get_one(Study, rule.study_id), None if rule.ended_at else rule.kind
    subject = f"question set {rule.question_set_id}, rule {rule.id}, seed {rule.seed}"
    studies.log(session, study, "set rating rule", subject, old, new, now)


SAMPLE_FIGURES = ("mean_precision_at_5", "mrr", "success_rate", "mean_response_quality")
"""The figures that a sample shows."""
FEWEST = 2


class SampleTooSmall(Refused):
    message = mark("A sample has at least 2 questions, and at most all of the set")
    remedy = mark("Write a number of questions in between.")
    status = 422


def draw(
    session: Session,
    owner: Rater,
    question_set: QuestionSet,
    size: int,
    now: datetime,
    *,
    kind: RuleKind = RuleKind.FIXED,
    seed: int | None = None,
) -> PlanningRule:
    """Put a rule in force that draws `size` questions.

    Without a `seed` one is drawn. Raises ``SampleTooSmall`` and ``ChosenTooLate``.
    """
    if not FEWEST <= size <= len(question_set.questions):
        raise SampleTooSmall(size)
    rule = choose(session, owner, question_set.id, kind, now, settings={"size": size}, seed=seed)
    store(session, rule, question_set)
    return rule


def finish(session: Session, study: Study, question_set: QuestionSet, now: datetime) -> None:
    """End the rule in force: reached, where its sample is rated.

    Then the questions not drawn stay unasked; a rule that is stopped early leaves them to be
    asked in the usual order. Raises ``NoRule``.
    """
    sample = of_set(session, study, question_set)
    is_rated = sample is not None and sample.rated == sample.drawn
    outcome = RuleOutcome.REACHED if is_rated else RuleOutcome.STOPPED
    end_rule(session, question_set.id, now, outcome)


def store(session: Session, rule: PlanningRule, question_set: QuestionSet) -> None:
    """Draw the sample that the seed and the size of a rule make of a question set."""
    # By their positions: ids differ from one database to another.
    ids = {question.position: question.id for question in question_set.questions}
    size = rule.settings.get("size")
    if not isinstance(size, int):  # of a proof pack it may be anything
        raise ValueError("size")  # noqa: TRY004 - a wrong value, as others of a pack
    drawn = random_order([*ids], rule.seed)[:size]
    for position, number in enumerate(drawn, start=1):
        key = {"rule_id": rule.id, "question_id": ids[number]}
        session.merge(SampledQuestion(**key, position=position, stratum=""))
    session.flush()


def of_set(session: Session, study: Study, question_set: QuestionSet) -> QuestionSample | None:
    """Return the sample of a question set with its figures; ``None`` where all is asked."""
    runs = runs_of(session, study, question_set.id)
    return of_runs(session, study, question_set.id, runs, reports.rule_of(session, study))


def of_runs(
    session: Session, study: Study, question_set_id: int, runs: Sequence[Run], merging: Rule
) -> QuestionSample | None:
    """Return the sample of a question set with the figures of some runs, their verdicts merged.

    One of a fixed size is rated first. One that grew shows what the questions say that are
    rated, without an interval: it could end for what it showed. Nor has one that was stratified
    an interval, which is that of a simple random sample. ``None`` where all is asked.
    """
    of_set = PlanningRule.question_set_id == question_set_id
    rule = session.scalar(select(PlanningRule).where(of_set, restricts_questions()))
    if rule is None:
        return None
    grew = rule.kind == RuleKind.SEQUENCE
    judged = {
        run.name: {query.position: query for query in run.queries}
        for run in judged_runs(session, study, runs, merging)
    }
    chosen = chosen_rule(session, rule)

    def is_rated(position: int) -> bool:
        answers = [queries[position] for queries in judged.values() if position in queries]
        states = [answer.summary.complete or answer.summary.state for answer in answers]
        return all(state in {True, QueryState.UNREADABLE} for state in states)

    rated = sum(map(is_rated, chosen.sample))
    places = tuple(takewhile(is_rated, chosen.sample)) if grew else chosen.sample
    figures = []
    is_shown = grew or rated == len(chosen.sample)
    each = (*zip(judged), *combinations(judged, 2))
    for figure, names in product(SAMPLE_FIGURES if is_shown else (), each):
        compared = [judged[name] for name in names]
        mean = sampled_mean(
            [_value(figure, place, *compared) for place in places],
            chosen.of,
            highest=highest_value(figure),
            is_difference=len(names) > 1,
        )
        if grew or chosen.is_stratified:
            mean = replace(mean, interval=NO_INTERVAL)
        if mean.values:
            figures.append(SampledFigure(figure, names, mean))
    return QuestionSample(rule=chosen, rated=rated, figures=tuple(figures))


def _value(figure: str, position: int, *runs: Mapping[int, ComparedQuery]) -> float | None:
    queries = [of_run.get(position) for of_run in runs]
    first, *second = (
        None if query is None else value_of(query, figure, false_negatives_at_zero=False)
        for query in queries
    )
    return headline_difference(first, *second) if second else first


PLAN_FIGURES = (
    *("mean_precision_at_5", "mean_overall_precision", "mrr", "success_rate"),
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

    Without a `pair` it is the one whose differences vary most of those that are rated. The level
    of the wish is divided by the number of pairs that a comparison of the pair's phase corrects
    for. `raters` replaces the number of the study's. Before there are questions the wish's
    deviation is all that is known. Raises ``NotAPair``.
    """
    compared = runs_of(session, study, question_set.id) if question_set else []
    names = chosen_runs.names_of(compared)
    if pair is not None and len({*pair} & {*names}) < chosen_runs.MIN_RUNS:
        raise NotAPair(pair)
    differences_of = dict(_rated_pairs(session, study, compared, wish.figure))
    if pair is None:
        mixtures = {rated: mixture(sizes) for rated, sizes in differences_of.items()}
        deviations = {rated: each.deviation if each else 0.0 for rated, each in mixtures.items()}
        chosen = max(deviations, key=deviations.__getitem__, default=None)
    else:
        chosen = next((rated for rated in differences_of if {*rated} == {*pair}), None)
    pairs = _pairs_compared(session, study, chosen) if chosen and not wish.deviation else 1
    demand = replace(wish.demand, level=wish.demand.level / pairs)
    return plan(
        replace(wish, demand=demand, highest=highest_value(wish.figure)),
        effort(session, study, question_set, raters) if question_set else None,
        has=len(question_set.questions) if question_set else 0,
        pair=(names[chosen[0]], names[chosen[1]]) if chosen else None,
        differences=differences_of[chosen] if chosen else (),
    )


def _pairs_compared(session: Session, study: Study, pair: tuple[str, str]) -> int:
    """Return how many pairs of runs the comparison of a phase has in which two runs both are."""
    phases = chosen_runs.phases_of(session, study)
    compared = [chosen_runs.of_phase(session, study, phase) for phase in phases]
    together = [comb(len(runs), 2) for runs in compared if {*pair} <= {*runs}]
    return max(together, default=1)


def _rated_pairs(
    session: Session, study: Study, compared: Sequence[Run], figure: str
) -> Iterator[tuple[tuple[str, str], tuple[float, ...]]]:
    if len(compared) < chosen_runs.MIN_RUNS:
        return
    judged = judged_runs(session, study, compared, reports.rule_of(session, study))
    for first_run, second_run in combinations(judged, 2):
        values = paired_values(figure, first_run, second_run).values()
        yield (first_run.run, second_run.run), tuple(first - second for first, second in values)


def effort(
    session: Session, study: Study, question_set: QuestionSet, raters: int | None = None
) -> RatingEffort:
    """Return what judging one question of the set takes: items, answers, raters and pace."""
    in_set = Question.question_set_id == question_set.id
    n_items = session.scalar(
        select(func.count())
        .select_from(JudgedItem)
        .join(Question, Question.id == JudgedItem.question_id)
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
    by_rater = [progress.rater_progress(session, rater) for rater in present]
    paces = [line.pace for line in by_rater if line.pace is not None]
    n_questions = max(len(question_set.questions), 1)
    return RatingEffort(
        judged_items=(n_items or 0) / n_questions,
        answers=(answers or 0) / n_questions,
        raters=count,
        times=min(study.overlap or count, count),
        pace=median(paces) if paces else None,
    )
