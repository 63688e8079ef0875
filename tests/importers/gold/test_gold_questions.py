from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

from relevansi.i18n import speaking
from relevansi.importers.gold import gold_questions, listed_properties
from relevansi.importers.gold.listed_properties import ListedResults
from relevansi.importers.runs import problems
from relevansi.importers.runs.problems import (
    ImportRefused,
    UnknownRunFormat,
    UnreadableFile,
    UnusableQuestions,
)
from relevansi.metrics.gold.constraint_rules import CardFacts, Constraints, Place, Range
from relevansi.metrics.gold.constraints import DEFAULT_THRESHOLD, Expected
from tests.importers.runs.cards import NOTHING

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
    assert first.constraints == Constraints(
        property_type="house",
        location=Place(("cemara",), (3.6, 98.7), 3.0),
        price=Range(Fraction(10**9), Fraction(1999999999), tolerance=Fraction(1, 10)),
        bedrooms=Range(exact=Fraction(3)),
    )
    assert (first.expected, first.manual) == (Expected.HAS_DATA, False)
    assert (second.expected, second.manual) == (Expected.NO_DATA, True)
    assert second.constraints == Constraints()
    assert gold.document == GOLD


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
    result = gold_questions.read("gold.json", data({"questions": [question]}))

    assert result.questions[0].constraints == Constraints()
    assert result.threshold == DEFAULT_THRESHOLD


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


def test_a_document_is_kept_as_it_stood() -> None:
    document = {"threshold_t": 0.65, "questions": [FULL], "made": "by hand"}

    assert gold_questions.read("gold.json", data(document)).document == document


@pytest.mark.parametrize(
    ("change", "place"),
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
def test_one_wrong_question_refuses_the_file(change: dict[str, Any], place: str) -> None:
    questions = [{**GOLD["questions"][0], **change}, GOLD["questions"][1]]
    with pytest.raises(UnusableQuestions) as refused:
        gold_questions.read("gold.json", data({"questions": questions}))

    with speaking("en"):
        assert place in problems.message(refused.value.problem)


def test_every_problem_of_the_file_is_told() -> None:
    missing = {"id": 4, "question": "ada?"}
    with pytest.raises(UnusableQuestions) as refused:
        gold_questions.read("g.json", data({"questions": [missing, GOLD["questions"][0], 5] * 2}))

    codes = [problem.code for problem in refused.value.problems]
    assert codes == ["value_missing", "value_wrong", "value_missing", "question_id_repeated",
                     "value_wrong"]  # fmt: skip


def test_a_problem_names_the_line_on_which_its_question_begins() -> None:
    text = """{"about": {"questions": [1]}, "threshold_t": 0.6,
 "questions": [
  {"id": 1, "question": "Rumah, \\"murah\\" [2]?",
   "expected_result": "has_data"}, {"id": 2,
   "question": "Ruko?", "expected_result": "many"},
  {"id": 3}
 ], "locations": {}}"""
    with pytest.raises(UnusableQuestions) as refused:
        gold_questions.read("g.json", text.encode())

    assert {(problem.line, problem.query_id) for problem in refused.value.problems} == {
        (4, 2),
        (6, 3),
    }
    with speaking("en"):
        assert "line 4, questions[1].expected_result" in problems.message(refused.value.problem)


@pytest.mark.parametrize(
    ("data", "error"),
    [
        *(
            (content, UnusableQuestions)
            for content in (b"[]", b"{}", b'{"questions": []}', b'"text"')
        ),
        (b"id,question\n", UnreadableFile),
    ],
)
def test_another_file_is_refused(data: bytes, error: type[Exception]) -> None:
    with pytest.raises(error):
        gold_questions.read("gold.json", data)


@pytest.mark.parametrize("text", NOTHING)
def test_a_gold_question_asks_nothing_where_a_dash_or_the_like_stands(text: str) -> None:
    entry = {
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
    gold = gold_questions.read("gold.json", data({"threshold_t": text, "questions": [entry]}))

    (question,) = gold.questions
    asks = question.constraints
    assert (gold.threshold, question.category, question.manual) == (DEFAULT_THRESHOLD, "", False)
    assert (asks.property_type, asks.listing_type, asks.bedrooms, asks.floors) == (None,) * 4
    assert asks.location is not None
    assert (asks.location.keywords, asks.location.radius_km) == (("medan",), 2)
    assert asks.price is not None
    assert asks.price == Range(max=Fraction(5))


def read(*entries: object) -> ListedResults:
    return listed_properties.read("results.json", json.dumps({"results": entries}).encode())


def facts(**raw: object) -> CardFacts:
    return listed_properties.facts_of([raw])[0]


def codes_of(results: ListedResults) -> list[str]:
    with speaking("en"):
        return [problems.message(problem) for problem in results.problems]


def test_what_the_listing_says_stands_over_what_was_parsed_null_included() -> None:
    card = facts(
        name="Rumah",
        location="Cemara",
        price=1,
        bedrooms=3,
        verified=True,
        api_data={"price": "2000000000", "bedrooms": None, "address": "Jl. A", "floors": 2},
    )

    assert card == CardFacts(
        name="Rumah",
        location="Cemara",
        address="Jl. A",
        price=Fraction(2_000_000_000),
        bedrooms=None,
        floors=Fraction(2),
    )


def test_zero_rooms_floors_and_coordinates_are_absent_and_price_0_is_a_price() -> None:
    for verified in (False, None, "true"):
        assert facts(price=1, verified=verified, api_data={"price": "2"}).price == 1
    card = facts(price=0, bedrooms=0, floors=0, latitude=0, longitude=0.0)

    assert card == CardFacts(price=Fraction(0))


@pytest.mark.parametrize(
    ("value", "number"),
    [(3, 3), ("3", 3), (" 3 ", 3), (2.5, Fraction(5, 2)), ("", None), (None, None)],
)
def test_numbers_may_be_written_as_text(value: object, number: object) -> None:
    assert facts(bedrooms=value).bedrooms == number


@pytest.mark.parametrize(
    "value",
    ["1e999999999", "-1e400", "1e-999999999", "Rp 2 M", True, [3], -1, "1/0", "3/2", "9" * 40],
)
def test_a_number_that_cannot_be_read_counts_as_missing_and_is_told(value: object) -> None:
    result = read({"query_id": 1, "properties": [{"price": value}]})

    assert result.cards[1] == (CardFacts(),)
    assert codes_of(result)[0].startswith("results.json: results[0].properties[0].price is wrong")
    assert "It counts as not on the card." in codes_of(result)[0]


def test_bad_entries_are_told_and_the_good_ones_kept() -> None:
    result = read(
        {"properties": []},
        {"query_id": 2, "properties": [{}], "properties_count": 3},
        {"query_id": 2, "properties": []},
        {"query_id": 3, "properties": None, "properties_count": 0},
        {"query_id": 4, "properties": ["x", {"name": "Rumah"}]},
    )

    assert {query: len(cards) for query, cards in result.cards.items()} == {2: 1, 3: 0, 4: 2}
    assert result.cards[4] == (CardFacts(), CardFacts(name="Rumah"))
    assert [problem.code for problem in result.problems] == [
        "value_missing",
        "properties_differ",
        "query_repeated",
        "value_wrong",
    ]


@pytest.mark.parametrize("text", NOTHING)
def test_a_verified_record_that_says_nothing_stands_as_null_over_the_answer(text: str) -> None:
    """A field of the record replaces the parsed one, null included."""
    record = dict.fromkeys(("location", "price", "bedrooms", "listing_type"), text)
    parsed = {"location": "Cemara", "price": 5, "bedrooms": 3, "listing_type": "sale"}

    card = facts(**{**parsed, "name": "A", "verified": True, "api_data": record})

    assert card == CardFacts(name="A")
    blank = dict.fromkeys(("location", "price", "bedrooms", "latitude", "slug"), text)
    assert facts(**blank) == CardFacts()


@pytest.mark.parametrize(
    ("document", "error"),
    [
        *(([], UnknownRunFormat), ({}, UnknownRunFormat), ({"results": 5}, UnknownRunFormat)),
        ({"results": [{"query_id": 1, "results_count": 3}]}, UnknownRunFormat),
        ({"results": [{"query_id": "x", "properties": []}]}, ImportRefused),
    ],
)
def test_other_results_are_refused(document: object, error: type[Exception]) -> None:
    with pytest.raises(error):
        listed_properties.read("results.json", json.dumps(document).encode())
