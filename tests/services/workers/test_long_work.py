"""A file that takes long is put down, made step by step beside the requests, and kept for a day."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy.orm import Session

from relevansi.db.engine import Database
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import LongWork
from relevansi.db.tables.study import Study
from relevansi.failures import Refused
from relevansi.records import ExportedFile, OnProgress
from relevansi.services.people import raters
from relevansi.services.study import studies
from relevansi.services.workers import jobs
from relevansi.services.workers.jobs import (
    DONE,
    FAILED,
    WAITING,
    JobFunction,
    JobWork,
    NotMade,
    UnknownJob,
)
from relevansi.services.workers.loop import ASKING, LEASE_TIME, WorkLoop
from tests.conftest import NOW
from tests.stored_studies import open_study

WAIT = 60
FILE = ExportedFile("made.zip", "application/zip", b"made")


class MachineAsked(Refused):
    message = "A proof pack holds what people judged"
    remedy = "Ask for it again; if it happens again, see the log."


KINDS: dict[str, JobFunction] = {}
"""The function of each kind of jobs that a test does."""


@dataclass
class MadeKind:
    making: Callable[[OnProgress], ExportedFile] = lambda _on_progress: FILE

    def make(
        self, session: Session, study: Study, request: Mapping[str, Any], on_progress: OnProgress
    ) -> ExportedFile:
        """Make the file as the test says."""
        assert session.get_one(Study, study.id)
        assert request == {"run": None}
        return self.making(on_progress)


@pytest.fixture(name="kind")
def _kind(monkeypatch: pytest.MonkeyPatch) -> MadeKind:
    kind = MadeKind()
    monkeypatch.setattr(jobs, "NAMES", ("made",))
    monkeypatch.setitem(KINDS, "made", kind.make)
    return kind


def enqueue(database: Database, now: datetime = NOW) -> str:
    with open_study(database) as (session, study):
        return jobs.enqueue(session, study, "made", {"run": None}, now)


def change(database: Database) -> None:
    """Change something that the study logs."""
    with open_study(database) as (session, study):
        studies.log(session, study, "rename", study.name, "old", "new", NOW)


def leave_behind(database: Database, attempts: int, alive_until: datetime) -> str:
    work_id = enqueue(database)
    with database.writing() as session:
        row = session.get_one(LongWork, work_id)
        row.state, row.attempt, row.alive_until = ASKING, attempts, alive_until
        session.commit()
    return work_id


def progress(database: Database, work_id: str) -> LongWork:
    with database.reading() as session:
        return jobs.find(session, studies.open_or_make(session, NOW), work_id)


def work(database: Database, now: datetime = NOW) -> None:
    """Make everything that was put down."""
    loop = WorkLoop(database.writing, lambda: now, logging.getLogger(__name__))
    loop.wake(JobWork(database, KINDS), most=1)
    assert loop.is_idle(WAIT)


def test_a_file_is_made_step_by_step_and_kept(database: Database, kind: MadeKind) -> None:
    states: list[tuple[str, int, int, bool]] = []

    def making(on_progress: OnProgress) -> ExportedFile:
        for step in (0, 1, 2):
            on_progress(step, 2)
            now = progress(database, work_id)
            states.append((now.state, now.steps_done, now.steps, now.is_open))
        return FILE

    kind.making = making
    work_id = enqueue(database)
    assert progress(database, work_id).state == WAITING
    work(database)

    assert states == [(ASKING, 0, 2, True), (ASKING, 1, 2, True), (ASKING, 2, 2, True)]
    result = progress(database, work_id)
    assert (result.state, result.file_name, result.failure) == (DONE, "made.zip", None)
    assert not result.is_open
    with open_study(database) as (session, study):
        assert jobs.file(session, study, work_id) == FILE
        assert not jobs.is_any_open(session)


@pytest.mark.usefixtures("kind")
def test_the_same_wish_leads_to_the_same_file_until_the_study_changes(database: Database) -> None:
    first = enqueue(database)
    change(database)
    assert enqueue(database) == first  # still open
    work(database)
    assert enqueue(database) == first  # it began after the change
    change(database)
    changed = enqueue(database)

    assert changed != first
    with pytest.raises(UnknownJob):
        progress(database, first)


def test_a_failure_is_told_in_the_readers_language(database: Database, kind: MadeKind) -> None:
    def making(_on_progress: OnProgress) -> ExportedFile:
        raise MachineAsked

    kind.making = making
    work_id = enqueue(database)
    work(database)

    result = progress(database, work_id)
    assert (result.state, result.failure) == (FAILED, "A proof pack holds what people judged")
    with database.reading() as session, pytest.raises(NotMade):
        jobs.file(session, studies.open_or_make(session, NOW), work_id)
    assert enqueue(database) != work_id  # asked for again, it is tried again


@pytest.mark.parametrize(("attempts", "state"), [(2, DONE), (3, FAILED)])
@pytest.mark.usefixtures("kind")
def test_what_a_dead_server_left_is_remade(database: Database, attempts: int, state: str) -> None:
    work_id = leave_behind(database, attempts, NOW)
    with database.reading() as session:
        assert jobs.is_any_open(session)
    work(database, NOW + LEASE_TIME)

    assert progress(database, work_id).state == state


def test_a_file_is_made_anew_without_a_deleted_rater(database: Database, kind: MadeKind) -> None:
    with open_study(database) as (session, study):
        rater_id = raters.add(session, study, "Ani", NOW).id
    contents: list[bytes] = []

    def making(on_progress: OnProgress) -> ExportedFile:
        with open_study(database) as (session, study):
            contents.append(" ".join(line.name for line in raters.lines(session, study)).encode())
        on_progress(1, 2)
        if len(contents) == 1:
            with database.writing() as session:
                raters.delete_rater(session, session.get_one(Rater, rater_id), NOW)
                session.commit()
            assert progress(database, work_id).steps_done == 0
        return ExportedFile("made.zip", "application/zip", contents[-1])

    kind.making = making
    work_id = enqueue(database)
    work(database)

    assert [b"Ani" in data for data in contents] == [True, False]
    with open_study(database) as (session, study):
        assert jobs.file(session, study, work_id).data == contents[1]


@pytest.mark.usefixtures("kind")
def test_files_are_cleared_away_after_a_day(database: Database) -> None:
    old = enqueue(database, NOW)
    enqueue(database, NOW + timedelta(days=1, seconds=1))

    with pytest.raises(UnknownJob):
        progress(database, old)
