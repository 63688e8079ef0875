"""Known places: what a file of them says, and what is refused."""

from __future__ import annotations

import json

import pytest

from webapp.importers.gold import gold_questions
from webapp.importers.gold.gold_questions import KnownPlace, UnusablePlaces
from webapp.importers.runs.problems import ImportRefused

CEMARA = {"name": "Cemara", "keywords": ["cemara", " "], "lat": 3.6, "lng": 98.7, "radius_km": 3}


def test_a_place_has_its_words_its_point_and_its_radius() -> None:
    data = json.dumps({"locations": {"a": CEMARA, "b": {"lat": 3.5, "lng": 98.6}}}).encode()
    listed = gold_questions.read_places("locations.json", data)

    assert gold_questions.places(listed) == (
        KnownPlace("Cemara", ("cemara",), 3.6, 98.7, 3.0),
        KnownPlace("b", (), 3.5, 98.6, 2.0),
    )


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"locations": {}},
        {"locations": []},
        {"locations": {"a": 1}},
        {"locations": {"a": {**CEMARA, "lat": 91}}},
        {"locations": {"a": {**CEMARA, "radius_km": -1}}},
    ],
)
def test_a_file_that_is_wrong_is_refused_whole(document: object) -> None:
    with pytest.raises(UnusablePlaces):
        gold_questions.read_places("locations.json", json.dumps(document).encode())


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(ImportRefused):
        gold_questions.read_places("locations.json", b"<html>")


@pytest.mark.parametrize("listed", [None, [], "x", {"a": 1}, {"a": {"lat": "x", "lng": 1}}])
def test_what_a_gold_file_carries_under_that_name_may_be_anything(listed: object) -> None:
    assert gold_questions.places(listed) == ()
