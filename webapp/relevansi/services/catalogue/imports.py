"""Imports of files into the catalogue, in portions."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from datetime import datetime
from enum import StrEnum
from tempfile import TemporaryFile
from typing import IO

from msgspec import Struct, json
from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from relevansi import kinds
from relevansi.db.engine import PROGRAM, Database
from relevansi.db.tables.catalogue import CatalogueItem
from relevansi.db.tables.runs import Run
from relevansi.db.tables.study import Study
from relevansi.importers.catalogue import items
from relevansi.importers.frame import bounded
from relevansi.importers.results.files import Dropped
from relevansi.records import OnProgress, Problem, no_progress
from relevansi.services.catalogue import catalogue
from relevansi.services.study import studies

_PORTION_BYTES = 5_000_000  # of items in memory at once


class Mode(StrEnum):
    """Whether the items of the files are added, replace the catalogue, or are removed from it."""

    ADD = "add"
    REPLACE = "replace"
    REMOVE = "remove"


class CatalogueImport(Struct, frozen=True):
    """The result of an import: numbers of items, and the ``total`` in the catalogue after it.

    ``repeated`` counts further occurrences of an item in the files, of which the last one counts.
    """

    name: str
    kind: str
    total: int
    removed: int = 0
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    repeated: int = 0
    problems: tuple[Problem, ...] = ()


_COUNTS = ("added", "changed", "unchanged", "repeated")


def kind_of(session: Session, study: Study | None, *, replaces: bool) -> str | None:
    """Return the kind that items of the catalogue must have: the study's, once it has runs.

    Else that of the items there, unless the import `replaces` them; ``None`` without either.
    """
    if study is not None and session.scalar(select(Run.id).limit(1)) is not None:
        return study.kind
    card = None if replaces else session.scalar(select(CatalogueItem.card).limit(1))
    return None if card is None else kinds.of(card).kind


def size(session: Session) -> int:
    """Return how many items of the owner's files the catalogue has."""
    imported = select(func.count(CatalogueItem.id)).where(CatalogueItem.is_imported)
    return session.scalar(imported) or 0


def import_files(
    database: Database,
    dropped: Sequence[Dropped],
    mode: Mode,
    now: datetime,
    *,
    is_stream: bool = False,
    token_id: int | None = None,
    on_progress: OnProgress = no_progress,
) -> CatalogueImport:
    """Add, replace or remove the items of files in the catalogue; return what changed.

    The files are read to their end before anything is stored, so that an ``ImportRefused`` leaves
    the catalogue as it was. Items are stored in portions with a transaction each, so that raters
    do not wait; after an interruption the same import continues. `is_stream` reads in this process
    without a file in memory. The log names the program's `token_id`.
    """
    with database.reading() as session:
        kind = kind_of(session, studies.current(session), replaces=mode is Mode.REPLACE)
    name = _name(dropped)
    with TemporaryFile() as spool:
        if is_stream:
            opened = items.expanded(dropped)
            kind = kind or items.kind_of_items(opened)
            _write(spool, items.read(opened, kind, on_progress))
            problems = [problem for file in opened for problem in file.remarks()]
        else:
            kind, read_items, problems = bounded.call(name, items.read_all, dropped, kind)
            _write(spool, read_items)
        spool.seek(0)
        written, removed = _store(database, mode, spool)
    counts = {name: getattr(written, name) for name in _COUNTS}
    with database.writing() as session:
        session.info[PROGRAM] = token_id
        study = studies.open_or_make(session, now)
        new = f"+{written.added} ~{written.changed} -{removed}"
        studies.log(session, study, f"catalogue {mode}", name[:200], None, new, now)
        total = size(session)
        session.commit()
    return CatalogueImport(name, kind, total, removed, problems=tuple(problems), **counts)


def _write(spool: IO[bytes], read_items: Iterable[items.CatalogueItem]) -> None:
    for item, details, stated_type in read_items:
        entry = catalogue.entry(item, details, stated_type=stated_type)
        spool.write(json.encode(entry))
        spool.write(b"\n")


def _store(database: Database, mode: Mode, spool: IO[bytes]) -> tuple[catalogue.Written, int]:
    """Store the items of the spool; return the counts, and how many items were removed."""
    written = catalogue.Written()
    removed = 0
    for portion in _portions(spool):
        with database.writing() as session:
            if mode is Mode.REMOVE:
                identities = [entry.identity for entry in portion]
                removed += _remove(session, CatalogueItem.identity.in_(identities))
            else:
                catalogue.write(session, portion, written, is_imported=True)
            session.commit()
    if mode is Mode.REPLACE:
        removed = _remove_others(database, written.ids)
    return written, removed


def _remove(session: Session, condition: ColumnElement[bool]) -> int:
    chosen = select(CatalogueItem.id).where(CatalogueItem.is_imported, condition)
    ids = session.scalars(chosen).all()
    catalogue.remove(session, ids)
    return len(ids)


def _remove_others(database: Database, ids: Container[int]) -> int:
    """Remove the imported items with other ids than these; return how many."""
    with database.reading() as session:
        imported = session.scalars(select(CatalogueItem.id).where(CatalogueItem.is_imported))
        others = [number for number in imported if number not in ids]
    for start in range(0, len(others), catalogue.PORTION):
        with database.writing() as session:
            catalogue.remove(session, others[start : start + catalogue.PORTION])
            session.commit()
    return len(others)


def _name(dropped: Sequence[Dropped]) -> str:
    return ", ".join(file[0] if isinstance(file, tuple) else file.name for file in dropped)


def _portions(spool: IO[bytes]) -> Iterator[list[catalogue.Entry]]:
    """Yield the items of the spool in portions that fit in memory."""
    while lines := spool.readlines(_PORTION_BYTES):
        entries = [json.decode(line, type=catalogue.Entry) for line in lines]
        for start in range(0, len(entries), catalogue.PORTION):
            yield entries[start : start + catalogue.PORTION]
