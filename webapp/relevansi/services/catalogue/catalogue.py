"""The catalogue: what could have been returned, as items beside the index of their words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from msgspec import Struct, field
from msgspec.structs import astuple
from sqlalchemy import Text, and_, cast, delete, func, or_, select
from sqlalchemy.orm import Session

from relevansi.db.engine import LruCache, insert_rows, next_ids, tables, to_json
from relevansi.db.tables.catalogue import CatalogueItem
from relevansi.db.tables.judging import JudgedItem, StoredItem
from relevansi.db.tables.study import Study
from relevansi.kinds import from_row, to_row
from relevansi.kinds.document import Document
from relevansi.kinds.property import Card
from relevansi.metrics.gold.constraint_rules import PROPERTY_TYPES
from relevansi.records import Item

PORTION = 5_000
LONGEST_TEXT = 100_000
"""Characters of an item that are searched: PostgreSQL's index holds no longer texts."""

_SIGNS = re.compile(r"[^\w]|_")
_UNSPACED = re.compile("([\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff])")
_ASCII_SIGNS = {code: " " for code in range(128) if not chr(code).isalnum()}
_ENGLISH = {f"{name}{end}": name for name in PROPERTY_TYPES.values() for end in ("", "s")}
_TYPES = PROPERTY_TYPES | _ENGLISH


class Entry(Struct, frozen=True, gc=False):
    """An item as the catalogue stores it; ``card`` is its card in JSON."""

    identity: str
    text: str
    card: str
    type: str | None = None
    offer: str | None = None
    price: int | None = None
    bedrooms: int | None = None


class Extent(Struct, frozen=True):
    """How many items can be looked up, and whether any is of the owner's files."""

    total: int
    is_imported: bool
    last_id: int


def folded(words: str) -> str:
    """Return the words of a text without case, accents and signs, a blank between them.

    Chinese and Japanese, which write no blanks, by character. Both databases then find the same.

    >>> folded("Café Ole, 3-bed"), folded("红裙")
    ('cafe ole  3 bed', ' 红  裙 ')
    """
    if words.isascii():
        return words.lower().translate(_ASCII_SIGNS)
    letters = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", words).casefold())
    plain = "".join(sign for sign in letters if not unicodedata.combining(sign))
    return _UNSPACED.sub(r" \1 ", _SIGNS.sub(" ", unicodedata.normalize("NFC", plain)))


def property_type(words: str) -> str | None:
    """Return the kind of property that `words` name first, as English has it.

    >>> property_type("Dijual Ruko 3 lantai"), property_type("Villa Setia Budi")
    ('shophouse', None)
    """
    return next((_TYPES[word] for word in folded(words).split() if word in _TYPES), None)


def entry(
    item: Item, details: Iterable[str] = (), *, stated_type: str = "", identity: str = ""
) -> Entry:
    """Return an item as it is stored: its words and `details` are searched, narrowed by the rest.

    `stated_type` is the kind of property in its file, else its title says it; `identity` is that
    under which it is stored, where the card does not say it.
    """
    identity = identity or item.identity
    plain = item.uniform(None)  # nothing that a system wrote of it leads there
    if isinstance(plain, Document):
        texts = (plain.title, plain.text, plain.doc_id, *map(str, plain.meta.values()))
        return Entry(identity, _searched(texts), to_json(to_row(item)))
    assert isinstance(plain, Card)
    texts = (plain.title, plain.location, plain.certificate, *details)
    return Entry(
        identity,
        _searched(texts),
        to_json(to_row(item)),
        type=property_type(stated_type)
        or stated_type.casefold()
        or property_type(plain.title)
        or None,
        offer=plain.listing_type or plain.price_note,
        price=plain.price or None,
        bedrooms=plain.bedrooms,
    )


def _searched(texts: Iterable[str | None]) -> str:
    return folded("\n".join(filter(None, texts))[:LONGEST_TEXT])


_EXTENTS: LruCache[tuple[int, str], Extent] = LruCache(20)


def up_to_date(session: Session, study: Study) -> Extent:
    """Take in what runs returned since the last search, and return what there is.

    Nothing is read where the study has not changed. The items of the owner's files stay as they
    are; items that only runs returned follow their cards, and go where nothing is judged of them.
    """
    last_id = session.scalar(select(func.max(CatalogueItem.id))) or 0
    revision = session.scalar(select(Study.revision).where(Study.id == study.id)) or ""
    extent = _EXTENTS.get(session, (study.id, revision))
    if extent is not None and extent.last_id == last_id:
        return extent
    _follow_runs(session)
    counts = select(func.count(CatalogueItem.id), func.max(CatalogueItem.id))
    total, last = session.execute(counts).one()
    imported = select(CatalogueItem.id).where(CatalogueItem.is_imported).limit(1)
    extent = Extent(total, session.scalar(imported) is not None, last or 0)
    _EXTENTS.store(session, (study.id, revision), extent)
    return extent


def _follow_runs(session: Session) -> None:
    latest = select(func.max(JudgedItem.id)).where(JudgedItem.card.is_not(None))
    of_run = CatalogueItem.is_imported.is_(False)
    is_other = cast(CatalogueItem.card, Text) != cast(JudgedItem.card, Text)
    behind = (
        select(JudgedItem.id)
        .join(StoredItem, StoredItem.id == JudgedItem.item_id)
        .outerjoin(CatalogueItem, CatalogueItem.identity == StoredItem.identity)
        .where(JudgedItem.id.in_(latest.group_by(JudgedItem.item_id)))
        .where(or_(CatalogueItem.id.is_(None), and_(of_run, is_other)))
        .order_by(JudgedItem.id)
    )
    ids = session.scalars(behind).all()
    for start in range(0, len(ids), PORTION):
        portion = ids[start : start + PORTION]
        cards = select(StoredItem.identity, JudgedItem.card).join(JudgedItem.item)
        cards = cards.where(JudgedItem.id.in_(portion)).order_by(JudgedItem.id)
        rows = session.execute(cards).all()
        entries = [entry(from_row(card), identity=identity) for identity, card in rows]
        write(session, entries, is_imported=False)
    is_listed = select(JudgedItem.id).join(JudgedItem.item)
    is_listed = is_listed.where(StoredItem.identity == CatalogueItem.identity)
    gone = select(CatalogueItem.id).where(of_run, ~is_listed.exists())
    remove(session, session.scalars(gone).all())


class Written(Struct):
    """How many items were added, changed, left as they were or repeated, and the ids of all."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    repeated: int = 0
    ids: set[int] = field(default_factory=set)


def write(
    session: Session, entries: Sequence[Entry], written: Written | None = None, *, is_imported: bool
) -> Written:
    """Add items, or bring those up to date that are there by their identity; return what changed.

    Of several with one identity the last one stays. An item that only runs returned counts as
    added once it is imported.
    """
    connection = tables(session)
    written = written or Written()
    latest = {item.identity: item for item in entries}
    written.repeated += len(entries) - len(latest)
    stored_rows = select(
        CatalogueItem.identity,
        CatalogueItem.id,
        CatalogueItem.is_imported,
        CatalogueItem.text,
        cast(CatalogueItem.card, Text),
    ).where(CatalogueItem.identity.in_(latest))
    stored = {row[0]: row[1:] for row in connection.execute(stored_rows)}
    new = latest.keys() - stored.keys()
    ids = iter(next_ids(connection, CatalogueItem, len(new)) if new else ())
    changed_ids: dict[str, int] = {}
    for identity, (item_id, was_imported, *earlier) in stored.items():
        now = latest[identity]
        is_same = (was_imported, *earlier) == (is_imported, now.text, now.card)
        if not is_same:
            changed_ids[identity] = item_id
        if item_id in written.ids:
            written.repeated += 1
        else:
            written.unchanged += is_same
            written.changed += not is_same and was_imported == is_imported
            written.added += was_imported != is_imported
        written.ids.add(item_id)
    remove(session, [*changed_ids.values()])
    rows = [
        (changed_ids.get(item.identity) or next(ids), is_imported, *astuple(item))
        for item in latest.values()
        if item.identity in changed_ids or item.identity not in stored
    ]
    columns = ", ".join(("id", "is_imported", *Entry.__struct_fields__))
    insert_rows(connection, CatalogueItem, columns, rows, unless_taken=True)
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql(_INDEX, (to_json([row[0] for row in rows]),))
    written.added += len(rows) - len(changed_ids)
    written.ids.update(row[0] for row in rows)
    return written


def remove(session: Session, ids: Sequence[int]) -> None:
    """Remove items of the catalogue by their ids; a run that returned one brings it back."""
    connection = tables(session)
    for start in range(0, len(ids), PORTION):
        portion = ids[start : start + PORTION]
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql(_UNINDEX, (to_json(portion),))
        connection.execute(delete(CatalogueItem).where(CatalogueItem.id.in_(portion)))


def index_all(session: Session) -> None:
    """Fill the index of words anew, for items that came otherwise than by ``write``."""
    connection = tables(session)
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql(
            "INSERT INTO catalogue_words (catalogue_words) VALUES ('rebuild')"
        )


# PostgreSQL keeps the index of words itself. That of SQLite has to be told the text it forgets.
_THESE = "FROM catalogue_items WHERE id IN (SELECT value FROM json_each(?))"
_INDEX = f"INSERT INTO catalogue_words (rowid, text) SELECT id, text {_THESE}"
_UNINDEX = f"""\
INSERT INTO catalogue_words (catalogue_words, rowid, text)
SELECT 'delete', id, text {_THESE}"""
