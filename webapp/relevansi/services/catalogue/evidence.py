"""What raters looked up and found: evidence on questions, searches behind verdicts on emptiness."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, Select, func, select
from sqlalchemy.orm import Session

from relevansi.db.engine import tables
from relevansi.db.tables.catalogue import Search
from relevansi.db.tables.judging import Adjudication, Event, JudgedItem, Judgment, StoredItem
from relevansi.db.tables.people import Rater
from relevansi.db.tables.study import Study
from relevansi.kinds import KINDS, from_row
from relevansi.metrics.judging.empty_answers import EmptyAnswer, Evidence
from relevansi.records import EmptyOutcome, Item, Relevance, Scale
from relevansi.services.judging import verdicts
from relevansi.services.judging.verdicts import Scope


def pinned(scope: Scope) -> Select[int]:
    """Return the statement over the judged items that anybody pinned on questions in `scope`."""
    return select(Judgment.judged_item_id).where(
        Judgment.is_evidence, Judgment.judged_item_id.in_(verdicts.pool_of(scope))
    )


def of_questions(
    session: Session,
    study: Study,
    questions: Select[int],
    raters: Sequence[Rater],
    *,
    adjudicated: bool = False,
) -> dict[int, tuple[Evidence, ...]]:
    """Return the evidence on `questions`, by the id of each.

    That are the items which one of `raters` pinned and judges relevant, and whose verdict merged
    from all of them (`adjudicated`: else settled) is relevant: a tie leaves an item out. In the
    order in which the items were first judged.
    """
    ids = [rater.id for rater in raters]
    by_raters = select(Judgment.judged_item_id).where(
        Judgment.is_evidence, Judgment.rater_id.in_(ids)
    )
    rows = (
        select(JudgedItem.id, JudgedItem.question_id, JudgedItem.run_id, JudgedItem.content)
        .add_columns(JudgedItem.card, StoredItem.identity, Adjudication.verdict.label("settled"))
        .add_columns(Judgment.verdict, Judgment.is_evidence)
        .join_from(JudgedItem, StoredItem)
        .join(Judgment, Judgment.judged_item_id == JudgedItem.id)
        .outerjoin(Adjudication, Adjudication.judged_item_id == JudgedItem.id)
        .where(JudgedItem.id.in_(by_raters), JudgedItem.question_id.in_(questions))
        .where(Judgment.rater_id.in_(ids), Judgment.verdict.is_not(None))
        .order_by(JudgedItem.id)
    )
    items = defaultdict[int, list[Any]](list)
    for row in tables(session).execute(rows):
        items[row.id].append(row)
    merging = verdicts.merging_of(study)
    relevances = Scale.stored(study.scale).relevances
    evidence: dict[int, tuple[Evidence, ...]] = {}
    for votes in items.values():
        merged = merging(tuple(row.verdict for row in votes))
        verdict = (adjudicated and votes[0].settled) or merged
        pinned_by = (row.verdict for row in votes if row.is_evidence)
        if relevances[verdict] is Relevance.RELEVANT and any(
            relevances[vote] is Relevance.RELEVANT for vote in pinned_by
        ):
            item = _evidence_of(KINDS[study.kind], votes[0])
            question_id = votes[0].question_id
            evidence[question_id] = (*evidence.get(question_id, ()), item)
    return evidence


def _evidence_of(kind: type[Item], row: Row[Any]) -> Evidence:
    identity = kind.docno(row.identity, row.content) if kind.of_collection else row.identity
    name = from_row(row.card).name if row.card else identity
    return Evidence(row.id, identity, name, row.run_id)


def empty_answers(
    session: Session,
    study: Study,
    emptiness: Select[int | None],
    raters: Sequence[Rater],
    *,
    adjudicated: bool = False,
) -> dict[int, EmptyAnswer]:
    """Return what looking gave for the judged items of `emptiness`, by id; none unclassified.

    The outcome is merged from `raters` (`adjudicated`: else settled). The searches are those of
    raters whose own outcome it is, for the question, no later than the server received their
    verdict in force: both are times of the server's clock.
    """
    searched = (
        (Search.rater_id == Judgment.rater_id)
        & (Search.question_id == JudgedItem.question_id)
        & (Search.at <= Event.received_at)
    )
    columns = (
        *(JudgedItem.id, JudgedItem.question_id, JudgedItem.run_id),
        *(Judgment.rater_id, Judgment.verdict, Adjudication.verdict.label("settled")),
    )
    rows = (
        select(*columns, func.count(Search.id).label("searches"))
        .join_from(JudgedItem, Judgment)
        .outerjoin(Event, verdicts.made_by(Judgment))
        .outerjoin(Search, searched)
        .outerjoin(Adjudication, Adjudication.judged_item_id == JudgedItem.id)
        .where(JudgedItem.id.in_(emptiness), Judgment.verdict.is_not(None))
        .where(Judgment.rater_id.in_([rater.id for rater in raters]))
        .group_by(*columns)
        .order_by(JudgedItem.id)
    )
    by_item = defaultdict[int, list[Any]](list)
    for row in tables(session).execute(rows):
        by_item[row.id].append(row)
    if not by_item:
        return {}
    questions = select(JudgedItem.question_id).where(JudgedItem.id.in_(emptiness))
    evidence = of_questions(session, study, questions, raters, adjudicated=adjudicated)
    merging = verdicts.merging_of(study)
    answers = {}
    for item_id, votes in by_item.items():
        merged = merging(tuple(row.verdict for row in votes))
        if verdict := (adjudicated and votes[0].settled) or merged:
            outcome, items = EmptyOutcome(verdict), evidence.get(votes[0].question_id, ())
            is_missed = outcome is EmptyOutcome.FALSE_NEGATIVE
            answers[item_id] = EmptyAnswer(
                item_id,
                outcome,
                sum(row.searches for row in votes if row.verdict == verdict),
                tuple(item for item in items if is_missed and item.run_id == votes[0].run_id),
            )
    return answers
