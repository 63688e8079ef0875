"""Files dropped on the page, kept until their owner has read the import report."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta

from sqlalchemy import delete
from sqlalchemy.orm import Session

from webapp.db.tables.runs import Upload
from webapp.db.tables.study import Study
from webapp.failures import Missing
from webapp.i18n import mark

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
