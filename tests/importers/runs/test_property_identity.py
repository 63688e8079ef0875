"""A property is known by its slug, its number or its title; content differs where it matters."""

from __future__ import annotations

import pytest

from webapp.importers.runs.property_particulars import differences, fullest, identity, same_content
from webapp.records import Card


@pytest.mark.parametrize(
    ("card", "name"),
    [
        (Card(title="A", slug="a", listing_id="7"), "slug:a"),
        (Card(title="A", listing_id="7"), "id:7"),
        (Card(title=" Rumah, CEMARA!", location="Medan  Timur"), "title:rumah cemara|medan timur"),
        (Card(title="Rumah"), "title:rumah|"),
    ],
)
def test_the_surest_mark_of_a_property_is_its_identity(card: Card, name: str) -> None:
    assert identity(card) == name


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        ({"price": 1}, {"price": 2}, ("price",)),
        ({"price": 1}, {"price": 1, "price_max": 2}, ("price",)),
        ({"price": 1}, {}, ()),
        ({"price_note": "sale"}, {"price_note": "rent"}, ("price_note",)),
        ({"bedrooms": 2, "price": 1}, {"bedrooms": 3, "price": 2}, ("price", "bedrooms")),
        ({"location": "Jl. Cemara"}, {"location": "cemara, Medan, jl"}, ()),  # a part of it
        ({"location": "Cemara"}, {"location": "Krakatau"}, ("location",)),
        ({"bathrooms": 1, "floors": 1}, {"bathrooms": 2, "floors": 2}, ()),
    ],
)
def test_only_stated_facts_that_matter_contradict_each_other(
    one: dict[str, object], other: dict[str, object], found: tuple[str, ...]
) -> None:
    first, second = Card(title="A", **one), Card(title="B", **other)  # type: ignore[arg-type]

    assert differences(first, second) == differences(second, first) == found
    assert same_content(first, second) == (not found)


def test_the_fullest_version_has_every_fact_and_the_longer_place() -> None:
    known = Card(title="A", price=1, location="Cemara")
    other = Card(title="B", price=2, bedrooms=3, location="Cemara, Medan")

    assert fullest(known, other) == Card(title="A", price=1, bedrooms=3, location="Cemara, Medan")
    assert fullest(other, known) == other
