"""The pages of the rating plan have their places: in the menus, and while they are empty."""

from __future__ import annotations

import pytest
from flask import Flask

from tests.web import places


@pytest.mark.parametrize(
    ("path", "says", "leads_to"),
    [
        ("/study/planning", "How many judgments are enough", "/runs/import"),
    ],
)
def test_an_empty_page_says_what_will_stand_there_and_how_to_get_it(
    app: Flask, path: str, says: str, leads_to: str
) -> None:
    places.assert_explained(app, path, says, leads_to)
