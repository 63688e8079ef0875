"""What looking stores, written as rows: searches, and items that were pinned as evidence."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.db.tables.catalogue import Search
from relevansi.db.tables.judging import JudgedItem, Judgment, StoredItem
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query
from relevansi.kinds import to_row
from relevansi.kinds.property import Card
from relevansi.records import Item
from relevansi.services.catalogue import catalogue
from tests.conftest import NOW


def question_of(session: Session, run_id: str, query_id: int) -> int:
    of_query = (Query.run_id == run_id) & (Query.query_id == query_id)
    return session.scalars(select(Query.question_id).where(of_query)).one()


def new_listing(session: Session, name: str, price: int = 1) -> int:
    """Put a listing into the catalogue; return its id there."""
    item = Card(title=f"House {name}", slug=name, price=price, location="Medan")
    written = catalogue.write(session, [catalogue.entry(item)], is_imported=True)
    return written.ids.pop()


def search(session: Session, rater: Rater, question_id: int, *, minute: int = 0) -> None:
    """Let a rater look something up, `minute` minutes after the tests' moment."""
    at = NOW + timedelta(minutes=minute)
    values = {"words": "rumah depok", "filters": {}, "item_count": 2, "at": at}
    session.add(Search(rater_id=rater.id, question_id=question_id, **values))
    session.flush()


def pin(session: Session, rater: Rater, question_id: int, item: Item) -> int:
    """Let a rater pin an item that no run returned; return the id of the judged item."""
    stored = session.scalar(select(StoredItem).where(StoredItem.identity == item.identity))
    stored = stored or StoredItem(identity=item.identity)
    judged = JudgedItem(question_id=question_id, item=stored, card=to_row(item))
    session.add(judged)
    session.flush()
    judge(session, rater, judged.id, "1", is_evidence=True)
    return judged.id


def judge(
    session: Session, rater: Rater, item_id: int, verdict: str, *, is_evidence: bool = False
) -> None:
    """Store a rater's verdict on an item that no run returned."""
    row = Judgment(rater_id=rater.id, judged_item_id=item_id, verdict=verdict, changed_at=NOW)
    row.is_evidence = is_evidence
    session.add(row)
    session.flush()
