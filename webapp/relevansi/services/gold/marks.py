"""The constraint marks of the cards that a rater sees, and the decisions made on them there.

A judged item is the same card wherever a run lists it for its question, so a decision made
while rating is written for all of them. A blind rater is shown one card for all: the one with
the most known facts, with the latest decisions on any of them, by any person.
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
from relevansi.services.gold.constraints import CheckedCard, UnknownListedCard
from relevansi.services.gold.decisions import POOLED, Decision, Step
from relevansi.services.judging.events import UnknownQuery
from relevansi.services.rating import tasks
from relevansi.services.rating.pool import REPEAT
from relevansi.services.rating.tasks import UnknownTask


class CheckedAnswer(Struct, frozen=True):
    """One answer of a run against its gold question, with a card for each that is listed."""

    evaluation: QueryEvaluation
    threshold: Fraction
    cards: tuple[CheckedCard, ...]

    @property
    def by_rank(self) -> dict[int, CheckedCard]:
        return {card.result.rank: card for card in self.cards if card.result is not None}


def has_gold(session: Session, run_id: str) -> bool:
    return session.scalar(select(Run.id).where(Run.id == run_id, gold.knows_any())) is not None


def of_answer(session: Session, study: Study, run_id: str, query_id: int) -> CheckedAnswer | None:
    """Return an answer, checked; ``None`` without a gold question. Raises ``UnknownQuery``."""
    here = (Query.run_id == run_id) & (Query.query_id == query_id)
    queries = _queries(session, study, here)
    if not queries:
        raise UnknownQuery(run_id, query_id)
    checked = _checked(session, queries)
    return checked[0] if checked else None


def of_task(session: Session, rater: Rater, task_id: str) -> dict[str, CheckedCard]:
    """Return the cards of a blind rater's task, by the names they have in it.

    There are none while the study shows no marks, nor without a gold question. In a repeat
    the rater's own decisions of the first time are left out. Raises ``UnknownTask``.
    """
    if not rater.study.badges_while_blind:
        return {}
    task = tasks.find(session, rater, task_id)
    answers = _checked(session, _queries(session, rater.study, _in_unit(task)))
    same: defaultdict[int, list[tuple[GoldQuestion, CheckedCard]]] = defaultdict(list)
    for answer in answers:
        for card in answer.cards:
            if card.result is not None and card.result.judged_item_id is not None:
                same[card.result.judged_item_id].append((answer.evaluation.question, card))
    return {tasks.key(task, item_id): _as_one(task, cards) for item_id, cards in same.items()}


def decide_on_answer(
    session: Session,
    rater: Rater,
    run_id: str,
    query_id: int,
    rank: int,
    decision: Decision,
    now: datetime,
) -> None:
    """Decide on the card at `rank` of an answer, and wherever a run lists the same one.

    Raises ``UnknownQuery``, ``UnknownListedCard`` for a card without marks, and what
    ``decisions.decide`` does.
    """
    answer = of_answer(session, rater.study, run_id, query_id)
    card = answer.by_rank.get(rank) if answer else None
    if card is None or card.result is None:
        raise UnknownListedCard(query_id, rank)
    _decide(session, rater, card.result.judged_item.id, decision, now, again=False)


def decide_in_task(
    session: Session, rater: Rater, task_id: str, card: str, decision: Decision, now: datetime
) -> None:
    """Decide on the card named `card` of a blind rater's task, in every run that lists it.

    Raises ``UnknownTask``, ``UnknownListedCard`` for a card without marks, and what
    ``decisions.decide`` does.
    """
    task = tasks.find(session, rater, task_id)
    items = {tasks.key(task, item.id): item.id for item in tasks.cards(session, task)}
    if card not in items:
        raise UnknownTask(task_id, card)
    if card not in of_task(session, rater, task_id):
        raise UnknownListedCard(task_id, card)
    decision, again = replace(decision, cause=POOLED), task.kind == REPEAT
    _decide(session, rater, items[card], decision, now, again=again)


def _decide(
    session: Session, rater: Rater, item_id: int, decision: Decision, now: datetime, *, again: bool
) -> None:
    item = session.get_one(JudgedItem, item_id)
    for query in _queries(session, rater.study, _in_unit(item), locked=True):
        facts = constraints.facts_of_one(session, query)
        for index, result in enumerate(constraints.shown_in_text(facts, query)):
            if result is not None and result.judged_item_id == item_id:
                here = replace(decision, card=index)
                decisions.decide(session, rater, query, here, now, again=again)


def _in_unit(of: Task | JudgedItem) -> ColumnElement[bool]:
    """Return the condition on ``Query`` that its answer belongs to a question of the pool."""
    is_asked = Query.question_id == of.question_id
    return is_asked & (Query.run_id == func.coalesce(of.run_id, Query.run_id))


def _queries(
    session: Session, study: Study, where: ColumnElement[bool], *, locked: bool = False
) -> Sequence[Query]:
    """Return the queries of the study's runs that `where` holds for, with their results.

    They come in the order of their keys, so that two locking requests never deadlock.
    """
    in_order = select(Query).join(Run).where(Run.study_id == study.id, where).order_by(Query.id)
    if locked:
        in_order = in_order.with_for_update(of=Query)
    return session.scalars(
        in_order.options(selectinload(Query.results), contains_eager(Query.run))
    ).all()


def _checked(session: Session, queries: Sequence[Query]) -> list[CheckedAnswer]:
    """Return answers to one question against their gold questions; those without are left out."""
    sets = {query.run.question_set_id for query in queries}
    gold_file = gold.asked_in(session, sets, {query.query_id for query in queries})
    if gold_file is None:
        return []
    questions = {question.query_id: question for question in gold_file.questions}
    every = decisions.steps(session, Query.id.in_([query.id for query in queries]))
    answers = []
    for query in queries:
        if query.query_id in questions:
            steps = [step for step in every if step.query_key == query.id]
            facts = constraints.facts_of_one(session, query)
            evaluation = _evaluated(questions[query.query_id], facts, steps, gold_file.threshold)
            cards = constraints.check_cards(evaluation.cards, query, steps)
            answers.append(CheckedAnswer(evaluation, gold_file.threshold, cards))
    return answers


def _evaluated(
    question: GoldQuestion,
    facts: Sequence[CardFacts],
    steps: Iterable[Step],
    threshold: Fraction = DEFAULT_THRESHOLD,
) -> QueryEvaluation:
    in_force = decisions.for_evaluation(decisions.latest(steps))
    return evaluate_query(question, facts, threshold=threshold, decisions=in_force)


def _as_one(task: Task, same: Sequence[tuple[GoldQuestion, CheckedCard]]) -> CheckedCard:
    """Return one card for all that are the same judged item.

    It depends on the content of the cards only, never on their runs or the order of the runs.
    Reasons that were not written while rating blind may name a run or a file: they are left out.
    """
    question, card = min(same, key=lambda pair: _ignorance(pair[1]))
    every = sorted((step for _, pair in same for step in pair.steps), key=lambda step: step.id)
    # One decision was written for every run that lists the card: it is one step here.
    once = {(step.at, step.rater_id, step.subject, step.outcome): step for step in every}
    steps = []
    for step in sorted(once.values(), key=lambda step: step.id):
        is_own = step.rater_id == task.rater_id and step.at < task.claimed_at
        if not (task.kind == REPEAT and is_own):  # the rater's own of the first time
            reason = step.reason if step.cause == POOLED else ""
            steps.append(replace(step, card=0, query_id=question.query_id, reason=reason))
    evaluation = _evaluated(question, [card.evaluation.card], steps)
    return CheckedCard(evaluation.cards[0], card.result, tuple(steps))


def _ignorance(card: CheckedCard) -> tuple[int, tuple[str, ...]]:
    """Return how little is known of a card: the number of its checks without a value."""
    outcomes = [check.automatic for check in card.evaluation.checks]
    return outcomes.count(Outcome.MISSING), tuple(map(str, outcomes))
