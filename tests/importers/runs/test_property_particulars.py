"""Details of a property beyond its card, and the answer lines that no field takes."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webapp.importers.runs import json_runs, property_cards, property_particulars
from webapp.importers.runs.property_particulars import LONGEST_TEXT
from webapp.records import ListedText, Particulars

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


def test_what_stands_beside_a_card_changes_nothing_of_it() -> None:
    without = ANSWER.replace("✨ Fasilitas: kolam renang, [gym](https://x.example/gym)", "")

    assert property_cards.parse(ANSWER) == property_cards.parse(without)


@given(st.text(alphabet="#1. *[]()_\n🏠📍abc\\", max_size=200))
def test_any_text_is_read_with_a_text_for_each_card(answer: str) -> None:
    assert tuple(card for card, _ in property_cards.read(answer)) == property_cards.parse(answer)


def test_what_describes_a_property_is_read_under_any_of_its_names() -> None:
    said = property_particulars.read_particulars(
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

    assert said == Particulars(
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

    assert [(one.code, one.details["count"]) for one in read.problems] == [
        ("description_long", LONGEST_TEXT + 1)
    ]
    assert len(property_particulars.read_particulars(listed[0]).description) == LONGEST_TEXT
