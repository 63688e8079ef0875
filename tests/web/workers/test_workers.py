"""A server that starts goes on with the files that the last one did not finish."""

from __future__ import annotations

from flask import Flask
from flask.testing import FlaskClient

from tests.web.comparisons.test_comparisons import rated_pair
from webapp.db.engine import Database
from webapp.services.comparisons import long_kind
from webapp.services.runs import reports
from webapp.services.study import studies
from webapp.services.workers import long_work
from webapp.web.frame.access import now
from webapp.web.frame.workers import workers

WAIT = 60


def test_a_server_that_starts_goes_on_with_what_was_left(
    app: Flask, client: FlaskClient, web_database: Database
) -> None:
    pair = rated_pair(web_database)
    with web_database.writing() as session:
        study = studies.open_or_make(session, now())
        wanted = long_kind.wanted(pair, reports.rule_of(session, study))
        work_id = long_work.put_down(session, study, long_kind.COMPARISON, wanted, now())
        session.commit()
    workers(app).serve()
    assert workers(app).is_idle(WAIT)

    ready = client.get(f"/files/{work_id}", follow_redirects=True)
    assert ready.request.path == "/comparisons/"
    assert all(method in ready.text for method in ("api", "Hybrid"))
