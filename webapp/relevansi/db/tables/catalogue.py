"""What could have been returned, and who looked for it: tables."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import DDL, JSON, BigInteger, String, Text, event, false
from sqlalchemy.orm import Mapped, mapped_column

from relevansi.db.tables.base import Base, reference


class CatalogueItem(Base):
    """A listing or document that can be looked up, whether or not a run returned it.

    ``text`` is what a search reads, ``card`` the item as on a card. ``is_imported`` tells an item
    of the owner's files from one that only a run returned. The columns below it are of listings:
    ``offer`` is "sale" or "rent", ``price`` is in rupiah; null of documents, and where not stated.
    """

    __tablename__ = "catalogue_items"

    id: Mapped[int] = mapped_column(primary_key=True)
    identity: Mapped[str] = mapped_column(Text, unique=True)
    text: Mapped[str] = mapped_column(Text)
    card: Mapped[dict[str, Any]] = mapped_column(JSON)
    is_imported: Mapped[bool] = mapped_column(server_default=false())
    type: Mapped[str | None] = mapped_column(Text)
    offer: Mapped[str | None] = mapped_column(String(8))
    price: Mapped[int | None] = mapped_column(BigInteger)
    bedrooms: Mapped[int | None]


class Search(Base):
    """A rater looked something up for a question: the words, what narrowed them, what it showed.

    ``filters`` are by the column of ``CatalogueItem`` that they narrow; ``item_count`` is the
    number of items that fit. ``task_id`` or ``query_key`` name the page.
    """

    __tablename__ = "searches"

    id: Mapped[int] = mapped_column(primary_key=True)
    rater_id: Mapped[int] = reference("raters.id", index=True)
    question_id: Mapped[int] = reference("questions.id", index=True)
    query_key: Mapped[int | None] = reference("queries.id", "SET NULL", index=True)
    task_id: Mapped[str | None] = reference("tasks.id", "SET NULL", index=True)
    words: Mapped[str] = mapped_column(Text)
    filters: Mapped[dict[str, Any]]
    item_count: Mapped[int]
    at: Mapped[datetime]


# No column or index of the models: each database indexes words in its own way.
WORDS_INDEX = {
    "sqlite": [
        """\
CREATE VIRTUAL TABLE catalogue_words USING fts5(
    text, content='catalogue_items', content_rowid='id',
    tokenize='unicode61 remove_diacritics 2', prefix='2 3'
)""",
    ],
    "postgresql": [
        """\
ALTER TABLE catalogue_items ADD COLUMN words tsvector
    GENERATED ALWAYS AS (to_tsvector('simple', text)) STORED""",
        "CREATE INDEX ix_catalogue_items_words ON catalogue_items USING gin (words)",
    ],
}
"""What makes the index of the catalogue's words, by the database's dialect.

SQLite's reads its texts from the table, and is filled by 'rebuild' or row by row.
"""
for dialect, statements in WORDS_INDEX.items():
    for statement in statements:
        make = DDL(statement).execute_if(dialect=dialect)  # type: ignore[no-untyped-call]
        event.listen(CatalogueItem.__table__, "after_create", make)
