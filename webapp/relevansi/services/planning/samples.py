"""Planning rules of a question set, the samples of questions they draw, and rating plans.

A sample of a fixed size is drawn before the first verdict; a report names the rule, its seed and
when it was chosen. One rule at a time is in force for a question set. A plan uses the verdicts on
two rated runs, the size of the pool and the raters' pace.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import combinations, takewhile
from math import comb
from statistics import median

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
from relevansi.exporters.frame.json_files import fields
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
    RULE_FIELDS,
    ChosenRule,
    QuestionSample,
    SampledFigure,
    random_order,
    sampled_mean,
)
from relevansi.records import LARGEST_INTEGER, QueryState
from relevansi.services.comparisons import chosen_runs
from relevansi.services.judging.judged_runs import judged_runs
from relevansi.services.rating import pool
from relevansi.services.runs import reports
from relevansi.services.runs import runs as order
from relevansi.services.runs.reports import Rule
from relevansi.services.study import progress, studies


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
    # The oldest first: pages call them A, B, ... in this order.
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


def in_force(session: Session, question_set_id: int) -> PlanningRule | None:
    """Return the rule in force for a question set; ``None`` where there is none."""
    of_set = PlanningRule.question_set_id == question_set_id
    newest = select(PlanningRule).where(of_set, PlanningRule.ended_at.is_(None))
    return session.scalar(newest.order_by(PlanningRule.id.desc()).limit(1))


def rules_of(session: Session, question_set_id: int) -> list[ChosenRule]:
    """Return all rules of a question set, the ended ones too, the earliest first."""
    rules = select(PlanningRule).where(PlanningRule.question_set_id == question_set_id)
    return [chosen_rule(session, rule) for rule in session.scalars(rules.order_by(PlanningRule.id))]


def sampling_rule(session: Session, question_set_id: int) -> ChosenRule | None:
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
        **fields(rule, *RULE_FIELDS),
    )


def count_verdicts(session: Session, question_set_id: int) -> int:
    """Return how many verdicts people gave on a question set, a machine's not counted."""
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
    rule.verdicts_at_end = count_verdicts(session, rule.question_set_id)
    session.flush()


def _log(session: Session, rule: PlanningRule, old: str | None, now: datetime) -> None:
    study = session.get_one(Study, rule.study_id)
    new = None if rule.ended_at else rule.kind
    subject = f"question set {rule.question_set_id}, rule {rule.id}, seed {rule.seed}"
    studies.log(session, study, "set rating rule", subject, old, new, now)


SAMPLE_FIGURES = ("mean_precision_at_5", "mrr", "success_rate", "mean_response_quality")
"""The figures that are estimated from a sample."""

MIN_SAMPLE = 2


class SampleTooSmall(Refused):
    message = mark("A sample has at least 2 questions, and at most all of the set")
    remedy = mark("Write a number of questions in between.")
    status = 422


def draw_sample(
    session: Session,
    owner: Rater,
    question_set: QuestionSet,
    size: int,
    now: datetime,
    *,
    kind: RuleKind = RuleKind.FIXED,
    seed: int | None = None,
) -> PlanningRule:
    """Return a new rule that draws `size` questions, in force instead of the one before.

    Without a `seed` one is drawn. A machine's help can be chosen after the first verdict, and its
    reports say so. Raises ``SampleTooSmall`` and ``ChosenTooLate``.
    """
    if not MIN_SAMPLE <= size <= len(question_set.questions):
        raise SampleTooSmall(size)
    # Locked, since two rules chosen at once would both be in force.
    session.execute(select(Study.id).where(Study.id == owner.study_id).with_for_update())
    n_verdicts = count_verdicts(session, question_set.id)
    if n_verdicts and kind is not RuleKind.MACHINE_HELP:
        raise ChosenTooLate(kind)
    earlier = in_force(session, question_set.id)
    if earlier is not None:
        _close(session, earlier, now, RuleOutcome.REPLACED)
    rule = PlanningRule(
        study_id=owner.study_id,
        question_set_id=question_set.id,
        kind=str(kind),
        settings={"size": size},
        seed=secrets.randbelow(LARGEST_INTEGER) if seed is None else seed,
        verdicts_before=n_verdicts,
        rater_id=owner.id,
        chosen_at=now,
    )
    session.add(rule)
    session.flush()
    store_sample(session, rule, question_set)
    _log(session, rule, earlier.kind if earlier else None, now)
    return rule


def end_rule(
    session: Session, study: Study, question_set: QuestionSet, now: datetime
) -> PlanningRule:
    """Return the rule that was in force until now: "reached" if its sample is rated, or "stopped".

    After a rule that reached its aim the questions not drawn stay unasked; after one that is
    stopped early they are asked in the usual order. Raises ``NoRule``.
    """
    rule = in_force(session, question_set.id)
    if rule is None:
        raise NoRule(question_set.id)
    sample = sample_of_set(session, study, question_set)
    is_rated = sample is not None and sample.rated == sample.drawn
    _close(session, rule, now, RuleOutcome.REACHED if is_rated else RuleOutcome.STOPPED)
    _log(session, rule, rule.kind, now)
    return rule


def store_sample(session: Session, rule: PlanningRule, question_set: QuestionSet) -> None:
    """Store the questions that a rule draws from its question set, by its seed and size.

    Raises ``ValueError`` where a rule of a proof pack has no size.
    """
    # Drawn by positions: ids differ from one database to another, and a seed draws the same.
    ids = {question.position: question.id for question in question_set.questions}
    size = rule.settings.get("size")
    if not isinstance(size, int):
        raise ValueError("size")  # noqa: TRY004 - a wrong value, as others of a pack
    for place, position in enumerate(random_order([*ids], rule.seed)[:size], start=1):
        session.merge(
            SampledQuestion(rule_id=rule.id, question_id=ids[position], position=place, stratum="")
        )
    session.flush()


def sample_of_set(
    session: Session, study: Study, question_set: QuestionSet
) -> QuestionSample | None:
    """Return the sample of a question set with its figures; ``None`` where all is asked."""
    runs = runs_of(session, study, question_set.id)
    return sample_of_runs(session, study, question_set.id, runs, reports.rule_of(session, study))


def sample_of_runs(
    session: Session, study: Study, question_set_id: int, runs: Sequence[Run], merging: Rule
) -> QuestionSample | None:
    """Return the sample of a question set with the figures of `runs`; ``None`` if all is asked.

    A sample of a fixed size has figures once all its questions are rated. One that grew (chosen
    before 1.1.0) has those of the questions rated so far, without an interval: it could end
    because of what it showed. Nor has one that was stratified an interval, which is that of a
    simple random sample.
    """
    of_set = PlanningRule.question_set_id == question_set_id
    stored = session.scalar(select(PlanningRule).where(of_set, restricts_questions()))
    if stored is None:
        return None
    rule, grew = chosen_rule(session, stored), stored.kind == RuleKind.SEQUENCE
    judged = {
        run.name: {query.position: query for query in run.queries}
        for run in judged_runs(session, study, runs, merging)
    }

    def is_rated(position: int) -> bool:
        summaries = [
            queries[position].summary for queries in judged.values() if position in queries
        ]
        return all(each.complete or each.state is QueryState.UNREADABLE for each in summaries)

    rated = sum(map(is_rated, rule.sample))
    if grew:
        positions = list(takewhile(is_rated, rule.sample))
    else:
        positions = list(rule.sample) if rated == len(rule.sample) else []
    has_interval = not (grew or rule.is_stratified)
    figures: list[SampledFigure] = []
    for figure in SAMPLE_FIGURES:
        for names, values in _sampled_values(figure, positions, judged).items():
            mean = sampled_mean(
                values, rule.of, highest=highest_value(figure), is_difference=len(names) > 1
            )
            if mean.values:
                interval = mean.interval if has_interval else NO_INTERVAL
                figures.append(SampledFigure(figure, names, replace(mean, interval=interval)))
    return QuestionSample(rule=rule, rated=rated, figures=tuple(figures))


def _sampled_values(
    figure: str, positions: Sequence[int], judged: Mapping[str, Mapping[int, ComparedQuery]]
) -> dict[tuple[str, ...], list[float | None]]:
    """Return the figure at each position, of each run and as the difference of every two."""
    values: dict[tuple[str, ...], list[float | None]] = {}
    for name, queries in judged.items():
        answers = map(queries.get, positions)
        values[name,] = [
            value_of(answer, figure, false_negatives_at_zero=False) if answer else None
            for answer in answers
        ]
    for first, second in combinations(judged, 2):
        pairs = zip(values[first,], values[second,], strict=True)
        values[first, second] = [headline_difference(*pair) for pair in pairs]
    return values


PLAN_FIGURES = (
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

    Without a `pair` it is the one whose differences vary most of those that are rated. The level
    of the wish is divided by the number of pairs that a comparison of the pair's phase corrects
    for. `raters` replaces the number of the study's. Without a `question_set` the plan can only
    use the wish's deviation. Raises ``NotAPair``.
    """
    compared = runs_of(session, study, question_set.id) if question_set else []
    names = chosen_runs.names_of(compared)
    if pair is not None and len({*pair} & {*names}) < chosen_runs.MIN_RUNS:
        raise NotAPair(pair)
    differences = _paired_differences(session, study, compared, wish.figure)
    deviations = {}
    for run_ids, sample in differences.items():
        if pair is None or {*run_ids} == {*pair}:
            mixed = mixture(sample)
            deviations[run_ids] = mixed.deviation if mixed else 0.0
    chosen = max(deviations, key=deviations.__getitem__, default=None)
    pairs = _pairs_compared(session, study, chosen) if chosen and not wish.deviation else 1
    demand = replace(wish.demand, level=wish.demand.level / pairs)
    return plan(
        replace(wish, demand=demand, highest=highest_value(wish.figure)),
        effort(session, study, question_set, raters) if question_set else None,
        has=len(question_set.questions) if question_set else 0,
        pair=(names[chosen[0]], names[chosen[1]]) if chosen else None,
        differences=differences[chosen] if chosen else (),
    )


def _pairs_compared(session: Session, study: Study, pair: tuple[str, str]) -> int:
    """Return how many pairs of runs the comparison has, of the phase that compares these two."""
    phases = chosen_runs.phases_of(session, study)
    compared = [chosen_runs.of_phase(session, study, phase) for phase in phases]
    counts = [comb(len(runs), 2) for runs in compared if {*pair} <= {*runs}]
    return max(counts, default=1)


def _paired_differences(
    session: Session, study: Study, compared: Sequence[Run], figure: str
) -> dict[tuple[str, str], tuple[float, ...]]:
    """Return each question's difference in `figure` of every two runs, by their ids."""
    judged = judged_runs(session, study, compared, reports.rule_of(session, study))
    differences = {}
    for first, second in combinations(judged, 2):
        pairs = paired_values(figure, first, second).values()
        differences[first.run, second.run] = tuple(x - y for x, y in pairs)
    return differences


def effort(
    session: Session, study: Study, question_set: QuestionSet, raters: int | None = None
) -> RatingEffort:
    """Return the judging that one question of the set needs: items, answers, raters and pace."""
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
