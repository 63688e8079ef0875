"""A rater's earlier verdict on a property whose content has changed since."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cache
from operator import itemgetter
from typing import Any

from msgspec import Struct
from sqlalchemy import Integer, Row, Select, and_, bindparam, select
from sqlalchemy.orm import Session

from webapp.db.connection import tables
from webapp.db.tables.judging import JudgedThing, Judgment
from webapp.db.tables.people import Rater
from webapp.importers.runs.property_identity import differences
from webapp.records import Card, Relevance
from webapp.services.judging.judged_things import from_row
from webapp.services.rating.task_cards import AskedThing

_RATER = bindparam("rater_id", type_=Integer)

Thing = JudgedThing | AskedThing | Row[Any]
_Version = tuple[int, str | None, int | None]  # question, run where it matters, property


class EarlierVerdict(Struct, frozen=True):
    """The rater's verdict on the same property with other content, and what differs.

    ``now`` is the content of the card that shows it, which may state more than the card does.
    """

    relevance: Relevance
    card: Card
    now: Card
    differing: tuple[str, ...]


def earlier_verdicts(
    session: Session, rater: Rater, things: Sequence[Thing]
) -> dict[int, tuple[str, Card]]:
    """Return, by judged thing, the rater's latest verdict on another content of the property.

    Where the thing itself has a verdict, only earlier verdicts count.
    """
    values = {
        "rater_id": rater.id,
        "questions": list({thing.question_id for thing in things}),
        "properties": list({thing.property_id for thing in things}),
    }
    rows = tables(session).execute(_of_listings(), values)
    return said_before(things, [(row, row.verdict, row.changed_at) for row in rows if row.verdict])


@cache
def _of_listings() -> Select[*tuple[Any, ...]]:
    """Return the statement over all contents of some properties, with the verdicts on each.

    The join is an outer one so that SQLite does not begin with all the rater's judgments.
    """
    thing = JudgedThing
    return (
        select(thing.id, thing.question_id, thing.run_id, thing.property_id, thing.card)
        .add_columns(Judgment.verdict, Judgment.changed_at)
        .outerjoin(
            Judgment, and_(Judgment.judged_thing_id == thing.id, Judgment.rater_id == _RATER)
        )
        .where(
            thing.question_id.in_(bindparam("questions", expanding=True)),
            thing.property_id.in_(bindparam("properties", expanding=True)),
        )
    )


def said_before(
    things: Sequence[Thing], said: Iterable[tuple[Thing, str, datetime]]
) -> dict[int, tuple[str, Card]]:
    """Return, by judged thing, the latest verdict in `said` on another content of the property.

    Where the thing itself has a verdict, only earlier verdicts count.
    """
    versions: dict[_Version, list[tuple[int, str, datetime, Card]]] = defaultdict(list)
    for other, verdict, at in sorted(said, key=itemgetter(2)):
        if other.card is not None:
            versions[_version(other)].append((other.id, verdict, at, from_row(other.card)))
    found: dict[int, tuple[str, Card]] = {}
    for thing in things:
        judged = versions[_version(thing)]
        own = next((at for number, _, at, _ in judged if number == thing.id), None)
        for number, verdict, at, card in judged:
            if number != thing.id and (own is None or at < own):
                found[thing.id] = (verdict, card)
    return found


def _version(thing: Thing) -> _Version:
    return thing.question_id, thing.run_id, thing.property_id


def compared(found: tuple[str, Card] | None, card: Card) -> EarlierVerdict | None:
    """Return the earlier verdict that was `found`, beside the content of `card` now."""
    if found is None:
        return None
    verdict, other = found
    return EarlierVerdict(Relevance(verdict), other, card, differences(other, card))
