"""Which judged thing a shown card belongs to: the pooling that makes one verdict serve all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from hashlib import sha256
from itertools import islice

from msgspec import Struct
from sqlalchemy import bindparam, insert, select, update
from sqlalchemy.orm import Session

from webapp.db.engine import added, tables
from webapp.db.tables.judging import JudgedThing, Property
from webapp.db.tables.runs import Result
from webapp.kinds import from_row, of, to_row
from webapp.records import Item

PORTION = 5_000
_Key = tuple[int, str | None, str | None, int]
_KEY = JudgedThing.question_id, JudgedThing.run_id, Property.identity, JudgedThing.content


class PooledItem(Struct):
    """A judged thing of a pool: ``id`` is 0 until it is stored, ``card`` the fullest version.

    ``identity`` and ``card`` are ``None`` for a question's emptiness.
    """

    question_id: int
    run_id: str | None
    identity: str | None
    content: int
    card: Item | None
    id: int = 0

    @property
    def key(self) -> _Key:
        return self.question_id, self.run_id, self.identity, self.content

    def joins(self, card: Item) -> bool:
        """Whether a verdict on it holds for `card`, which then fills its gaps."""
        assert self.card is not None
        if self.card.differences(card):
            return False
        self.card = self.card.fullest(card)
        return True


class Pool:
    """The judged things of some questions, growing as lists are read; then stored at once."""

    def __init__(self, session: Session, question_ids: Collection[int], cards: Iterable[Item]):
        self._session = session
        self._properties: dict[str, int] = {}
        self._find_properties({card.identity for card in cards})
        self._versions: dict[tuple[int, str | None, str | None], list[PooledItem]]
        self._versions = defaultdict(list)
        self._stored: dict[int, tuple[PooledItem, Item | None]] = {}
        self._new: dict[_Key, PooledItem] = {}
        found = (
            select(*_KEY, JudgedThing.card, JudgedThing.id)
            .outerjoin(Property)
            .where(JudgedThing.question_id.in_(question_ids))
            .order_by(JudgedThing.content)
        )
        for row in tables(session).execute(found).all():
            card = from_row(row.card) if row.card else None
            item = PooledItem(row.question_id, row.run_id, row.identity, row.content, card, row.id)
            self._versions[item.key[:3]].append(item)
            self._stored[item.id] = item, card

    def place(
        self, question_id: int, run_id: str | None, card: Item | None, identity: str = ""
    ) -> PooledItem:
        """Return the judged thing of a card, or of an empty list: a new one where none fits.

        `run_id` is that of the answer where it depends on its conversation; `identity` is stated
        of a card that does not say by what it is known.
        """
        scope = question_id, run_id, identity or (card.identity if card else None)
        versions = self._versions[scope]
        for item in versions:
            if card is None or item.joins(card):
                return item
        item = PooledItem(*scope, len(versions) + 1, card)
        versions.append(item)
        self._new[item.key] = item
        return item

    def fill(self, question_id: int, card: Item) -> None:
        """Let the judged thing of a card, if there is one, be as full as the card is."""
        any(item.joins(card) for item in self._versions[question_id, None, card.identity])

    def place_again(self, thing_id: int, card: Item) -> PooledItem:
        """Return the judged thing of a result whose card has more fields now."""
        item, _ = self._stored[thing_id]
        return item if item.joins(card) else self.place(item.question_id, item.run_id, card)

    def store(self) -> None:
        """Store the new things, which get their ids, and those that became fuller."""
        connection = tables(self._session)
        wanted = dict.fromkeys(item.identity for item in self._new.values() if item.identity)
        if names := [name for name in wanted if name not in self._properties]:
            add = added(Property, connection.dialect.name, ("identity",))
            connection.execute(add, [{"identity": name} for name in names])
            self._find_properties(names)
        if self._new:
            connection.execute(insert(JudgedThing), [*map(self._row, self._new.values())])
            questions = {item.question_id for item in self._new.values()}
            there = select(*_KEY, JudgedThing.id).outerjoin(Property)
            for question_id, run_id, identity, content, thing_id in connection.execute(
                there.where(JudgedThing.question_id.in_(questions))
            ).all():
                if item := self._new.get((question_id, run_id, identity, content)):
                    item.id = thing_id
            self._new.clear()
        fuller = [
            {"of": item.id, "fuller": to_row(item.card)}
            for item, before in self._stored.values()
            if item.card is not None and item.card != before
        ]
        if fuller:
            rewrite = update(JudgedThing).where(JudgedThing.id == bindparam("of"))
            connection.execute(rewrite.values(card=bindparam("fuller")), fuller)
            for thing in self._session:
                if isinstance(thing, JudgedThing):
                    self._session.expire(thing, ["card"])

    def _find_properties(self, identities: Iterable[str]) -> None:
        names = iter(sorted(identities))
        while portion := list(islice(names, PORTION)):
            found = select(Property.identity, Property.id).where(Property.identity.in_(portion))
            self._properties.update(tables(self._session).execute(found).all())

    def _row(self, item: PooledItem) -> dict[str, object]:
        return {
            "question_id": item.question_id,
            "property_id": self._properties[item.identity] if item.identity else None,
            "content": item.content,
            "run_id": item.run_id,
            "card": to_row(item.card) if item.card else None,
        }


def identity_of(result: Result) -> str:
    shown = result.judged_thing.property
    assert shown is not None  # only an emptiness has none, and nothing shows one
    return shown.identity


def blind_identity_of(result: Result) -> str:
    """Return the identity of a result, as a hash where an id could tell its system."""
    identity = identity_of(result)
    if of(result.card).of_one_run is None:
        return identity
    return f"sha256:{sha256(identity.encode()).hexdigest()}"
