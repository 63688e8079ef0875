"""The pages of evaluations have their places: in the menus, and while they are empty."""

from __future__ import annotations

import pytest
from flask import Flask

from tests.web import places


@pytest.mark.parametrize(
    ("menu", "endpoint", "marked"),
    [
        ("owner", "machine_agreement.show", "study.show"),
        ("more", "machine_agreement.show", "evaluations.index"),
        ("rater", "item_rating.next_one", "item_rating.index"),
    ],
)
def test_a_page_is_marked_in_a_menu(menu: str, endpoint: str, marked: str) -> None:
    assert places.marked(menu, endpoint) == [marked]


@pytest.mark.parametrize(
    ("path", "says", "leads_to"),
    [
        ("/items/", "What the owner takes from an automatic evaluation", "Come back"),
    ],
)
def test_an_empty_page_says_what_will_stand_there_and_how_to_get_it(
    app: Flask, path: str, says: str, leads_to: str
) -> None:
    places.assert_explained(app, path, says, leads_to)
