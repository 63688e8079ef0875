"""The outcomes of constraints on the cards that a rater sees, and the decisions made on them there.

A judged item is one card in every run that lists it for its question, so a decision made while
rating is written for each of them. A blind rater sees one card for all: the one with the most known
facts, with the latest decisions on any of them, by any person.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session, contains_eager, selectinload

from relevansi.db.tables.judging import JudgedItem, Task
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query, Run
from relevansi.db.tables.study import Study
from relevansi.metrics.gold.constraint_rules import CardFacts, Outcome
from relevansi.metrics.gold.constraints import (
    DEFAULT_THRESHOLD,
    GoldQuestion,
    QueryEvaluation,
    evaluate_query,
)
from relevansi.services.gold import constraints, decisions, gold
from relevansi.services.gold.constraints import CheckedCard
from relevansi.services.gold.decisions import POOLED, Decision, Step
from relevansi.services.judging.judgments import UnknownQuery
from relevansi.services.rating import tasks
from relevansi.services.rating.pool import REPEAT
from relevansi.services.rating.tasks import UnknownTask


class CheckedAnswer(Struct, frozen=True):
    """One answer of a run checked against its gold question; ``cards`` are those it lists."""

    evaluation: QueryEvaluation
    threshold: Fraction
    cards: tuple[CheckedCard, ...]

    @property
    def by_rank(self) -> dict[int, CheckedCard]:
        return {card.result.rank: card for card in self.cards if card.result is not None}


def of_answer(session: Session, study: Study, run_id: str, query_id: int) -> CheckedAnswer | None:
    """Return an answer, checked; ``None`` without a gold question. Raises ``UnknownQuery``."""
    of_query = (Query.run_id == run_id) & (Query.query_id == query_id)
    queries = _queries(session, study, of_query)
    if not queries:
        raise UnknownQuery(run_id, query_id)
    checked = _checked(session, queries)
    return checked[0] if checked else None


def of_task(session: Session, rater: Rater, task_id: str) -> dict[str, CheckedCard]:
    """Return the checked cards of a blind rater's task, by their keys in it.

    There are none while the study hides outcomes from blind raters, nor without a gold question.
    In a repeat the rater's decisions of the first time are left out. Raises ``UnknownTask``.
    """
    if not rater.study.badges_while_blind:
        return {}
    task = tasks.find(session, rater, task_id)
    answers = _checked(session, _queries(session, rater.study, _in_unit(task)))
    by_item: defaultdict[int, list[tuple[GoldQuestion, CheckedCard]]] = defaultdict(list)
    for answer in answers:
        for card in answer.cards:
            if card.result is not None and card.result.judged_item_id is not None:
                by_item[card.result.judged_item_id].append((answer.evaluation.question, card))
    return {tasks.key(task, item_id): _merge(task, cards) for item_id, cards in by_item.items()}


def decide_on_answer(
    session: Session,
    rater: Rater,
    run_id: str,
    query_id: int,
    rank: int,
    decision: Decision,
    now: datetime,
) -> None:
    """Store a decision on the card at `rank` of an answer, for every run that lists its item.

    Raises ``UnknownQuery``, for a card that is not checked too, and what
    ``decisions.decide`` raises.
    """
    answer = of_answer(session, rater.study, run_id, query_id)
    card = answer.by_rank.get(rank) if answer else None
    if card is None or card.result is None:
        raise UnknownQuery(query_id, rank)
    _decide(session, rater, card.result.judged_item.id, decision, now, again=False)


def decide_in_task(
    session: Session, rater: Rater, task_id: str, card: str, decision: Decision, now: datetime
) -> None:
    """Store a decision on the card of key `card` in a blind rater's task, for every run with it.

    Raises ``UnknownTask``, ``UnknownQuery`` for a card that is not checked, and what
    ``decisions.decide`` raises.
    """
    task = tasks.find(session, rater, task_id)
    items = {tasks.key(task, item.id): item.id for item in tasks.cards(session, task)}
    if card not in items:
        raise UnknownTask(task_id, card)
    if card not in of_task(session, rater, task_id):
        raise UnknownQuery(task_id, card)
    decision = replace(decision, cause=POOLED)
    # In a repeat a decision equal to the one in force is stored too: it was made a second time.
    _decide(session, rater, items[card], decision, now, again=task.kind == REPEAT)


def _decide(
    session: Session, rater: Rater, item_id: int, decision: Decision, now: datetime, *, again: bool
) -> None:
    item = session.get_one(JudgedItem, item_id)
    for query in _queries(session, rater.study, _in_unit(item), locked=True):
        facts = constraints.facts_of_one(session, query)
        for index, result in enumerate(constraints.shown_in_text(facts, query)):
            if result is not None and result.judged_item_id == item_id:
                of_card = replace(decision, card=index)
                decisions.decide(session, rater, query, of_card, now, again=again)


def _in_unit(of: Task | JudgedItem) -> ColumnElement[bool]:
    """Return the condition on ``Query`` that its answer belongs to a question of the pool."""
    is_asked = Query.question_id == of.question_id
    return is_asked & (Query.run_id == func.coalesce(of.run_id, Query.run_id))


def _queries(
    session: Session, study: Study, where: ColumnElement[bool], *, locked: bool = False
) -> Sequence[Query]:
    """Return the queries of the study's runs that `where` holds for, with their results."""
    # In the order of their keys, so that two requests that lock them never deadlock.
    in_order = select(Query).join(Run).where(Run.study_id == study.id, where).order_by(Query.id)
    if locked:
        in_order = in_order.with_for_update(of=Query)
    return session.scalars(
        in_order.options(selectinload(Query.results), contains_eager(Query.run))
    ).all()


def _checked(session: Session, queries: Sequence[Query]) -> list[CheckedAnswer]:
    """Return answers to one question, checked; those without a gold question are left out."""
    sets = {query.run.question_set_id for query in queries}
    gold_file = gold.read_questions(session, sets, {query.query_id for query in queries})
    if gold_file is None:
        return []
    questions = {question.query_id: question for question in gold_file.questions}
    all_steps = decisions.steps(session, Query.id.in_([query.id for query in queries]))
    answers = []
    for query in queries:
        if query.query_id in questions:
            steps = [step for step in all_steps if step.query_key == query.id]
            facts = constraints.facts_of_one(session, query)
            evaluation = _evaluate(questions[query.query_id], facts, steps, gold_file.threshold)
            cards = constraints.check_cards(evaluation.cards, query, steps)
            answers.append(CheckedAnswer(evaluation, gold_file.threshold, cards))
    return answers


def _evaluate(
    question: GoldQuestion,
    facts: Sequence[CardFacts],
    steps: Iterable[Step],
    threshold: Fraction = DEFAULT_THRESHOLD,
) -> QueryEvaluation:
    in_force = decisions.for_evaluation(decisions.latest(steps))
    return evaluate_query(question, facts, threshold=threshold, decisions=in_force)


def _merge(task: Task, cards: Sequence[tuple[GoldQuestion, CheckedCard]]) -> CheckedCard:
    """Return one card for all cards of a judged item: the one with the most known facts.

    It depends on the content of the cards only, never on their runs or the order of the runs.
    """
    question, card = min(cards, key=lambda pair: _missing_facts(pair[1]))
    all_steps = sorted((step for _, each in cards for step in each.steps), key=lambda s: s.id)
    # One decision was written for every run that lists the card: it is one step here.
    distinct = {(step.at, step.rater_id, step.subject, step.outcome): step for step in all_steps}
    steps = []
    for step in sorted(distinct.values(), key=lambda step: step.id):
        is_first_time = step.rater_id == task.rater_id and step.at < task.claimed_at
        if task.kind == REPEAT and is_first_time:
            continue
        # A reason that was not written while rating blind may name a run or a file.
        reason = step.reason if step.cause == POOLED else ""
        steps.append(replace(step, card=0, query_id=question.query_id, reason=reason))
    evaluation = _evaluate(question, [card.evaluation.card], steps)
    return CheckedCard(evaluation.cards[0], card.result, tuple(steps))


def _missing_facts(card: CheckedCard) -> tuple[int, tuple[str, ...]]:
    """Return a key that sorts cards by their checks without a value, then by their outcomes."""
    outcomes = [check.automatic for check in card.evaluation.checks]
    return outcomes.count(Outcome.MISSING), tuple(map(str, outcomes))
