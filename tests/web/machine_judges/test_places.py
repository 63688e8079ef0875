"""The pages of machine judges have their places: in the menus, and while they are empty."""

from __future__ import annotations

import pytest
from flask import Flask

from tests.web import places


@pytest.mark.parametrize(
    ("menu", "endpoint", "marked"),
    [
        ("study", "machine_judges.show_beside", "study.more"),
        ("more", "machine_judges.show_beside", "machine_judges.index"),
    ],
)
def test_a_page_is_marked_in_a_menu(menu: str, endpoint: str, marked: str) -> None:
    assert places.marked(menu, endpoint) == [marked]


@pytest.mark.parametrize(
    ("path", "says", "leads_to"),
    [
        ("/study/machine-judges/", "can judge the same cards as people do", "RELEVANSI_JUDGE_URL"),
    ],
)
def test_an_empty_page_says_what_will_stand_there_and_how_to_get_it(
    app: Flask, path: str, says: str, leads_to: str
) -> None:
    places.assert_explained(app, path, says, leads_to)
