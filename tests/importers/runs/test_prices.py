"""Prices as they are written, in whole rupiah."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction

import pytest

from relevansi.importers.runs import csv_ratings, json_runs
from relevansi.importers.runs.prices import exact_number, read_number
from relevansi.importers.runs.property_cards import read_details
from tests.importers.runs.cards import NOTHING, detail


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


@pytest.mark.parametrize("text", NOTHING)
def test_a_blank_cell_of_a_rated_csv_may_be_written_in_words(text: str) -> None:
    header = "query_id,category,results_count,relevant_count,precision_at_5,mrr,success,notes\n"
    cells = f"1,{text},5,4,{text},{text},{text},{text}\n"
    result = csv_ratings.read("r.csv", f"{header}{cells}".encode())

    assert [problem.code for problem in result.problems] == ["csv_figure_open"]
    row = result.report.rows[0]
    assert (row.summary.figures["mean_precision_at_5"].value, row.category, row.notes) == (
        0.8,
        "",
        "",
    )


@pytest.mark.parametrize("text", NOTHING)
def test_a_card_has_no_place_where_none_is_said(text: str) -> None:
    assert "location" not in (read_details(f"📍 {text}") or {})
    assert "certificate" not in (read_details(f"📜 Sertifikat: {text}") or {})


@pytest.mark.parametrize("text", NOTHING)
def test_a_run_whose_method_is_a_dash_does_not_state_it(text: str) -> None:
    entry = {"query_id": 1, "question": "rumah?", "category": text, "response": "Tidak ada."}
    top = {"method": text, "llm": text, "threshold_t": 0.6, "results": [entry]}

    run = json_runs.read("results.json", json.dumps(top).encode())

    assert (run.search_method, run.llm, run.queries[0].category) == (None, None, "")


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
