from __future__ import annotations

from relevansi.exporters.planning.detectable import shown_by_one, smallest_shown
from relevansi.exporters.planning.plan import section
from relevansi.i18n import speaking
from relevansi.metrics.comparisons.differences import Difference, PairedValues, paired_differences
from relevansi.metrics.planning.power import RatingEffort, RatingPlanWish, plan


def difference(won: int, n: int, *, figure: str = "success_rate", pairs: int = 1) -> Difference:
    """Successes of two runs, of which the first alone has `won`; others have none apart."""
    values = tuple((1.0, float(question >= won)) for question in range(n))
    equal = tuple((1.0, 1.0) for _ in range(n))
    runs = [PairedValues(figure, "a", "b", values, None, binary=True)]
    runs += [
        PairedValues(figure, "a", str(run), equal, None, binary=True) for run in range(1, pairs)
    ]
    return paired_differences(runs)[0]


def test_the_smallest_difference_is_that_of_the_line_s_own_test_after_holm() -> None:
    """Exact McNemar, all one way: the least share with P(Bin(30, share) >= 6) of 80%."""
    with speaking("en"):
        alone, of_three = shown_by_one(difference(3, 30)), shown_by_one(difference(3, 30, pairs=3))
    # scipy.stats.binom.sf(5, 30, 0.25) = 0.797, 0.26: 0.834; sf(6, 30, 0.29) = 0.817, 0.28: 0.778.
    assert "30 questions can show differences from 0.26 up (power 80%" in alone
    assert "from 0.29 up" in of_three


def test_of_several_pairs_the_least_powerful_counts() -> None:
    few, more = difference(3, 30), difference(3, 20)

    assert smallest_shown([few, more]) == smallest_shown([more]) != smallest_shown([few])


def test_too_few_questions_are_reported_with_their_smallest_p() -> None:
    with speaking("en"):
        assert "With 5 questions the smallest p is 0.0625: no outcome" in shown_by_one(
            difference(5, 5)
        )
        sentence = shown_by_one(difference(3, 6, pairs=3))
        assert "the smallest p is 0.0313, 0.0938 after Holm over 3 pairs" in sentence
        assert "smallest" not in shown_by_one(difference(3, 6))


def test_equal_runs_have_no_smallest_difference() -> None:
    assert shown_by_one(difference(0, 30)) == ""
    assert smallest_shown([difference(0, 30)]) is None


def test_an_entered_deviation_is_called_a_lower_limit() -> None:
    wish, effort = RatingPlanWish("mrr", 0.2, deviation=0.3), RatingEffort(10.0, 3.0, 3, 2, 6.0)
    with speaking("en"):
        entered = section(plan(wish, effort, has=30))
        rated = section(
            plan(RatingPlanWish("mrr", 0.2), effort, has=30, pair=("a", "b"), differences=[1, 0, 0])
        )
    assert "lower limit" in entered.sentences[0]
    assert not any("lower limit" in sentence for sentence in rated.sentences)
