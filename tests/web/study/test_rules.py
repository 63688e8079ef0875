"""The rule in the address merges the verdicts of several raters."""

from __future__ import annotations

from flask import Flask
from flask.testing import FlaskClient

from tests.conftest import NOW
from webapp.db.engine import Database
from webapp.services.study import studies
from webapp.web.study import study as rules


def test_an_unknown_rule_is_named_as_such(client: FlaskClient, run_id: str) -> None:
    assert client.get(f"/runs/{run_id}/metrics.json?rule=best").status_code == 400
    assert client.get(f"/runs/{run_id}/metrics.json?rule=rater+Nobody").status_code == 404


def test_a_page_offers_each_rater_and_both_merged_rules(app: Flask, web_database: Database) -> None:
    with web_database.writing() as session:
        study = studies.open_or_make(session, NOW)
        studies.add_rater(session, study, "Budi", NOW)
        with app.test_request_context("/?rule=majority"):
            names = [choice.name for choice in rules.rule_choices(session, study)]
            assert rules.wanted_rule() == "majority"
        with app.test_request_context("/?rule="):
            assert rules.wanted_rule() is None  # the study decides

    assert names[1:] == ["rater Budi", "majority", "adjudicated"]
