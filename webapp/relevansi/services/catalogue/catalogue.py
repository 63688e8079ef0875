"""The catalogue: the items that a system could have returned, stored with an index of their words.

They are those of the owner's files, and those that any run returned.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from msgspec import Struct, field
from msgspec.structs import astuple
from sqlalchemy import Text, and_, cast, delete, func, or_, select
from sqlalchemy.orm import Session

from relevansi.db.caches import LruCache
from relevansi.db.engine import to_json
from relevansi.db.rows import core, insert_rows, next_ids
from relevansi.db.tables.catalogue import CatalogueItem
from relevansi.db.tables.judging import JudgedItem, StoredItem
from relevansi.db.tables.study import Study
from relevansi.kinds import from_row
from relevansi.kinds.document import Document
from relevansi.kinds.property import Card
from relevansi.metrics.gold.constraint_rules import PROPERTY_TYPES
from relevansi.records import Item

PORTION = 5_000
MAX_TEXT = 100_000
"""How many characters of an item are searched: PostgreSQL's index holds no longer texts."""

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
    """How many items the catalogue has, and whether any is of the owner's files."""

    total: int
    is_imported: bool
    last_id: int


def folded(words: str) -> str:
    """Return a text as words in lower case without accents and signs, blanks between them.

    Chinese and Japanese, which write no blanks, become single characters. SQLite and PostgreSQL
    split words in their own ways; of such texts both find the same.

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
    types = (_TYPES[word] for word in folded(words).split() if word in _TYPES)
    return next(types, None)


def entry(
    item: Item, details: Iterable[str] = (), *, stated_type: str = "", identity: str = ""
) -> Entry:
    """Return an item as it is stored: its words and `details` are searched, filters use the rest.

    `stated_type` is the kind of property in its file, which its title says otherwise; `identity`
    is set where the card does not have it.
    """
    identity = identity or item.identity
    # Without what a system wrote of it, so that a search favours no system.
    plain = item.uniform(None)
    if isinstance(plain, Document):
        texts = (plain.title, plain.text, plain.doc_id, *map(str, plain.meta.values()))
        return Entry(identity, _search_text(texts), to_json(item))
    assert isinstance(plain, Card)
    texts = (plain.title, plain.location, plain.certificate, *details)
    return Entry(
        identity,
        _search_text(texts),
        to_json(item),
        type=property_type(stated_type)
        or stated_type.casefold()
        or property_type(plain.title)
        or None,
        offer=plain.listing_type or plain.price_note,
        price=plain.price or None,
        bedrooms=plain.bedrooms,
    )


def _search_text(texts: Iterable[str | None]) -> str:
    return folded("\n".join(filter(None, texts))[:MAX_TEXT])


_EXTENTS: LruCache[tuple[int, str], Extent] = LruCache(20)


def up_to_date(session: Session, study: Study) -> Extent:
    """Add the items that runs returned since the last search; return the catalogue's extent.

    Items of the owner's files stay as they are. Those that only runs returned are updated with
    their cards, and removed once no judged item of them is left.
    """
    last_id = session.scalar(select(func.max(CatalogueItem.id))) or 0
    revision = session.scalar(select(Study.revision).where(Study.id == study.id)) or ""
    # Cached while neither study nor catalogue change: raters search again and again.
    extent = _EXTENTS.get(session, (study.id, revision))
    if extent is not None and extent.last_id == last_id:
        return extent
    _update_from_runs(session)
    counts = select(func.count(CatalogueItem.id), func.max(CatalogueItem.id))
    total, last = session.execute(counts).one()
    imported = select(CatalogueItem.id).where(CatalogueItem.is_imported).limit(1)
    extent = Extent(total, session.scalar(imported) is not None, last or 0)
    _EXTENTS.store(session, (study.id, revision), extent)
    return extent


def _update_from_runs(session: Session) -> None:
    """Bring the items that only runs returned up to date with the latest card of each."""
    latest = select(func.max(JudgedItem.id)).where(JudgedItem.card.is_not(None))
    of_run = CatalogueItem.is_imported.is_(False)
    # Compared as texts: PostgreSQL has no equality of JSON.
    is_other = cast(CatalogueItem.card, Text) != cast(JudgedItem.card, Text)
    outdated = (
        select(JudgedItem.id)
        .join(StoredItem, StoredItem.id == JudgedItem.item_id)
        .outerjoin(CatalogueItem, CatalogueItem.identity == StoredItem.identity)
        .where(JudgedItem.id.in_(latest.group_by(JudgedItem.item_id)))
        .where(or_(CatalogueItem.id.is_(None), and_(of_run, is_other)))
        .order_by(JudgedItem.id)
    )
    ids = session.scalars(outdated).all()
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
    """Numbers of items that were added, changed, unchanged or repeated, and the ids of all."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    repeated: int = 0
    ids: set[int] = field(default_factory=set)


def write(
    session: Session, entries: Sequence[Entry], written: Written | None = None, *, is_imported: bool
) -> Written:
    """Store items, replacing those of the same identity; return the counts, added to `written`.

    Of several entries with one identity the last counts. An item that only runs returned counts as
    added once it is imported.
    """
    connection = core(session)
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
    stored_ids: set[str] = set()
    changed_ids: dict[str, int] = {}
    for identity, item_id, was_imported, text, card in connection.execute(stored_rows):
        stored_ids.add(identity)
        item = latest[identity]
        is_same = was_imported == is_imported and (text, card) == (item.text, item.card)
        if not is_same:
            changed_ids[identity] = item_id
        if item_id in written.ids:
            written.repeated += 1
        elif was_imported != is_imported:
            written.added += 1
        elif is_same:
            written.unchanged += 1
        else:
            written.changed += 1
        written.ids.add(item_id)
    # Before the removal, after which the next id could be that of a changed item.
    n_new = len(latest) - len(stored_ids)
    new_ids = iter(next_ids(connection, CatalogueItem, n_new) if n_new else ())
    # Replaced, not updated: SQLite's index has to be told the old text of an item.
    remove(session, [*changed_ids.values()])
    rows = [
        (changed_ids.get(item.identity) or next(new_ids), is_imported, *astuple(item))
        for item in latest.values()
        if item.identity in changed_ids or item.identity not in stored_ids
    ]
    columns = ", ".join(("id", "is_imported", *Entry.__struct_fields__))
    insert_rows(connection, CatalogueItem, columns, rows, unless_taken=True)
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql(_INDEX, (to_json([row[0] for row in rows]),))
    written.added += len(rows) - len(changed_ids)
    written.ids.update(row[0] for row in rows)
    return written


def remove(session: Session, ids: Sequence[int]) -> None:
    """Remove items of the catalogue by their ids; one that a run returned is added again later."""
    connection = core(session)
    for start in range(0, len(ids), PORTION):
        portion = ids[start : start + PORTION]
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql(_UNINDEX, (to_json(portion),))
        connection.execute(delete(CatalogueItem).where(CatalogueItem.id.in_(portion)))


def index_all(session: Session) -> None:
    """Rebuild the index of words, for items that were not stored by ``write``."""
    connection = core(session)
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql(
            "INSERT INTO catalogue_words (catalogue_words) VALUES ('rebuild')"
        )


# PostgreSQL updates its index itself. To remove an item from SQLite's, its text has to be given.
_OF_IDS = "FROM catalogue_items WHERE id IN (SELECT value FROM json_each(?))"
_INDEX = f"INSERT INTO catalogue_words (rowid, text) SELECT id, text {_OF_IDS}"
_UNINDEX = f"""\
INSERT INTO catalogue_words (catalogue_words, rowid, text)
SELECT 'delete', id, text {_OF_IDS}"""
