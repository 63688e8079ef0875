"""Studies of documents, graded 0 to 3 and relevant from 2, with ranking figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256

from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.db.tables.judging import JudgedItem, StoredItem
from relevansi.db.tables.people import Rater
from relevansi.db.tables.study import Question, QuestionSet, Study
from relevansi.kinds import to_row
from relevansi.kinds.document import Document
from relevansi.records import QueryState, ReadQuery, ReadRun, Scale
from relevansi.services.judging import events
from relevansi.services.judging.events import Target, TargetChange
from tests.services.runs.runs import click, store

SCALE = Scale(3, 2)


def make_graded(session: Session, study: Study, *measures: str, scale: Scale = SCALE) -> None:
    study.kind, study.scale, study.measures = "document", scale.to_store(), [*measures] or None
    study.asks_quality = False
    session.flush()


def store_lists(
    session: Session,
    study: Study,
    method: str,
    lists: Mapping[str, Sequence[str]],
    *,
    depth: int = 20,
) -> str:
    """Store the ranked ids of documents by question, those below `depth` as a tail."""
    queries = tuple(
        ReadQuery(
            query_id=number,
            question=f"Question {name}",
            category=f"category {number % 3}",
            response="",
            state=QueryState.RESULTS if listed else QueryState.EMPTY,
            cards=tuple(Document(title=doc_id, doc_id=doc_id) for doc_id in listed[:depth]),
            context_dependent=False,
            tail=tuple(f"doc:{doc_id}" for doc_id in listed[depth:]),
            external_id=name,
        )
        for number, (name, listed) in enumerate(lists.items(), start=1)
    )
    digest = sha256(repr((method, lists)).encode()).hexdigest()
    read = ReadRun("trec", f"{method}.txt", digest, queries, search_method=method, key=digest)
    run_id = store(session, study, read).id
    for question, name in zip(_questions(session, study), lists, strict=True):
        question.external_id = name
    session.flush()
    return run_id


def store_qrels(
    session: Session, study: Study, rater: Rater, qrels: Mapping[str, Mapping[str, str]]
) -> None:
    """Store the verdicts of a file: on items that no run lists, too."""
    changes = []
    for question in _questions(session, study):
        items = _item_ids(session, question)
        for doc, verdict in qrels.get(question.external_id or "", {}).items():
            identity = f"doc:{doc}"
            if identity not in items:
                stored_item = session.scalar(
                    select(StoredItem).where(StoredItem.identity == identity)
                )
                item = JudgedItem(
                    question_id=question.id,
                    item=stored_item or StoredItem(identity=identity),
                    card=to_row(Document(doc_id=doc)),
                )
                session.add(item)
                session.flush()
                items[identity] = item.id
            event = click(f"q{items[identity]}")
            changes.append(TargetChange(Target("verdict", items[identity]), verdict, event))
    events.record_all(session, rater, changes, cause="import")
    events.refresh(session, rater, [change.target for change in changes])


def _questions(session: Session, study: Study) -> list[Question]:
    of_study = select(Question).join(QuestionSet).where(QuestionSet.study_id == study.id)
    return list(session.scalars(of_study.order_by(Question.position)))


def _item_ids(session: Session, question: Question) -> dict[str, int]:
    of = select(StoredItem.identity, JudgedItem.id).join_from(JudgedItem, StoredItem)
    return dict(session.execute(of.where(JudgedItem.question_id == question.id)).all())
