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
from webapp.services.exports import rated_imports, ratings
from webapp.services.runs import imports
from webapp.services.runs.imports import ImportReport, Labels
from webapp.steps import Tell, nobody

CHANGES_A_QUESTION = 10
"""So many changes of a rater are stored in the time of a question with its cards."""


class FileDecision(Struct, frozen=True):
    """The owner's decision on one file: the labels of its run, or the rater of its ratings.

    ``rater`` is the one whose report was shown, ``confirm`` the tick that this rater's stored
    judgments may change. ``depends`` are the questions that depend on earlier ones.
    """

    rater: str | None = None
    confirm: bool = False
    method: str = ""
    llm: str = ""
    depends: list[str] = field(default_factory=list)

    def labels(self, report: ImportReport) -> Labels:
        """Return the labels of the run of `report`."""
        return Labels(
            search_method=self.method or None,
            llm=self.llm or None,
            context_dependent={
                query.query_id: str(query.query_id) in self.depends for query in report.undecided
            },
        )


class StoredFile(Struct, frozen=True):
    """What became of a file: its report, its run, and whether there is nothing left to decide."""

    report: Any
    run_id: str | None
    is_done: bool
    newcomer: str | None = None


class FileFormat(Struct, frozen=True):
    """How files of one format are recognised, read, looked at and stored.

    ``read`` returns ``None`` for a file that turns out to be something else, and raises
    ``ImportRefused``; ``look`` and ``store`` get what was read, or that refusal. ``brief`` is what
    of it is kept for looking again, ``size`` about how many questions the file has. The report's
    template has the ``name``.
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
        return StoredFile(read, None, is_done=True)
    run = imports.store(session, study, read.read, decision.labels(read), now)
    return StoredFile(run, run.id, is_done=True)


def _store_ratings(
    session: Session,
    study: Study,
    read: OfflineRatings | ImportRefused,
    decision: FileDecision,
    newcomers: Container[str],
    now: datetime,
) -> StoredFile:
    report = ratings.store(
        session,
        study,
        read,
        now,
        decision.rater,
        confirmed=decision.confirm,
        newcomers=newcomers,
    )
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
    report = rated_imports.store(
        session, study, read, decision.rater or "", now, overwrite=decision.confirm
    )
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


def recognised(
    name: str, data: bytes, among: tuple[FileFormat, ...] = FORMATS
) -> tuple[FileFormat, ...]:
    """Return the formats that a file may have, the likeliest first."""
    return tuple(each for each in among if each.sniff(name, data))


def turn(name: str, data: bytes, among: tuple[FileFormat, ...] = FORMATS) -> int:
    """Return the turn of a file at being stored."""
    return -FORMATS.index(recognised(name, data, among)[0])


def opened(
    name: str, data: bytes, tell: Tell = nobody, among: tuple[FileFormat, ...] = FORMATS
) -> OpenedFile:
    """Recognise and read a file; `tell` is called with how many questions are read."""
    for each in recognised(name, data, among):
        try:
            read = each.read(name, data, tell)
        except ImportRefused as refused:
            read = refused
        if read is not None:
            return OpenedFile(each, read)
    raise AssertionError(name)


_OPENED: Kept[tuple[str, str], OpenedFile] = Kept(100)
"""The files that were looked at, by name and SHA-256, in brief."""


def opened_in_brief(session: Session, name: str, data: bytes, tell: Tell = nobody) -> OpenedFile:
    """Return a file for looking only; it is read once, however often it is asked for."""
    key = name, sha256(data).hexdigest()
    kept = _OPENED.get(session, key)
    if kept is None:
        kept = opened(name, data, tell)
        kept = OpenedFile(kept.format, kept.format.brief(kept.read))
        _OPENED.put(session, key, kept)
    return kept
