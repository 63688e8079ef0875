"""The targets of changes made on a page without a server: what each of them is about here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from msgspec import Struct
from sqlalchemy import select
from sqlalchemy.orm import Session, selectinload

from webapp.db.tables.judging import JudgedThing
from webapp.db.tables.runs import Query, Result, Run
from webapp.importers.runs.problems import error, warning
from webapp.importers.runs.ratings import OfflineRatings, RatingChange
from webapp.records import Problem, QueryState
from webapp.services.judging.events import Target
from webapp.services.judging.judged_things import identity_of


class AimedChange(Struct, frozen=True):
    """A change with its target here, and the event it would become."""

    change: RatingChange
    target: Target
    title: str
    device: str
    received_at: datetime

    @property
    def sequence(self) -> int:
        """The number of the change on its device."""
        return self.change.sequence

    @property
    def client_time(self) -> datetime:
        """When the change was made."""
        return self.change.made_at

    @property
    def new(self) -> str | None:
        """The value that the change gives."""
        return self.change.value


def aimed(
    session: Session, run: Run, read: OfflineRatings, now: datetime, problems: list[Problem]
) -> Iterator[AimedChange]:
    """Yield every change with its target, in order; report those without one."""
    queries = {query.query_id: query for query in _queries(session, run)}
    told: set[tuple[int, int | None, str]] = set()
    for change in read.changes:
        query = queries.get(change.query_id)
        target, title, problem = _target(query, read, change)
        where = (change.query_id, change.rank, change.field)
        if problem is not None and where not in told:
            problems.append(problem)
            told.add(where)
        if target is not None:
            yield AimedChange(change, target, title, read.device or read.identity[:64], now)


def _queries(session: Session, run: Run) -> Sequence[Query]:
    things = selectinload(Query.results).joinedload(Result.judged_thing)
    found = select(Query).where(Query.run_id == run.id)
    return session.scalars(found.options(things.joinedload(JudgedThing.property))).all()


def _target(
    query: Query | None, read: OfflineRatings, change: RatingChange
) -> tuple[Target | None, str, Problem | None]:
    """Return the target of a change, its card's title, and its problem if any."""
    place = {"file": read.name, "query_id": change.query_id}
    if query is None:
        return None, "", error("ratings_question_unknown", **place)  # type: ignore[arg-type]
    if change.field == "relevance":
        return _card(query, read, change)
    if change.field == "empty_outcome":
        if query.state != QueryState.EMPTY:
            return None, "", error("ratings_nothing_to_ask", **place)  # type: ignore[arg-type]
        return Target.verdict(query.emptiness_id, query.id), "", None
    return Target.rating(query, change.field), "", None


def _card(
    query: Query, read: OfflineRatings, change: RatingChange
) -> tuple[Target | None, str, Problem | None]:
    """Return the judged thing of the card that was rated, at any rank it may now have."""
    assert change.rank is not None
    by_rank = {result.rank: result for result in query.results}
    rated = read.cards.get(change.query_id, {}).get(change.rank)
    there = by_rank.get(change.rank)
    if there and (rated is None or identity_of(there) == rated.identity):
        return Target.verdict(there.judged_thing_id, query.id), there.card["title"], None
    title = rated.title if rated else ""
    said: dict[str, str | int] = {"title": title, "rank": change.rank}
    same = [one for one in query.results if rated and identity_of(one) == rated.identity]
    if len({one.judged_thing_id for one in same}) != 1:
        return None, title, error("ratings_card_gone", read.name, said, query_id=query.query_id)
    moved = warning(
        "ratings_card_moved", read.name, said | {"now": same[0].rank}, query_id=query.query_id
    )
    return Target.verdict(same[0].judged_thing_id, query.id), title, moved
