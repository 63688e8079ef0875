"""The work beside the requests: each wing brings its workers, which end with the process."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from flask import current_app

from webapp import rooms

if TYPE_CHECKING:
    from flask import Flask

    from webapp.db.engine import Database


class Worker:
    """Does one kind of work while nobody waits for it; one for each process."""

    def __init__(self, app: Flask) -> None:
        self._app = app

    def resume(self) -> None:
        """Go on with what the last process left, in every application that is made."""

    def serve(self) -> None:
        """Go on with what only a process that serves the application may do."""

    def is_idle(self, seconds: float) -> bool:
        """Whether nothing is at work, or not any more within so many seconds."""
        raise NotImplementedError

    def finish(self, seconds: float) -> bool:
        """Begin nothing new; whether what was on its way is stored within so many seconds."""
        return self.is_idle(seconds)

    @property
    def _database(self) -> Database:
        found: Database = self._app.extensions["database"]
        return found


WorkerT = TypeVar("WorkerT", bound=Worker)


class Workers:
    """The workers of one application, of every wing that has some."""

    def __init__(self, app: Flask) -> None:
        modules = rooms.contributions("web", "workers")
        self._workers = {kind: kind(app) for module in modules for kind in module.WORKERS}

    def get(self, kind: type[WorkerT]) -> WorkerT:
        """Return the worker of this kind."""
        found: WorkerT = self._workers[kind]
        return found

    def resume(self) -> None:
        """Let every worker go on with what the last process left."""
        for worker in self._workers.values():
            worker.resume()

    def serve(self) -> None:
        """Let every worker do what only a process that serves may do."""
        for worker in self._workers.values():
            worker.serve()

    def finish(self, seconds: float) -> bool:
        """Whether every worker stored what was on its way, within so many seconds for each."""
        finished = [worker.finish(seconds) for worker in self._workers.values()]
        return all(finished)


def set_up(app: Flask) -> None:
    """Give `app` its workers, which go on with what waited.

    A process that serves the application calls ``Workers.serve`` too; an export does not.
    """
    app.extensions["workers"] = Workers(app)
    workers(app).resume()


def workers(app: Flask | None = None) -> Workers:
    """Return the workers of `app`, else of the application that answers now."""
    found: Workers = (app or current_app).extensions["workers"]
    return found
