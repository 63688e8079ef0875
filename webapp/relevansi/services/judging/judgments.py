"""Verdicts and reasons on the cards of a run, or on items wherever they are shown."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Row, Select, bindparam, select
from sqlalchemy.orm import Session

from relevansi import failures
from relevansi.db.rows import core
from relevansi.db.tables.judging import JudgedItem, Judgment
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query, Result, Run
from relevansi.db.tables.study import Question, QuestionSet, Study
from relevansi.failures import Missing
from relevansi.i18n import mark
from relevansi.metrics.judging.queries import QuerySummary
from relevansi.records import Click, EmptyOutcome, QueryState, Scale
from relevansi.services.judging import reasons
from relevansi.services.judging.answer_ratings import Answer, AnswerRating, NotToJudge, rate_answer
from relevansi.services.judging.events import (
    REASON,
    Target,
    TargetChange,
    lock,
    record,
    record_all,
    refresh,
)
from relevansi.services.judging.undoing import undo_last


class UnknownQuery(Missing):
    message = mark("This run has no such question or card")
    remedy = failures.SEE_RUNS


class UnknownItem(Missing):
    message = mark("This study has no item %(name)s")
    remedy = mark("Items have their numbers in the list of items.")


def judge_target(
    session: Session, rater: Rater, target: Target, verdict: str | None, click: Click, scale: Any
) -> tuple[str | None, dict[int, QuerySummary]]:
    """Return the verdict in force after this one is recorded, and the summaries that it moved.

    Raises ``NotToJudge`` for a verdict that is not of the `scale`.
    """
    if verdict is not None and not Scale.stored(scale).accepts(verdict):
        raise NotToJudge
    in_force = record(session, rater, target, verdict, click)
    return in_force, refresh(session, rater, [target])


def judge_item(
    session: Session, rater: Rater, item_id: int, verdict: str | None, click: Click
) -> None:
    """Record a verdict on an item, or on the emptiness of a list, whichever page shows it."""
    lock(session, rater)
    of_study = QuestionSet.study_id == rater.study_id
    items = select(JudgedItem).join(Question).join(QuestionSet)
    item = session.scalar(items.where(JudgedItem.id == item_id, of_study))
    if item is None:
        raise UnknownItem(item_id)
    if item.item_id is not None:
        target = Target("verdict", item.id)
        judge_target(session, rater, target, verdict, click, rater.study.scale)
        return
    if verdict not in {None, *EmptyOutcome}:
        raise NotToJudge
    outcome = EmptyOutcome(verdict) if verdict else None
    rate_answer(session, rater, Answer(None, item.id), AnswerRating(empty_outcome=outcome), click)


def judge(
    session: Session,
    rater: Rater,
    run_id: str,
    query_id: int,
    rank: int,
    relevance: str | None,
    click: Click,
) -> JudgedResult:
    """Record a verdict on the card at `rank` of a run's answer, and return what it came to."""
    result = _result_at_rank(session, rater, run_id, query_id, rank)
    target = Target("verdict", result.judged_item_id, result.query_key)
    in_force, summaries = judge_target(session, rater, target, relevance, click, result.scale)
    return JudgedResult(in_force, summaries[result.query_key], result)


def give_reason(
    session: Session,
    rater: Rater,
    run_id: str,
    query_id: int,
    rank: int,
    reason: str | None,
    click: Click,
) -> str | None:
    """Record why the card at `rank` is not relevant, and return the reason in force.

    Raises ``UnknownReason``; the verdict stays as it is.
    """
    result = _result_at_rank(session, rater, run_id, query_id, rank)
    checked = reasons.checked(reason, result.kind, result.reasons)
    target = Target(REASON, result.judged_item_id, result.query_key)
    return record(session, rater, target, checked, click)


def give_reason_of_item(
    session: Session, rater: Rater, item_id: int, reason: str | None, click: Click
) -> None:
    """Record why an item, which ``judge_item`` judged, is not relevant; see ``give_reason``."""
    checked = reasons.checked(reason, rater.study.kind, rater.study.reasons)
    record(session, rater, Target(REASON, item_id), checked, click)


class JudgedResult(NamedTuple):
    """A card's verdict in force, the summary of its query, and the study's settings for both."""

    verdict: str | None
    summary: QuerySummary
    study: Row[Any]


def _result_at_rank(
    session: Session, rater: Rater, run_id: str, query_id: int, rank: int
) -> Row[Any]:
    lock(session, rater)
    card = {"run_id": run_id, "query_id": query_id, "rank": rank, "study_id": rater.study_id}
    result: Row[Any] | None = core(session).execute(_results_at_rank(), card).first()
    if result is None:
        raise UnknownQuery(run_id, query_id, rank)
    return result


@cache
def _results_at_rank() -> Select[*tuple[Any, ...]]:
    return (
        select(Result.query_key, Result.judged_item_id, Study.scale, Study.measures, Study.kind)
        .add_columns(Study.cannot_tell, Study.suggest_quality, Study.reasons)
        .join_from(Result, Query, Query.id == Result.query_key)
        .join(Run, Run.id == Query.run_id)
        .join(Study, Study.id == Run.study_id)
        .where(
            Query.run_id == bindparam("run_id"),
            Query.query_id == bindparam("query_id"),
            Result.rank == bindparam("rank"),
            Result.judged_item_id.is_not(None),
            Run.study_id == bindparam("study_id"),
        )
    )


def judge_open(
    session: Session, rater: Rater, run_id: str, query_id: int, relevance: str, click: Click
) -> None:
    """Record the same verdict on every card still unjudged, logged as bulk.

    Raises ``NotToJudge`` unless the study's owner allowed it: it biases.
    """
    query = lock_query(session, rater, run_id, query_id)
    study = rater.study
    if not study.allow_bulk or not Scale.stored(study.scale).accepts(relevance):
        raise NotToJudge
    judged = select(Judgment.judged_item_id).where(
        Judgment.rater_id == rater.id, Judgment.verdict.is_not(None)
    )
    open_items = session.scalars(
        select(Result.judged_item_id)
        .where(Result.query_key == query.id, Result.judged_item_id.is_not(None))
        .where(Result.judged_item_id.not_in(judged))
        .group_by(Result.judged_item_id)
        .order_by(Result.judged_item_id)
    )
    changes = []
    for number, item_id in enumerate(open_items):
        part = Click(f"{click.event_id}:{number}", click.received_at, click.client_time)
        changes.append(TargetChange(Target("verdict", item_id, query.id), relevance, part))
    record_all(session, rater, changes, cause="bulk")
    refresh(session, rater, [change.target for change in changes])


def rate(
    session: Session, rater: Rater, run_id: str, query_id: int, rating: AnswerRating, click: Click
) -> None:
    """Record quality, notes and empty outcome of a run's answer; raises ``UnknownQuery``."""
    query = lock_query(session, rater, run_id, query_id)
    emptiness = query.emptiness_id if query.state == QueryState.EMPTY else None
    rate_answer(session, rater, Answer(query.id, emptiness), rating, click)


def undo(session: Session, rater: Rater, run_id: str, click: Click) -> int | None:
    """Take back the rater's latest change in a run; return its query id. See ``undo_last``."""
    last = undo_last(session, rater, click, Query.run_id == run_id)
    return session.get_one(Query, last.query_key).query_id if last is not None else None


def lock_query(session: Session, rater: Rater, run_id: str, query_id: int) -> Query:
    """Return a query once no other click of the rater is stored; raises ``UnknownQuery``."""
    lock(session, rater)
    query = session.scalar(
        select(Query)
        .join(Run)
        .where(Query.run_id == run_id, Query.query_id == query_id, Run.study_id == rater.study_id)
    )
    if query is None:
        raise UnknownQuery(run_id, query_id)
    return query
