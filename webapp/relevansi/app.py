"""The Flask application, and the command ``relevansi`` around it."""

from __future__ import annotations

import gc
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Flask

    from relevansi.config import Settings

MMAP_THRESHOLD = -3
"""The number of glibc's ``mallopt`` for the bytes from which a buffer goes back to the system."""
LARGE_BUFFER = 2**20


def create_app(settings: Settings | None = None) -> Flask:
    """Return the application on the database of `settings`, which is made if it is new."""
    from flask import Flask

    from relevansi.config import Settings, resource, secret_key
    from relevansi.web.frame import setup

    settings = settings or Settings.from_environment()
    app = Flask(
        "relevansi",
        template_folder=str(resource("templates")),
        static_folder=str(resource("static")),
        instance_path=str(settings.instance),
    )
    app.config.update(
        SECRET_KEY=secret_key(settings.instance),
        MAX_CONTENT_LENGTH=settings.max_upload_bytes,
        JUDGE=settings.judge,
        TRUSTED_PROXIES=settings.trusted_proxies,
        PREFIX=settings.prefix,
        AUTH_HEADER=settings.auth_header,
        OWNERS=settings.owners,
        LOG=settings.log,
        IS_DEMO=settings.is_demo,
        OTHER_DEMO=settings.other_demo,
    )
    setup.join(app, settings.database_url)
    if sys.platform == "linux":
        import ctypes

        # Else each thread of a server keeps the memory of the largest file that it was sent.
        with suppress(AttributeError):  # of another C library than glibc
            ctypes.CDLL(None).mallopt(MMAP_THRESHOLD, LARGE_BUFFER)
    return app


def served() -> Flask:
    """Return the application for a server of its own: the work that the last one left goes on.

    ``granian --interface wsgi --factory relevansi.app:served``
    """
    from relevansi.cli.frame.serving import tell_setup_link
    from relevansi.config import Settings

    app, settings = create_app(), Settings.from_environment()
    tell_setup_link(app.extensions["database"], settings, f"{settings.prefix}/")
    app.extensions["workers"].serve()
    return app


def main() -> None:
    """Run the command line; it ends the process with its exit code."""
    from relevansi.cli import run

    # With the usual 700 new objects, looking for garbage took a fifth of a start's CPU time.
    gc.set_threshold(50_000)
    run(create_app)
