"""A run as one file that is rated without a server."""

from __future__ import annotations

from flask import Blueprint, Response, current_app

from relevansi.exporters.offline import page
from relevansi.services.offline import runs
from relevansi.web.frame import access
from relevansi.web.frame.htmx import attached

blueprint = Blueprint("offline", __name__, url_prefix="/runs/<run_id>")


@blueprint.get("/offline.html")
def download(run_id: str) -> Response:
    with access.reading() as (session, rater):
        run = runs.offline_run(session, rater.study, run_id)
    data = page.page(current_app.jinja_env, run)
    return attached(data, "text/html; charset=utf-8", f"rate_{run.name}.html")
