"""The Flask application, and the command ``relevansi`` around it."""

from __future__ import annotations

import gc
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flask import Flask

    from relevansi.config import Settings

MMAP_THRESHOLD = -3
"""The number of glibc's ``mallopt`` for the bytes from which a buffer goes back to the system."""
LARGE_BUFFER = 2**20


def create_app(settings: Settings | None = None) -> Flask:
    """Return the application on the database of `settings`, which is made if it is new."""
    from flask import Flask

    from relevansi.config import Settings, resource
    from relevansi.web.frame import setup

    settings = settings or Settings.from_environment()
    app = Flask(
        "relevansi",
        template_folder=str(resource("templates")),
        static_folder=str(resource("static")),
        instance_path=str(settings.instance),
    )
    app.config.update(configuration(settings))
    setup.set_up(app, settings.database_url)
    if app.config["FOLDER"] is not None:
        _put_before_studies(app, settings)
    if sys.platform == "linux":
        import ctypes

        # Else each thread of a server keeps the memory of the largest file that it was sent.
        with suppress(AttributeError):  # of another C library than glibc
            ctypes.CDLL(None).mallopt(MMAP_THRESHOLD, LARGE_BUFFER)
    return app


def configuration(settings: Settings, path: str = "") -> dict[str, Any]:
    """Return what Flask's configuration has of `settings`; `path` is that of one of several."""
    from relevansi.config import secret_key
    from relevansi.services.folders import folder

    is_folder = settings.studies is not None and not settings.study
    return {
        "SECRET_KEY": folder.study_secret(secret_key(settings.instance), settings.study),
        "MAX_CONTENT_LENGTH": settings.max_upload_bytes,
        "JUDGE": settings.judge,
        "TRUSTED_PROXIES": settings.trusted_proxies,
        "PREFIX": settings.prefix,
        "PATH": path,
        "FOLDER": settings.studies if is_folder else None,
        "STUDIES": None if is_folder else settings.studies,
        "STUDY": settings.study,
        "AUTH_HEADER": settings.auth_header,
        "OWNERS": settings.owners,
        "LOG": settings.log,
        "IS_DEMO": settings.is_demo,
        "OTHER_DEMO": settings.other_demo,
    }


def _put_before_studies(front: Flask, settings: Settings) -> None:
    """Let `front` lead to every study of the folder, each an application of its own."""
    from relevansi.services.folders import folder
    from relevansi.web.folders.dispatch import Dispatcher
    from relevansi.web.frame import setup

    studies = settings.studies
    assert studies is not None

    def open_study(name: str) -> Flask:
        is_demo = folder.is_demo(folder.find(studies, name))
        study = settings.of_study(name, is_demo=is_demo)
        app = setup.like(front, configuration(study, f"/s/{name}"), study.database_url)
        app.extensions["workers"].serve()
        return app

    dispatcher = Dispatcher(studies, front.wsgi_app, open_study)
    front.extensions["studies"] = dispatcher
    front.wsgi_app = dispatcher  # type: ignore[assignment,method-assign]


def served() -> Flask:
    """Return the application for a server of its own: the work that the last one left goes on.

    ``granian --interface wsgi --factory relevansi.app:served``
    """
    from relevansi.cli.frame.serving import print_setup_link
    from relevansi.config import Settings

    settings = Settings.from_environment()
    app = create_app(settings)
    print_setup_link(app, settings, f"{settings.prefix}/")
    app.extensions["workers"].serve()
    return app


def main() -> None:
    """Run the command line; it ends the process with its exit code."""
    from relevansi.cli import run

    # With the usual 700 new objects, looking for garbage took a fifth of a start's CPU time.
    gc.set_threshold(50_000)
    try:
        run(create_app)
    finally:
        gc.freeze()  # else Python, as it ends, looks through all objects: a seventh of a command
