"""Large files that are imported, read and stored beside the requests.

Reading brings the report of the files, storing stores all of them in one transaction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec.structs import asdict
from sqlalchemy.orm import Session

from webapp.db.tables.runs import Upload
from webapp.db.tables.study import Study
from webapp.services.runs import imports, uploads, waiting_files
from webapp.services.runs.imports import ImportReport
from webapp.services.runs.waiting_files import FileDecision
from webapp.services.workers.long_work import Finish
from webapp.steps import Tell

KIND = "import"


def reading(files: Sequence[Upload]) -> dict[str, Any]:
    """Return what names the reading of files that wait."""
    return {"tokens": [file.id for file in files], "names": [file.name for file in files]}


def storing(files: Sequence[Upload], decisions: Mapping[str, FileDecision]) -> dict[str, Any]:
    """Return what names the storing of files that wait, as was decided."""
    decided = {token: asdict(decision) for token, decision in decisions.items()}
    return {**reading(files), "decisions": decided}


def make(session: Session, study: Study, wanted: Mapping[str, Any], tell: Tell) -> Finish:
    """Return how the files are stored, or that they are read; raises ``UnknownUpload``."""
    files = [uploads.find(session, study, token) for token in wanted["tokens"]]
    of, before = sum(map(waiting_files.questions, files)), 0
    examine = imports.examine if "decisions" in wanted else imports.look
    read: dict[str, ImportReport] = {}
    for file in filter(waiting_files.is_run, files):
        read[file.id] = examine(session, study, file.name, file.data, _after(before, of, tell))
        before += waiting_files.questions(file)
    tell(of, of)

    def finish(session: Session, study: Study, now: datetime) -> dict[str, Any]:
        if "decisions" not in wanted:
            return {"runs": [], "left": wanted["tokens"], "stored": False}
        decisions = {t: FileDecision(**given) for t, given in wanted["decisions"].items()}
        waiting = [uploads.find(session, study, token) for token in wanted["tokens"]]
        done = waiting_files.store(session, study, waiting, decisions, now, read=read)
        return {"runs": done.runs, "left": done.left, "stored": True}

    return finish


def _after(before: int, of: int, tell: Tell) -> Tell:
    """Return what hears how many questions of one file are read, `before` of others among all."""
    return lambda done, _of: tell(min(before + done, of), of)
