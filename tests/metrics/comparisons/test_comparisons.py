from __future__ import annotations

import pytest
from scipy import stats  # type: ignore[import-untyped]

from tests.metrics.comparisons.compared import compared
from webapp.metrics.comparisons.compared_runs import ranked
from webapp.metrics.comparisons.comparisons import compare
from webapp.metrics.comparisons.differences import MCNEMAR, SMALL, Difference
from webapp.metrics.comparisons.significance import Resampling

QUICK = Resampling(resamples=200)


def difference(figure: str, *rows: tuple[str, str], at_zero: bool = False) -> Difference:
    """Return what two runs with these rows differ by in one figure."""
    first = compared("a", *(row[0] for row in rows))
    second = compared("b", *(row[1] for row in rows))
    found = compare([first, second], rule="majority", settings=QUICK).differences_of(figure)
    (one,) = [entry for entry in found if entry.false_negatives_at_zero == at_zero]
    return one


def test_a_pair_is_a_question_where_both_have_a_value() -> None:
    found = difference("mean_precision_at_5", ("11", "10"), ("10", "c"), ("00", "0."), ("1", "1"))

    assert (found.n, found.wins, found.ties, found.losses) == (2, 1, 1, 0)
    assert found.mean == 0.25  # (1 - 0.5) and (1 - 1) over 2
    assert found.headline == pytest.approx(0.625 - 0.75)  # (1 + .5 + 0 + 1) / 4, (.5 + 1) / 2


def test_beside_it_false_negatives_count_as_zero() -> None:
    found = difference("mean_precision_at_5", ("11", "f"), ("10", "c"), ("f", "f"), at_zero=True)

    assert (found.n, found.wins, found.ties, found.losses) == (2, 1, 1, 0)
    assert found.mean == 0.5  # (1 - 0) and (0 - 0) over 2
    assert found.headline is None


def test_reciprocal_ranks_with_false_negatives_are_those_of_the_answerable_mrr() -> None:
    found = difference("mrr_answerable", ("01", "f"), ("1", "1"), at_zero=True)

    assert (found.n, found.mean, found.headline) == (2, 0.25, 0.25)


def test_success_is_tested_by_exact_mcnemar() -> None:
    rows = [("1", "0")] * 6 + [("0", "1")] * 1 + [("1", "1")] * 3 + [("c", "c"), ("!", "1")]

    found = difference("success_rate", *rows)

    # 6 against 1 + 1 failed: the binomial of the 8 discordant questions.
    assert (found.n, found.wins, found.ties, found.losses) == (12, 6, 4, 2)
    assert found.p == pytest.approx(stats.binomtest(6, 8).pvalue, abs=1e-12)
    assert (found.test, found.exact) == (MCNEMAR, True)


def test_without_pairs_there_is_no_p_and_no_difference() -> None:
    found = difference("mean_precision_at_5", ("1", "c"), ("c", "1"))

    assert (found.n, found.mean, found.p, found.p_holm) == (0, None, None, None)
    assert found.interval.lower is None
    assert found.headline == 0.0


def test_holm_is_over_the_run_pairs_of_one_figure() -> None:
    runs = [
        compared("a", *["1"] * 8),
        compared("b", *["0"] * 8),
        compared("c", *["1"] * 7, "0"),
    ]

    found = compare(runs, rule="majority", settings=QUICK).differences_of("success_rate")

    # 8:0 gives 2/256, 1:0 gives 1, 0:7 gives 2/128; times 3, then 2, then 1.
    assert [entry.p for entry in found] == [2 / 256, 1.0, 2 / 128]
    assert [entry.p_holm for entry in found] == [6 / 256, 1.0, 4 / 128]


def test_thirty_questions_are_called_few() -> None:
    assert difference("success_rate", *[("1", "0")] * 30).small
    assert not difference("success_rate", *[("1", "0")] * SMALL).small


def test_what_a_run_lacks_is_said_and_a_question_not_run_is_in_no_pair() -> None:
    first = compared("a", "1", ".", "!", "~", None, qualities=[4])
    second = compared("b", "1", "1", "1", "1", "1")

    found = compare([first, second], rule="majority", settings=QUICK)

    lacks = found.contenders[0].missing
    assert (lacks.not_run, lacks.incomplete, lacks.failed, lacks.unreadable) == (
        (5,),
        (2,),
        (3,),
        (4,),
    )
    assert lacks.unrated_quality == (2, 3)  # a failed call has a quality too
    assert lacks.partial
    assert not found.contenders[1].missing.partial
    assert found.questions[4].answers[0] is None
    assert found.differences_of("success_rate")[0].n == 2  # questions 1 and 3


def test_a_run_that_nobody_judged_is_not_rated_even_where_calls_failed() -> None:
    found = compare([compared("a", ".", "!"), compared("b", "1", "0")], rule="majority")

    assert [contender.rated for contender in found.contenders] == [False, True]
    assert found.order("mean_precision_at_5") == (("b",),)


def test_quality_is_paired_where_both_answers_are_rated() -> None:
    runs = [
        compared("a", "1", "1", "1", qualities=[5, 3, None]),
        compared("b", "1", "1", "1", qualities=[2, None, 4]),
    ]

    (found,) = compare(runs, rule="majority", settings=QUICK).differences_of(
        "mean_response_quality"
    )

    assert (found.n, found.mean, found.headline) == (1, 3.0, 4.0 - 3.0)


def test_questions_stand_in_set_order_with_how_far_the_runs_lie_apart() -> None:
    runs = [compared("a", "10", "f", "c"), compared("b", "11", "1", "c")]

    found = compare(runs, rule="majority", settings=QUICK)

    assert [line.position for line in found.questions] == [1, 2, 3]
    assert [line.spread for line in found.questions] == [0.5, 1.0, None]


def test_categories_have_their_own_figures() -> None:
    categories = ["price", "place", "price"]
    runs = [
        compared("a", "1", "0", "0", categories=categories),
        compared("b", "1", "1", "1", categories=categories),
    ]

    found = compare(runs, rule="majority", settings=QUICK)

    assert found.categories == ("price", "place")
    assert found.contenders[0].categories["price"]["mean_precision_at_5"].value == 0.5


def test_equal_values_share_a_place() -> None:
    assert ranked({"a": 0.1 + 0.2, "b": 0.3, "c": None}) == (("a", "b"),)


@pytest.mark.parametrize("names", [[], ["a"], ["a", "a"]])
def test_a_comparison_takes_two_different_runs(names: list[str]) -> None:
    with pytest.raises(ValueError, match="two runs or more"):
        compare([compared(name, "1") for name in names], rule="majority")
