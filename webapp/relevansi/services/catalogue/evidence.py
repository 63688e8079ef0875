"""Evidence that raters found in the catalogue: on questions, and behind verdicts on empty lists."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, Select, func, select
from sqlalchemy.orm import Session

from relevansi.db.rows import core
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
    """Return the evidence on `questions` by their ids, in the order in which items were judged.

    An item is evidence if one of `raters` pinned it and judges it relevant, and if the verdict
    merged from all of them is relevant too: a tie leaves it out. Under the rule `adjudicated` a
    settled verdict counts instead of the merged one.
    """
    rater_ids = [rater.id for rater in raters]
    pinned_items = select(Judgment.judged_item_id).where(
        Judgment.is_evidence, Judgment.rater_id.in_(rater_ids)
    )
    rows = (
        select(
            JudgedItem.id,
            JudgedItem.question_id,
            JudgedItem.run_id,
            JudgedItem.content,
            JudgedItem.card,
            StoredItem.identity,
            Adjudication.verdict.label("settled"),
            Judgment.verdict,
            Judgment.is_evidence,
        )
        .join_from(JudgedItem, StoredItem)
        .join(Judgment, Judgment.judged_item_id == JudgedItem.id)
        .outerjoin(Adjudication, Adjudication.judged_item_id == JudgedItem.id)
        .where(
            JudgedItem.id.in_(pinned_items),
            JudgedItem.question_id.in_(questions),
            Judgment.rater_id.in_(rater_ids),
            Judgment.verdict.is_not(None),
        )
        .order_by(JudgedItem.id)
    )
    votes_by_item = defaultdict[int, list[Any]](list)
    for row in core(session).execute(rows):
        votes_by_item[row.id].append(row)
    merging = verdicts.merging_of(study)
    relevances = Scale.stored(study.scale).relevances
    kind = KINDS[study.kind]
    evidence: dict[int, tuple[Evidence, ...]] = {}
    for votes in votes_by_item.values():
        merged = merging(tuple(row.verdict for row in votes))
        verdict = (adjudicated and votes[0].settled) or merged
        by_pinning_raters = [relevances[row.verdict] for row in votes if row.is_evidence]
        is_confirmed = Relevance.RELEVANT in by_pinning_raters
        if relevances[verdict] is Relevance.RELEVANT and is_confirmed:
            question_id = votes[0].question_id
            items = evidence.get(question_id, ())
            evidence[question_id] = (*items, _evidence_of(kind, votes[0]))
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
    """Return by id the classified empty lists of `emptiness`, with the searches behind them.

    The outcome is merged from `raters`; under the rule `adjudicated` a settled one counts instead.
    ``searches`` counts those on the question by raters with this outcome, before their verdict.
    """
    # Compared with the arrival of the verdict: both times are of the server's clock.
    before_verdict = (
        (Search.rater_id == Judgment.rater_id)
        & (Search.question_id == JudgedItem.question_id)
        & (Search.at <= Event.received_at)
    )
    columns = (
        JudgedItem.id,
        JudgedItem.question_id,
        JudgedItem.run_id,
        Judgment.rater_id,
        Judgment.verdict,
        Adjudication.verdict.label("settled"),
    )
    rows = (
        select(*columns, func.count(Search.id).label("searches"))
        .join_from(JudgedItem, Judgment)
        .outerjoin(Event, verdicts.made_by(Judgment))
        .outerjoin(Search, before_verdict)
        .outerjoin(Adjudication, Adjudication.judged_item_id == JudgedItem.id)
        .where(JudgedItem.id.in_(emptiness), Judgment.verdict.is_not(None))
        .where(Judgment.rater_id.in_([rater.id for rater in raters]))
        .group_by(*columns)
        .order_by(JudgedItem.id)
    )
    votes_by_item = defaultdict[int, list[Any]](list)
    for row in core(session).execute(rows):
        votes_by_item[row.id].append(row)
    if not votes_by_item:
        return {}
    questions = select(JudgedItem.question_id).where(JudgedItem.id.in_(emptiness))
    evidence = of_questions(session, study, questions, raters, adjudicated=adjudicated)
    merging = verdicts.merging_of(study)
    answers = {}
    for item_id, votes in votes_by_item.items():
        merged = merging(tuple(row.verdict for row in votes))
        verdict = (adjudicated and votes[0].settled) or merged
        if not verdict:
            continue
        items: tuple[Evidence, ...] = ()
        if verdict == EmptyOutcome.FALSE_NEGATIVE:
            on_question = evidence.get(votes[0].question_id, ())
            items = tuple(item for item in on_question if item.run_id == votes[0].run_id)
        searches = sum(row.searches for row in votes if row.verdict == verdict)
        answers[item_id] = EmptyAnswer(item_id, EmptyOutcome(verdict), searches, items)
    return answers
