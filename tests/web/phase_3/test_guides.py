"""The guide of participants."""

from __future__ import annotations

from flask import Flask

from tests.web import visitors
from tests.web.phase_3 import participants


def test_the_foot_of_a_page_leads_a_participant_to_their_guide(app: Flask, run_id: str) -> None:
    assert run_id
    visitors.lock(app.extensions["database"])
    link = participants.opened(app.extensions["database"], "http://127.0.0.1:9")

    page = participants.taking_part(app, link).get("/help/").text

    assert '<a href="/help/participants">Help</a>' in page.partition("<footer")[2]
