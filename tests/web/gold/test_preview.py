"""The preview of a gold question: the point it asks for on a map, beside the known places."""

from __future__ import annotations

from flask import Flask

from webapp.importers.gold.gold_questions import KnownPlace
from webapp.metrics.gold.constraint_rules import Constraints, Place
from webapp.metrics.gold.constraints import Expected, GoldQuestion
from webapp.web.gold.preview import preview_of

ASKED = GoldQuestion(1, "Rumah dekat USU", "", Expected.HAS_DATA)
POINT = Constraints(location=Place(("usu",), 3.5, 98.6, 2.0))
USU = KnownPlace("USU", ("usu",), 3.5, 98.6, 2.0)


def test_a_question_without_listings_or_places_has_no_map(app: Flask) -> None:
    with app.test_request_context():
        found = preview_of(ASKED, (), ())

    assert (found.n_listings, found.n_satisfying, found.lines, found.map) == (0, 0, (), None)
    assert found.failing == {}


def test_the_point_that_is_asked_for_lies_on_its_known_place(app: Flask) -> None:
    asked = GoldQuestion(1, "Rumah dekat USU", "", Expected.HAS_DATA, constraints=POINT)
    with app.test_request_context():
        drawn = preview_of(asked, (), (USU,)).map

    assert drawn is not None
    (place,) = drawn.places
    assert drawn.circle is not None
    assert drawn.circle[:2] == (place.x, place.y)
    assert (place.name, place.satisfies, drawn.listings) == ("USU", False, ())
