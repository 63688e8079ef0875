"""Properties fill what the answer leaves out of its cards."""

from __future__ import annotations

import pytest

from tests.importers.runs.blank_signs import NOTHING
from tests.importers.runs.run_files import SITE, query, read, told, v2, v2_entry
from webapp.importers.runs.property_particulars import enriched, fill, read_properties
from webapp.records import Card


def test_the_answer_stands_and_properties_fill_what_it_does_not_say() -> None:
    known = {
        "name": "Another",
        "slug": "a",
        "location": "Binjai",
        "price": 1,
        "bedrooms": 4,
        "bathrooms": 0,
        "land_area": 84,
        "building_area": 54.5,
        "floors": 2,
        "certificate": "SHM",
        "listing_type": "sale",
        "source": "listing",
        "api_id": 77,
        "image_url": "https://cdn.example/a.jpg",
        "api_data": {"bathrooms": 9, "images": [{"image_url": "https://cdn.example/b.jpg"}]},
    }
    first, second = query(v2(v2_entry(known, {"slug": "b", "price": 0, "bedrooms": 9}))).cards

    assert (first.title, first.location, first.price) == ("Rumah A", "Medan", 800_000_000)
    assert (first.bedrooms, first.bathrooms, first.floors) == (4, None, 2)
    assert (first.land_area, first.building_area) == (84.0, 54.5)
    assert (first.certificate, first.listing_type, first.listing_id) == ("SHM", "sale", "77")
    assert first.image_url == "https://cdn.example/a.jpg"
    assert (second.price, second.bedrooms) == (None, 3)


def test_repeated_slugs_are_matched_in_order_and_the_last_one_stays() -> None:
    response = "\n".join(f"{n}. [A]({SITE}/a)" for n in (1, 2, 3))
    properties = [{"slug": "a", "price": 5}, {"slug": "a", "price": 7}]

    cards = query(v2(v2_entry(*properties, response=response))).cards

    assert [card.price for card in cards] == [5, 7, 7]


def test_without_a_slug_position_and_title_must_agree() -> None:
    response = "1. **Rumah A**\n2. **Rumah B**\n3. **Rumah C**"
    properties = [{"name": "rumah  a", "price": 5}, {"name": "X", "price": 7}]

    cards = query(v2(v2_entry(*properties, response=response, properties_count=3))).cards

    assert [card.price for card in cards] == [5, None, None]


@pytest.mark.parametrize("value", ["a", "-5", "1e400", -5, 0, 10**40, 1.5, ""])
def test_a_price_that_cannot_be_is_not_known(value: object) -> None:
    card = query(v2(v2_entry({}, {"slug": "b", "price": value}))).cards[1]

    assert card.price is None


def test_a_broken_property_value_is_reported_and_the_others_used() -> None:
    run = read(v2(v2_entry({"slug": "a", "bedrooms": [3], "floors": 2}, {})))

    assert run.queries[0].cards[0].floors == 2
    assert "results[0].properties[0].bedrooms" in told(run)


@pytest.mark.parametrize("text", NOTHING)
def test_a_property_that_lists_dashes_fills_nothing_on_its_card(text: str) -> None:
    listed = dict.fromkeys(("slug", "url", "api_id", "price", "floors", "certificate"), text)
    properties, problems = read_properties("r.json", "results[0]", [{"name": "Rumah A", **listed}])

    (card,) = fill([Card(title="Rumah A")], properties)

    assert problems == []
    assert card == Card(title="Rumah A")


def test_two_files_of_a_session_list_a_property_once_with_what_each_says() -> None:
    address = "https://x.example/properti/a"
    first = [{"id": 7, "title": "A", "url": address, "price": 5, "city": None}]
    second: list[dict[str, object]] = [
        {"name": "B", "slug": "b"},
        {"name": "A", "slug": "a", "price": 6, "city": "Medan", "api_data": {"floors": 2}},
    ]

    assert enriched(first, second) == [{**second[1], **first[0], "city": "Medan"}]
    assert enriched(None, second) == second
    assert enriched(first, None) == first
