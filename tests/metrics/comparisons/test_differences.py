"""Two runs are paired by question: means, tests and wins by hand."""

from __future__ import annotations

import pytest
from scipy import stats  # type: ignore[import-untyped]

from tests.metrics.comparisons.compared import QUICK, compared, differences_of
from webapp.metrics.comparisons.comparisons import compare
from webapp.metrics.comparisons.differences import MCNEMAR, SMALL, Difference


def difference(figure: str, *rows: tuple[str, str], at_zero: bool = False) -> Difference:
    """Return what two runs with these rows differ by in one figure."""
    first = compared("a", *(row[0] for row in rows))
    second = compared("b", *(row[1] for row in rows))
    found = differences_of(compare([first, second], rule="majority", settings=QUICK), figure)
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

    found = differences_of(compare(runs, rule="majority", settings=QUICK), "success_rate")

    # 8:0 gives 2/256, 1:0 gives 1, 0:7 gives 2/128; times 3, then 2, then 1.
    assert [entry.p for entry in found] == [2 / 256, 1.0, 2 / 128]
    assert [entry.p_holm for entry in found] == [6 / 256, 1.0, 4 / 128]


def test_thirty_questions_are_called_few() -> None:
    assert difference("success_rate", *[("1", "0")] * 30).small
    assert not difference("success_rate", *[("1", "0")] * SMALL).small


def test_quality_is_paired_where_both_answers_are_rated() -> None:
    runs = [
        compared("a", "1", "1", "1", qualities=[5, 3, None]),
        compared("b", "1", "1", "1", qualities=[2, None, 4]),
    ]

    (found,) = differences_of(
        compare(runs, rule="majority", settings=QUICK), "mean_response_quality"
    )

    assert (found.n, found.mean, found.headline) == (1, 3.0, 4.0 - 3.0)
