"""Large files that are imported, read and stored beside the requests.

Reading brings the report of the files, storing stores all of them in one transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec.structs import asdict
from sqlalchemy.orm import Session

from webapp.db.tables.runs import Upload
from webapp.db.tables.study import Study
from webapp.services.runs import file_formats, waiting_files
from webapp.services.runs.file_formats import FileDecision, OpenedFile
from webapp.services.workers.long_work import Finish, Make
from webapp.steps import Tell

READING, STORING = "reading", "storing"


def reading(files: Sequence[Upload]) -> dict[str, Any]:
    """Return what names the reading of files that wait."""
    return {"tokens": [file.id for file in files], "names": [file.name for file in files]}


def storing(files: Sequence[Upload], decisions: Mapping[str, FileDecision]) -> dict[str, Any]:
    """Return what names the storing of files that wait, as was decided."""
    decided = {token: asdict(decision) for token, decision in decisions.items()}
    return {**reading(files), "decisions": decided}


def read(session: Session, study: Study, wanted: Mapping[str, Any], tell: Tell) -> Finish:
    """Return that the files are read and wait for a decision; raises ``UnknownUpload``."""
    _read(session, study, wanted, tell, file_formats.opened_in_brief)
    return lambda _session, _study, _now: {"runs": [], "left": wanted["tokens"], "stored": False}


def _whole(_session: Session, name: str, data: bytes, tell: Tell) -> OpenedFile:
    return file_formats.opened(name, data, tell)


def store(session: Session, study: Study, wanted: Mapping[str, Any], tell: Tell) -> Finish:
    """Return how the files are stored as was decided; raises ``UnknownUpload``."""
    found = _read(session, study, wanted, tell, _whole)

    def finish(session: Session, study: Study, now: datetime) -> dict[str, Any]:
        decisions = {t: FileDecision(**given) for t, given in wanted["decisions"].items()}
        waiting = [waiting_files.find(session, study, token) for token in wanted["tokens"]]
        done = waiting_files.store(session, study, waiting, decisions, now, read=found)
        return {"runs": done.runs, "left": done.left, "stored": True}

    return finish


def _read(
    session: Session,
    study: Study,
    wanted: Mapping[str, Any],
    tell: Tell,
    reader: Callable[[Session, str, bytes, Tell], OpenedFile],
) -> dict[str, OpenedFile]:
    """Return each run file that waits as it was read, by its token."""
    files = [waiting_files.find(session, study, token) for token in wanted["tokens"]]
    of, before = sum(map(waiting_files.questions, files)), 0
    found: dict[str, OpenedFile] = {}
    for file in filter(waiting_files.is_run, files):
        found[file.id] = reader(session, file.name, file.data, _after(before, of, tell))
        before += waiting_files.questions(file)
    tell(of, of)
    return found


def _after(before: int, of: int, tell: Tell) -> Tell:
    """Return the function to call with the progress of one file.

    `before` questions of other files are read already, `of` is the number in all files.
    """
    return lambda done, _of: tell(min(before + done, of), of)


KINDS: Mapping[str, Make] = {READING: read, STORING: store}
