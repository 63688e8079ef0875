"""What a question or its gold constraints narrow a search of listings by."""

from __future__ import annotations

from fractions import Fraction

import pytest

from relevansi.metrics.gold.constraint_rules import Constraints, Place, Range
from relevansi.services.catalogue.filters import Filters, of_constraints, of_question

MILLION = 1_000_000


@pytest.mark.parametrize(
    ("question", "filters", "words"),
    [
        (
            "apakah ada gudang dijual atau disewa di KIM?",
            Filters("warehouse", place="KIM"),
            "",
        ),
        (
            "Rumah sewa di medan yang dibawah 50juta 3 kamar, ada taman?",
            Filters("house", "rent", "medan", price_to=50 * MILLION, bedrooms=3),
            "taman",
        ),
        (  # within a fifth of it
            "rumah dijual di daerah cemara harga 1M-an",
            Filters("house", "sale", "cemara", 800 * MILLION, 1_200 * MILLION),
            "",
        ),
        ("ruko 400-600 juta", Filters("shophouse", None, None, 400 * MILLION, 600 * MILLION), ""),
        ("tanah mulai dari Rp 800.000.000", Filters("land", price_from=800 * MILLION), ""),
        (
            "Houses for sale in Polonia with a pool under 2 billion?",
            Filters("house", "sale", "Polonia", price_to=2_000 * MILLION),
            "pool",
        ),
        ("Rumah 3 kamar mandi, minimal 2 kamar", Filters("house"), "3 kamar mandi"),
        ("rumah 200 m dari jl. Krakatau", Filters("house"), "jl Krakatau"),
        ("berikan lagi pilihan lain", Filters(), "berikan pilihan lain"),
    ],
)
def test_a_question_says_filters_and_other_words(
    question: str, filters: Filters, words: str
) -> None:
    assert of_question(question) == (filters, words)


def test_constraints_of_a_gold_question_become_filters() -> None:
    """A target of 800 million within 10 %, three bedrooms: 720 to 880 million."""
    constraints = Constraints(
        property_type="ruko",
        listing_type="sale",
        location=Place(("cemara", "pulo brayan")),
        price=Range(target=Fraction(800 * MILLION), tolerance=Fraction(1, 10)),
        bedrooms=Range(exact=Fraction(3)),
    )
    assert of_constraints(constraints) == Filters(
        "shophouse", "sale", "cemara, pulo brayan", 720 * MILLION, 880 * MILLION, 3
    )
