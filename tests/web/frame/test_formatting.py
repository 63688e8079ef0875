"""Prices as the pages print them: nobody may read another amount in one than the card says."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given

from tests.importers.runs.random_cards import cards
from webapp.i18n import speaking
from webapp.importers.runs.prices import Price, read_price
from webapp.records import Card
from webapp.web.frame.formatting import full_price, moment, period, price, short_rupiah


@pytest.mark.parametrize(
    ("low", "high", "printed"),
    [
        (800_000_000, 1_200_000_000, "Rp 800 jt – Rp 1,2 M"),
        (1_200_000_000, 1_500_000_000, "Rp 1,2 M – Rp 1,5 M"),
        (10_000, 312_500_000_000, "Rp 10.000 – Rp 312,5 M"),
        (1, 312_500_000_000, "Rp 1 – Rp 312.500.000.000"),  # "1 – 312,5 M" would be 1 M up
        (1_670_000_000, 1_671_000_000, "Rp 1,67 M – Rp 1,671 M"),
        (1_670_000_000, None, "Rp 1,67 M"),
        (1_115_000_000, None, "Rp 1,115 M"),
        (1_125_500_000, None, "Rp 1.125.500.000"),
        (999_999_999, None, "Rp 999.999.999"),  # below a limit of 1 M
        (312_125_000, None, "Rp 312.125.000"),  # "312,125 jt" could be 312.125 juta
        (10_000, 1_250_000_000_000, "Rp 10.000 – Rp 1,25 T"),
    ],
)
def test_a_range_is_printed_as_it_is_meant(low: int, high: int | None, printed: str) -> None:
    """A line may break around the dash only."""
    unbroken = (amount.replace(" ", "\xa0") for amount in printed.split(" – "))

    assert price(Card(title="Rumah", price=low, price_max=high)) == " – ".join(unbroken)


def test_english_prices_name_their_unit_in_full() -> None:
    with speaking("en"):
        shown = [short_rupiah(one) for one in (850_000_000, 1_125_000_000, 1_250_000_000_000)]

    assert [one.replace("\xa0", " ") for one in shown] == [
        "Rp 850 million",
        "Rp 1.125 billion",
        "Rp 1.25 trillion",
    ]


def test_no_line_breaks_in_a_time() -> None:
    assert moment(datetime(2026, 8, 12, 9, 5).astimezone()) == "12\xa0Agu\xa02026,\xa009:05"


@pytest.mark.parametrize(
    ("day", "hour", "minute", "shown"),
    [
        (12, 9, 5, "12 Agu 2026, 09:05"),
        (12, 10, 40, "12 Agu 2026, 09:05 – 10:40"),
        (13, 9, 5, "12 Agu 2026, 09:05 – 13 Agu 2026, 09:05"),
    ],
)
def test_a_period_names_its_day_once(day: int, hour: int, minute: int, shown: str) -> None:
    first = datetime(2026, 8, 12, 9, 5, 10).astimezone()
    last = datetime(2026, 8, day, hour, minute, 50).astimezone()

    assert period(first, last).replace("\xa0", " ") == shown


@given(cards().filter(lambda card: card.price))
def test_what_a_page_prints_is_read_as_the_price_of_the_card(card: Card) -> None:
    note = "rent" if card.price_period else None
    full, short = (read_price(shown(card).replace("\xa0", " ")) for shown in (full_price, price))

    assert full == Price(card.price, card.price_max, note, card.price_period)
    assert short == full
