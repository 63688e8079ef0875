from __future__ import annotations

import pytest

from webapp.importers.gold.typed_amounts import UnreadableAmount, read_amount, read_span

JUTA, M = 10**6, 10**9


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        *(("800 juta", 800 * JUTA), ("800juta", 800 * JUTA), ("Rp 800 jt", 800 * JUTA)),
        *(("1,5 M", 1_500 * JUTA), ("1.5M", 1_500 * JUTA), ("1,250 M", 1_250 * JUTA)),
        *(("2 milyar", 2 * M), ("2 miliar", 2 * M), ("1.5 bn", 1_500 * JUTA)),
        *(("650 million", 650 * JUTA), ("1.500.000.000", 1_500 * JUTA), ("1 T", 10**12)),
        *(("1,500,000,000", 1_500 * JUTA), ("Rp. 50.000.000", 50 * JUTA), ("0", 0)),
        *(("750 ribu", 750_000), ("  800   juta ", 800 * JUTA)),
    ],
)
def test_an_amount_is_understood(text: str, amount: int) -> None:
    assert read_amount(text) == amount


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        *(("1M an", M, 1_990 * JUTA), ("1M-an", M, 1_990 * JUTA), ("1 milyaran", M, 1_990 * JUTA)),
        *(("2 M an", 2 * M, 2_990 * JUTA), ("800 jutaan", 800 * JUTA, 899 * JUTA)),
        *(("850 jutaan", 850 * JUTA, 859_900_000), ("1,5M an", 1_500 * JUTA, 1_599 * JUTA)),
        *(("500 juta - 1 M", 500 * JUTA, M), ("500-800 juta", 500 * JUTA, 800 * JUTA)),
        *(("1,2 - 1,5 M", 1_200 * JUTA, 1_500 * JUTA), ("500 juta sampai 1 M", 500 * JUTA, M)),
        ("500.000.000 - 800.000.000", 500 * JUTA, 800 * JUTA),
        *(("di bawah 800 juta", None, 800 * JUTA), ("dibawah 800juta", None, 800 * JUTA)),
        *(("< 1M", None, M), ("maks 1 M", None, M), ("sampai 1 M", None, M)),
        *(("minimal 500 jt", 500 * JUTA, None), (">= 2M", 2 * M, None)),
        *(("di atas 2 M", 2 * M, None), ("800 juta", 800 * JUTA, 800 * JUTA)),
    ],
)
def test_a_range_is_understood(text: str, low: int | None, high: int | None) -> None:
    assert read_span(text) == (low, high)


def test_what_is_no_amount_or_range_is_refused() -> None:
    neither = ("", "murah", "800 juta saja", "juta", "-5", "1,5,5", "9" * 40, "1e9", "800 ton")
    for text in (*neither, "5000 T"):
        with pytest.raises(UnreadableAmount):
            read_amount(text)
    for text in (*neither, "1 M - 500 juta", "1 M -", "di bawah", "1M an saja", "1 - 2 - 3 M"):
        with pytest.raises(UnreadableAmount):
            read_span(text)
