"""Cards are written as a chatbot would, and every style is read back the same."""

from __future__ import annotations

import pytest

from webapp.importers.runs.property_cards import PLAIN, Style, parse, render
from webapp.records import Card

CARD = Card(
    title="Rumah *Cemara* [baru",
    url="https://rumah.example/properti/a",
    slug="a",
    price=1_500_000_000,
    price_note="sale",
    location="Medan",
    bedrooms=3,
    land_area=105.0,
    certificate="SHM",
    listing_type="sale",
    source="listing",
)


def test_a_card_has_its_title_and_a_line_for_each_fact() -> None:
    assert render([CARD]).splitlines() == [
        r"1. **[Rumah \*Cemara\* \[baru](https://rumah.example/properti/a)**",
        "   🔄 Resale",
        "   📍 Medan",
        "   💰 Rp 1.500.000.000 (sale)",
        "   🏠 3 Kamar Tidur, LT 105.0m²",
        "   📜 SHM",
    ]


@pytest.mark.parametrize(
    "style",
    [
        PLAIN,
        Style(bold=False),
        Style(linked_titles=False, bullet="- "),
        Style(number_mark=")", thousands=",", selectors=True),
        Style(short_prices=True, indonesian_notes=True, short_rooms=True),
        Style(section_size=1, indent=""),
    ],
)
def test_whatever_the_style_the_same_cards_are_read(style: Style) -> None:
    second = Card(title="Ruko", price=750_000_000, bathrooms=2)

    assert parse(render([CARD, second], style)) == (CARD, second)


@pytest.mark.parametrize(
    ("rupiah", "written"),
    [
        (1_500_000_000, "Rp 1,5 M"),
        (800_000_000, "Rp 800 jt"),
        (1_234_000_000, "Rp 1.234.000.000"),  # no whole tenth of a milyar
        (999, "Rp 999"),
    ],
)
def test_a_price_is_written_short_only_where_that_is_exact(rupiah: int, written: str) -> None:
    text = render([Card(title="A", price=rupiah)], Style(short_prices=True))

    assert f"💰 {written}" in text


def test_numbers_begin_anew_under_each_heading() -> None:
    text = render([Card(title=name) for name in "abc"], Style(section_size=2))

    headings = [line for line in text.splitlines() if line]
    assert headings == [
        "### Bagian 1", "1. **a**", "2. **b**", "### Bagian 2", "1. **c**",
    ]  # fmt: skip
