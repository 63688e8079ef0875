"""What works beside the requests: begun where the last process left it, ended with this one.

The modules that do the work are read once there is some: most servers ask no chatbot, ever.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

from flask import current_app

from webapp.services.machine_judges import unfinished

if TYPE_CHECKING:
    from flask import Flask

    from webapp.db.engine import Database
    from webapp.web.machine_judges.judging import Judging
    from webapp.web.phase_3.asking import Asker


class Background:
    """What an application does while nobody waits for it; one for each process."""

    def __init__(self, app: Flask) -> None:
        self._app = app
        self._making = Lock()
        self._asker: Asker | None = None
        self._judging: Judging | None = None

    @property
    def asker(self) -> Asker:
        """What puts participants' questions to the chatbot."""
        from webapp.web.phase_3.asking import Asker

        with self._making:
            self._asker = self._asker or Asker(self._app)
            return self._asker

    @property
    def judging(self) -> Judging:
        """What lets machine judges work."""
        from webapp.web.machine_judges.judging import Judging

        with self._making:
            self._judging = self._judging or Judging(self._app)
            return self._judging

    def ask(self) -> None:
        """Put the questions to the chatbot that waited when the last process ended."""
        with self._database.reading() as session:
            waiting = unfinished.is_any_question_waiting(session)
        if waiting:
            self.asker.wake()

    def judge(self) -> None:
        """Go on with the sessions of machine judges that ran when the last process ended."""
        with self._database.reading() as session:
            found = unfinished.judges_at_work(session)
        for rater_id, at_once in found:
            self.judging.wake(rater_id, at_once)

    def finish(self, seconds: float) -> None:
        """Let what is on its way be stored, within so many seconds for either kind of work.

        A question that a chatbot does not answer until then is asked again.
        """
        if self._asker is not None:
            self._asker.is_idle(seconds)
        if self._judging is not None:
            self._judging.finish(seconds)

    @property
    def _database(self) -> Database:
        found: Database = self._app.extensions["database"]
        return found


def set_up(app: Flask) -> None:
    """Give `app` its work, which goes on with the questions that waited.

    Whoever serves it lets judges go on: an export makes an application too.
    """
    app.extensions["background"] = Background(app)
    background(app).ask()


def background(app: Flask | None = None) -> Background:
    """Return the work beside the requests of `app`, else of the application that answers now."""
    found: Background = (app or current_app).extensions["background"]
    return found
