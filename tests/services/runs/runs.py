"""Made-up runs for the tests of the services."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from hashlib import sha256

from msgspec.structs import replace
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from relevansi.db.tables.study import Study
from relevansi.kinds.property import Card
from relevansi.records import Click, QueryState, ReadQuery, ReadRun, Relevance
from relevansi.services.runs import stored_runs
from relevansi.services.runs.stored_runs import ImportedRun, Labels
from tests.conftest import NOW

YES, NO, UNSURE = Relevance.RELEVANT, Relevance.NOT_RELEVANT, Relevance.UNSURE


def card(slug: str, **values: object) -> Card:
    """Return a card of which only the slug and what is `stated` is known."""
    return replace(Card(title=slug.title(), slug=slug), **values)


def query(
    query_id: int,
    *cards: Card,
    text: str | None = None,
    category: str = "location",
    state: QueryState | None = None,
    context_dependent: bool = False,
) -> ReadQuery:
    """Return a query whose answer shows `cards`, or is empty without any."""
    return ReadQuery(
        query_id=query_id,
        question=text or f"Question {query_id}",
        category=category,
        response=f"Answer {query_id}: {[each.slug for each in cards]}",
        state=state or (QueryState.RESULTS if cards else QueryState.EMPTY),
        cards=cards,
        context_dependent=context_dependent,
    )


def run(*queries: ReadQuery, method: str = "hybrid", name: str = "test_results.json") -> ReadRun:
    """Return a V1 run file holding `queries`."""
    return ReadRun(
        file_format="v1",
        name=name,
        sha256=sha256(repr((method, name, queries)).encode()).hexdigest(),
        queries=queries,
        search_method=method,
    )


def click(
    event_id: str,
    *,
    minute: int = 0,
    device: str | None = None,
    sequence: int | None = None,
    client_minute: int | None = None,
) -> Click:
    """Return a click received `minute` minutes after the tests' moment."""
    client_time = None if client_minute is None else NOW + timedelta(minutes=client_minute)
    return Click(event_id, NOW + timedelta(minutes=minute), client_time, device, sequence)


def slugs(cards: Sequence[Card]) -> list[str | None]:
    """Return the slugs of `cards` in order."""
    return [each.slug for each in cards]


def store(session: Session, study: Study, read: ReadRun, **labels: str) -> ImportedRun:
    """Store `read` under `labels`, as an import at the tests' moment does."""
    return stored_runs.store(session, study, read, Labels(**labels), NOW)  # type: ignore[arg-type]


def count(session: Session, table: type) -> int:
    """Return how many rows a table has."""
    return session.scalar(select(func.count()).select_from(table)) or 0
