from __future__ import annotations

import json
from fractions import Fraction

import pytest

from tests.importers.runs.cards import NOTHING
from webapp.i18n import speaking
from webapp.importers.gold import listed_properties
from webapp.importers.gold.listed_properties import ListedResults
from webapp.importers.runs import problems
from webapp.importers.runs.problems import ImportRefused, UnknownRunFormat
from webapp.metrics.gold.constraint_rules import CardFacts


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
    "value", ["1e999999999", "-1e400", "1e-999999999", "Rp 2 M", True, [3], -1, "1/0", "9" * 40]
)
def test_a_number_that_cannot_be_read_counts_as_missing_and_is_told(value: object) -> None:
    found = read({"query_id": 1, "properties": [{"price": value}]})

    assert found.cards[1] == (CardFacts(),)
    assert told(found)[0].startswith("results.json: results[0].properties[0].price is wrong")
    assert "It counts as not on the card." in told(found)[0]


def test_bad_entries_are_told_and_the_good_ones_kept() -> None:
    found = read(
        {"properties": []},
        {"query_id": 2, "properties": [{}], "properties_count": 3},
        {"query_id": 2, "properties": []},
        {"query_id": 3, "properties": None, "properties_count": 0},
        {"query_id": 4, "properties": ["x", {"name": "Rumah"}]},
    )

    assert {query: len(cards) for query, cards in found.cards.items()} == {2: 1, 3: 0, 4: 2}
    assert found.cards[4] == (CardFacts(), CardFacts(name="Rumah"))
    assert [problem.code for problem in found.problems] == [
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

    assert card == CardFacts(name="A", verified=True)
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
def test_another_file_is_refused(document: object, error: type[Exception]) -> None:
    with pytest.raises(error):
        listed_properties.read("results.json", json.dumps(document).encode())
