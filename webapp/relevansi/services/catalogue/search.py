"""Search in the catalogue, by words and filters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace
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

from relevansi.db.rows import core
from relevansi.db.tables.catalogue import CatalogueItem
from relevansi.db.tables.study import Study
from relevansi.exporters.frame.json_files import fields
from relevansi.failures import Missing, Refused
from relevansi.i18n import mark
from relevansi.kinds import from_row, to_row
from relevansi.records import Item
from relevansi.services.catalogue.catalogue import folded, up_to_date
from relevansi.services.catalogue.filters import Filters

MAX_WORDS = 200  # characters
MAX_PAGE = 100  # items
MAX_RANKED = 20_000
"""More matches than this are not ranked by their words: that would take too long."""


class LongSearch(Refused):
    message = mark("A search has at most %(name)s characters")
    remedy = mark("Search for fewer words.")


class NoCatalogueItem(Missing):
    message = mark("The catalogue has no item %(name)s any more")
    remedy = mark("Search again.")


class Match(NamedTuple):
    """An item of the catalogue."""

    id: int
    identity: str
    card: Item


class Matches(Struct, frozen=True):
    """A page of the items that match, in order, and how many match of the ``total``.

    ``is_imported`` is False where the catalogue only has what runs returned. Where nothing matches,
    ``widest`` is the filter that excludes most, and how many items match without it.
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

    They are ranked by the words (bm25, on PostgreSQL ts_rank); without words, or with more than
    ``MAX_RANKED`` matches, they are in the order of the catalogue. With `most` 0 they are only
    counted. `session` writes: items that runs returned since the last search are added. Raises
    ``LongSearch``.
    """
    if len(words) > MAX_WORDS:
        raise LongSearch(MAX_WORDS)
    extent = up_to_date(session, study)
    filtered = filters.names()
    index = _index(session, words, filters)
    count = _count(session, words, filters) if index or filtered else extent.total
    widest = None
    if not count and filtered:
        counts_without = {
            name: _count(session, words, replace(filters, **{name: None})) for name in filtered
        }
        name = max(filtered, key=counts_without.__getitem__)
        if counts_without[name]:
            widest = name, counts_without[name]
    statement = _matching_ids(index, filters)
    if index and count <= MAX_RANKED:
        statement = statement.order_by(index.weight)
    # By id too, so that equal weights have one order over all pages.
    statement = statement.order_by(statement.selected_columns[0])
    page = statement.offset(max(start, 0)).limit(min(most, MAX_PAGE))
    ids = session.scalars(page).all() if count and most else ()
    items = _read(session, ids)
    return Matches(
        items=tuple(items[item_id] for item_id in ids if item_id in items),
        count=count,
        total=extent.total,
        is_imported=extent.is_imported,
        widest=widest,
    )


def find(session: Session, catalogue_id: int) -> Match:
    """Return an item by its id in the catalogue; raises ``NoCatalogueItem``."""
    items = _read(session, [catalogue_id])
    if catalogue_id not in items:
        raise NoCatalogueItem(catalogue_id)
    return items[catalogue_id]


def as_json(matches: Matches) -> dict[str, Any]:
    """Return a page of items as programs get it, each with the fields of its kind."""
    items = [fields(match, "id", "identity") | to_row(match.card) for match in matches.items]
    return fields(matches, "count", "total", "is_imported") | {"items": items}


class _Index(NamedTuple):
    """A query of an index of words: its column of ids, its condition, and its rank."""

    id: ColumnElement[int]
    condition: ColumnElement[bool]
    weight: ColumnElement[float]


def _index(session: Session, words: str, filters: Filters) -> _Index | None:
    """Return the query of this database's index for `words` and the places of `filters`.

    The last word also matches as the beginning of one, unless it is a single letter. ``None``
    without words and places.
    """
    tokens, places = folded(words).split(), filters.places()
    if not tokens and not places:
        return None
    is_sqlite = core(session).dialect.name == "sqlite"
    # The syntax of FTS5's MATCH, and of to_tsquery.
    if is_sqlite:
        quote, all_of, any_of, prefix = '"', " AND ", " OR ", "*"
    else:
        quote, all_of, any_of, prefix = "'", "&", "|", ":*"
    terms = [f"{quote}{token}{quote}" for token in tokens]
    if tokens and len(tokens[-1]) > 1:
        terms[-1] += prefix
    if places:
        names = (all_of.join(f"{quote}{token}{quote}" for token in place) for place in places)
        terms.append(f"({any_of.join(names)})")
    query = all_of.join(terms)
    if is_sqlite:
        condition = literal_column("catalogue_words").op("MATCH", is_comparison=True)(query)
        rank: ColumnElement[float] = func.bm25(literal_column("catalogue_words"))
        return _Index(_WORDS.c.rowid, condition, rank)
    lexemes = func.to_tsquery(literal_column("'simple'"), query)
    indexed: ColumnElement[Any] = literal_column("catalogue_items.words")
    condition = indexed.op("@@", is_comparison=True)(lexemes)
    return _Index(CatalogueItem.id.expression, condition, func.ts_rank(indexed, lexemes).desc())


_WORDS = table("catalogue_words", column("rowid", Integer))


def _matching_ids(index: _Index | None, filters: Filters) -> Select[int]:
    """Return the statement of the ids of items that match `index` and pass `filters`."""
    ids = select(CatalogueItem.id if index is None else index.id)
    conditions = filters.conditions()
    if index is not None:
        ids = ids.where(index.condition)
        if conditions and index.id is _WORDS.c.rowid:
            ids = ids.where(index.id == CatalogueItem.id)
    return ids.where(*conditions)


def _count(session: Session, words: str, filters: Filters) -> int:
    matching = _matching_ids(_index(session, words, filters), filters)
    count = func.count(matching.selected_columns[0])
    return session.scalar(matching.with_only_columns(count)) or 0


def _read(session: Session, ids: Sequence[int]) -> dict[int, Match]:
    rows = select(CatalogueItem.id, CatalogueItem.identity, CatalogueItem.card)
    rows = rows.where(CatalogueItem.id.in_(ids))
    return {
        number: Match(number, identity, from_row(card))
        for number, identity, card in session.execute(rows)
    }
