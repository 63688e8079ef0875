"""Details of a property beyond its card, and the answer lines that no field takes."""

from __future__ import annotations

import json

import pytest

from relevansi.importers.runs import json_runs, property_cards, property_particulars
from relevansi.importers.runs.property_particulars import LONGEST_TEXT, enriched
from relevansi.kinds.property import Card, ListedText, Particulars
from tests.importers.runs.run_files import SITE, described, query, read, v2, v2_entry

ANSWER = """Berikut rumah dekat mall:

### Dekat **Sun Plaza** (300m - 1.2km)
1. **[Rumah A](https://x.example/properti/a)**
   📍 Jl. Zainul Arifin
   🏠 3 Kamar Tidur, LT 90m², carport 2 mobil
   ✨ Fasilitas: kolam renang, [gym](https://x.example/gym)

2. **[Rumah B](https://x.example/properti/b)** - dekat gerbang tol
   🏠 2 Kamar Tidur, 1 Kamar Mandi, LT 105.0m² (Detail ukuran tidak tersedia)

### 2. Dekat Centre Point
1. **Rumah C**
   💰 Rp 800 jt

Jika Anda ingin melihat pilihan lain, silakan beri tahu saya!
"""


def test_a_card_keeps_its_section_and_the_lines_that_fill_no_field() -> None:
    assert [text for _, text in property_cards.read(ANSWER)] == [
        ListedText(
            "Dekat Sun Plaza (300m - 1.2km)",
            ("🏠 3 Kamar Tidur, LT 90m², carport 2 mobil", "✨ Fasilitas: kolam renang, gym"),
        ),
        ListedText("Dekat Sun Plaza (300m - 1.2km)", ("dekat gerbang tol",)),
        ListedText("Dekat Centre Point"),
    ]


def test_what_describes_a_property_is_read_under_any_of_its_names() -> None:
    particulars = property_particulars.read_particulars(
        {
            "Deskripsi": "Rumah asri.\r\n<p>Hadap <b>timur</b> &amp; sejuk</p>",
            "fasilitas": ["CCTV", {"name": "Gym", "distance_m": 40}, "CCTV", None],
            "alamat": "Jl. Setia Budi 1, Medan",
            "specifications": {"garasi": 2, "tinggi_plafon": "3 m", "pool": True, "x": None},
            "nearby": [{"name": "USU", "distance_km": 1.2}],
            "lat": "3.5656",
            "lng": 98.6565,
        }
    )

    assert particulars == Particulars(
        description="Rumah asri.\nHadap timur & sejuk",
        features=("CCTV", "Gym (40 m)"),
        facts=(
            ("address", "Jl. Setia Budi 1, Medan"),
            ("nearby", "USU (1.2 km)"),
            ("garage", "2"),
            ("tinggi plafon", "3 m"),
            ("pool", True),
        ),
        latitude=3.5656,
        longitude=98.6565,
    )


def test_nothing_that_tells_how_a_chatbot_searched_is_read() -> None:
    raw = {"score": 0.93, "rank": 1, "method": "hybrid", "retrieved_by": "vector", "llm": "x"}

    assert property_particulars.read_particulars(raw) == Particulars()


@pytest.mark.parametrize(
    "raw",
    [None, [], {"description": 7, "facilities": {"a": 1}, "lat": "north", "lng": 1}, {"lat": 0}],
)
def test_what_cannot_be_read_says_nothing(raw: object) -> None:
    assert property_particulars.read_particulars(raw) == Particulars()


def test_a_huge_description_is_capped_and_the_import_says_so() -> None:
    listed = [{"name": "A", "slug": "a", "description": "x" * (LONGEST_TEXT + 1)}]
    entry = {
        "query_id": 1, "question": "Q?", "category": "c", "properties": listed,
        "response": "1. **[A](https://x.example/properti/a)**",
    }  # fmt: skip
    read = json_runs.read("results.json", json.dumps({"method": "m", "results": [entry]}).encode())

    assert [(problem.code, problem.details["count"]) for problem in read.problems] == [
        ("description_long", LONGEST_TEXT + 1)
    ]
    assert len(property_particulars.read_particulars(listed[0]).description) == LONGEST_TEXT


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
    assert card.identity == name


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ({"price": 1}, {"price": 2}, False),
        ({"price": 1}, {"price": 1, "price_max": 2}, False),
        ({"price": 1}, {}, True),
        ({"price": 1}, {"price_max": 2}, True),
        ({"price_note": "sale"}, {"price_note": "rent"}, False),
        ({"bedrooms": 2}, {"bedrooms": 3}, False),
        ({"location": "Jl. Cemara"}, {"location": "cemara, Medan, jl"}, True),  # a part of it
        ({"location": "Cemara"}, {"location": "Krakatau"}, False),
        ({"location": "Cemara"}, {"location": ""}, True),
        ({"bathrooms": 1, "floors": 1}, {"bathrooms": 2, "floors": 2}, True),
    ],
)
def test_only_stated_facts_that_matter_contradict_each_other(
    first: dict[str, object], second: dict[str, object], same: bool
) -> None:
    a, b = Card(title="A", **first), Card(title="B", **second)  # type: ignore[arg-type]

    assert (not a.differences(b)) is (not b.differences(a)) is same


def test_the_fullest_version_has_every_fact_and_the_longer_place() -> None:
    stored = Card(title="A", price=1, location="Cemara")
    further = Card(title="B", price=2, bedrooms=3, location="Cemara, Medan")

    assert stored.fullest(further) == Card(title="A", price=1, bedrooms=3, location="Cemara, Medan")
    assert further.fullest(stored) == further


def test_the_answer_stands_and_properties_fill_what_it_does_not_say() -> None:
    listing = {
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
    first, second = query(v2(v2_entry(listing, {"slug": "b", "price": 0, "bedrooms": 9}))).cards

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
    assert "results[0].properties[0].bedrooms" in described(run)


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
