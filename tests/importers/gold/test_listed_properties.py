"""The properties of a V2 file as the constraints see them."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from tests.importers.runs.cards import NOTHING
from webapp.i18n import speaking
from webapp.importers.gold import gold_questions, listed_properties
from webapp.importers.gold.listed_properties import ListedResults, facts_of
from webapp.importers.runs import problems
from webapp.importers.runs.problems import ImportRefused, UnknownRunFormat, UnusableQuestions
from webapp.metrics.gold.constraint_rules import CardFacts, Range


def read(*entries: object) -> ListedResults:
    return listed_properties.read("results.json", json.dumps({"results": entries}).encode())


def facts(**raw: object) -> CardFacts:
    return listed_properties.facts_of([raw])[0]


def told(found: ListedResults) -> list[str]:
    with speaking("en"):
        return [problems.message(problem) for problem in found.problems]


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
        verified=True,
    )


@pytest.mark.parametrize("verified", [False, None, "true"])
def test_an_unverified_property_is_as_it_was_parsed(verified: object) -> None:
    assert facts(price=1, verified=verified, api_data={"price": "2"}).price == 1


def test_zero_rooms_floors_and_coordinates_are_absent_and_price_0_is_a_price() -> None:
    card = facts(price=0, bedrooms=0, floors=0, latitude=0, longitude=0.0)

    assert card == CardFacts(price=Fraction(0))


@pytest.mark.parametrize(
    ("value", "number"),
    [(3, 3), ("3", 3), (" 3 ", 3), (2.5, Fraction(5, 2)), ("", None), (None, None)],
)
def test_numbers_may_be_written_as_text(value: object, number: object) -> None:
    assert facts(bedrooms=value).bedrooms == number


@pytest.mark.parametrize(
    "value", ["1e999999999", "-1e400", "1e-999999999", "Rp 2 M", True, [3], -1, "1/0", "9" * 40]
)
def test_a_number_that_cannot_be_read_counts_as_missing_and_is_told(value: object) -> None:
    found = read({"query_id": 1, "properties": [{"price": value}]})

    assert found.cards[1] == (CardFacts(),)
    assert told(found)[0].startswith("results.json: results[0].properties[0].price is wrong")
    assert "It counts as not on the card." in told(found)[0]


def test_a_property_that_is_none_keeps_its_place() -> None:
    found = read({"query_id": 1, "properties": ["x", {"name": "Rumah"}]})

    assert found.cards[1] == (CardFacts(), CardFacts(name="Rumah"))
    assert len(found.problems) == 1


def test_bad_entries_are_told_and_the_good_ones_kept() -> None:
    found = read(
        {"properties": []},
        {"query_id": 2, "properties": [{}], "properties_count": 3},
        {"query_id": 2, "properties": []},
        {"query_id": 3, "properties": None, "properties_count": 0},
    )

    assert {query: len(cards) for query, cards in found.cards.items()} == {2: 1, 3: 0}
    assert [problem.code for problem in found.problems] == [
        "value_missing",
        "properties_differ",
        "query_repeated",
    ]


@pytest.mark.parametrize(
    "document", [[], {}, {"results": 5}, {"results": [{"query_id": 1, "results_count": 3}]}]
)
def test_another_file_is_refused(document: object) -> None:
    with pytest.raises(UnknownRunFormat):
        listed_properties.read("results.json", json.dumps(document).encode())


def test_a_file_without_one_entry_that_can_be_used_is_refused() -> None:
    with pytest.raises(ImportRefused):
        read({"query_id": "x", "properties": []})


@pytest.mark.parametrize("text", NOTHING)
def test_a_property_has_no_place_where_none_is_said(text: str) -> None:
    raw = {"location": text, "price": text, "bedrooms": text, "latitude": text, "slug": text}
    (facts,) = facts_of([raw])

    assert (facts.location, facts.price, facts.bedrooms) == ("", None, None)
    assert (facts.latitude, facts.slug) == (None, None)


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
    data = json.dumps({"threshold_t": text, "questions": [asked]}).encode()

    gold = gold_questions.read("gold.json", data)

    (question,) = gold.questions
    asks = question.constraints
    assert (gold.threshold, question.category, question.manual) == (None, "", False)
    assert (asks.property_type, asks.listing_type, asks.bedrooms, asks.floors) == (None,) * 4
    assert asks.location is not None
    assert (asks.location.keywords, asks.location.radius_km) == (("medan",), 2)
    assert asks.price is not None
    assert asks.price == Range(maximum=Fraction(5))


def test_a_question_that_is_only_a_dash_is_refused_as_empty() -> None:
    entry = {"id": 1, "question": "-", "expected_result": "has_data"}

    with pytest.raises(UnusableQuestions) as refused:
        gold_questions.read("q.json", json.dumps({"questions": [entry]}).encode())

    (problem,) = refused.value.problems
    assert problem.details["found"] == "empty_text"


@pytest.mark.parametrize("text", NOTHING)
def test_a_verified_record_that_says_nothing_stands_as_null_over_the_answer(text: str) -> None:
    """A field of the record replaces the parsed one, null included."""
    record = dict.fromkeys(("location", "price", "bedrooms", "listing_type"), text)
    parsed = {"location": "Cemara", "price": 5, "bedrooms": 3, "listing_type": "sale"}

    (facts,) = facts_of([{**parsed, "name": "A", "verified": True, "api_data": record}])

    assert (facts.name, facts.location, facts.price) == ("A", "", None)
    assert (facts.bedrooms, facts.listing_type) == (None, None)
