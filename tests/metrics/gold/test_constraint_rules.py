from __future__ import annotations

from fractions import Fraction

import pytest

from webapp.metrics.gold.constraint_rules import (
    CardFacts,
    Check,
    Constraints,
    Outcome,
    OutcomeReason,
    Place,
    Range,
    check_card,
)
from webapp.records import CONSTRAINTS

CEMARA = Place(keywords=("cemara",), latitude=3.6, longitude=98.7, radius_km=2)


def check(name: str, rule: object, card: CardFacts, **overrides: Outcome) -> Check:
    """The check of one constraint that asks for `rule`."""
    asked = Constraints(**{name: rule})  # type: ignore[arg-type]
    return check_card(asked, card, overrides)[CONSTRAINTS.index(name)]


@pytest.mark.parametrize(
    ("name", "asked", "shown", "outcome"),
    [
        *(("property_type", "house", "rumah", "pass"), ("property_type", "rumah", "House", "pass")),
        *(
            ("property_type", "ruko", "shophouse", "pass"),
            ("property_type", "land", "tanah", "pass"),
        ),
        ("property_type", "apartment", "Apartemen", "pass"),
        ("property_type", "warehouse", "gudang", "pass"),
        *(
            ("property_type", "office", "kantor", "pass"),
            ("property_type", "villa", "Villa", "pass"),
        ),
        *(("property_type", "house", "villa", "fail"), ("property_type", "house", None, "missing")),
        ("property_type", "house", " ", "missing"),
        *(("listing_type", "sale", "dijual", "pass"), ("listing_type", "jual", "SALE", "pass")),
        *(("listing_type", "rent", "disewa", "pass"), ("listing_type", "sewa", "rent", "pass")),
        *(("listing_type", "sale", "rent", "fail"), ("listing_type", "sale", None, "missing")),
    ],
)
def test_words_in_both_languages(name: str, asked: str, shown: str | None, outcome: str) -> None:
    assert check(name, asked, CardFacts(**{name: shown})).outcome == outcome  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "card",
    [
        CardFacts(location="Jl. CEMARA 3"),
        CardFacts(name="Rumah Cemara Asri", location="Medan"),
        CardFacts(address="komplek cemara", latitude=0.1, longitude=0.1),
    ],
)
def test_a_keyword_passes_wherever_the_point_is(card: CardFacts) -> None:
    found = check("location", CEMARA, card)

    assert (found.outcome, found.reason, found.keyword) == ("pass", OutcomeReason.KEYWORD, "cemara")


@pytest.mark.parametrize(
    ("card", "outcome", "reason", "km"),
    [
        # One degree of latitude is 6371 pi / 180 = 111.1949 km: 0.0179 are 1.9904 km.
        (CardFacts(location="x", latitude=3.6179, longitude=98.7), "pass", "within_radius", 1.9904),
        (
            CardFacts(location="x", latitude=3.6181, longitude=98.7),
            "fail",
            "outside_radius",
            2.0126,
        ),
        (CardFacts(location="Cemara", latitude=3.6, longitude=98.7), "pass", "keyword", 0),
        (CardFacts(name="Rumah", location="Medan"), "fail", "no_keyword", None),
        (CardFacts(name="Rumah", location="Medan", latitude=3.6), "fail", "no_keyword", None),
        (CardFacts(name="Rumah"), "missing", "not_on_card", None),
    ],
)
def test_the_distance_decides(card: CardFacts, outcome: str, reason: str, km: float | None) -> None:
    found = check("location", CEMARA, card)

    assert (found.outcome, found.reason) == (outcome, reason)
    assert found.distance_km == (km if km is None else pytest.approx(km, abs=1e-4))


TENTH = Fraction(1, 10)


@pytest.mark.parametrize(
    ("rule", "value", "reason"),
    [
        *((Range(minimum=Fraction(10)), 10, "within"), (Range(minimum=Fraction(10)), 9, "too_low")),
        *(
            (Range(maximum=Fraction(10)), 10, "within"),
            (Range(maximum=Fraction(10)), 11, "too_high"),
        ),
        (Range(maximum=Fraction(10)), 0, "within"),  # price 0 is a price
        # Tolerance 0.1 widens to 9 .. 22, and ends there.
        (Range(Fraction(10), Fraction(20), tolerance=TENTH), 9, "within"),
        (Range(Fraction(10), Fraction(20), tolerance=TENTH), 22, "within"),
        (Range(Fraction(10), Fraction(20), tolerance=TENTH), "22.01", "too_high"),
        # Target 1,000,000,000 with 0.1: 900,000,000 .. 1,100,000,000.
        (Range(target=Fraction(10**9), tolerance=TENTH), 1_100_000_000, "within"),
        (Range(target=Fraction(10**9), tolerance=TENTH), 1_100_000_001, "too_high"),
        (Range(target=Fraction(10**9), tolerance=TENTH), 899_999_999, "too_low"),
        (Range(target=Fraction(10**9)), 10**9 + 1, "too_high"),
        *((Range(exact=Fraction(3)), 3, "within"), (Range(exact=Fraction(3)), 4, "too_high")),
        *(
            (Range(Fraction(2), Fraction(4)), 4, "within"),
            (Range(Fraction(2)), None, "not_on_card"),
        ),
        (None, 1, "not_asked"),
    ],
)
@pytest.mark.parametrize("name", ["price", "bedrooms", "floors"])
def test_number_ranges(name: str, rule: Range | None, value: int | str | None, reason: str) -> None:
    number = None if value is None else Fraction(value)
    found = check(name, rule, CardFacts(**{name: number}))  # type: ignore[arg-type]

    outcomes = {"within": "pass", "not_on_card": "missing", "not_asked": "na"}
    assert (found.reason, found.outcome) == (reason, outcomes.get(reason, "fail"))


@pytest.mark.parametrize("by_hand", [Outcome.PASS, Outcome.NA])
def test_an_override_counts_and_the_automatic_outcome_stays_to_be_seen(by_hand: Outcome) -> None:
    found = check("property_type", "land", CardFacts(property_type="ruko"), property_type=by_hand)

    assert (found.outcome, found.reason) == (by_hand, OutcomeReason.BY_HAND)
    assert (found.automatic, found.value, found.rule) == (Outcome.FAIL, "ruko", "land")
