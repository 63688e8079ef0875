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
from webapp.importers.runs.csv_ratings import RatedFile
from webapp.importers.runs.problems import ImportRefused
from webapp.importers.runs.ratings import OfflineRatings
from webapp.records import Tell, nobody
from webapp.services.exports import rated_imports, ratings
from webapp.services.runs import imports
from webapp.services.runs.imports import ImportReport, Labels

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
    """How files of one format are recognised, read, looked at and stored.

    ``look`` and ``store`` get what was read, or the ``ImportRefused`` that reading raised.
    ``brief`` is what of it is kept for looking again, ``size`` about how many questions the file
    has. The report's template has the ``name``.
    """

    name: str
    sniff: Callable[[str, bytes], bool]
    read: Callable[[str, bytes, Tell], Any]
    look: Callable[[Session, Study, Any, str | None, datetime], Any]
    store: Callable[[Session, Study, Any, FileDecision, Container[str], datetime], StoredFile]
    size: Callable[[bytes], int]
    needs_rater: bool = True
    brief: Callable[[Any], Any] = lambda read: read


def _store_run(
    session: Session,
    study: Study,
    read: ImportReport,
    decision: FileDecision,
    _newcomers: Container[str],
    now: datetime,
) -> StoredFile:
    if read.read is None:
        return StoredFile(read, None)
    depends = {one.query_id: str(one.query_id) in decision.depends for one in read.undecided}
    labels = Labels(decision.method or None, decision.llm or None, depends)
    run = imports.store(session, study, read.read, labels, now)
    return StoredFile(run, run.id)


def _store_ratings(
    session: Session,
    study: Study,
    read: OfflineRatings | ImportRefused,
    decision: FileDecision,
    newcomers: Container[str],
    now: datetime,
) -> StoredFile:
    rater, is_sure = decision.rater, decision.confirm
    report = ratings.store(session, study, read, now, rater, confirmed=is_sure, newcomers=newcomers)
    newcomer = report.rater if report.stored and report.rater_is_new else None
    return StoredFile(report, report.run_id, report.stored, newcomer)


def _store_rated_csv(
    session: Session,
    study: Study,
    read: RatedFile,
    decision: FileDecision,
    _newcomers: Container[str],
    now: datetime,
) -> StoredFile:
    rater, overwrite = decision.rater or "", decision.confirm
    report = rated_imports.store(session, study, read, rater, now, overwrite=overwrite)
    return StoredFile(report, report.run_id, report.storable)


RATED_CSV = FileFormat(
    name="rated_csv",
    sniff=lambda name, data: name.lower().endswith(".csv") or csv_ratings.recognises(data),
    read=lambda name, data, _tell: csv_ratings.read(name, data),
    look=lambda session, study, read, rater, _now: rated_imports.examine(
        session, study, read, rater
    ),
    store=_store_rated_csv,
    size=lambda data: data.count(b"\n"),
)
RATINGS = FileFormat(
    name="ratings",
    sniff=lambda _name, data: rating_changes.recognises(data),
    read=lambda name, data, _tell: rating_changes.read(name, data),
    look=lambda session, study, read, rater, now: ratings.examine(session, study, read, now, rater),
    store=_store_ratings,
    size=lambda data: data.count(b'"query_id"') // CHANGES_A_QUESTION,
)
RUN = FileFormat(
    name="run",
    sniff=lambda _name, _data: True,
    read=imports.read,
    look=lambda session, study, read, _rater, _now: imports.examine(session, study, read),
    store=_store_run,
    size=lambda data: data.count(b'"query_id"'),
    needs_rater=False,
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
