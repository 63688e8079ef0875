"""The menus that rooms put together: each page is marked once, where its reader would look."""

from __future__ import annotations

import pytest
from flask import Flask, url_for
from flask.testing import FlaskClient
from markupsafe import escape

from tests.web import places
from webapp.web import feature

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
    ("study", "adjudications.show", "study.standing"),
    ("owner", "study.more", "study.show"),
    ("study", "study.more", "study.more"),
    ("study", "evaluations.show", "study.more"),
    ("study", "planning.show", "study.more"),
    ("study", "raters.ask_to_remove", "raters.index"),
    ("study", "assignments.show", "raters.index"),
    ("study", "conflicts.show", "study.more"),
    ("study", "runs.show", None),
    ("study", None, None),
]


@pytest.mark.parametrize(("menu", "endpoint", "marked"), MARKED)
def test_a_page_is_marked_in_a_menu(menu: str, endpoint: str | None, marked: str | None) -> None:
    assert places.marked(menu, endpoint) == ([marked] if marked else [])


def test_the_pages_of_the_study_are_four_groups() -> None:
    groups = feature.menu("study")

    assert [group.endpoint for group in groups] == [
        "study.show",
        "raters.index",
        "study.standing",
        "study.more",
    ]
    assert all(feature.menu(group.pages or "") for group in groups)


def test_every_page_of_the_study_is_a_link_on_the_pages_of_its_group(client: FlaskClient) -> None:
    for group in feature.menu("study"):
        entries = feature.menu(group.pages or "")
        for shown in (group, *entries):
            page = client.get(url(client, shown.endpoint)).text
            beside = entries if not shown.pages or shown is group else feature.menu(shown.pages)
            for entry in beside:
                assert f'href="{url(client, entry.endpoint)}"' in page, (shown.label, entry.label)


def test_what_few_studies_need_is_one_page_that_says_for_whom_each_is(client: FlaskClient) -> None:
    few = feature.menu("more")
    page = client.get("/study/more").text

    assert {entry.endpoint for entry in few} == {
        "evaluations.index",
        "conflicts.show",
        "machine_judges.index",
        "planning.show",
    }
    assert all(entry.about and escape(entry.about) in page for entry in few)


def url(client: FlaskClient, endpoint: str) -> str:
    """The address of a page without parameters."""
    with client.application.test_request_context():
        return url_for(endpoint)


@pytest.mark.parametrize("menu", ["owner", "rater", "study", "set-up", "people", "results", "more"])
def test_no_page_is_marked_twice_in_a_menu(app: Flask, menu: str) -> None:
    assert places.marked_twice(app, menu) == []
