"""The formats of the files that can be imported, and the one way from a file to what is stored.

A file is recognised and read once, then looked at beside the study, decided on by the owner, and
stored. Another format is its functions and a line in ``FORMATS``.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from datetime import datetime
from hashlib import sha256
from typing import Any

from msgspec import Struct, field
from sqlalchemy.orm import Session

from webapp.db.engine import Kept
from webapp.db.tables.study import Study
from webapp.importers.runs import csv_ratings
from webapp.importers.runs import ratings as rating_changes
from webapp.importers.runs.problems import ImportRefused
from webapp.records import Tell, nobody
from webapp.services.exports import rated_imports, ratings
from webapp.services.runs import imports
from webapp.services.runs.imports import Labels

CHANGES_A_QUESTION = 10
"""So many changes of a rater are stored in the time of a question with its cards."""


class FileDecision(Struct, frozen=True):
    """The owner's decision on one file: its run's labels, or its rater, whose report was shown."""

    rater: str | None = None
    confirm: bool = False
    method: str = ""
    llm: str = ""
    depends: list[str] = field(default_factory=list)


class StoredFile(Struct, frozen=True):
    """What became of a file: its report, its run, and whether there is nothing left to decide."""

    report: Any
    run_id: str | None
    is_done: bool = True
    newcomer: str | None = None


class FileFormat(Struct, frozen=True):
    """How files of one format are recognised and read; the report's template has the ``name``.

    ``brief`` is what of one is kept for looking again, ``size`` about how many questions it has.
    """

    name: str
    sniff: Callable[[str, bytes], bool]
    read: Callable[[str, bytes, Tell], Any]
    size: Callable[[bytes], int]
    brief: Callable[[Any], Any] = lambda read: read


RATED_CSV = FileFormat(
    name="rated_csv",
    sniff=lambda name, data: name.lower().endswith(".csv") or csv_ratings.recognises(data),
    read=lambda name, data, _tell: csv_ratings.read(name, data),
    size=lambda data: data.count(b"\n"),
)
RATINGS = FileFormat(
    name="ratings",
    sniff=lambda _name, data: rating_changes.recognises(data),
    read=lambda name, data, _tell: rating_changes.read(name, data),
    size=lambda data: data.count(b'"query_id"') // CHANGES_A_QUESTION,
)
RUN = FileFormat(
    name="run",
    sniff=lambda _name, _data: True,
    read=imports.read,
    size=lambda data: data.count(b'"query_id"'),
    brief=imports.without_answers,
)
FORMATS = (RATED_CSV, RATINGS, RUN)
"""Every format in the order of recognising; files are stored in the opposite order, runs first."""


class OpenedFile(Struct, frozen=True):
    """A file as it was read, or why it cannot be."""

    format: FileFormat
    read: Any


def recognised(name: str, data: bytes) -> FileFormat:
    """Return the format that a file has."""
    return next(each for each in FORMATS if each.sniff(name, data))


def opened(name: str, data: bytes, tell: Tell = nobody) -> OpenedFile:
    """Recognise and read a file; `tell` is called with how many questions are read."""
    file_format = recognised(name, data)
    try:
        return OpenedFile(file_format, file_format.read(name, data, tell))
    except ImportRefused as refused:
        return OpenedFile(file_format, refused)


_OPENED: Kept[tuple[str, str], OpenedFile] = Kept(100)
"""The files that were looked at, by name and SHA-256, in brief."""


def opened_in_brief(session: Session, name: str, data: bytes, tell: Tell = nobody) -> OpenedFile:
    """Return a file for looking only; it is read once, however often it is asked for."""
    key = name, sha256(data).hexdigest()
    kept = _OPENED.get(session, key)
    if kept is None:
        whole = opened(name, data, tell)
        kept = OpenedFile(whole.format, whole.format.brief(whole.read))
        _OPENED.put(session, key, kept)
    return kept


def look(session: Session, study: Study, file: OpenedFile, rater: str | None, now: datetime) -> Any:
    """Return the report of a file beside the study; nothing is stored."""
    if file.format is RUN:
        return imports.examine(session, study, file.read)
    if file.format is RATINGS:
        return ratings.examine(session, study, file.read, now, rater)
    return rated_imports.examine(session, study, file.read, rater)


def store(
    session: Session,
    study: Study,
    file: OpenedFile,
    decision: FileDecision,
    newcomers: Container[str],
    now: datetime,
) -> StoredFile:
    """Store a file as far as it can be; `newcomers` are raters whom earlier files made."""
    read, rater, is_sure = file.read, decision.rater, decision.confirm
    if file.format is RATED_CSV:
        csv = rated_imports.store(session, study, read, rater or "", now, overwrite=is_sure)
        return StoredFile(csv, csv.run_id, csv.storable)
    if file.format is RATINGS:
        found = ratings.store(
            session, study, read, now, rater, confirmed=is_sure, newcomers=newcomers
        )
        newcomer = found.rater if found.stored and found.rater_is_new else None
        return StoredFile(found, found.run_id, found.stored, newcomer)
    if read.read is None:
        return StoredFile(read, None)
    depends = {one.query_id: str(one.query_id) in decision.depends for one in read.undecided}
    labels = Labels(decision.method or None, decision.llm or None, depends)
    run = imports.store(session, study, read.read, labels, now)
    return StoredFile(run, run.id)
