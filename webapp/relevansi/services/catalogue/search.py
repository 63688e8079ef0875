"""The catalogue searched by words and filters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import asdict, replace
from sqlalchemy import (
    ColumnElement,
    Integer,
    Select,
    column,
    func,
    literal_column,
    select,
    table,
)
from sqlalchemy.orm import Session

from relevansi.db.engine import tables
from relevansi.db.tables.catalogue import CatalogueItem
from relevansi.db.tables.study import Study
from relevansi.failures import Missing, Refused
from relevansi.i18n import mark
from relevansi.kinds import from_row, to_row
from relevansi.records import Item
from relevansi.services.catalogue.catalogue import folded, up_to_date

LONGEST_WORDS = 200
"""Characters of a search."""
MOST = 100
"""Items of one page."""
MOST_RANKED = 20_000
"""Of more items than this all have the words, and ordering them by these would take too long."""


class LongSearch(Refused):
    message = mark("A search has at most %(name)s characters")
    remedy = mark("Search for fewer words.")


class NoCatalogueItem(Missing):
    message = mark("The catalogue has no item %(name)s any more")
    remedy = mark("Search again.")


class Filters(Struct, frozen=True):
    """What narrows a search of listings; ``None`` narrows nothing. Prices are in rupiah.

    ``type`` is a kind of property as ``catalogue.property_type`` names it, ``offer`` "sale" or
    "rent".
    """

    type: str | None = None
    offer: str | None = None
    price_from: int | None = None
    price_to: int | None = None
    bedrooms: int | None = None

    def conditions(self) -> list[ColumnElement[bool]]:
        compared: dict[str, Callable[[Any], ColumnElement[bool]]] = {
            "type": CatalogueItem.type.__eq__,
            "offer": CatalogueItem.offer.__eq__,
            "price_from": CatalogueItem.price.__ge__,
            "price_to": CatalogueItem.price.__le__,
            "bedrooms": CatalogueItem.bedrooms.__eq__,
        }
        return [compared[name](getattr(self, name)) for name in self.names()]

    def names(self) -> list[str]:
        """Return the names of those that are set."""
        return [name for name, value in asdict(self).items() if value is not None]


class Match(NamedTuple):
    """An item of the catalogue."""

    id: int
    identity: str
    card: Item


class Matches(Struct, frozen=True):
    """A page of the items that fit, in order, and how many fit of all that can be looked up.

    ``is_imported`` is False where only what runs returned can be looked up. Where nothing fits,
    ``widest`` is the filter that excludes most, and how many items fit without it.
    """

    items: tuple[Match, ...]
    count: int
    total: int
    is_imported: bool
    widest: tuple[str, int] | None = None


def search(
    session: Session,
    study: Study,
    words: str,
    filters: Filters = Filters(),  # noqa: B008 - a frozen value
    *,
    start: int = 0,
    most: int = 20,
) -> Matches:
    """Return the items that have all `words`, the last one as a beginning, and pass the filters.

    The order is that of the words' weight (bm25, on PostgreSQL ts_rank), without words or with more
    than ``MOST_RANKED`` items that of the catalogue. What runs returned since the last search is
    taken in, so `session` is one that writes. Raises ``LongSearch``.
    """
    if len(words) > LONGEST_WORDS:
        raise LongSearch(LONGEST_WORDS)
    extent = up_to_date(session, study)
    tokens = folded(words).split()
    filtered = filters.names()
    index = _index(session, tokens)
    count = _count(session, index, filters) if tokens or filtered else extent.total
    widest = None
    if not count and filtered:
        without = {
            name: _count(session, index, replace(filters, **{name: None})) for name in filtered
        }
        name = max(filtered, key=lambda name: without[name])
        widest = (name, without[name]) if without[name] else None
    ids = _fitting(index, filters)
    if index and count <= MOST_RANKED:
        ids = ids.order_by(index.weight)
    page = ids.order_by(ids.selected_columns[0]).offset(max(start, 0)).limit(min(most, MOST))
    numbers = session.scalars(page).all() if count else ()
    items = _read(session, numbers)
    return Matches(
        tuple(items[number] for number in numbers if number in items),
        count,
        extent.total,
        extent.is_imported,
        widest,
    )


def find(session: Session, catalogue_id: int) -> Match:
    """Return an item by its id in the catalogue; raises ``NoCatalogueItem``."""
    items = _read(session, [catalogue_id])
    if catalogue_id not in items:
        raise NoCatalogueItem(catalogue_id)
    return items[catalogue_id]


def as_json(matches: Matches) -> dict[str, Any]:
    """Return a page of items as programs get it, each with the fields of its kind."""
    return {
        "count": matches.count,
        "total": matches.total,
        "is_imported": matches.is_imported,
        "items": [
            {"id": match.id, "identity": match.identity, **to_row(match.card)}
            for match in matches.items
        ],
    }


class _Index(NamedTuple):
    """The rows of an index that have words: their ids, in which rows, and their order."""

    id: ColumnElement[int]
    condition: ColumnElement[bool]
    weight: ColumnElement[float]


def _index(session: Session, tokens: Sequence[str]) -> _Index | None:
    """Return how the index of this database is asked for `tokens`, which are letters and digits.

    The last one is also the beginning of a word, unless it is a single letter.
    """
    if not tokens:
        return None
    is_beginning = len(tokens[-1]) > 1
    if tables(session).dialect.name == "sqlite":
        query = " ".join(f'"{token}"' for token in tokens) + "*" * is_beginning
        condition = literal_column("catalogue_words").op("MATCH", is_comparison=True)(query)
        rank: ColumnElement[float] = func.bm25(literal_column("catalogue_words"))
        return _Index(_WORDS.c.rowid, condition, rank)
    query = " & ".join(f"'{token}'" for token in tokens) + ":*" * is_beginning
    lexemes = func.to_tsquery(literal_column("'simple'"), query)
    words: ColumnElement[Any] = literal_column("catalogue_items.words")
    condition = words.op("@@", is_comparison=True)(lexemes)
    return _Index(CatalogueItem.id.expression, condition, func.ts_rank(words, lexemes).desc())


_WORDS = table("catalogue_words", column("rowid", Integer))


def _fitting(index: _Index | None, filters: Filters) -> Select[int]:
    """Return the statement for the ids of what has the words of `index` and passes `filters`."""
    ids = select(CatalogueItem.id if index is None else index.id)
    conditions = filters.conditions()
    if index is not None:
        ids = ids.where(index.condition)
        if conditions and index.id is _WORDS.c.rowid:
            ids = ids.where(index.id == CatalogueItem.id)
    return ids.where(*conditions)


def _count(session: Session, index: _Index | None, filters: Filters) -> int:
    fitting = _fitting(index, filters)
    count = func.count(fitting.selected_columns[0])
    return session.scalar(fitting.with_only_columns(count)) or 0


def _read(session: Session, ids: Sequence[int]) -> dict[int, Match]:
    rows = select(CatalogueItem.id, CatalogueItem.identity, CatalogueItem.card)
    rows = rows.where(CatalogueItem.id.in_(ids))
    return {
        number: Match(number, identity, from_row(card))
        for number, identity, card in session.execute(rows)
    }
