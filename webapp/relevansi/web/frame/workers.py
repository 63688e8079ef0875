"""The work in the background: it ends with the process, and the next one goes on with it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from flask import Flask, current_app

from relevansi.services.machine_judges import calls
from relevansi.services.machine_judges.calls import JudgeWork
from relevansi.services.phase_3 import asking
from relevansi.services.phase_3.asking import QuestionWork
from relevansi.services.workers import jobs, kinds
from relevansi.services.workers.jobs import JobWork
from relevansi.services.workers.loop import OutsideWork, WorkLoop
from relevansi.web.frame import access


class Workers(WorkLoop):
    """The threads of one application that work while nobody waits for them."""

    def __init__(self, app: Flask) -> None:
        super().__init__(app.extensions["database"].writing, _now, app.logger)
        self._app = app

    def serve(self) -> None:
        """Go on with what the last process left; an application that serves nobody does not."""
        database = self._app.extensions["database"]
        unfinished: list[tuple[OutsideWork[Any, Any], int]] = []
        with database.reading() as session:
            if jobs.is_any_open(session):
                unfinished.append((JobWork(database, kinds.JOB_KINDS), 1))
            for rater_id, at_once in calls.running_judges(session):
                unfinished.append((JudgeWork(rater_id, self._app.config["JUDGE"]), at_once))
            if at_once := asking.calls_at_once(session):
                unfinished.append((QuestionWork(), at_once))
        for work, threads in unfinished:
            self.wake(work, threads, most=threads)

    def finish(self, seconds: float) -> bool:
        """Begin nothing new; whether what was on its way is stored within so many seconds."""
        self.close()
        return self.is_idle(seconds)


def workers(app: Flask | None = None) -> Workers:
    """Return the workers of `app`, else of the application that answers now."""
    workers: Workers = (app or current_app).extensions["workers"]
    return workers


def _now() -> datetime:
    return access.now()
