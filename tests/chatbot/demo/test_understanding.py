"""The demo chatbot understands Indonesian questions, and which of them follow an earlier one."""

from __future__ import annotations

from typing import Any

import pytest

from webapp.chatbot.demo.listings import load
from webapp.chatbot.demo.places import Gazetteer
from webapp.chatbot.demo.understanding import Understanding, is_follow_up, modify, understand
from webapp.config import resource

GAZETTEER = Gazetteer(load(resource("seeds") / "catalogue.json"))
MILLION, BILLION = 10**6, 10**9


def understood(question: str) -> Understanding:
    return understand(question, GAZETTEER)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Carikan rumah dijual di daerah cemara", ("house", "sale", "cemara")),
        ("Carikan rumah sewa di medan", ("house", "rent", None)),
        ("apakah ada ruko yang disewakan di daerah krakatau?", ("shophouse", "rent", "krakatau")),
        ("saya lagi cari tanah yang dijual di marelan", ("land", "sale", "marelan")),
        ("apakah ada gudang yang dijual atau disewa di KIM?", ("warehouse", None, "kim")),
        ("Saya ingin beli rumah di dekat podomoro medan", ("house", "sale", "podomoro")),
        ("cari apartment di podomoro", ("apartment", None, "podomoro")),
        ("cari rumah di citraland bagya city medan", ("house", None, "citraland bagya city")),
        ("kontrakan di Padang Bulan", (None, "rent", "padang bulan")),
    ],
)
def test_type_deal_and_place_are_understood(
    question: str, expected: tuple[str | None, ...]
) -> None:
    found = understood(question)

    assert (found.property_type, found.listing_type, found.place) == expected


@pytest.mark.parametrize(
    ("words", "lowest", "highest"),
    [
        ("harga dibawah 800juta", None, 800 * MILLION),
        ("di bawah 800 jt", None, 800 * MILLION),
        ("harganya dibawah 1.5 M", None, 1500 * MILLION),
        ("maksimal 1,5 milyar", None, 1500 * MILLION),
        ("harga 1M an", 800 * MILLION, 1300 * MILLION),
        ("harga 1M-an", 800 * MILLION, 1300 * MILLION),
        ("sekitar 500 juta", 400 * MILLION, 650 * MILLION),
        ("di atas 2 M", 2 * BILLION, None),
        ("antara 500 juta dan 1 M", 500 * MILLION, BILLION),
        ("500 juta - 800 juta", 500 * MILLION, 800 * MILLION),
        ("luas 120 m2", None, None),
        ("3 kamar", None, None),
    ],
)
def test_prices_are_understood(words: str, lowest: int | None, highest: int | None) -> None:
    found = understood(f"rumah di johor {words}")

    assert (found.min_price, found.max_price) == (lowest, highest)


@pytest.mark.parametrize(
    ("words", "bedrooms", "floors"),
    [
        ("3 kamar", 3, None),
        ("tiga kamar tidur", 3, None),
        ("2 kamar mandi", None, None),
        ("yang 3 lantai", None, 3),
        ("4 KT 2 lantai", 4, 2),
    ],
)
def test_rooms_and_floors_are_understood(
    words: str, bedrooms: int | None, floors: int | None
) -> None:
    found = understood(f"rumah {words}")

    assert (found.bedrooms, found.floors) == (bedrooms, floors)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("cari rumah dekat mall", {"kind": "mall", "place": None}),
        ("rumah dekat dengan rumah sakit", {"kind": "rumah sakit", "property_type": "house"}),
        ("sewa dekat usu", {"place": "usu", "near": True}),
        ("rumah di daerah podomoro", {"place": "podomoro", "near": False}),
        ("rumah di inti kota medan", {"place": None, "elsewhere": "inti kota"}),
        ("rumah di jakarta dibawah 1M", {"elsewhere": "jakarta", "max_price": BILLION}),
        ("rumah ada ac dan kolam renang", {"facilities": ("kolam renang", "AC")}),
    ],
)
def test_landmarks_other_places_and_facilities_are_understood(
    question: str, expected: dict[str, Any]
) -> None:
    found = understood(question)

    assert {name: getattr(found, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("message", "follows"),
    [
        ("Apakah masih ada pilihan lain?", True),
        ("Berikan lagi pilihan lain", True),
        ("kasih pilihan lain, lokasi dan harga masih sama, tapi yang 3 lantai?", True),
        ("yang 3 lantai", True),
        ("dibawah 800 juta", True),
        ("kalau di johor?", True),
        ("Client saya lagi cari sewa dekat usu, anaknya mau kuliah disana", False),
        ("apakah masih ada rumah di johor?", False),
        ("cari rumah dekat mall", False),
        ("carikan tanah", False),
    ],
)
def test_a_follow_up_is_told_from_a_new_question(message: str, *, follows: bool) -> None:
    assert is_follow_up(message, understood(message)) is follows


def test_a_follow_up_changes_what_it_says_and_keeps_the_rest() -> None:
    first = understood("rumah dijual daerah ringroad harga 1M an 3 kamar")

    changed = modify(first, understood("tapi yang 3 lantai, dibawah 800 juta"))

    assert changed == Understanding(
        property_type="house",
        listing_type="sale",
        place="ringroad",
        max_price=800 * MILLION,  # and no lowest price any more
        bedrooms=3,
        floors=3,
    )


def test_a_new_place_replaces_the_old_one_whole() -> None:
    changed = modify(understood("rumah dekat mall"), understood("kalau di johor?"))

    assert (changed.property_type, changed.kind, changed.place) == ("house", None, "johor")
