"""Participants come in where their doors are open, and nowhere else."""

from __future__ import annotations

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.web import visitors
from tests.web.phase_3 import participants
from tests.web.roles import assert_closed, refused_at_open_doors, stored_by_links_from_elsewhere


@pytest.fixture(name="participant")
def _participant(app: Flask, run_id: str) -> FlaskClient:
    """A participant of a study with a run, the owner's password and two raters."""
    assert run_id
    visitors.lock(app.extensions["database"])
    link = participants.opened(app.extensions["database"], "http://127.0.0.1:9")
    return participants.taking_part(app, link)


def test_an_open_door_lets_participants_in(app: Flask, participant: FlaskClient) -> None:
    assert refused_at_open_doors(app, participant, "participant") == []


def test_a_closed_door_refuses_participants_changes_nothing_and_tells_nothing(
    app: Flask, participant: FlaskClient, run_id: str
) -> None:
    assert_closed(app, participant, "participant", run_id)


def test_a_link_from_elsewhere_stores_nothing(
    app: Flask, participant: FlaskClient, run_id: str
) -> None:
    assert stored_by_links_from_elsewhere(app, participant, run_id) == set()
