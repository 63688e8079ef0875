"""A run as one file that is rated without a server."""

from __future__ import annotations

from flask import Response, current_app

from webapp.exporters import offline_page
from webapp.services import offline_runs
from webapp.web import access


def download(run_id: str) -> Response:
    """Return the file to take away."""
    with access.reading() as (session, rater):
        run = offline_runs.offline_run(session, rater.study, run_id)
    data = offline_page.page(current_app.jinja_env, run)
    response = Response(data, content_type="text/html; charset=utf-8")
    name = offline_runs.file_name(run)
    response.headers.set("Content-Disposition", "attachment", filename=name)
    return response
