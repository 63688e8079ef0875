"""The properties of a V2 file as the constraints see them."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from webapp.i18n import speaking
from webapp.importers.gold import listed_properties
from webapp.importers.gold.listed_properties import ListedResults
from webapp.importers.runs import problems
from webapp.importers.runs.problems import NoReadableQuery, UnknownRunFormat
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
    with pytest.raises(NoReadableQuery):
        read({"query_id": "x", "properties": []})
