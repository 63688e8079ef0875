"""Each rule of the V2 method on cards made for it."""

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
    ("asked", "shown", "outcome"),
    [
        ("house", "rumah", "pass"),
        ("rumah", "House", "pass"),
        ("ruko", "shophouse", "pass"),
        ("apartment", "Apartemen", "pass"),
        ("land", "tanah", "pass"),
        ("warehouse", "gudang", "pass"),
        ("office", "kantor", "pass"),
        ("villa", "Villa", "pass"),
        ("house", "villa", "fail"),
        ("house", None, "missing"),
        ("house", " ", "missing"),
    ],
)
def test_kinds_of_property_are_equal_in_both_languages(
    asked: str, shown: str | None, outcome: str
) -> None:
    assert check("property_type", asked, CardFacts(property_type=shown)).outcome == outcome


@pytest.mark.parametrize(
    ("asked", "shown", "outcome"),
    [
        ("sale", "dijual", "pass"),
        ("jual", "SALE", "pass"),
        ("rent", "disewa", "pass"),
        ("sewa", "rent", "pass"),
        ("sale", "rent", "fail"),
        ("sale", None, "missing"),
    ],
)
def test_offers_are_equal_in_both_languages(asked: str, shown: str | None, outcome: str) -> None:
    assert check("listing_type", asked, CardFacts(listing_type=shown)).outcome == outcome


@pytest.mark.parametrize(
    "card",
    [
        CardFacts(location="Jl. CEMARA 3"),
        CardFacts(name="Rumah Cemara Asri", location="Medan"),
        CardFacts(address="komplek cemara", latitude=0.1, longitude=0.1),
    ],
)
def test_a_keyword_in_location_name_or_address_passes_wherever_the_point_is(
    card: CardFacts,
) -> None:
    found = check("location", CEMARA, card)

    assert (found.outcome, found.reason, found.keyword) == ("pass", OutcomeReason.KEYWORD, "cemara")


@pytest.mark.parametrize(
    ("latitude", "outcome", "reason"),
    [
        # One degree of latitude is 6371 pi / 180 = 111.1949 km: 0.0179 are 1.9904 km.
        (3.6179, "pass", OutcomeReason.WITHIN_RADIUS),
        (3.6181, "fail", OutcomeReason.OUTSIDE_RADIUS),  # 2.0126 km
    ],
)
def test_without_a_keyword_the_distance_decides(
    latitude: float, outcome: str, reason: OutcomeReason
) -> None:
    card = CardFacts(location="Jl. Beringin", latitude=latitude, longitude=98.7)
    found = check("location", CEMARA, card)

    assert (found.outcome, found.reason) == (outcome, reason)
    assert found.distance_km == pytest.approx((latitude - 3.6) * 111.1949, abs=1e-4)


@pytest.mark.parametrize(
    ("card", "outcome", "reason"),
    [
        (CardFacts(name="Rumah", location="Medan"), "fail", OutcomeReason.NO_KEYWORD),
        (CardFacts(name="Rumah", location="Medan", latitude=3.6), "fail", OutcomeReason.NO_KEYWORD),
        (CardFacts(name="Rumah"), "missing", OutcomeReason.NOT_ON_CARD),
        (CardFacts(), "missing", OutcomeReason.NOT_ON_CARD),
    ],
)
def test_words_that_do_not_fit_fail_and_no_words_are_missing(
    card: CardFacts, outcome: str, reason: OutcomeReason
) -> None:
    found = check("location", CEMARA, card)

    assert (found.outcome, found.reason, found.distance_km) == (outcome, reason, None)


def test_the_distance_is_known_where_a_keyword_decided_too() -> None:
    card = CardFacts(location="Cemara", latitude=3.6, longitude=98.7)

    assert check("location", CEMARA, card).distance_km == 0


def test_a_radius_is_2_km_unless_it_is_said() -> None:
    assert Place(keywords=("usu",)).radius_km == 2


@pytest.mark.parametrize(
    ("rule", "value", "outcome"),
    [
        (Range(minimum=Fraction(10)), 10, "pass"),
        (Range(minimum=Fraction(10)), 9, "fail"),
        (Range(maximum=Fraction(10)), 10, "pass"),
        (Range(maximum=Fraction(10)), 11, "fail"),
        (Range(maximum=Fraction(10)), 0, "pass"),  # price 0 is a price
        # Tolerance 0.1 widens to 9 .. 22, and ends there.
        (Range(Fraction(10), Fraction(20), tolerance=Fraction(1, 10)), 9, "pass"),
        (Range(Fraction(10), Fraction(20), tolerance=Fraction(1, 10)), 22, "pass"),
        (Range(Fraction(10), Fraction(20), tolerance=Fraction(1, 10)), "22.01", "fail"),
        # Target 1,000,000,000 with 0.1: 900,000,000 .. 1,100,000,000.
        (Range(target=Fraction(10**9), tolerance=Fraction(1, 10)), 1_100_000_000, "pass"),
        (Range(target=Fraction(10**9), tolerance=Fraction(1, 10)), 1_100_000_001, "fail"),
        (Range(target=Fraction(10**9), tolerance=Fraction(1, 10)), 899_999_999, "fail"),
        (Range(target=Fraction(10**9)), 10**9, "pass"),
        (Range(target=Fraction(10**9)), 10**9 + 1, "fail"),
    ],
)
def test_a_price_lies_within_its_ends(rule: Range, value: int | str, outcome: str) -> None:
    assert check("price", rule, CardFacts(price=Fraction(value))).outcome == outcome


@pytest.mark.parametrize(
    ("rule", "value", "outcome"),
    [
        (Range(exact=Fraction(3)), 3, "pass"),
        (Range(exact=Fraction(3)), 4, "fail"),
        (Range(Fraction(2), Fraction(4)), 2, "pass"),
        (Range(Fraction(2), Fraction(4)), 4, "pass"),
        (Range(Fraction(2), Fraction(4)), 5, "fail"),
        (Range(Fraction(2)), None, "missing"),
    ],
)
@pytest.mark.parametrize("name", ["bedrooms", "floors"])
def test_rooms_and_floors_are_exact_or_within_their_ends(
    name: str, rule: Range, value: int | None, outcome: str
) -> None:
    number = None if value is None else Fraction(value)

    assert check(name, rule, CardFacts(**{name: number})).outcome == outcome  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "reason"),
    [(1, OutcomeReason.TOO_LOW), (5, OutcomeReason.TOO_HIGH), (3, OutcomeReason.WITHIN)],
)
def test_a_check_says_on_which_side_a_number_is_wrong(value: int, reason: OutcomeReason) -> None:
    found = check("floors", Range(Fraction(2), Fraction(4)), CardFacts(floors=Fraction(value)))

    assert (found.reason, found.value) == (reason, Fraction(value))


def test_what_is_not_asked_does_not_apply() -> None:
    found = check("price", None, CardFacts(price=Fraction(1)))

    assert (found.outcome, found.reason) == (Outcome.NA, OutcomeReason.NOT_ASKED)


@pytest.mark.parametrize("by_hand", [Outcome.PASS, Outcome.NA])
def test_an_override_counts_and_the_automatic_outcome_stays_to_be_seen(by_hand: Outcome) -> None:
    found = check("property_type", "land", CardFacts(property_type="ruko"), property_type=by_hand)

    assert (found.outcome, found.reason) == (by_hand, OutcomeReason.BY_HAND)
    assert (found.automatic, found.value, found.rule) == (Outcome.FAIL, "ruko", "land")
