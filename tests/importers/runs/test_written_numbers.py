"""Numbers as people and programs write them, or nothing where they make no sense."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

from webapp.importers.runs.prices import exact_number, read_number


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("1.500", "1500"),  # one mark and three digits: thousands
        ("1,5", "1.5"),
        ("1.5", "1.5"),
        ("0,125", "0.125"),  # no group of thousands begins with 0
        ("1.250,75", "1250.75"),
        ("1,250.75", "1250.75"),
        ("1.670.000", "1670000"),
        ("105.", "105"),
        ("12.50.000", None),
        ("1.250,000.5", None),
        ("1.2.3,4", None),
        (".,", None),
        ("", None),
        ("9" * 1000, None),
    ],
)
def test_marks_are_read_as_thousands_or_decimals(written: str, number: str | None) -> None:
    assert read_number(written) == (None if number is None else Decimal(number))


def test_before_a_unit_a_single_mark_is_decimal() -> None:
    assert read_number("1,250", single_mark_is_decimal=True) == Decimal("1.250")
    assert read_number("1.250.000", single_mark_is_decimal=True) == Decimal(1_250_000)


@pytest.mark.parametrize(
    ("written", "number"),
    [
        (" 0.1 ", Fraction(1, 10)),
        ("-2/4", Fraction(-1, 2)),
        ("1e-3", Fraction(1, 1000)),
        ("1/0", None),
        ("1e400", None),
        ("1e99999999999", None),
        ("nan", None),
        ("", None),
    ],
)
def test_an_exact_number_is_kept_exact_and_a_huge_one_refused(
    written: str, number: Fraction | None
) -> None:
    assert exact_number(written) == number
