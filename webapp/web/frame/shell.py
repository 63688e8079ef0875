"""The app's frame without a network: the service worker, and the page for what is not kept.

A worker answers for every address below its own, so it is not among the static files. It
names each file of the app by its content: a new version of any of them is a new worker, which
replaces the old one and the files that it had kept.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from flask import Blueprint, Response, current_app, g, render_template, url_for
from werkzeug.exceptions import NotFound

from webapp.i18n import LANGUAGES, speaking
from webapp.web import feature
from webapp.web.frame import site
from webapp.web.frame.access import Visitor

blueprint = Blueprint("shell", __name__)

WORKER = "frame/service_worker.js"


@blueprint.get("/service-worker.js")
def worker() -> Response:
    """Return the service worker, which knows the version of every file it is to keep."""
    script = Path(_folder(), WORKER).read_text("utf-8")
    files = [site.static_address(name) for name in feature.kept_files()]
    said = [script, *files, *(_offline(code) for code in LANGUAGES)]
    offline_pages = {code: url_for("shell.offline", language=code) for code in LANGUAGES}
    shell = {
        "base": url_for("home.show"),
        "version": hashlib.sha256("\0".join(said).encode()).hexdigest()[:10],
        "files": [*files, *offline_pages.values()],
        "offline": offline_pages,
    }
    body = f"const SHELL = {json.dumps(shell)};\n{script}"
    return Response(body, content_type="text/javascript; charset=utf-8")


@blueprint.get("/offline/<language>")
def offline(language: str) -> str:
    """Show that the server cannot be reached; the page names no person."""
    if language not in LANGUAGES:
        raise NotFound
    return _offline(language)


def _offline(language: str) -> str:
    g.visitor = Visitor()
    with speaking(language):
        return render_template("frame/shell/offline.html")


def _folder() -> str:
    folder = current_app.static_folder
    assert folder is not None
    return folder
