"""Questions drawn at random: the draw, further questions, the end, and the figures of all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import combinations, takewhile
from statistics import fmean
from typing import Any

from msgspec import Struct
from sqlalchemy import ColumnElement, and_, func, or_, select
from sqlalchemy.orm import Session, aliased

from webapp.db.tables.people import Rater
from webapp.db.tables.planning import PlanningRule, SampledQuestion
from webapp.db.tables.runs import Run
from webapp.db.tables.study import Question, QuestionSet, Study
from webapp.failures import Conflict, Refused
from webapp.i18n import mark
from webapp.metrics.comparisons.comparisons import ComparisonPart
from webapp.metrics.comparisons.differences import ComparedRun, value_of
from webapp.metrics.comparisons.significance import NO_INTERVAL, Resampling
from webapp.metrics.planning import sampling as draws
from webapp.metrics.planning.sampling import (
    NO_VALUE,
    PART,
    DrawnQuestion,
    QuestionSample,
    SampledFigure,
    SampledMean,
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


def sampling(session: Session, study_id: int) -> list[PlanningRule]:
    """Return the rule of each question set of which only a sample is asked."""
    found = select(PlanningRule).where(PlanningRule.study_id == study_id, leaves_out())
    return list(session.scalars(found.order_by(PlanningRule.question_set_id)))


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
        drawn = draws.to_settings([SampleDraw(self.size, self.stratified)])
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
    before = _drawn(session, rule)
    found = draws.extended(before, _categories(question_set), wanted, rule.seed)
    if more < 1 or len(found) == len(before):
        raise SampleTooSmall(more)
    _store(session, rule, question_set, found)
    steps = draws.to_settings([*draws.from_settings(rule.settings), wanted])
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
    """Return the category of each question by its position: ids say nothing outside a database."""
    return {one.position: one.category for one in question_set.questions}


def _drawn(session: Session, rule: PlanningRule) -> list[DrawnQuestion]:
    rows = session.execute(
        select(Question.position, SampledQuestion.position, SampledQuestion.stratum)
        .join_from(SampledQuestion, Question, Question.id == SampledQuestion.question_id)
        .where(SampledQuestion.rule_id == rule.id)
        .order_by(SampledQuestion.position)
    )
    return [DrawnQuestion(*row) for row in rows]


def _store(
    session: Session,
    rule: PlanningRule,
    question_set: QuestionSet,
    drawn: Sequence[DrawnQuestion],
) -> None:
    ids = {one.position: one.id for one in question_set.questions}
    for one in drawn:
        session.merge(
            SampledQuestion(
                rule_id=rule.id,
                question_id=ids[one.question],
                position=one.position,
                stratum=one.stratum,
            )
        )
    session.flush()


def of_set(session: Session, study: Study, question_set: QuestionSet) -> QuestionSample | None:
    """Return the sample of a question set with its figures; ``None`` where all is asked."""
    of_study = {rule.question_set_id: rule for rule in sampling(session, study.id)}
    rule = of_study.get(question_set.id)
    if rule is None:
        return None
    compared = settled.runs_of(session, study, question_set.id)
    merging = reports.rule_of(session, study)
    return of_runs(session, study, rule, compared, merging)


def of_runs(
    session: Session,
    study: Study,
    rule: PlanningRule,
    compared: Sequence[Run],
    merging: Rule,
    settings: Resampling | None = None,
) -> QuestionSample:
    """Return the sample of a rule with the figures of some runs, their verdicts merged."""
    judged = comparisons.judged_runs(session, study, compared, merging)
    return _SampledRuns(session, rule, judged, settings or Resampling()).sample()


def compared(
    session: Session,
    study: Study,
    runs: Sequence[Run],
    _names: Mapping[str, str],
    *,
    rule: Rule,
    settings: Resampling | None = None,
) -> ComparisonPart | None:
    """Return the figures of `runs` over all questions, as a part of their comparison.

    ``None`` where all questions are asked.
    """
    drawn = {one.question_set_id: one for one in sampling(session, study.id)}
    found = drawn.get(runs[0].question_set_id)
    if found is None:
        return None
    return ComparisonPart(PART, of_runs(session, study, found, runs, rule, settings))


class _SampledRuns:
    """Runs judged on the questions that a rule drew."""

    def __init__(
        self,
        session: Session,
        rule: PlanningRule,
        judged: Sequence[ComparedRun],
        settings: Resampling,
    ) -> None:
        self.rule, self.judged, self.settings = rule, judged, settings
        self.grew = rule.kind == RuleKind.SEQUENCE
        self.chosen = rules.stated(session, rule)
        rows = select(Question.category).where(Question.question_set_id == rule.question_set_id)
        self.sizes = Counter(session.scalars(rows))
        by_run = [{query.position: query for query in run.queries} for run in judged]
        self.queries = {run.run: found for run, found in zip(judged, by_run, strict=True)}

    def sample(self) -> QuestionSample:
        """Return the sample, with its figures once they can be shown.

        One of a fixed size is rated first. One that grew shows what the questions say that are
        rated, without an interval: it could end for what it showed.
        """
        rated = sum(map(self._is_rated, self.chosen.sample))
        shown = self.grew or rated == len(self.chosen.sample)
        return QuestionSample(
            rule=self.chosen,
            rated=rated,
            figures=tuple(one for one in self._figures() if one.found.values) if shown else (),
            settings=None if self.grew else self.settings,
        )

    def _is_rated(self, position: int) -> bool:
        return all(
            found[position].summary.complete
            or found[position].summary.state is QueryState.UNREADABLE
            for found in self.queries.values()
            if position in found
        )

    def _figures(self) -> Iterator[SampledFigure]:
        for figure in FIGURES:
            for one in self.judged:
                yield SampledFigure(figure, (one.name,), self._mean(figure, one))
            for one, other in combinations(self.judged, 2):
                found = self._mean(figure, one, other)
                yield SampledFigure(figure, (one.name, other.name), found)

    def _mean(self, figure: str, *runs: ComparedRun) -> SampledMean:
        high = HIGHEST.get(figure, 1.0)
        bounds = ValueRange(-high if len(runs) > 1 else 0.0, high)
        if not self.grew:
            return sampled_mean(self._by_stratum(figure, runs), self.settings, bounds=bounds)
        rated = tuple(takewhile(self._is_rated, self.chosen.sample))
        known = [one for one in self._values(figure, runs, rated) if one is not None]
        return SampledMean(
            value=fmean(known) if known else None,
            reason=None if known else NO_VALUE,
            interval=NO_INTERVAL,
            values=len(known),
            drawn=len(rated),
            of=self.chosen.of,
        )

    def _by_stratum(self, figure: str, runs: Sequence[ComparedRun]) -> list[Stratum]:
        places: dict[str, list[int]] = {}
        for position, stratum in zip(self.chosen.sample, self.chosen.strata, strict=True):
            places.setdefault(stratum, []).append(position)
        sizes = self.sizes if "" not in places else {"": self.chosen.of}
        return [
            Stratum(of, self._values(figure, runs, places.get(name, ())))
            for name, of in sorted(sizes.items())
        ]

    def _values(
        self, figure: str, runs: Sequence[ComparedRun], positions: Sequence[int]
    ) -> tuple[float | None, ...]:
        """The value of each question, of two runs the difference; ``None`` without one."""
        found = [[self._value(figure, run, position) for position in positions] for run in runs]
        if len(found) == 1:
            return tuple(found[0])
        return tuple(
            None if one is None or other is None else one - other
            for one, other in zip(*found, strict=True)
        )

    def _value(self, figure: str, run: ComparedRun, position: int) -> float | None:
        query = self.queries[run.run].get(position)
        return None if query is None else value_of(query, figure, false_negatives_at_zero=False)
