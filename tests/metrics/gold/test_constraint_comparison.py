from __future__ import annotations

from fractions import Fraction

import pytest

from relevansi.metrics.comparisons.differences import Difference
from relevansi.metrics.gold.constraint_rules import CardFacts, Constraints, Range
from relevansi.metrics.gold.constraints import (
    CheckedContender,
    Decisions,
    Expected,
    GoldQuestion,
    compare_constraints,
    evaluate,
    headline_figures,
)

T = Fraction(3, 5)
GOLD = (
    GoldQuestion(
        1, "A?", "x", Expected.HAS_DATA, Constraints("house", None, None, Range(max=Fraction(10)))
    ),
    GoldQuestion(2, "B?", "x", Expected.HAS_DATA, Constraints("house")),
    GoldQuestion(3, "C?", "y", Expected.NO_DATA, Constraints("castle")),
    GoldQuestion(4, "D?", "y", Expected.HAS_DATA, manual=True),
)


def card(kind: str, price: int | None = None) -> CardFacts:
    return CardFacts(name="", property_type=kind, price=None if price is None else Fraction(price))


GOOD, DEAR, LAND = card("house", 9), card("house", 11), card("land", 11)


def contender(
    name: str, *answers: tuple[CardFacts, ...], not_run: tuple[int, ...] = (), passed: bool = False
) -> CheckedContender:
    """A run that answered questions 1, 2, ... so; ``passed`` decides the card of question 4."""
    decisions = Decisions(cards={(4, 0): True}) if passed else Decisions()
    report = evaluate(GOLD, dict(enumerate(answers, start=1)), threshold=T, decisions=decisions)
    return CheckedContender(name, name.title(), report, not_run)


def difference_of(figure: str, *runs: CheckedContender, at_zero: bool = False) -> Difference:
    compared = compare_constraints(runs, gold="g", version=1, threshold=T)
    return next(
        d
        for d in compared.differences
        if (d.figure, d.false_negatives_at_zero) == (figure, at_zero)
    )


def test_mean_cpr_is_paired_where_both_runs_have_cards() -> None:
    """A: 1 and 1/2, so 3/4; then 1. B: 0; no cards. One pair: 3/4. No results at 0: also 1 - 0.

    The figures themselves are over cards: (1 + 1/2 + 1) / 3 = 5/6 against 0.
    """
    a = contender("a", (GOOD, DEAR), (GOOD,))
    b = contender("b", (LAND,))
    difference, with_zero = (
        difference_of("mean_cpr", a, b),
        difference_of("mean_cpr", a, b, at_zero=True),
    )

    assert (difference.n, difference.mean) == (1, 0.75)
    assert difference.headline == pytest.approx(5 / 6)
    assert (difference.wins, difference.ties, difference.losses) == (1, 0, 0)
    assert (with_zero.n, with_zero.headline) == (3, None)
    assert with_zero.mean == pytest.approx(1.75 / 3)
    assert with_zero.ties == 1  # question 4 has data and neither run has a card for it
    assert with_zero.signed_rank is not None
    assert (with_zero.signed_rank.n, with_zero.signed_rank.zeros) == (2, 1)
    assert with_zero.signed_rank.p == 0.5  # ranks 1 and 2, both up: 2 of 4 signs


def test_query_success_is_compared_by_mcnemar_over_all_questions() -> None:
    """A succeeds at 1, 2 and 3 (nothing there to find), B at 3 alone: 2 to 0, p = 2 / 2^2."""
    difference = difference_of(
        "query_success_rate", contender("a", (GOOD,), (GOOD,)), contender("b", (LAND,))
    )

    assert (difference.n, difference.wins, difference.ties, difference.losses) == (4, 2, 2, 0)
    assert (difference.test, difference.exact, difference.p) == ("McNemar", True, 0.5)
    assert difference.headline == 0.5
    assert difference.signed_rank is None


def test_a_question_that_was_not_run_pairs_with_nothing() -> None:
    a, b = contender("a", (GOOD,), (GOOD,)), contender("b", (GOOD,), not_run=(2, 4))

    assert difference_of("query_success_rate", a, b).n == 2
    assert difference_of("mean_cpr", a, b, at_zero=True).n == 1


def test_a_pending_card_is_named_and_a_decided_one_counts() -> None:
    pending = contender("a", (GOOD,), (), (), (GOOD,))
    decided = contender("b", (GOOD,), (), (), (GOOD,), passed=True)
    compared = compare_constraints([pending, decided], gold="g", version=1, threshold=T)

    assert pending.pending == {4: 1}
    assert decided.pending == {}
    assert all(difference.is_partial for difference in compared.differences)
    assert not difference_of("mean_cpr", decided, contender("c", (GOOD,))).is_partial
    assert (
        difference_of("mean_cpr", pending, decided).mean == -0.5
    )  # question 1 equal, question 4: 0 - 1
    assert headline_figures(decided.report)["mean_cpr"].value == 1
    assert headline_figures(pending.report)["mean_cpr"].value == Fraction(1, 2)


def test_n_of_a_constraint_counts_the_cards_it_is_asked_of() -> None:
    """The price is asked by question 1 alone: 2 cards; the type by 1 and 2: 3 cards."""
    accuracies = contender("a", (GOOD, DEAR), (GOOD,)).report.totals.pca

    assert (accuracies["price"].value, accuracies["price"].n) == (Fraction(1, 2), 2)
    assert (accuracies["property_type"].value, accuracies["property_type"].n) == (Fraction(1), 3)
    assert (accuracies["floors"].value, accuracies["floors"].n) == (None, 0)
