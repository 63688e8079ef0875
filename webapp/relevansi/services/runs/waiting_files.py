"""The files that wait on the import page, stored together: runs first, then their ratings.

A file is read once: what was read of it waits in the place of its bytes.
"""

from __future__ import annotations

import secrets
import zlib
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from msgspec import ValidationError, json
from sqlalchemy import delete
from sqlalchemy.orm import Session

from relevansi.db.tables.runs import Upload
from relevansi.db.tables.study import Study
from relevansi.failures import Missing
from relevansi.i18n import mark
from relevansi.importers.runs.csv_ratings import RatedFile
from relevansi.importers.runs.problems import ImportRefused
from relevansi.importers.runs.ratings import OfflineRatings
from relevansi.records import OnProgress, Problem, no_progress
from relevansi.services.runs import file_formats, imports, results
from relevansi.services.runs.file_formats import (
    CONTENT_TYPES,
    STORING_ORDER,
    FileDecision,
    FileFormat,
    ReadFile,
)
from relevansi.services.runs.imports import ImportReport
from relevansi.services.runs.results import ResultsReport

WAITING_LIMIT = timedelta(days=1)


class UnknownUpload(Missing):
    message = mark("This file is no longer waiting")
    remedy = mark("It was stored, given up, or kept for longer than a day. Choose the file again.")


def new_upload(name: str, content: bytes, form: FileFormat | None = None) -> Upload:
    """A file as it will wait, to be imported as `form`; made before its transaction."""
    upload = Upload(id=secrets.token_hex(16), name=name, data=_compressed(content))
    if form is not None:
        upload.format, upload.questions = str(form), file_formats.size(form, content)
    return upload


def store_upload(session: Session, study: Study, upload: Upload, now: datetime) -> Upload:
    """The file as it waits from `now` on; clears away abandoned files."""
    session.execute(delete(Upload).where(Upload.created_at < now - WAITING_LIMIT))
    upload.study_id, upload.created_at = study.id, now
    session.add(upload)
    return upload


class WaitingContent(NamedTuple):
    """What was read of a file, as it waits in its place: its report, and what else is stored."""

    format: str
    report: bytes
    data: bytes


def waiting_content(file: ReadFile) -> WaitingContent:
    """What waits of a file that was read; made before the transaction that keeps it."""
    report: object = file.content
    remainder = b""
    if isinstance(file.content, ImportRefused):
        report = file.content.problems
    elif isinstance(file.content, ImportReport):
        report, remainder = imports.parted(file.content)
    elif isinstance(file.content, ResultsReport):
        report, remainder = results.parted(file.content)
    # As JSON: an integer may be too long for MessagePack.
    return WaitingContent(str(file.format), json.encode(report), _compressed(remainder))


def _compressed(content: bytes) -> bytes:
    return zlib.compress(content, 1) if content else b""


def store_content(upload: Upload, file: WaitingContent) -> None:
    """Let what was read of a file wait in its place."""
    upload.format, upload.report, upload.data = file


def read_upload(
    upload: Upload, on_progress: OnProgress = no_progress, *, complete: bool = True
) -> ReadFile:
    """Return what was read of a waiting file, else read it; not `complete` is for looking only."""
    if upload.format is None or upload.report is None:
        data = upload.content
        form = FileFormat(upload.format or file_formats.recognised(upload.name, data))
        return file_formats.read_file(form, upload.name, data, on_progress)
    form = FileFormat(upload.format)
    try:
        content: Any = json.decode(upload.report, type=CONTENT_TYPES[form] | tuple[Problem, ...])
    except ValidationError as wrong:  # it was read by another version
        raise UnknownUpload(upload.id) from wrong
    if isinstance(content, tuple):
        content = ImportRefused(*content)
    elif complete and isinstance(content, ImportReport):
        content = imports.joined(content, upload.content)
    elif complete and isinstance(content, ResultsReport):
        content = results.read(content.name, upload.content)
    return ReadFile(form, content)


def find(session: Session, study: Study, token: str) -> Upload:
    """Return a waiting file; raises ``UnknownUpload``."""
    upload = session.get(Upload, token)
    if upload is None or upload.study_id != study.id:
        raise UnknownUpload(token)
    return upload


LONG_FROM = 300
"""So many questions take longer to read and to store than a browser should wait without a word."""


def is_long(questions: Iterable[int]) -> bool:
    """Whether files with so many questions each take long together."""
    return sum(questions) >= LONG_FROM


def store(
    session: Session,
    study: Study,
    files: Mapping[str, ReadFile],
    decisions: Mapping[str, FileDecision],
    now: datetime,
) -> tuple[list[str], list[str]]:
    """Store waiting files, by their tokens, and forget them.

    Returns the runs of the files that were stored, and the tokens of those that are left: ratings
    without a rater who was shown, and what cannot be stored as it was decided.
    """
    runs: list[str] = []
    undecided: list[str] = []
    newcomers: set[str] = set()
    for token, file in sorted(
        files.items(), key=lambda entry: STORING_ORDER.index(entry[1].format)
    ):
        decision = decisions.get(token, FileDecision())
        if isinstance(file.content, RatedFile | OfflineRatings) and decision.rater is None:
            undecided.append(token)
            continue
        stored = file_formats.store(session, study, file, decision, newcomers, now)
        if stored.is_done:
            runs.extend(stored.runs)
            session.delete(find(session, study, token))
        else:
            undecided.append(token)
    return runs, undecided
