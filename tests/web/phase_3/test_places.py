"""The pages of phase 3 have their places: in the menus, and while they are empty."""

from __future__ import annotations

import pytest
from flask import Flask

from tests.web import places


@pytest.mark.parametrize(
    ("menu", "endpoint", "marked"),
    [
        ("owner", "findings.comments", "study.show"),
        ("study", "findings.comments", "raters.index"),
        ("people", "findings.comments", "user_studies.show"),
        ("phase 3", "findings.comments", "findings.comments"),
        ("phase 3", "findings.ask_to_withdraw", "findings.show"),
    ],
)
def test_a_page_is_marked_in_a_menu(menu: str, endpoint: str, marked: str) -> None:
    assert places.marked(menu, endpoint) == [marked]


def test_no_page_is_marked_twice_in_the_menu_of_phase_3(app: Flask) -> None:
    assert places.marked_twice(app, "phase 3") == []


@pytest.mark.parametrize(
    ("path", "says", "leads_to"),
    [
        ("/study/participants/", "Here will stand how far each participant is", "/study/users/"),
        ("/study/participants/questions", "Say what each question is about", "/study/users/"),
        ("/study/participants/comments", "Put each comment under the themes", "/study/users/"),
    ],
)
def test_an_empty_page_says_what_will_stand_there_and_how_to_get_it(
    app: Flask, path: str, says: str, leads_to: str
) -> None:
    places.assert_explained(app, path, says, leads_to)
