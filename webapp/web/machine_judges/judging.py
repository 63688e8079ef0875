"""Machine judges at work beside the requests: threads that outlive the page that started them.

Each thread takes one card at a time, asks the model about it and stores what comes of it, until
the session ends. Nothing is held between two cards, so a process that dies loses the calls that
were on their way; the next one goes on with the session by itself.
"""

from __future__ import annotations

from collections import Counter
from threading import Condition, Thread
from typing import TYPE_CHECKING

from webapp.config import JudgeEndpoint
from webapp.i18n import SOURCE_LANGUAGE, speaking
from webapp.services.machine_judges import calls, sessions
from webapp.services.machine_judges.calls import JudgeCall, Nothing
from webapp.services.machine_judges.sessions import UNEXPECTED
from webapp.web.frame.access import now
from webapp.web.frame.workers import Worker

if TYPE_CHECKING:
    from flask import Flask

GLANCE = 1.0
"""Seconds until a thread that found nothing to ask looks again."""


class Judging(Worker):
    """Lets machine judges work; one for each process."""

    def __init__(self, app: Flask) -> None:
        super().__init__(app)
        self._changed = Condition()
        self._threads: Counter[int] = Counter()
        self._is_closing = False

    def wake(self, rater_id: int, at_once: int) -> None:
        """Let a judge with a running session work, in so many threads; returns at once."""
        with self._changed:
            missing = at_once - self._threads[rater_id]
            self._threads[rater_id] += max(0, missing)
        for _ in range(missing):
            Thread(target=self._work, args=(rater_id,), name="judging", daemon=True).start()

    def serve(self) -> None:
        """Go on with the sessions that ran when the last process ended."""
        with self._database.reading() as session:
            found = sessions.at_work(session)
        for rater_id, at_once in found:
            self.wake(rater_id, at_once)

    def is_idle(self, seconds: float) -> bool:
        """Whether nobody is at work, or not any more within so many seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._threads.total(), seconds)

    def finish(self, seconds: float) -> bool:
        """Take nothing new; whether what was on its way is stored within so many seconds."""
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
        return self.is_idle(seconds)

    @property
    def _endpoint(self) -> JudgeEndpoint | None:
        found: JudgeEndpoint | None = self._app.config["JUDGE"]
        return found

    def _work(self, rater_id: int) -> None:
        try:
            with speaking(SOURCE_LANGUAGE):
                while self._step(rater_id):
                    pass
        except Exception:
            # The database is away, say: the session stays stored, and is shown as interrupted.
            self._app.logger.exception("a machine judge could not go on")
        finally:
            with self._changed:
                self._threads[rater_id] -= 1
                self._changed.notify_all()

    def _step(self, rater_id: int) -> bool:
        """Ask about one card; whether there may be another."""
        if self._is_closing:
            return False
        with self._database.writing() as session:
            call = calls.claim(session, rater_id, self._endpoint, now())
            session.commit()
        if isinstance(call, JudgeCall):
            self._put(call)
            return True
        if call is Nothing.YET:
            with self._changed:
                self._changed.wait_for(lambda: self._is_closing, GLANCE)
            return True
        return False

    def _put(self, call: JudgeCall) -> None:
        endpoint = self._endpoint
        assert endpoint is not None  # or nothing would have been claimed
        try:
            outcome = calls.ask(call, endpoint)
        except Exception:
            self._app.logger.exception("a machine judge could not be asked")
            outcome = calls.CallOutcome(None, answered=False, code=UNEXPECTED)
        with self._database.writing() as session:
            calls.keep(session, call, outcome, now())
            session.commit()
