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
from webapp.importers.runs import csv_ratings
from webapp.importers.runs.ratings import recognises
from webapp.services.exports import rated_imports
from webapp.services.exports import ratings as offline_ratings
from webapp.services.runs import imports
from webapp.services.runs.imports import ImportReport, Labels

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


class StoredFiles(Struct):
    """The runs of the files that were stored, and the tokens of the ``left`` ones."""

    runs: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    newcomers: set[str] = field(default_factory=set)


def is_rated_csv(file: Upload) -> bool:
    """Whether a file is read as a rated CSV."""
    return file.name.lower().endswith(".csv") or csv_ratings.recognises(file.data)


def is_run(file: Upload) -> bool:
    """Whether a file is read as a run."""
    return not is_rated_csv(file) and not recognises(file.data)


def questions(file: Upload) -> int:
    """Return about how many questions a file has, without reading it."""
    if is_rated_csv(file):
        return file.data.count(b"\n")
    named = file.data.count(b'"query_id"')
    return named if is_run(file) else named // CHANGES_A_QUESTION


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
    read: Mapping[str, ImportReport] | None = None,
) -> StoredFiles:
    """Store the waiting files and forget them; ratings that cannot be stored yet are left.

    `decisions` are by token; `read` has the reports of files that were read before.
    """
    done = StoredFiles()
    for file in sorted(files, key=_turn):
        decision = decisions.get(file.id, FileDecision())
        report = (read or {}).get(file.id)
        if _store(session, study, file, decision, report, now, done):
            discard(session, file)
        else:
            done.left.append(file.id)
    return done


def _turn(file: Upload) -> int:
    """The turn of a file: runs, then ratings from pages without a server, then rated CSVs."""
    return 2 if is_rated_csv(file) else int(recognises(file.data))


def _store(
    session: Session,
    study: Study,
    file: Upload,
    decision: FileDecision,
    report: ImportReport | None,
    now: datetime,
    done: StoredFiles,
) -> bool:
    """Store one waiting file and note its run; ratings that cannot be stored yet stay."""
    about = session, study, file.name, file.data
    if is_rated_csv(file) or offline_ratings.examine(*about, now) is not None:
        return _store_ratings(session, study, file, decision, now, done)
    report = report or imports.examine(*about)
    if report.read is not None:
        labels = decision.labels(report)
        done.runs.append(imports.store(session, study, report.read, labels, now).id)
    return True


def _store_ratings(
    session: Session,
    study: Study,
    file: Upload,
    decision: FileDecision,
    now: datetime,
    done: StoredFiles,
) -> bool:
    """Store ratings for the rater whose report was shown; over what is there where ticked."""
    rater = decision.rater
    if rater is None:
        return False
    if is_rated_csv(file):
        taken = rated_imports.store(
            session, study, file.name, file.data, rater, now, overwrite=decision.confirm
        )
        run_id, is_stored = taken.run_id, taken.storable
    else:
        confirmed = decision.confirm or rater in done.newcomers
        brought = offline_ratings.store(
            session, study, file.name, file.data, now, rater, confirmed=confirmed
        )
        if brought is None:
            return False
        run_id, is_stored = brought.run_id, brought.stored
        done.newcomers.update([brought.rater] if is_stored and brought.rater_is_new else [])
    done.runs.extend([run_id] if run_id and is_stored else [])
    return is_stored
