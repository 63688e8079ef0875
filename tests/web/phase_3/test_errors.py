"""A page of an error as a participant sees it."""

from __future__ import annotations

from flask import Flask

from tests.web.phase_3 import participants


def test_a_participant_s_error_page_leads_to_their_questions(app: Flask, run_id: str) -> None:
    assert run_id
    link = participants.opened(app.extensions["database"], "http://127.0.0.1:9")
    page = participants.taking_part(app, link).get("/nothing").text

    assert '<a class="button" href="/ask/">Your questions</a>' in page
    assert 'href="/runs/"' not in page
