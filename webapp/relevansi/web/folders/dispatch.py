"""The way to each study of a folder: an application of its own, made when it is first asked for."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from threading import Lock
from time import monotonic
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from flask import Flask

from relevansi.db import outages
from relevansi.failures import Failure
from relevansi.services.folders import folder
from relevansi.web.frame import access

UNUSABLE: tuple[type[Exception], ...] = (Failure, *outages.OUTAGE_ERRORS)
"""Why a study cannot be opened, which its own page says."""
IDLE = 600.0
"""Seconds after which the database of a study that nobody asks for is closed."""
ADDRESS = re.compile(r"(?:/[\w.-]+)*?/s/([a-z0-9-]+)(?:/.*)?", re.ASCII | re.DOTALL)
"""The path of a study, below that of all if there is one."""


class Dispatcher:
    """Answers below ``/s/NAME/`` by the study of that name, and otherwise by the page of all."""

    def __init__(
        self, studies: Path, front: WSGIApplication, open_study: Callable[[str], Flask]
    ) -> None:
        self._studies, self._front, self._open = studies, front, open_study
        self._apps: dict[str, Flask] = {}
        self._used_at: dict[str, float] = {}
        self._opening: defaultdict[str, Lock] = defaultdict(Lock)
        self._closing = Lock()

    def __call__(self, environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        path = ADDRESS.fullmatch(environ.get("PATH_INFO", ""))
        if path is None:
            return self._front(environ, start)
        name = path[1]
        self._used_at[name] = monotonic()
        try:
            app = self._app(name)
        except UNUSABLE as failure:
            self._used_at.pop(name, None)
            return self._front({**environ, access.FAILURE: failure}, start)
        self._close_idle()
        return app(environ, start)

    def _app(self, name: str) -> Flask:
        folder.find(self._studies, name)
        app = self._apps.get(name)
        if app is None:
            with self._opening[name]:  # a locked database keeps nobody waiting for another study
                app = self._apps.get(name)
                if app is None:
                    app = self._apps[name] = self._open(name)
        return app

    def _close_idle(self) -> None:
        """Close the databases that nobody has asked for in a while; they open by themselves."""
        if not self._closing.acquire(blocking=False):
            return
        try:
            for name, used_at in list(self._used_at.items()):
                app = self._apps.get(name)
                if app and monotonic() - used_at > IDLE and app.extensions["workers"].is_idle(0):
                    app.extensions["database"].close()
                    del self._used_at[name]
        finally:
            self._closing.release()

    def finish(self, seconds: float) -> None:
        """Begin nothing new, wait so long for what was on its way, and close every database."""
        apps = [*self._apps.values()]
        for app in apps:
            app.extensions["workers"].close()
        until = monotonic() + seconds
        for app in apps:
            app.extensions["workers"].finish(max(0.0, until - monotonic()))
            app.extensions["database"].close()
