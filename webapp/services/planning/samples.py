"""Questions drawn at random: the draw, further questions, the end, and the figures of all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import combinations
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
from webapp.metrics.comparisons.differences import ComparedRun, value_of
from webapp.metrics.comparisons.significance import NO_INTERVAL, Resampling
from webapp.metrics.planning import draws
from webapp.metrics.planning.draws import SampleDraw
from webapp.metrics.planning.former_intervals import formerly_sampled
from webapp.metrics.planning.samples import QuestionSample, SampledFigure, SequenceLook
from webapp.metrics.planning.sampling import (
    NO_VALUE,
    DrawnQuestion,
    SampledMean,
    Stratum,
    sampled_mean,
)
from webapp.metrics.planning.sequences import StoppingRule, confidence_sequence
from webapp.metrics.planning.value_range import ValueRange
from webapp.records import QueryState
from webapp.services.comparisons import comparisons
from webapp.services.judging import changes
from webapp.services.planning import chosen_rules, plans, rules
from webapp.services.planning.rules import RuleKind, RuleOutcome
from webapp.services.runs import reports
from webapp.services.runs import runs as order
from webapp.services.runs.reports import Rule

SAMPLING = frozenset({RuleKind.FIXED, RuleKind.SEQUENCE, RuleKind.MACHINE_HELP})
FIGURES = ("mean_precision_at_5", "mrr", "success_rate", "mean_response_quality")
"""The figures that a sample shows."""
HIGHEST = {"mean_response_quality": 5.0}
"""The largest value of a figure that is not a ratio."""
FEWEST = 2
PAIR = 2


class SampleTooSmall(Refused):
    """A sample has two questions or more, and not more than the set."""

    message = mark("A sample has at least 2 questions, and at most all of the set")
    remedy = mark("Write a number of questions in between.")
    status = 422


class SampleIsFixed(Conflict):
    """Questions were to be added to a sample whose size was fixed, after its first verdict."""

    message = mark("This sample can no longer be extended")
    remedy = mark(
        "Its size was fixed before the first verdict, and its intervals hold for that size only. "
        "A sample that grows may be extended at any time."
    )


def sampling(session: Session, study_id: int) -> list[PlanningRule]:
    """Return the rule of each question set of which only a sample is asked."""
    found = select(PlanningRule).where(PlanningRule.study_id == study_id, leaves_out())
    return list(session.scalars(found.order_by(PlanningRule.question_set_id)))


def leaves_out() -> ColumnElement[bool]:
    """Return the condition on ``PlanningRule`` that only the questions it drew are asked.

    It is the newest of its question set, was chosen before people judged any of it, and is in
    force or has reached its aim.
    """
    later = aliased(PlanningRule)
    newest = select(func.max(later.id)).where(later.question_set_id == PlanningRule.question_set_id)
    return and_(
        or_(*(PlanningRule.kind == str(kind) for kind in sorted(SAMPLING))),  # cheaper than a list
        PlanningRule.verdicts_before == 0,
        or_(PlanningRule.ended_at.is_(None), PlanningRule.outcome == str(RuleOutcome.REACHED)),
        PlanningRule.id == newest.scalar_subquery(),
    )


class SampleWish(Struct, frozen=True):
    """The sample to draw: its kind, its size, whether each category gets its share.

    A sample that grows (``SEQUENCE``) is drawn without strata, as its confidence sequence needs
    it. It ends when the difference of two ``runs`` in ``figure`` leaves 0, or when its interval is
    at most ``width`` wide. Without a ``seed`` one is drawn.
    """

    size: int
    kind: RuleKind = RuleKind.FIXED
    stratified: bool = False
    figure: str = FIGURES[0]
    runs: tuple[str, ...] = ()
    width: float | None = None
    seed: int | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the rule."""
        grows = self.kind == RuleKind.SEQUENCE
        stratified = self.stratified and not grows
        found: dict[str, Any] = {
            "size": self.size,
            "stratified": stratified,
            "draws": draws.to_settings([SampleDraw(self.size, stratified)]),
        }
        if grows:
            found |= {"figure": self.figure, "runs": list(self.runs), "width": self.width}
        return found


def draw(
    session: Session, owner: Rater, question_set: QuestionSet, wish: SampleWish, now: datetime
) -> PlanningRule:
    """Put a rule in force that draws questions.

    Raises ``SampleTooSmall``, ``ChosenTooLate`` and, for a sample that grows, ``NotAPair``.
    """
    if wish.kind == RuleKind.SEQUENCE:
        there = {run.id for run in plans.runs_of(session, owner.study, question_set)}
        if len(set(wish.runs)) != PAIR or not there.issuperset(wish.runs):
            raise plans.NotAPair(*wish.runs)
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

    A category so added is a stratum of its own from then on, and so are the others. A sample whose
    size was fixed grows before the first verdict only, and categories are added to no other.
    Raises ``NoRule``, ``SampleIsFixed`` and ``SampleTooSmall``.
    """
    rule = rules.in_force(session, question_set.id)
    if rule is None or rule.kind not in SAMPLING:
        raise rules.NoRule(question_set.id)
    grows = rule.kind == RuleKind.SEQUENCE
    if (not grows or category) and (grows or rules.verdicts(session, question_set.id)):
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
    """End the rule in force: reached, where it drew a sample that has done what it asks.

    Then the questions not drawn stay unasked; a rule that is stopped early leaves them to be
    asked in the usual order. Raises ``NoRule``.
    """
    found = of_set(session, study, question_set)
    reached = found is not None and is_reached(found)
    outcome = RuleOutcome.REACHED if reached else RuleOutcome.STOPPED
    rules.end(session, question_set.id, now, outcome)


def is_reached(found: QuestionSample) -> bool:
    """Whether a sample has done what its rule asks of it."""
    if found.rule.kind == RuleKind.SEQUENCE and found.drawn < found.rule.of:
        return found.stopped is not None
    return found.rated == found.drawn


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
    compared = [r for r in order.in_order(session, study) if r.question_set_id == question_set.id]
    merging = reports.rule_of(session, study)
    return of_runs(session, study, rule, compared, merging)


def of_runs(
    session: Session,
    study: Study,
    rule: PlanningRule,
    compared: Sequence[Run],
    merging: Rule,
    settings: Resampling | None = None,
    *,
    formerly: bool = False,
) -> QuestionSample:
    """Return the sample of a rule with the figures of some runs, their verdicts merged.

    Its intervals are those of the first packs where they are asked for as they were `formerly`.
    """
    judged = comparisons.judged_runs(session, study, compared, merging)
    found = _SampledRuns(session, rule, judged, settings or Resampling())
    found.formerly = formerly
    return found.sample()


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
        self.formerly = False
        self.chosen = chosen_rules.stated(session, rule)
        rows = select(Question.category).where(Question.question_set_id == rule.question_set_id)
        self.sizes = Counter(session.scalars(rows))
        by_run = [{query.position: query for query in run.queries} for run in judged]
        self.queries = {run.run: found for run, found in zip(judged, by_run, strict=True)}

    def sample(self) -> QuestionSample:
        """Return the sample, with the figures that its rule allows by now."""
        rated = sum(map(self._is_rated, self.chosen.sample))
        grows = self.rule.kind == RuleKind.SEQUENCE
        shown = grows or rated == len(self.chosen.sample)
        return QuestionSample(
            rule=self.chosen,
            rated=rated,
            figures=tuple(one for one in self._figures() if one.found.values) if shown else (),
            looks=tuple(self._looks()) if grows else (),
            compared=tuple(run.name for run in self._compared()),
            settings=None if grows else self.settings,
        )

    def _is_rated(self, position: int) -> bool:
        return all(
            found[position].summary.complete
            or found[position].summary.state is QueryState.UNREADABLE
            for found in self.queries.values()
            if position in found
        )

    def _prefix(self) -> tuple[int, ...]:
        """The questions drawn, up to the first that is not rated: a sequence has no gaps."""
        found: list[int] = []
        for position in self.chosen.sample:
            if not self._is_rated(position):
                break
            found.append(position)
        return tuple(found)

    def _figures(self) -> Iterator[SampledFigure]:
        for figure in FIGURES:
            for one in self.judged:
                yield SampledFigure(figure, (one.name,), self._mean(figure, one))
            for one, other in combinations(self.judged, 2):
                found = self._mean(figure, one, other)
                yield SampledFigure(figure, (one.name, other.name), found)

    def _mean(self, figure: str, *runs: ComparedRun) -> SampledMean:
        if self.rule.kind != RuleKind.SEQUENCE:
            strata = self._by_stratum(figure, runs)
            if self.formerly:
                return formerly_sampled(strata, self.settings)
            return sampled_mean(strata, self.settings, bounds=_bounds(figure, runs))
        values = self._values(figure, runs, self._prefix())
        found = confidence_sequence(values, self.chosen.of, bounds=_bounds(figure, runs))
        known = [value for value in values if value is not None]
        return SampledMean(
            value=sum(known) / len(known) if known else None,
            reason=None if known else NO_VALUE,
            interval=found[-1] if found else NO_INTERVAL,
            values=len(known),
            drawn=len(values),
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

    def _compared(self) -> list[ComparedRun]:
        named = self.rule.settings.get("runs", ())
        return [run for run in self.judged if run.run in named]

    def _looks(self) -> Iterator[SequenceLook]:
        """Yield each look at the difference that the rule names, up to the one that ends it."""
        settings = self.rule.settings
        runs = self._compared()
        if len(runs) != PAIR:
            return
        figure = str(settings.get("figure", FIGURES[0]))
        values = self._values(figure, runs, self._prefix())
        stopping = StoppingRule(settings.get("width"))
        found = confidence_sequence(values, self.chosen.of, bounds=_bounds(figure, runs))
        for n, interval in enumerate(found, start=1):
            outcome = stopping.outcome(interval)
            yield SequenceLook(n, interval, outcome)
            if outcome:
                return


def _bounds(figure: str, runs: Sequence[ComparedRun]) -> ValueRange:
    high = HIGHEST.get(figure, 1.0)
    return ValueRange(-high if len(runs) == 2 else 0.0, high)
