"""A server that starts goes on with the files that the last one did not finish."""

from __future__ import annotations

import pytest
from flask import Flask
from flask.testing import FlaskClient

from webapp.db.engine import Database
from webapp.services.study import studies
from webapp.services.workers import long_work
from webapp.web.frame.access import now
from webapp.web.frame.workers import workers

WAIT = 60


@pytest.mark.usefixtures("run_id")
def test_a_server_that_starts_goes_on_with_what_was_left(
    app: Flask, client: FlaskClient, web_database: Database
) -> None:
    with web_database.writing() as session:
        study = studies.open_or_make(session, now())
        wanted = {"run": None, "rule": "majority"}
        work_id = long_work.put_down(session, study, "proof pack", wanted, now())
        session.commit()
    workers(app).serve()
    assert workers(app).is_idle(WAIT)

    assert "The file is ready." in client.get(f"/files/{work_id}").text
