"""The menus that rooms put together: each page is marked once, where its reader would look."""

from __future__ import annotations

import pytest
from flask import Flask, url_for
from flask.testing import FlaskClient

from tests.web import places
from webapp.web.frame import rooms

MARKED = [
    ("owner", "judgments.show", "runs.index"),
    ("owner", "question_notes.show", "study.show"),
    ("owner", "sign_in.show", None),
    ("rater", "rate.show", "rate.next_one"),
    ("owner", "study.standing", "study.show"),
    ("study", "study.preview", "study.show"),
    ("study", "question_notes.show", "study.show"),
    ("study", "study.standing", "study.standing"),
    ("study", "history.show", "study.standing"),
    ("study", "raters.ask_to_remove", "raters.index"),
    ("study", "assignments.show", "raters.index"),
    ("study", "conflicts.show", "agreement.show"),
    ("study", "runs.show", None),
    ("study", None, None),
]


@pytest.mark.parametrize(("menu", "endpoint", "marked"), MARKED)
def test_a_page_is_marked_in_a_menu(menu: str, endpoint: str | None, marked: str | None) -> None:
    assert places.marked(menu, endpoint) == ([marked] if marked else [])


@pytest.mark.whole
def test_the_study_has_five_parts_and_each_begins_with_its_first_page() -> None:
    parts = rooms.menu("study")

    assert [part.label for part in parts] == [
        "Set-up",
        "People",
        "Progress",
        "Agreement",
        "Phase 3",
    ]
    for part in parts:
        assert part.pages is not None
        assert rooms.menu(part.pages)[0].endpoint == part.endpoint


def test_every_page_of_the_study_is_a_link_on_the_pages_of_its_part(client: FlaskClient) -> None:
    for part in rooms.menu("study"):
        page = client.get(url(client, part.endpoint)).text
        for entry in rooms.menu(part.pages or ""):
            assert f'href="{url(client, entry.endpoint)}"' in page, entry.label


def url(client: FlaskClient, endpoint: str) -> str:
    """The address of a page without parameters."""
    with client.application.test_request_context():
        return url_for(endpoint)


@pytest.mark.parametrize(
    "menu", ["owner", "rater", "study", "set-up", "people", "progress", "agreement"]
)
def test_no_page_is_marked_twice_in_a_menu(app: Flask, menu: str) -> None:
    assert places.marked_twice(app, menu) == []
