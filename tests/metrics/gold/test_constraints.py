from __future__ import annotations

from fractions import Fraction

import pytest

from relevansi.metrics.gold.constraint_rules import (
    CardFacts,
    Check,
    Constraints,
    Outcome,
    Place,
    Range,
    check_card,
)
from relevansi.metrics.gold.constraints import (
    ConfusionMatrix,
    ConstraintConfusion,
    Decisions,
    Expected,
    GoldQuestion,
    MissingRule,
    QueryEvaluation,
    evaluate,
    evaluate_query,
)
from relevansi.records import CONSTRAINTS

THREE_ROOMS = Constraints(property_type="house", bedrooms=Range(min=Fraction(3)))
GOOD = CardFacts(property_type="rumah", bedrooms=Fraction(3))  # 2 of 2
HALF = CardFacts(property_type="rumah", bedrooms=Fraction(2))  # 1 of 2
SILENT = CardFacts(property_type="rumah")  # 1 of 2, the rooms missing
BAD = CardFacts(property_type="ruko", bedrooms=Fraction(1))  # 0 of 2


def question(
    query_id: int = 1,
    expected: Expected = Expected.HAS_DATA,
    *,
    manual: bool = False,
    category: str = "a",
    constraints: Constraints = THREE_ROOMS,
) -> GoldQuestion:
    return GoldQuestion(query_id, "?", category, expected, constraints, manual)


def query(
    *cards: CardFacts, expected: Expected = Expected.HAS_DATA, threshold: Fraction = Fraction(3, 5)
) -> QueryEvaluation:
    return evaluate_query(question(expected=expected), cards, threshold=threshold)


@pytest.mark.parametrize(
    ("card", "as_failed", "left_out"),
    [
        (GOOD, Fraction(1), Fraction(1)),
        (HALF, Fraction(1, 2), Fraction(1, 2)),
        (SILENT, Fraction(1, 2), Fraction(1)),
        (BAD, Fraction(0), Fraction(0)),
        (CardFacts(), Fraction(0), None),  # nothing known: nothing to rate once it is left out
    ],
)
def test_a_card_s_pass_rate(
    card: CardFacts, as_failed: Fraction, left_out: Fraction | None
) -> None:
    result = [
        evaluate_query(question(), [card], missing=missing).cards[0].cpr for missing in MissingRule
    ]

    assert result == [as_failed, left_out]
    assert evaluate_query(question(constraints=Constraints()), [card]).mean_cpr == 1  # asks nothing


def test_the_threshold_is_met_by_exactly_its_fraction() -> None:
    """1 + 1 + 1 + 0 + 0 over 5 cards is 3/5, which floating point may put below 0.6."""
    result = query(GOOD, GOOD, GOOD, BAD, BAD)

    assert result.mean_cpr == Fraction(3, 5)
    assert (result.is_success, result.confusion, result.strict_success) == (
        True,
        ConstraintConfusion.TP,
        3,
    )


@pytest.mark.parametrize(
    ("cards", "expected", "success", "confusion"),
    [
        ([GOOD], Expected.HAS_DATA, True, "TP"),
        ([BAD], Expected.HAS_DATA, False, "FN"),
        ([], Expected.HAS_DATA, False, "FN"),
        ([GOOD], Expected.NO_DATA, False, "FP"),
        ([BAD], Expected.NO_DATA, False, "TN"),  # a true negative, yet no success
        ([], Expected.NO_DATA, True, "TN"),
    ],
)
def test_what_a_question_comes_to(
    cards: list[CardFacts], expected: Expected, success: bool, confusion: str
) -> None:
    result = query(*cards, expected=expected)

    assert (result.is_success, result.confusion) == (success, confusion)
    if expected is Expected.HAS_DATA:  # results meet a threshold of 0, no results do not
        assert query(*cards, threshold=Fraction(0)).is_success == bool(cards)


def test_a_manual_card_is_1_or_0_and_a_pending_one_does_not_pass() -> None:
    decisions = Decisions(cards={(1, 0): True, (1, 1): False})
    result = evaluate_query(question(manual=True), [BAD, GOOD, GOOD], decisions=decisions)

    assert [card.cpr for card in result.cards] == [1, 0, 0]
    assert [card.pending for card in result.cards] == [False, False, True]
    assert (result.mean_cpr, result.n_pending) == (Fraction(1, 3), 1)


def test_no_question_succeeds_while_a_card_is_pending() -> None:
    """3 of 4 cards passed by hand meet 0.6, but the fourth is still to be judged."""
    decisions = Decisions(cards={(1, card): True for card in range(3)})
    result = evaluate_query(question(manual=True), [BAD] * 4, decisions=decisions)

    assert (result.mean_cpr, result.confusion, result.is_success) == (Fraction(3, 4), "TP", False)


def test_an_override_counts_before_anything_else() -> None:
    decisions = Decisions(overrides={(1, 0): {"bedrooms": Outcome.PASS}})
    assert evaluate_query(question(), [HALF], decisions=decisions).mean_cpr == 1

    decisions = Decisions(overrides={(1, 0): {"bedrooms": Outcome.NA}})
    result = evaluate([question()], {1: [HALF]}, decisions=decisions)
    assert result.totals.mean_cpr == 1
    assert result.totals.pca["bedrooms"].value is None


def test_the_whole_evaluation_of_three_questions() -> None:
    """Cards: 1: 1, 1/2, 1/2 | 2: none, not in the file | 3: 0.

    Mean over cards: (1 + 1/2 + 1/2 + 0) / 4 = 1/2; over questions it would be 1/3.
    Property type: 3 of 4. Bedrooms: 1 of 4 with MISSING, 1 of 3 without.
    """
    gold = [
        question(1),
        question(2, Expected.NO_DATA),
        question(3, Expected.HAS_DATA, category="b"),
    ]
    cards = {1: [GOOD, HALF, SILENT], 3: [BAD], 9: [GOOD]}
    report = evaluate(gold, cards)
    totals = report.totals

    assert (totals.n_queries, totals.n_properties) == (3, 4)
    assert totals.mean_cpr == Fraction(1, 2)
    assert totals.strict_success_ratio == Fraction(1, 4)
    assert totals.success_rate == Fraction(2, 3)
    assert totals.matrix == ConfusionMatrix(tp=1, fp=0, tn=1, fn=1)
    assert {name: result.value for name, result in totals.pca.items()} == {
        "property_type": Fraction(3, 4),
        "listing_type": None,
        "location": None,
        "price": None,
        "bedrooms": Fraction(1, 4),
        "floors": None,
    }
    assert {name: part.mean_cpr for name, part in report.categories.items()} == {
        "a": Fraction(2, 3),
        "b": Fraction(0),
    }
    left_out = evaluate(gold, cards, missing=MissingRule.LEFT_OUT).totals
    # 1 + 1/2 + 1 + 0 over 4 cards.
    assert (left_out.mean_cpr, left_out.pca["bedrooms"].value) == (Fraction(5, 8), Fraction(1, 3))


@pytest.mark.parametrize(
    ("matrix", "figures"),
    [
        (
            ConfusionMatrix(3, 1, 4, 2),
            (Fraction(3, 4), Fraction(3, 5), Fraction(2, 3), Fraction(7, 10)),
        ),
        (ConfusionMatrix(0, 0, 2, 0), (None, None, None, Fraction(1))),
        (ConfusionMatrix(0, 0, 0, 2), (None, Fraction(0), Fraction(0), Fraction(0))),
        (ConfusionMatrix(), (None, None, None, None)),
    ],
)
def test_figures_of_a_matrix(matrix: ConfusionMatrix, figures: tuple[Fraction | None, ...]) -> None:
    assert (matrix.precision, matrix.recall, matrix.f1_score, matrix.accuracy) == figures
    nothing = evaluate([], {}).totals
    assert (nothing.mean_cpr, nothing.strict_success_ratio, nothing.success_rate) == (None,) * 3


CEMARA = Place(keywords=("cemara",), point=(3.6, 98.7), radius_km=2)


def check(name: str, rule: object, card: CardFacts, **overrides: Outcome) -> Check:
    """The check of one constraint that asks for `rule`."""
    constraints = Constraints(**{name: rule})  # type: ignore[arg-type]
    return check_card(constraints, card, overrides)[CONSTRAINTS.index(name)]


@pytest.mark.parametrize(
    ("name", "rule", "value", "outcome"),
    [
        ("property_type", "house", "rumah", "pass"),
        ("property_type", "rumah", "House", "pass"),
        ("property_type", "ruko", "shophouse", "pass"),
        ("property_type", "land", "tanah", "pass"),
        ("property_type", "apartment", "Apartemen", "pass"),
        ("property_type", "warehouse", "gudang", "pass"),
        ("property_type", "office", "kantor", "pass"),
        ("property_type", "villa", "Villa", "pass"),  # a word of no group
        ("property_type", "house", "villa", "fail"),
        ("property_type", "house", " ", "missing"),
        ("listing_type", "sale", "dijual", "pass"),
        ("listing_type", "jual", "SALE", "pass"),
        ("listing_type", "rent", "disewa", "pass"),
        ("listing_type", "sewa", "rent", "pass"),
        ("listing_type", "sale", "rent", "fail"),
        ("listing_type", "sale", None, "missing"),
    ],
)
def test_words_of_both_languages_mean_the_same(
    name: str, rule: str, value: str | None, outcome: str
) -> None:
    assert check(name, rule, CardFacts(**{name: value})).outcome == outcome  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "card",
    [
        CardFacts(location="Jl. CEMARA 3"),
        CardFacts(name="Rumah Cemara Asri", location="Medan"),
        CardFacts(address="komplek cemara", point=(0.1, 0.1)),
    ],
)
def test_a_keyword_passes_wherever_the_point_is(card: CardFacts) -> None:
    result = check("location", CEMARA, card)

    assert (result.outcome, result.keyword) == ("pass", "cemara")


@pytest.mark.parametrize(
    ("card", "outcome", "why", "km"),
    [
        # One degree of latitude is 6371 pi / 180 = 111.1949 km: 0.0179 are 1.9904 km.
        (CardFacts(location="x", point=(3.6179, 98.7)), "pass", "", 1.9904),
        (CardFacts(location="x", point=(3.6181, 98.7)), "fail", "", 2.0126),
        (CardFacts(location="Cemara", point=(3.6, 98.7)), "pass", "", 0),
        (CardFacts(name="Rumah", location="Medan"), "fail", "none of these words", None),
        (CardFacts(name="Rumah", address="Medan"), "fail", "none of these words", None),
        (CardFacts(name="Rumah"), "missing", "the card does not say", None),
    ],
)
def test_the_distance_decides(card: CardFacts, outcome: str, why: str, km: float | None) -> None:
    result = check("location", CEMARA, card)

    assert (result.outcome, result.why) == (outcome, why)
    assert result.distance_km == (km if km is None else pytest.approx(km, abs=1e-4))


TENTH = Fraction(1, 10)


@pytest.mark.parametrize(
    ("rule", "value", "why"),
    [
        (Range(min=Fraction(10)), 10, ""),
        (Range(min=Fraction(10)), 9, "too low"),
        (Range(max=Fraction(10)), 10, ""),
        (Range(max=Fraction(10)), 11, "too high"),
        (Range(max=Fraction(10)), 0, ""),  # price 0 is a price
        # Tolerance 0.1 widens to 9 .. 22, and ends there.
        (Range(Fraction(10), Fraction(20), tolerance=TENTH), 9, ""),
        (Range(Fraction(10), Fraction(20), tolerance=TENTH), 22, ""),
        (Range(Fraction(10), Fraction(20), tolerance=TENTH), "22.01", "too high"),
        # Target 1,000,000,000 with 0.1: 900,000,000 .. 1,100,000,000.
        (Range(target=Fraction(10**9), tolerance=TENTH), 1_100_000_000, ""),
        (Range(target=Fraction(10**9), tolerance=TENTH), 1_100_000_001, "too high"),
        (Range(target=Fraction(10**9), tolerance=TENTH), 899_999_999, "too low"),
        (Range(target=Fraction(10**9)), 10**9 + 1, "too high"),
        (Range(exact=Fraction(3)), 3, ""),
        (Range(exact=Fraction(3)), 4, "too high"),
        (Range(Fraction(2)), None, "the card does not say"),
        (None, 1, ""),
    ],
)
def test_number_ranges(rule: Range | None, value: int | str | None, why: str) -> None:
    result = check("price", rule, CardFacts(price=None if value is None else Fraction(value)))

    outcomes = {"": "pass" if rule else "na", "the card does not say": "missing"}
    assert (result.why, result.outcome) == (why, outcomes.get(why, "fail"))


@pytest.mark.parametrize("by_hand", [Outcome.PASS, Outcome.NA])
def test_an_override_counts_and_the_automatic_outcome_stays_to_be_seen(by_hand: Outcome) -> None:
    result = check("property_type", "land", CardFacts(property_type="ruko"), property_type=by_hand)

    assert (result.outcome, result.by_hand) == (by_hand, by_hand)
    assert (result.automatic, result.value, result.rule) == (Outcome.FAIL, "ruko", "land")
