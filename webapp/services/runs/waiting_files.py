"""The files that wait on the import page, stored together: runs first, then their ratings.

A file is read once: what was read of it waits in the place of its bytes.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from msgspec import Struct, field
from sqlalchemy import delete
from sqlalchemy.orm import Session

from webapp.db.tables.runs import Upload
from webapp.db.tables.study import Study
from webapp.failures import Missing
from webapp.i18n import mark
from webapp.records import Tell, nobody
from webapp.services.runs import file_formats
from webapp.services.runs.file_formats import (
    FORMATS,
    RATED_CSV,
    RATINGS,
    FileDecision,
    FileFormat,
    OpenedFile,
)

KEPT_FOR = timedelta(days=1)


class UnknownUpload(Missing):
    """The file is no longer waiting: stored, given up, or kept for longer than a day."""

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


def put(upload: Upload, read: OpenedFile) -> None:
    """Let what was read of a file wait in its place."""
    upload.format = read.format.name
    upload.report, upload.data = file_formats.packed(read)


def opened(upload: Upload, tell: Tell = nobody, *, whole: bool = True) -> OpenedFile:
    """Return what was read of a waiting file, else read it; not `whole` is for looking only."""
    form = next((each for each in FORMATS if each.name == upload.format), None)
    if form is None or upload.report is None:
        form = form or file_formats.recognised(upload.name, upload.data)
        return file_formats.opened(form, upload.name, upload.data, tell)
    return file_formats.unpacked(form, upload.report, upload.data if whole else b"")


def find(session: Session, study: Study, token: str) -> Upload:
    """Return a waiting file; raises ``UnknownUpload``."""
    upload = session.get(Upload, token)
    if upload is None or upload.study_id != study.id:
        raise UnknownUpload(token)
    return upload


def discard(session: Session, upload: Upload) -> None:
    """Forget a waiting file."""
    session.delete(upload)


LONG_FROM = 300
"""So many questions take longer to read and to store than a browser should wait without a word."""


class StoredFiles(Struct):
    """The runs of the files that were stored, and the tokens of the ``left`` ones."""

    runs: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    newcomers: set[str] = field(default_factory=set)


def is_long(questions: Iterable[int]) -> bool:
    """Whether files with so many questions each take long together."""
    return sum(questions) >= LONG_FROM


def store(
    session: Session,
    study: Study,
    files: Mapping[str, OpenedFile],
    decisions: Mapping[str, FileDecision],
    now: datetime,
) -> StoredFiles:
    """Store waiting files, by their tokens, and forget them.

    Ratings without a rater who was shown are left.
    """
    done = StoredFiles()
    for token, file in sorted(files.items(), key=lambda one: -FORMATS.index(one[1].format)):
        decision = decisions.get(token, FileDecision())
        if file.format in (RATED_CSV, RATINGS) and decision.rater is None:
            done.left.append(token)
            continue
        stored = file_formats.store(session, study, file, decision, done.newcomers, now)
        done.newcomers.update([stored.newcomer] if stored.newcomer else [])
        own = stored.runs or ((stored.run_id,) if stored.run_id else ())
        done.runs.extend(own if stored.is_done else ())
        if stored.is_done:
            discard(session, find(session, study, token))
        else:
            done.left.append(token)
    return done
