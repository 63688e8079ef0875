"""Which judged item a shown card belongs to: the pooling that makes one verdict serve all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from hashlib import sha256
from operator import attrgetter

from msgspec import Struct
from sqlalchemy import bindparam, select, update
from sqlalchemy.orm import Session

from relevansi.db.engine import to_json
from relevansi.db.rows import core, insert_rows, next_ids
from relevansi.db.tables.judging import JudgedItem, StoredItem
from relevansi.db.tables.runs import Result
from relevansi.kinds import from_row, of, to_row
from relevansi.records import Item

PORTION = 5_000


class PooledItem(Struct, gc=False):
    """A judged item of a pool: ``id`` is 0 until it is stored, ``card`` the fullest one seen.

    ``content`` numbers the versions of one item, from 1. ``identity`` and ``card`` are ``None`` for
    a question's emptiness. ``text`` is the card in JSON, once it is stored here.
    """

    question_id: int
    run_id: str | None
    identity: str | None
    content: int
    card: Item | None
    id: int = 0
    text: str | None = None

    def joins(self, card: Item) -> bool:
        """Whether a verdict on it holds for `card`, which then fills its gaps (decision 0001)."""
        assert self.card is not None
        if self.card.differences(card):
            return False
        self.card = self.card.fullest(card)
        return True


class Pool:
    """The judged items of some questions, growing as lists are read; then stored at once.

    ``changed`` has the identities of items whose versions stored before are contradicted. Where
    they are the `same_documents` in spite of that, the last version becomes what is read now.
    """

    def __init__(
        self, session: Session, question_ids: Collection[int], *, same_documents: bool = False
    ) -> None:
        self._session = session
        self._same_documents = same_documents
        self.changed: set[str] = set()
        self._versions: defaultdict[tuple[int, str | None, str | None], list[PooledItem]]
        self._versions = defaultdict(list)
        self._stored: dict[int, tuple[PooledItem, Item | None]] = {}
        self._new: list[PooledItem] = []
        statement = (
            select(JudgedItem.question_id, JudgedItem.run_id, StoredItem.identity)
            .add_columns(JudgedItem.content, JudgedItem.card, JudgedItem.id)
            .outerjoin(StoredItem)
            .where(JudgedItem.question_id.in_(question_ids))
            .order_by(JudgedItem.content)
        )
        for row in core(session).execute(statement).all():
            card = from_row(row.card) if row.card else None
            item = PooledItem(row.question_id, row.run_id, row.identity, row.content, card, row.id)
            self._versions[item.question_id, item.run_id, item.identity].append(item)
            self._stored[item.id] = item, card

    def place(
        self, question_id: int, run_id: str | None, card: Item | None, identity: str = ""
    ) -> PooledItem:
        """Return the judged item of a card, or of an empty list: a new one where none fits.

        `run_id` is that of the answer where it depends on its conversation; `identity` is stated
        for a card that has none of its own.
        """
        scope = question_id, run_id, identity or (card.identity if card else None)
        versions = self._versions[scope]
        item = self._fitting(versions, card)
        if item is None:
            item = PooledItem(*scope, len(versions) + 1, card)
            versions.append(item)
            self._new.append(item)
        return item

    def fill(self, question_id: int, card: Item) -> None:
        """Fill the gaps of a card's judged item, if it has one, from the card."""
        self._fitting(self._versions[question_id, None, card.identity], card)

    def _fitting(self, versions: Sequence[PooledItem], card: Item | None) -> PooledItem | None:
        """Return the version whose verdicts hold for `card`; ``None`` where a new one is needed."""
        for item in versions:
            if card is None or item.joins(card):
                return item
        before = [item for item in versions if item.id]
        if not before:
            return None
        last = before[-1]
        assert card is not None
        assert last.identity is not None
        self.changed.add(last.identity)
        if not self._same_documents:
            return None
        assert last.card is not None
        last.card = last.card.renewed(card)
        return last

    def place_renewed(self, item_id: int, card: Item) -> PooledItem:
        """Return the judged item of a result whose card has more fields now."""
        item, _ = self._stored[item_id]
        return item if item.joins(card) else self.place(item.question_id, item.run_id, card)

    def store(self) -> None:
        """Store the new items, which get their ids, and the cards that became fuller."""
        connection = core(self._session)
        if new := self._new:
            names = sorted({item.identity for item in new if item.identity})
            insert_rows(
                connection, StoredItem, "identity", [(name,) for name in names], unless_taken=True
            )
            for item, item_id in zip(new, next_ids(connection, JudgedItem, len(new)), strict=True):
                item.id = item_id
                item.text = to_json(item.card) if item.card else None
            rows = list(map(_VALUES_OF, new))
            insert_rows(connection, JudgedItem, _COLUMNS, rows, values=_VALUES)
            new.clear()
        fuller = [
            {"of": item.id, "fuller": to_row(item.card)}
            for item, before in self._stored.values()
            if item.card is not None and item.card != before
        ]
        if fuller:
            rewrite = update(JudgedItem).where(JudgedItem.id == bindparam("of"))
            connection.execute(rewrite.values(card=bindparam("fuller")), fuller)
            # The connection wrote them, so objects that the session holds are out of date.
            for stored_object in self._session:
                if isinstance(stored_object, JudgedItem):
                    self._session.expire(stored_object, ["card"])


_COLUMNS = "id, question_id, item_id, content, run_id, card"
_VALUES = "?, ?, (SELECT id FROM items WHERE identity = ?), ?, ?, ?"
_VALUES_OF = attrgetter("id", "question_id", "identity", "content", "run_id", "text")


def identity_of(result: Result) -> str:
    """Return what names the item of a result in files: the same in every run."""
    item = result.judged_item.item
    assert item is not None  # only an emptiness has none, and nothing shows one
    return item.identity


def blind_identity_of(result: Result) -> str:
    """Return the identity of a result, as a hash where an id could tell its system."""
    identity = identity_of(result)
    if of(result.card).of_one_run is None:
        return identity
    return f"sha256:{sha256(identity.encode()).hexdigest()}"
