"""The files that wait on the import page, stored together: runs first, then their ratings.

A file is read once: what was read of it waits in the place of its bytes.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from msgspec import ValidationError, json
from sqlalchemy import delete
from sqlalchemy.orm import Session

from relevansi.db.tables.runs import Upload
from relevansi.db.tables.study import Study
from relevansi.failures import Missing
from relevansi.i18n import mark
from relevansi.importers.runs.problems import ImportRefused
from relevansi.records import Problem, Tell, nobody
from relevansi.services.runs import file_formats
from relevansi.services.runs.file_formats import (
    FORMATS,
    RATED_CSV,
    RATINGS,
    FileDecision,
    FileFormat,
    OpenedFile,
)

KEPT_FOR = timedelta(days=1)


class UnknownUpload(Missing):
    message = mark("This file is no longer waiting")
    remedy = mark("It was stored, given up, or kept for longer than a day. Choose the file again.")


def keep(
    session: Session,
    study: Study,
    name: str,
    data: bytes,
    now: datetime,
    form: FileFormat | None = None,
) -> Upload:
    """Return the file as it waits, to be imported as `form`; clears away abandoned files."""
    session.execute(delete(Upload).where(Upload.created_at < now - KEPT_FOR))
    token = secrets.token_hex(16)
    upload = Upload(id=token, study_id=study.id, name=name, data=data, created_at=now)
    if form is not None:
        upload.format, upload.questions = form.name, form.size(data)
    session.add(upload)
    return upload


def keep_read(upload: Upload, file: OpenedFile) -> None:
    """Let what was read of a file wait in its place: its report, and what else is stored of it."""
    upload.format = file.format.name
    report: Any
    if isinstance(file.read, ImportRefused):
        report, upload.data = file.read.problems, b""
    else:
        report, upload.data = file.format.parted(file.read)
    upload.report = json.encode(report)  # an integer may be too long for MessagePack


def opened(upload: Upload, tell: Tell = nobody, *, complete: bool = True) -> OpenedFile:
    """Return what was read of a waiting file, else read it; not `complete` is for looking only."""
    form = next((each for each in FORMATS if each.name == upload.format), None)
    if form is None or upload.report is None:
        form = form or file_formats.recognised(upload.name, upload.data)
        return file_formats.opened(form, upload.name, upload.data, tell)
    try:
        report: Any = json.decode(upload.report, type=form.kind | tuple[Problem, ...])
    except ValidationError as wrong:  # it was read by another version
        raise UnknownUpload(upload.id) from wrong
    if isinstance(report, tuple):
        return OpenedFile(form, ImportRefused(*report))
    if complete and upload.data:
        report = form.joined(report, upload.data)
    return OpenedFile(form, report)


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
    files: Mapping[str, OpenedFile],
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
    for token, file in sorted(files.items(), key=lambda entry: -FORMATS.index(entry[1].format)):
        decision = decisions.get(token, FileDecision())
        if file.format in (RATED_CSV, RATINGS) and decision.rater is None:
            undecided.append(token)
            continue
        stored = file_formats.store(session, study, file, decision, newcomers, now)
        if stored.is_done:
            runs.extend(stored.runs)
            session.delete(find(session, study, token))
        else:
            undecided.append(token)
    return runs, undecided
