"""Pages of participants in a browser that several people use."""

from __future__ import annotations

from flask import Flask

from tests.web import visitors
from tests.web.phase_3 import participants
from tests.web.template_names import files_named
from webapp.web import feature


def test_the_worker_keeps_all_that_the_page_of_an_own_question_is_made_of() -> None:
    named = files_named("phase_3/own_questions/answer.html")

    assert len(named) >= 2
    assert named <= set(feature.kept_files())


def test_pages_say_whose_they_are_by_a_name_that_says_nothing_else(app: Flask, run_id: str) -> None:
    """Owner, rater and participant differ, a stranger has none; the same page to page."""
    visitors.lock(app.extensions["database"])
    link = participants.opened(app.extensions["database"], "http://127.0.0.1:9")
    visitors.assert_told_apart(
        app,
        (visitors.owner(app), f"/runs/{run_id}/queries/1"),
        (visitors.invited(app, "Ani"), "/history/"),
        (participants.taking_part(app, link), "/ask/"),
    )
