"""Questions of participants put to the chatbot, beside the requests, while people wait.

Threads of this process take questions that were stored, one each, and store what comes of it.
While the chatbot thinks, no transaction is open and no lock is held. Nothing depends on the
browser that asked; a process that dies leaves a question that is shown as interrupted.
"""

from __future__ import annotations

from threading import Condition, Thread
from typing import TYPE_CHECKING

from webapp.chatbot.failures import CallFailed
from webapp.chatbot.mappings import MissingKey
from webapp.i18n import DEFAULT_LANGUAGE, speaking
from webapp.importers.runs.problems import ImportRefused
from webapp.services.phase_3 import own_questions, user_studies
from webapp.services.phase_3.own_questions import ALIVE, Failed, QuestionCall
from webapp.services.phase_3.user_studies import UnfitChatbot
from webapp.web.frame.access import now
from webapp.web.frame.workers import Worker

if TYPE_CHECKING:
    from flask import Flask

    from webapp.chatbot.answers import Answer

HEARTBEAT = ALIVE / 3
MOST_THREADS = 64
"""However many calls the owner allows at once."""
NOT_SET_UP, UNREADABLE, UNEXPECTED = "not_set_up", "unreadable", "unexpected"


class QuestionWorker(Worker):
    """Puts what waits to the chatbot; one for each process."""

    def __init__(self, app: Flask) -> None:
        super().__init__(app)
        self._changed = Condition()
        self._threads = 0
        self._calls: set[int] = set()
        self._is_beating = False

    def wake(self) -> None:
        """Look for a question that waits, and ask it; returns at once."""
        with self._changed:
            if self._threads >= MOST_THREADS:
                return
            self._threads += 1
        Thread(target=self._work, name="asking", daemon=True).start()

    def resume(self) -> None:
        """Put the questions to the chatbot that waited when the last process ended."""
        with self._database.reading() as session:
            waiting = own_questions.is_any_waiting(session)
        if waiting:
            self.wake()

    def is_idle(self, seconds: float) -> bool:
        """Whether nothing is being asked, or not any more within so many seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: self._threads == 0, seconds)

    def _work(self) -> None:
        try:
            with speaking(DEFAULT_LANGUAGE):
                while (call := self._claim()) is not None:
                    self._put(call)
        except Exception:
            # The database is away, say: the question stays stored, and is shown as interrupted.
            self._app.logger.exception("a question could not be asked")
        finally:
            with self._changed:
                self._threads -= 1
                self._changed.notify_all()

    def _claim(self) -> QuestionCall | None:
        with self._database.writing() as session:
            call = own_questions.claim(session, now())
            session.commit()
        return call

    def _put(self, call: QuestionCall) -> None:
        self._begin(call.id)
        try:
            outcome = _outcome(call)
            if isinstance(outcome, Failed):
                self._fail(call, outcome)
                return
            try:
                self._keep(call, outcome)
            except ImportRefused as refused:
                self._fail(call, Failed(UNREADABLE, str(refused), outcome.text))
        except Exception as unforeseen:
            self._app.logger.exception("a question could not be asked")
            self._fail(call, Failed(UNEXPECTED, type(unforeseen).__name__))
        finally:
            with self._changed:
                self._calls.discard(call.id)
                self._changed.notify_all()

    def _keep(self, call: QuestionCall, answer: Answer) -> None:
        with self._database.writing() as session:
            own_questions.answered(session, call, answer, now())
            session.commit()

    def _fail(self, call: QuestionCall, why: Failed) -> None:
        with self._database.writing() as session:
            own_questions.failed(session, call, why)
            session.commit()

    def _begin(self, question_id: int) -> None:
        with self._changed:
            self._calls.add(question_id)
            if self._is_beating:
                return
            self._is_beating = True
        Thread(target=self._beat, name="asking-heartbeat", daemon=True).start()

    def _beat(self) -> None:
        """Say again and again that the calls of this process live, until there are none."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: not self._calls, HEARTBEAT.total_seconds())
                if not self._calls:
                    self._is_beating = False
                    return
                calls = tuple(self._calls)
            with self._database.writing() as session:
                own_questions.keep_alive(session, calls, now())
                session.commit()


def _outcome(call: QuestionCall) -> Answer | Failed:
    """Return what the chatbot answers, or why it does not."""
    try:
        return user_studies.chatbot(call.settings).ask(call.asked)
    except CallFailed as failure:
        return Failed(failure.code, str(failure), failure.excerpt)
    except (MissingKey, UnfitChatbot) as wrong:
        return Failed(NOT_SET_UP, str(wrong))
