"""Badges for blind raters are switched on by the owner, and the log says so."""

from __future__ import annotations

import re

from flask.testing import FlaskClient

from webapp.db.engine import Database
from webapp.services.study import studies


def test_the_switch_is_off_at_first_and_logged(client: FlaskClient, web_database: Database) -> None:
    assert not re.search(r'name="badges_while_blind"[^>]*checked', client.get("/study/").text)
    form = {"name": "S", "repeat_percent": "5", "badges_while_blind": "1"}
    assert client.post("/study/", data=form).status_code == 303

    assert re.search(r'name="badges_while_blind"[^>]*checked', client.get("/study/").text)
    with web_database.reading() as session:
        study = studies.current(session)
        assert study is not None
        assert study.badges_while_blind
