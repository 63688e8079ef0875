"""The files that wait on the import page, stored together: runs first, then their ratings."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from msgspec import Struct, field
from sqlalchemy import delete
from sqlalchemy.orm import Session

from webapp.db.tables.runs import Upload
from webapp.db.tables.study import Study
from webapp.failures import Missing
from webapp.i18n import mark
from webapp.services.runs import file_formats
from webapp.services.runs.file_formats import FORMATS, RUN, FileDecision, OpenedFile

KEPT_FOR = timedelta(days=1)


class UnknownUpload(Missing):
    """The file is no longer waiting: stored, given up, or kept for longer than a day."""

    message = mark("This file is no longer waiting")
    remedy = mark("It was stored, given up, or kept for longer than a day. Choose the file again.")


def keep(session: Session, study: Study, name: str, data: bytes, now: datetime) -> str:
    """Return the token under which the file waits; clears away abandoned files."""
    session.execute(delete(Upload).where(Upload.created_at < now - KEPT_FOR))
    token = secrets.token_hex(16)
    session.add(Upload(id=token, study_id=study.id, name=name, data=data, created_at=now))
    return token


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


def is_run(file: Upload) -> bool:
    """Whether a file is read as a run."""
    return file_formats.recognised(file.name, file.data) is RUN


def questions(file: Upload) -> int:
    """Return about how many questions a file has, without reading it."""
    return file_formats.recognised(file.name, file.data).size(file.data)


def is_long(files: Sequence[Upload]) -> bool:
    """Whether these files together take long."""
    return sum(map(questions, files)) >= LONG_FROM


def store(
    session: Session,
    study: Study,
    files: Sequence[Upload],
    decisions: Mapping[str, FileDecision],
    now: datetime,
    *,
    read: Mapping[str, OpenedFile] | None = None,
) -> StoredFiles:
    """Store the waiting files and forget them; ratings without a rater who was shown are left."""
    done = StoredFiles()
    formats = {file.id: file_formats.recognised(file.name, file.data) for file in files}
    for file in sorted(files, key=lambda file: -FORMATS.index(formats[file.id])):
        decision = decisions.get(file.id, FileDecision())
        if formats[file.id] is not RUN and decision.rater is None:
            done.left.append(file.id)
            continue
        opened = (read or {}).get(file.id) or file_formats.opened(file.name, file.data)
        stored = file_formats.store(session, study, opened, decision, done.newcomers, now)
        done.newcomers.update([stored.newcomer] if stored.newcomer else [])
        done.runs.extend([stored.run_id] if stored.run_id and stored.is_done else [])
        if stored.is_done:
            discard(session, file)
        else:
            done.left.append(file.id)
    return done
