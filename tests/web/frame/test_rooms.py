"""The menus that rooms put together: each page is marked once, where its reader would look."""

from __future__ import annotations

import pytest
from flask import Flask

from webapp.web.frame import rooms

MARKED = [
    ("owner", "judgments.show", "runs.index"),
    ("owner", "constraints.question", "runs.index"),
    ("owner", "machine_agreement.show", "evaluations.index"),
    ("owner", "question_notes.show", "study.show"),
    ("owner", "findings.comments", "study.show"),
    ("owner", "sign_in.show", None),
    ("rater", "rate.show", "rate.next_one"),
    ("rater", "item_rating.next_one", "item_rating.index"),
    ("study", "study.preview", "study.show"),
    ("study", "study.standing", "study.standing"),
    ("study", "raters.ask_to_remove", "raters.index"),
    ("study", "findings.comments", "user_studies.show"),
    ("study", "machine_beside_people.show", "machine_judges.index"),
    ("study", "runs.show", None),
    ("study", None, None),
]


@pytest.mark.parametrize(("menu", "endpoint", "marked"), MARKED)
def test_a_page_is_marked_in_a_menu(menu: str, endpoint: str | None, marked: str | None) -> None:
    found = [one.endpoint for one in rooms.menu(menu) if rooms.is_current(one, endpoint)]

    assert found == ([marked] if marked else [])


@pytest.mark.parametrize("menu", ["owner", "rater", "study"])
def test_no_page_is_marked_twice_in_a_menu(app: Flask, menu: str) -> None:
    assert rooms.menu(menu)
    for endpoint in app.view_functions:
        marked = [one for one in rooms.menu(menu) if rooms.is_current(one, endpoint)]
        assert len(marked) <= 1, endpoint
