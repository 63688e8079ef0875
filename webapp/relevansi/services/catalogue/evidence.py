"""What raters looked up and found: evidence on questions, searches behind verdicts on emptiness."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from relevansi.db.engine import tables
from relevansi.db.tables.catalogue import Search
from relevansi.db.tables.judging import Adjudication, Event, JudgedItem, Judgment, StoredItem
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query
from relevansi.db.tables.study import Study
from relevansi.kinds import KINDS, from_row
from relevansi.metrics.judging.empty_answers import EmptyAnswer, Evidence
from relevansi.records import EmptyOutcome, QueryState, Relevance, Scale
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
    scope: Scope,
    raters: Sequence[Rater],
    *,
    adjudicated: bool = False,
) -> dict[int, tuple[Evidence, ...]]:
    """Return the evidence on the questions of the queries in `scope`, by question.

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
        .where(JudgedItem.id.in_(by_raters), JudgedItem.id.in_(verdicts.pool_of(scope)))
        .where(Judgment.rater_id.in_(ids), Judgment.verdict.is_not(None))
        .order_by(JudgedItem.id)
    )
    items, votes, is_pinned = {}, defaultdict[int, list[str]](list), set[int]()
    kind, merging = KINDS[study.kind], verdicts.merging_of(study)
    relevances = Scale.stored(study.scale).relevances
    for row in tables(session).execute(rows):
        items[row.id] = row
        votes[row.id].append(row.verdict)
        if row.is_evidence and relevances[row.verdict] is Relevance.RELEVANT:
            is_pinned.add(row.id)
    evidence: dict[int, tuple[Evidence, ...]] = {}
    for item_id, row in items.items():
        verdict = (adjudicated and row.settled) or merging(tuple(votes[item_id]))
        if item_id in is_pinned and relevances[verdict] is Relevance.RELEVANT:
            identity = row.identity
            if kind.of_collection:
                identity = kind.docno(row.identity, row.content)
            name = from_row(row.card).name if row.card else identity
            item = Evidence(item_id, identity, name, row.run_id)
            evidence[row.question_id] = (*evidence.get(row.question_id, ()), item)
    return evidence


def empty_answers(
    session: Session,
    study: Study,
    scope: Scope,
    raters: Sequence[Rater],
    *,
    adjudicated: bool = False,
) -> dict[int, EmptyAnswer]:
    """Return what looking gave for the empty queries in `scope`, by key; none unclassified.

    The outcome is merged from `raters` (`adjudicated`: else settled). The searches are those of
    raters whose own outcome it is, for the question, no later than the server received their
    verdict in force: both are times of the server's clock.
    """
    searched = (
        (Search.rater_id == Judgment.rater_id)
        & (Search.question_id == Query.question_id)
        & (Search.at <= Event.received_at)
    )
    columns = (
        *(Query.id, Query.question_id, Query.run_id, Query.emptiness_id),
        *(Judgment.rater_id, Judgment.verdict, Adjudication.verdict.label("settled")),
    )
    rows = (
        select(*columns, func.count(Search.id).label("searches"))
        .join_from(Query, Judgment, Judgment.judged_item_id == Query.emptiness_id)
        .outerjoin(Event, verdicts.made_by(Judgment))
        .outerjoin(Search, searched)
        .outerjoin(Adjudication, Adjudication.judged_item_id == Query.emptiness_id)
        .where(scope, Query.state == QueryState.EMPTY, Judgment.verdict.is_not(None))
        .where(Judgment.rater_id.in_([rater.id for rater in raters]))
        .group_by(*columns)
        .order_by(Query.id)
    )
    by_query = defaultdict(list)
    for row in tables(session).execute(rows):
        by_query[row.id].append(row)
    if not by_query:
        return {}
    evidence = of_questions(session, study, scope, raters, adjudicated=adjudicated)
    merging = verdicts.merging_of(study)
    answers = {}
    for key, votes in by_query.items():
        first = votes[0]
        cast = tuple(row.verdict for row in votes)
        if verdict := (adjudicated and first.settled) or merging(cast):
            outcome = EmptyOutcome(verdict)
            is_missed = outcome is EmptyOutcome.FALSE_NEGATIVE
            answers[key] = EmptyAnswer(
                first.emptiness_id,
                outcome,
                sum(row.searches for row in votes if row.verdict == verdict),
                of_answer(evidence, first.question_id, first.run_id) if is_missed else (),
            )
    return answers


def of_answer(
    evidence: Mapping[int, tuple[Evidence, ...]], question_id: int, run_id: str
) -> tuple[Evidence, ...]:
    """Return the `evidence` on a question that is about the answer of one run."""
    items = evidence.get(question_id, ())
    return tuple(item for item in items if item.run_id in {None, run_id})
