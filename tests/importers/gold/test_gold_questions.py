from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from msgspec.structs import replace

from tests.importers.runs.cards import NOTHING
from webapp.exporters.gold.gold_questions import gold_json
from webapp.i18n import speaking
from webapp.importers.gold import gold_questions
from webapp.importers.gold.gold_questions import KnownPlace, UnusablePlaces
from webapp.importers.runs import problems
from webapp.importers.runs.problems import UnreadableFile, UnusableQuestions
from webapp.metrics.gold.constraint_rules import Constraints, Place, Range
from webapp.metrics.gold.constraints import Expected

PRICE = {"min": 1000000000, "max": 1999999999, "tolerance": 0.1, "currency": "IDR"}
GOLD: dict[str, Any] = {
    "version": "2.0",
    "price_tolerance": 0.1,
    "threshold_t": 0.6,
    "questions": [
        {
            "id": 4,
            "question": "Carikan rumah di cemara harga 1M an",
            "category": "location_price",
            "expected_result": "has_data",
            "constraints": {
                "property_type": "house",
                "location": {"keywords": ["cemara"], "lat": 3.6, "lng": 98.7, "radius_km": 3},
                "price": PRICE,
                "bedrooms": {"exact": 3},
            },
            "notes": "1 M an",
        },
        {
            "id": 22,
            "question": "rumah dengan cctv",
            "category": "feature_search",
            "expected_result": "no_data",
            "evaluation_mode": "manual",
            "constraints": {},
        },
    ],
}


def data(document: object) -> bytes:
    return json.dumps(document).encode()


def test_questions_come_with_what_they_ask() -> None:
    gold = gold_questions.read("gold.json", data(GOLD))
    first, second = gold.questions

    assert gold.threshold == Fraction(3, 5)
    assert gold.extra == {"version": "2.0", "price_tolerance": 0.1}
    assert first.constraints == Constraints(
        property_type="house",
        location=Place(("cemara",), 3.6, 98.7, 3.0),
        price=Range(Fraction(10**9), Fraction(1999999999), tolerance=Fraction(1, 10)),
        bedrooms=Range(exact=Fraction(3)),
    )
    assert (first.expected, first.manual) == (Expected.HAS_DATA, False)
    assert (second.expected, second.manual) == (Expected.NO_DATA, True)
    assert second.constraints == Constraints()
    assert gold_json(gold.questions, gold.threshold, gold.extra) == GOLD


@pytest.mark.parametrize(
    "constraints",
    [
        None,
        {},
        {"location": None, "price": {}},
        {"location": {"keywords": [" "], "radius_km": 3}, "price": {"currency": "IDR"}},
        {"location": {"lat": 0, "lng": 0}, "property_type": " "},
    ],
)
def test_null_and_empty_constraints_ask_nothing(constraints: object) -> None:
    question = {**GOLD["questions"][0], "constraints": constraints}
    found = gold_questions.read("gold.json", data({"questions": [question]}))

    assert found.questions[0].constraints == Constraints()
    assert found.threshold is None


FULL: dict[str, Any] = {
    "id": 7,
    "question": "Rumah sekitar 1 M di Jl. Cemara, Medan?",
    "category": None,
    "expected_result": "has_data",
    "evaluation_mode": "auto",
    "constraints": {
        "property_type": "",
        "location": {"keywords": ["Jl. Cemara, Medan", " "], "name": "Cemara", "radius_km": 3},
        "price": {"target": 1_000_000_000, "tolerance": 0.123456, "currency": "IDR", "why": "x"},
        "bedrooms": {"exact": 3, "min": None},
        "floors": {},
        "garage": {"min": 1},
    },
    "notes": {"by": "Ani"},
}
"""A question that says what we drop, reword or do not know."""


def test_a_question_that_nobody_changed_is_written_as_it_stood() -> None:
    document = {"threshold_t": 0.65, "questions": [FULL], "made": "by hand"}
    gold = gold_questions.read("gold.json", data(document))

    assert gold_json(gold.questions, gold.threshold, gold.extra) == document


def test_of_a_changed_question_only_what_was_changed_is_written_anew() -> None:
    question = gold_questions.read("gold.json", data({"questions": [FULL]})).questions[0]
    asked = replace(question.constraints, bedrooms=Range(minimum=Fraction(2)))

    found = gold_json([replace(question, constraints=asked)], None, {})["questions"][0]

    expected = {**FULL["constraints"], "bedrooms": {"min": 2}}
    assert found["constraints"] == expected
    assert found["notes"] == {"by": "Ani"}
    without = replace(question, constraints=replace(question.constraints, price=None))
    assert "price" not in gold_json([without], None, {})["questions"][0]["constraints"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"id": "4"}, "questions[0].id is wrong; found: a text"),
        ({"question": ""}, "questions[0].question is wrong; found: an empty text"),
        ({"expected_result": "some"}, "found: a text; expected: “has_data” or “no_data”"),
        ({"evaluation_mode": "hand"}, "expected: “auto” or “manual”"),
        ({"constraints": True}, "questions[0].constraints is wrong"),
        ({"constraints": {"price": 5}}, "questions[0].constraints.price is wrong"),
        (
            {"constraints": {"price": {"max": "800 juta"}}},
            "questions[0].constraints.price.max is wrong; found: a text; expected: a number from 0",
        ),
        ({"constraints": {"price": {"tolerance": 2}}}, "expected: a number from 0 to 1"),
        ({"constraints": {"location": {"lat": 98.7}}}, "expected: a latitude from -90 to 90"),
        ({"constraints": {"location": {"keywords": "cemara"}}}, "location.keywords is wrong"),
    ],
)
def test_one_wrong_question_refuses_the_file(change: dict[str, Any], told: str) -> None:
    questions = [{**GOLD["questions"][0], **change}, GOLD["questions"][1]]
    with pytest.raises(UnusableQuestions) as refused:
        gold_questions.read("gold.json", data({"questions": questions}))

    with speaking("en"):
        assert told in problems.message(refused.value.problem)


def test_every_problem_of_the_file_is_told() -> None:
    missing = {"id": 4, "question": "ada?"}
    with pytest.raises(UnusableQuestions) as refused:
        gold_questions.read("g.json", data({"questions": [missing, GOLD["questions"][0], 5] * 2}))

    codes = [problem.code for problem in refused.value.problems]
    assert codes == ["value_missing", "value_wrong", "value_missing", "question_id_repeated",
                     "value_wrong"]  # fmt: skip


@pytest.mark.parametrize(
    ("data", "error"),
    [
        *((one, UnusableQuestions) for one in (b"[]", b"{}", b'{"questions": []}', b'"text"')),
        (b"id,question\n", UnreadableFile),
    ],
)
def test_another_file_is_refused(data: bytes, error: type[Exception]) -> None:
    with pytest.raises(error):
        gold_questions.read("gold.json", data)


@pytest.mark.parametrize("text", NOTHING)
def test_a_gold_question_asks_nothing_where_a_dash_or_the_like_stands(text: str) -> None:
    asked = {
        "id": 1,
        "question": "rumah di medan",
        "expected_result": "has_data",
        "category": text,
        "evaluation_mode": text,
        "constraints": {
            "property_type": text,
            "listing_type": text,
            "location": {"keywords": [text, "medan"], "lat": text, "radius_km": text},
            "price": {"min": text, "max": 5, "tolerance": text},
            "bedrooms": text,
            "floors": {"exact": text},
        },
    }
    gold = gold_questions.read("gold.json", data({"threshold_t": text, "questions": [asked]}))

    (question,) = gold.questions
    asks = question.constraints
    assert (gold.threshold, question.category, question.manual) == (None, "", False)
    assert (asks.property_type, asks.listing_type, asks.bedrooms, asks.floors) == (None,) * 4
    assert asks.location is not None
    assert (asks.location.keywords, asks.location.radius_km) == (("medan",), 2)
    assert asks.price is not None
    assert asks.price == Range(maximum=Fraction(5))


CEMARA = {"name": "Cemara", "keywords": ["cemara", " "], "lat": 3.6, "lng": 98.7, "radius_km": 3}


def test_a_place_has_its_words_its_point_and_its_radius() -> None:
    listed = {"a": CEMARA, "b": {"lat": 3.5, "lng": 98.6}}
    read = gold_questions.read_places("locations.json", data({"locations": listed}))

    assert gold_questions.places(read) == (
        KnownPlace("Cemara", ("cemara",), 3.6, 98.7, 3.0),
        KnownPlace("b", (), 3.5, 98.6, 2.0),
    )
    assert gold_questions.places(None) == gold_questions.places([]) == ()
    assert gold_questions.places({"a": 1, "b": {"lat": "x", "lng": 1}}) == ()


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"locations": []},
        {"locations": {"a": 1}},
        {"locations": {"a": {**CEMARA, "lat": 91}}},
        {"locations": {"a": {**CEMARA, "radius_km": -1}}},
    ],
)
def test_a_file_of_places_that_is_wrong_is_refused_whole(document: object) -> None:
    with pytest.raises(UnusablePlaces):
        gold_questions.read_places("locations.json", data(document))
