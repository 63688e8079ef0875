"""Jobs, done in the background: enqueued, done, their file downloaded or their result read.

``kinds.JOB_KINDS`` has the function of each kind by its name, which works in a reading transaction
and says after each step how many of how many are done. It returns a file, or a function that stores
everything in one transaction, the one in which the job ends. Rows of unknown kinds, which another
version enqueued, are ignored.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from msgspec import Struct
from sqlalchemy import ColumnElement, delete, func, select, update
from sqlalchemy.orm import Session

from relevansi.db import outages
from relevansi.db.engine import PROGRAM, Database, one_at_a_time, token_id
from relevansi.db.tables.runs import LongWork, Upload
from relevansi.db.tables.study import Study
from relevansi.failures import Failure, Missing
from relevansi.i18n import mark
from relevansi.importers.frame import bounded
from relevansi.printable import look_alike
from relevansi.records import ExportedFile, OnProgress
from relevansi.services.judging import changes
from relevansi.services.workers import loop
from relevansi.services.workers.loop import ASKING, Idle, Lease, OutsideWork

IMPORTING, READING, STORING, PACK = "importing", "reading", "storing", "proof pack"
NAMES = (IMPORTING, READING, STORING, PACK)
"""The kinds of jobs that there are."""

WAITING, DONE, FAILED = "waiting", "done", "failed"
LIFETIME = timedelta(days=1)
"""How long a job and its file can be asked for."""
ATTEMPTS = 3
"""Tries after which a job is given up: what ended this worker so often would end the next."""
PROGRESS_WRITES = 100
"""The most writes of a job's progress to its row, of however many steps it is."""

StoreOutcome: TypeAlias = Callable[[Session, Study, datetime], dict[str, Any]]
"""Stores the outcome of a job; returns what its kind's page needs to go on, for ``result``."""
JobFunction: TypeAlias = Callable[
    [Session, Study, Mapping[str, Any], OnProgress], "ExportedFile | StoreOutcome"
]
"""Returns the file of a job, or what is to be stored; raises a ``Failure`` for none."""


def counts(session: Session) -> dict[str, int]:
    """Return how many jobs wait, run or failed within the last day, by those words."""
    number_by_state = select(LongWork.state, func.count()).group_by(LongWork.state)
    numbers = dict(session.execute(number_by_state).all())
    states = {"waiting": WAITING, "running": ASKING, "failed": FAILED}
    return {name: numbers.get(state, 0) for name, state in states.items()}


class UnknownJob(Missing):
    message = mark("This is no longer here")
    remedy = mark("It was given up, or kept for longer than a day. Ask for it again.")


class NotMade(Missing):
    message = mark("This file is not ready")
    remedy = mark("Its page shows how far it is.")
    program_remedy = mark("GET /api/v1/jobs/ID says how far it is.")


class Cancelled(Exception):
    """The job was given up while it was done."""


class JobFailure(Struct, frozen=True):
    """Why a job gave nothing, as message ids, and the name in the message."""

    message: str
    remedy: str
    about: str = ""


OUR_FAULT = JobFailure(
    mark("Something went wrong on our side"),
    mark("Ask for it again; if it happens again, see the log."),
)
DIED = JobFailure(
    mark("The server ended several times during this work"),
    mark("Perhaps its memory is too small. Ask for less, or use the command line."),
)


class JobCall(Struct, frozen=True):
    lease: Lease
    study_id: int
    kind: str
    order: Mapping[str, Any]


JobOutcome: TypeAlias = "ExportedFile | StoreOutcome | JobFailure"


@dataclass(frozen=True, slots=True)
class JobWork(OutsideWork[JobCall, JobOutcome]):
    database: Database
    kinds: Mapping[str, JobFunction] = field(compare=False)
    """The function of each kind of jobs by its name."""

    def claim(self, session: Session, now: datetime) -> JobCall | Idle:
        # Another worker may have died with its lease: its job can be taken in a while.
        idle = Idle.DONE
        open_jobs = select(LongWork).where(_is_open()).order_by(LongWork.put_down_at)
        for row in session.scalars(open_jobs):
            is_held = row.state == ASKING and not loop.is_abandoned(row, now)
            lease = None if is_held else loop.take(session, row, now)
            if lease is None:
                idle = Idle.RETRY
                continue
            if row.attempt > ATTEMPTS:
                _end(row, DIED, now)
                continue
            row.study_state = changes.state(session, session.get_one(Study, row.study_id))
            return JobCall(lease, row.study_id, row.kind, row.wanted)
        return idle

    def ask(self, call: JobCall) -> JobOutcome:
        reported = 0

        def on_progress(steps_done: int, of: int) -> None:
            nonlocal reported
            if 0 < steps_done < of and (steps_done - reported) * PROGRESS_WRITES < of:
                return
            reported = steps_done
            # A job that reads on may outlive a database that takes no write just now.
            with suppress(*outages.OUTAGE_ERRORS), self.database.writing() as session:
                row = loop.lock_row(session, LongWork, call.lease)
                if row is None:
                    raise Cancelled
                row.steps_done, row.steps = steps_done, of
                session.commit()

        try:
            with self.database.reading() as session, bounded.within(bounded.JOB):
                study = session.get_one(Study, call.study_id)
                return self.kinds[call.kind](session, study, call.order, on_progress)
        except Failure as failure:
            return _failed(failure)
        except Cancelled:
            return OUR_FAULT  # nobody reads it: the row is gone, or begun again

    def store(self, session: Session, call: JobCall, outcome: JobOutcome, now: datetime) -> None:
        row = loop.lock_row(session, LongWork, call.lease)
        if row is None:
            return
        if callable(outcome):
            # The log names the program that ordered the job.
            session.info[PROGRAM] = row.token_id
            try:
                # A failure half way leaves nothing, and the job still ends in this transaction.
                with session.begin_nested():
                    row.result = outcome(session, session.get_one(Study, call.study_id), now)
            except Failure as failure:
                outcome = _failed(failure)
        _end(row, outcome, now)

    def unforeseen(self, error: Exception) -> JobFailure:
        return _failed(error) if isinstance(error, Failure) else OUR_FAULT


def enqueue(
    session: Session, study: Study, kind: str, order: Mapping[str, Any], now: datetime
) -> str:
    """Return the id of the job for an order: of an equal one if that is open or up to date.

    It is up to date while the study is in the state in which the job began.
    """
    one_at_a_time(session)  # two equal orders at once are one job
    session.execute(delete(LongWork).where(LongWork.put_down_at < now - LIFETIME))
    state = changes.state(session, study)
    same = (LongWork.study_id == study.id) & (LongWork.kind == kind)
    for row in session.scalars(select(LongWork).where(same)):
        if row.wanted != order:
            continue
        is_up_to_date = row.state == DONE and row.study_state == state
        if is_up_to_date or row.state in {WAITING, ASKING}:
            return row.id
        session.delete(row)
    row = LongWork(
        id=secrets.token_hex(16), study_id=study.id, kind=kind, wanted=dict(order),
        put_down_at=now, state=WAITING, token_id=token_id(session),
    )  # fmt: skip
    session.add(row)
    session.flush()
    return row.id


def find(session: Session, study: Study, job_id: str) -> LongWork:
    """Return a job of the study; raises ``UnknownJob``."""
    row = session.get(LongWork, job_id)
    if row is None or row.study_id != study.id or row.kind not in NAMES:
        raise UnknownJob(job_id)
    return row


def of_kinds(
    session: Session, study: Study, kinds: Iterable[str], now: datetime
) -> Sequence[LongWork]:
    """Return the study's jobs of some kinds, the newest first."""
    of_study = select(LongWork).where(LongWork.study_id == study.id, LongWork.kind.in_(kinds))
    recent = of_study.where(LongWork.put_down_at > now - LIFETIME)
    return session.scalars(recent.order_by(LongWork.put_down_at.desc())).all()


def file(session: Session, study: Study, job_id: str) -> ExportedFile:
    """Return the file of a job; raises ``UnknownJob``, and ``NotMade`` while there is none."""
    row = find(session, study, job_id)
    if row.file_name is None or row.media_type is None or row.data is None:
        raise NotMade(job_id)
    return ExportedFile(row.file_name, row.media_type, row.data)


def cancel(session: Session, study: Study, job_id: str) -> None:
    """Delete a job and its result; one that is being done ends at its next step."""
    session.delete(find(session, study, job_id))


def forget(session: Session, study: Study, rater_id: int, names: Collection[str]) -> None:
    """Delete the files that were made of a study, since they may hold data of a deleted rater.

    Jobs for the rater, jobs and waiting files that have one of the person's `names` go too; others
    that were begun begin again.
    """
    for job in session.scalars(select(LongWork).where(LongWork.study_id == study.id)):
        texts = {job.about, *_texts(job.wanted), *_texts(job.result)}
        is_for_rater = job.wanted.get("rule") == rater_id
        if is_for_rater or any(look_alike(text, name) for text in texts for name in names):
            session.delete(job)
    # JSON may write a name with escapes.
    spellings = {*names, *(json.dumps(name)[1:-1] for name in names)}
    words = b"|".join(rb"(?<!\w)%b(?!\w)" % re.escape(text.encode()) for text in spellings)
    pattern = re.compile(words, re.IGNORECASE)
    for upload in session.scalars(select(Upload).where(Upload.study_id == study.id)):
        if any(pattern.search(data or b"") for data in (upload.content, upload.report)):
            session.delete(upload)
    session.flush()
    # Before the files: on PostgreSQL this waits for a worker that stores one just now.
    in_progress = (LongWork.study_id == study.id) & (LongWork.state == ASKING)
    begin_again = {"state": WAITING, "alive_until": None, "steps_done": 0}
    session.execute(update(LongWork).where(in_progress).values(begin_again))
    with_file = (LongWork.study_id == study.id) & LongWork.data.is_not(None)
    session.execute(delete(LongWork).where(with_file))


def _texts(value: Any) -> Iterator[str]:
    """Yield every text in a JSON value, the names of its fields too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        yield from _texts([*value.values()])
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)


def is_any_open(session: Session) -> bool:
    """Whether a job of any study waits or is being done."""
    return session.scalar(select(LongWork.id).where(_is_open()).limit(1)) is not None


def _is_open() -> ColumnElement[bool]:
    return LongWork.state.in_([WAITING, ASKING])


def _failed(failure: Failure) -> JobFailure:
    return JobFailure(failure.message, failure.remedy, failure.name)


def _end(row: LongWork, outcome: JobOutcome, now: datetime) -> None:
    row.ended_at = now
    loop.give_back(row, FAILED if isinstance(outcome, JobFailure) else DONE)
    if isinstance(outcome, JobFailure):
        row.failure, row.remedy, row.about = outcome.message, outcome.remedy, outcome.about
    elif isinstance(outcome, ExportedFile):
        row.file_name, row.media_type, row.data = outcome.name, outcome.media_type, outcome.data
