"""The work in the background: it ends with the process, and the next one goes on with it."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from flask import current_app

from webapp.services.workers.loop import WorkLoop
from webapp.web.frame import access

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flask import Flask
    from sqlalchemy.orm import Session

    from webapp.services.workers.loop import OutsideWork

MOST_THREADS = 64
"""For one work, however many calls the owner allows at once."""


def _left(session: Session, app: Flask) -> Iterator[tuple[OutsideWork[Any, Any], int]]:
    from webapp.services.machine_judges import calls
    from webapp.services.machine_judges.calls import JudgeWork
    from webapp.services.phase_3 import own_questions
    from webapp.services.phase_3.own_questions import QuestionWork
    from webapp.services.workers import jobs
    from webapp.services.workers.jobs import JobWork

    if jobs.is_any_open(session):
        yield JobWork(app.extensions["database"]), 1
    for rater_id, at_once in calls.at_work(session):
        yield JudgeWork(rater_id, app.config["JUDGE"]), at_once
    if at_once := own_questions.calls_at_once(session):
        yield QuestionWork(), at_once


class Workers:
    """The threads of one application that work while nobody waits for them."""

    def __init__(self, app: Flask) -> None:
        self._app = app
        self._loop = WorkLoop(app.extensions["database"].writing, self._now, app.logger)

    def wake(
        self, work: OutsideWork[Any, Any], threads: int = 1, *, most: int = MOST_THREADS
    ) -> None:
        """Let so many further threads do `work`, `most` at the same time; returns at once."""
        self._loop.wake(work, threads, most=most)

    def serve(self) -> None:
        """Go on with what the last process left; an application that serves nobody does not."""
        with self._app.extensions["database"].reading() as session:
            left = [*_left(session, self._app)]
        for work, threads in left:
            self.wake(work, threads, most=threads)

    def is_idle(self, seconds: float) -> bool:
        """Whether nothing is at work, or not any more within so many seconds."""
        return self._loop.is_idle(seconds)

    def finish(self, seconds: float) -> bool:
        """Begin nothing new; whether what was on its way is stored within so many seconds."""
        self._loop.close()
        return self.is_idle(seconds)

    def _now(self) -> datetime:
        return access.now()


def set_up(app: Flask) -> None:
    """Give `app` its workers."""
    app.extensions["workers"] = Workers(app)


def workers(app: Flask | None = None) -> Workers:
    """Return the workers of `app`, else of the application that answers now."""
    found: Workers = (app or current_app).extensions["workers"]
    return found
