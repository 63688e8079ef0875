"""Questions drawn at random: the draw, further questions, the end, and the figures of all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import combinations, product, takewhile
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace
from sqlalchemy import ColumnElement, and_, func, or_, select
from sqlalchemy.orm import Session, aliased

from webapp.db.tables.people import Rater
from webapp.db.tables.planning import PlanningRule, SampledQuestion
from webapp.db.tables.runs import Run
from webapp.db.tables.study import Question, QuestionSet, Study
from webapp.failures import Conflict, Refused
from webapp.i18n import mark
from webapp.metrics.comparisons.differences import ComparedQuery, value_of
from webapp.metrics.comparisons.significance import NO_INTERVAL, Resampling
from webapp.metrics.planning import sampling as draws
from webapp.metrics.planning.sampling import (
    DrawnQuestion,
    QuestionSample,
    SampledFigure,
    SampleDraw,
    Stratum,
    ValueRange,
    sampled_mean,
)
from webapp.records import QueryState
from webapp.services.comparisons import comparisons
from webapp.services.judging import changes
from webapp.services.planning import rules, settled
from webapp.services.planning.rules import RuleKind, RuleOutcome
from webapp.services.runs import reports
from webapp.services.runs.reports import Rule

SAMPLING = frozenset({RuleKind.FIXED, RuleKind.SEQUENCE, RuleKind.MACHINE_HELP})
FIGURES = ("mean_precision_at_5", "mrr", "success_rate", "mean_response_quality")
"""The figures that a sample shows."""
HIGHEST = {"mean_response_quality": 5.0}
"""The largest value of a figure that is not a ratio."""
FEWEST = 2


class SampleTooSmall(Refused):
    """A sample has two questions or more, and not more than the set."""

    message = mark("A sample has at least 2 questions, and at most all of the set")
    remedy = mark("Write a number of questions in between.")
    status = 422


class SampleIsFixed(Conflict):
    """Questions were to be added to a sample whose size was fixed, after its first verdict."""

    message = mark("This sample can no longer be extended")
    remedy = mark(
        "Its size was fixed before the first verdict, and its intervals hold for that size only."
    )


def in_use(session: Session, question_set_id: int) -> PlanningRule | None:
    """Return the rule of a question set of which only a sample is asked; ``None`` if all is."""
    of_set = PlanningRule.question_set_id == question_set_id
    return session.scalar(select(PlanningRule).where(of_set, leaves_out()))


def leaves_out() -> ColumnElement[bool]:
    """Return the condition on ``PlanningRule`` that only the questions it drew are asked.

    It is the newest of its question set, was chosen before people judged any of it, and is in
    force, has reached its aim, or is of a kind that is gone.
    """
    later = aliased(PlanningRule)
    closed = [str(RuleOutcome.REACHED), str(RuleOutcome.RETIRED)]
    newest = select(func.max(later.id)).where(later.question_set_id == PlanningRule.question_set_id)
    return and_(
        or_(*(PlanningRule.kind == str(kind) for kind in sorted(SAMPLING))),  # cheaper than a list
        PlanningRule.verdicts_before == 0,
        or_(PlanningRule.ended_at.is_(None), *(PlanningRule.outcome == one for one in closed)),
        PlanningRule.id == newest.scalar_subquery(),
    )


class SampleWish(Struct, frozen=True):
    """The sample to draw: its size and kind, and whether each category gets its share.

    Without a ``seed`` one is drawn.
    """

    size: int
    kind: RuleKind = RuleKind.FIXED
    stratified: bool = False
    seed: int | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the rule."""
        drawn = [asdict(SampleDraw(self.size, self.stratified))]
        return {"size": self.size, "stratified": self.stratified, "draws": drawn}


def draw(
    session: Session, owner: Rater, question_set: QuestionSet, wish: SampleWish, now: datetime
) -> PlanningRule:
    """Put a rule in force that draws questions; raises ``SampleTooSmall``, ``ChosenTooLate``."""
    if not FEWEST <= wish.size <= len(question_set.questions):
        raise SampleTooSmall(wish.size)
    settings = wish.settings
    rule = rules.choose(
        session, owner, question_set.id, wish.kind, now, settings=settings, seed=wish.seed
    )
    made = draws.drawn_again(_categories(question_set), draws.from_settings(settings), rule.seed)
    _store(session, rule, question_set, made)
    return rule


def extend(
    session: Session, question_set: QuestionSet, more: int, category: str | None = None
) -> PlanningRule:
    """Draw `more` questions, of one category if asked; what was drawn stays.

    A category so added is a stratum of its own from then on, and so are the others. A sample grows
    before the first verdict only. Raises ``NoRule``, ``SampleIsFixed`` and ``SampleTooSmall``.
    """
    rule = rules.in_force(session, question_set.id)
    if rule is None:
        raise rules.NoRule(question_set.id)
    if rules.verdicts(session, question_set.id):
        raise SampleIsFixed(rule.id)
    stratified = bool(rule.settings.get("stratified") or category)
    wanted = SampleDraw(more, stratified, category)
    had = rules.stated(session, rule)
    before = [
        DrawnQuestion(question, place, stratum)
        for place, (question, stratum) in enumerate(zip(had.sample, had.strata, strict=True), 1)
    ]
    found = draws.extended(before, _categories(question_set), wanted, rule.seed)
    if more < 1 or len(found) == len(before):
        raise SampleTooSmall(more)
    _store(session, rule, question_set, found)
    steps = [asdict(one) for one in (*draws.from_settings(rule.settings), wanted)]
    changed = {"size": len(found), "stratified": stratified, "draws": steps}
    rule.settings = {**rule.settings, **changed}
    session.flush()
    changes.revise(session, rule.study_id)
    return rule


def finish(session: Session, study: Study, question_set: QuestionSet, now: datetime) -> None:
    """End the rule in force: reached, where its sample is rated.

    Then the questions not drawn stay unasked; a rule that is stopped early leaves them to be
    asked in the usual order. Raises ``NoRule``.
    """
    found = of_set(session, study, question_set)
    is_rated = found is not None and found.rated == found.drawn
    outcome = RuleOutcome.REACHED if is_rated else RuleOutcome.STOPPED
    rules.end(session, question_set.id, now, outcome)


def _categories(question_set: QuestionSet) -> dict[int, str]:
    # By position: ids say nothing outside a database.
    return {one.position: one.category for one in question_set.questions}


def _store(
    session: Session, rule: PlanningRule, whole: QuestionSet, drawn: Sequence[DrawnQuestion]
) -> None:
    ids = {one.position: one.id for one in whole.questions}
    for one in drawn:
        key = {"rule_id": rule.id, "question_id": ids[one.question]}
        session.merge(SampledQuestion(**key, position=one.position, stratum=one.stratum))
    session.flush()


def of_set(session: Session, study: Study, question_set: QuestionSet) -> QuestionSample | None:
    """Return the sample of a question set with its figures; ``None`` where all is asked."""
    runs = settled.runs_of(session, study, question_set.id)
    return of_runs(session, study, question_set.id, runs, reports.rule_of(session, study))


def of_runs(
    session: Session,
    study: Study,
    question_set_id: int,
    runs: Sequence[Run],
    merging: Rule,
    settings: Resampling | None = None,
) -> QuestionSample | None:
    """Return the sample of a question set with the figures of some runs, their verdicts merged.

    One of a fixed size is rated first. One that grew shows what the questions say that are
    rated, without an interval: it could end for what it showed. ``None`` where all is asked.
    """
    rule = in_use(session, question_set_id)
    if rule is None:
        return None
    settings, grew = settings or Resampling(), rule.kind == RuleKind.SEQUENCE
    judged = {
        run.name: {query.position: query for query in run.queries}
        for run in comparisons.judged_runs(session, study, runs, merging)
    }
    chosen = rules.stated(session, rule)

    def is_rated(position: int) -> bool:
        asked = [queries[position] for queries in judged.values() if position in queries]
        states = [one.summary.complete or one.summary.state for one in asked]
        return all(state in {True, QueryState.UNREADABLE} for state in states)

    rated = sum(map(is_rated, chosen.sample))
    sizes = Counter({"": chosen.of})
    if grew:
        strata = dict.fromkeys(takewhile(is_rated, chosen.sample), "")
    else:
        strata = dict(zip(chosen.sample, chosen.strata, strict=True))
    if "" not in strata.values():
        in_set = Question.question_set_id == question_set_id
        sizes = Counter(session.scalars(select(Question.category).where(in_set)))
    figures = []
    is_shown = grew or rated == len(chosen.sample)
    each = (*zip(judged), *combinations(judged, 2))
    for figure, names in product(FIGURES if is_shown else (), each):
        runs_of = [judged[name] for name in names]
        values = {place: _value(figure, place, runs_of) for place in strata}
        by_stratum = [
            Stratum(of, tuple(values[place] for place in strata if strata[place] == name))
            for name, of in sorted(sizes.items())
        ]
        high = HIGHEST.get(figure, 1.0)
        bounds = ValueRange(-high if len(names) > 1 else 0.0, high)
        found = sampled_mean(by_stratum, settings, bounds=bounds)
        if found.values:
            found = replace(found, interval=NO_INTERVAL) if grew else found
            figures.append(SampledFigure(figure, names, found))
    return QuestionSample(
        rule=chosen,
        rated=rated,
        figures=tuple(figures),
        settings=None if grew else settings,
    )


def _value(figure: str, position: int, runs: Sequence[Mapping[int, ComparedQuery]]) -> float | None:
    found = [
        value_of(queries[position], figure, false_negatives_at_zero=False)
        for queries in runs
        if position in queries
    ]
    known = [value for value in found if value is not None]
    if len(known) < len(runs):
        return None
    return known[0] if len(known) == 1 else known[0] - known[1]


def compared(
    session: Session,
    study: Study,
    runs: Sequence[Run],
    _names: Mapping[str, str],
    *,
    rule: Rule,
    settings: Resampling | None = None,
) -> QuestionSample | None:
    """Return the figures of `runs` over all questions, as a part of their comparison.

    ``None`` where all questions are asked.
    """
    return of_runs(session, study, runs[0].question_set_id, runs, rule, settings)
