"""Prices as they are written, in whole rupiah."""

from __future__ import annotations

import pytest

from tests.importers.runs.cards import detail


@pytest.mark.parametrize(
    ("written", "low", "high"),
    [
        ("Rp 1.670.000.000", 1_670_000_000, None),
        ("Rp 1,500,000", 1_500_000, None),
        ("Rp1.670.000.000,-", 1_670_000_000, None),
        ("Rp. 850.000.000,00", 850_000_000, None),
        ("Rp 850000000", 850_000_000, None),
        ("Rp 1.5 M", 1_500_000_000, None),
        ("Rp 1,5 Milyar", 1_500_000_000, None),
        ("Rp 1,5 miliar", 1_500_000_000, None),
        ("Rp 1,250 M", 1_250_000_000, None),
        ("Rp 1,2M-an", 1_200_000_000, None),
        ("Rp 800 jt", 800_000_000, None),
        ("Rp 800 juta", 800_000_000, None),
        ("Rp800jt", 800_000_000, None),
        ("Rp 1.500 jt", 1_500_000_000, None),
        ("Rp 750 ribu", 750_000, None),
        ("Mulai dari Rp 500 jt", 500_000_000, None),
        ("**Harga:** Rp 800 jt", 800_000_000, None),
        ("Rp 500 jt - Rp 700 jt", 500_000_000, 700_000_000),
        ("Rp 500 - 700 jt", 500_000_000, 700_000_000),
        ("Rp 1,2 - 1,5 M", 1_200_000_000, 1_500_000_000),
        ("Rp 900 jt \u2013 1,1 M", 900_000_000, 1_100_000_000),
        ("Rp 500.000.000 s/d Rp 700.000.000", 500_000_000, 700_000_000),
        ("Rp 500 jt sampai 700 jt", 500_000_000, 700_000_000),
        ("Rp 500 jt - Rp 500 jt", 500_000_000, None),
        # The first number without a unit: the largest one that keeps it below the second.
        ("Rp 1 - 312,5 M", 1_000_000_000, 312_500_000_000),
        ("Rp 1 - Rp 312,5 M", 1_000_000_000, 312_500_000_000),
        ("Rp 800 - 1,2 M", 800_000_000, 1_200_000_000),
        ("Rp 1,25 - 2 T", 1_250_000_000_000, 2_000_000_000_000),
        ("Rp 900 - 2 T", 900_000_000_000, 2_000_000_000_000),
        ("Rp 900 - 1,5 jt", 900_000, 1_500_000),
        ("Rp 1.250 - 1,5 M", 1_250_000_000, 1_500_000_000),  # 1,250 M
        ("Rp 1.750 - 1,5 M", 1_750_000, 1_500_000_000),  # neither 1,750 M nor 1.750 jt is below
        ("Rp 1,5 - 1,5 M", 1_500_000, 1_500_000_000),  # the same amount is not below
        ("Rp 9.999 - 10 M", 9_999_000_000, 10_000_000_000),
        ("Rp 10.000 - 10,5 M", 10_000, 10_500_000_000),  # five digits are meant as written
        ("Rp 9.999 - 2 ribu", 9_999, None),  # no unit at all keeps it below
        ("Rp 10000 - 2 M", 10_000, 2_000_000_000),
        ("Rp 312.500 - 400 M", 312_500, 400_000_000_000),
        ("Rp 1 - 1.500.000.000", 1, 1_500_000_000),  # the second has no unit to share
        ("Rp 0 - 2 M", 2_000_000_000, None),
        ("Rp 0", None, None),
        ("Rp 0 (sale)", None, None),
        ("Hubungi agen", None, None),
        ("Rp 5 jt/m²", None, None),
        ("Rp 1.5", None, None),
        ("Rp 1.67.000", None, None),
        ("Rp " + "9" * 5000, None, None),
        ("Rp 2.000.000 T", None, None),
    ],
)
def test_a_price_is_read_as_whole_rupiah(written: str, low: int | None, high: int | None) -> None:
    card = detail(f"   💰 {written}")

    assert (card.price, card.price_max) == (low, high)
