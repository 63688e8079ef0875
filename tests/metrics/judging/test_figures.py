from __future__ import annotations

import pytest

from tests.metrics.judging.verdicts import (
    SEED_5_2,
    empty,
    failed,
    listed,
    unreadable,
)
from webapp.metrics.judging.figures import (
    COMPOSITE_WEIGHTS,
    HEADLINES,
    Confusion,
    Figure,
    Totals,
    confusion,
    figures,
)
from webapp.metrics.judging.queries import QuerySummary, Undefined


def figure(name: str, *summaries: QuerySummary) -> Figure:
    return figures(Totals.of(summaries))[name]


@pytest.mark.parametrize(
    ("name", "value", "n"),
    [
        ("mean_precision_at_5", 0.8, 3),  # (0.8 + 1 + 0.6) / 3
        ("mean_overall_precision", 0.8, 3),
        ("mrr", 2.5 / 3, 3),  # 1 + 1 + 1/2 over queries with results
        ("mrr_answerable", 2.5 / 4, 4),  # and the false negative at 0
        ("success_rate", 0.8, 5),  # 1, 1, 1, 0, 1
        ("coverage", 0.6, 5),
        ("mean_response_quality", 2.4, 5),  # (4 + 5 + 0 + 0 + 3) / 5
        ("composite", 0.79, 5),  # 0.32 + 0.25 + 0.16 + 0.06
    ],
)
def test_figures_of_the_sample_in_the_method(name: str, value: float, n: int) -> None:
    found = figure(name, *SEED_5_2)

    assert found.value == pytest.approx(value, abs=1e-12)
    assert found.lower == found.upper == found.value
    assert found.n == found.of == n
    assert not found.so_far


def test_mrr_of_the_worked_example_in_the_method() -> None:
    """Seed 1.3: ranks 1, 3, 2 and none make 0.458."""
    found = figure("mrr", listed("RNN"), listed("NNR"), listed("NRR"), listed("NNN"))

    assert found.value == pytest.approx((1 + 1 / 3 + 1 / 2 + 0) / 4, abs=1e-12)


def test_the_headline_figures_come_in_their_order() -> None:
    assert tuple(figures(Totals())) == HEADLINES


def test_no_query_has_no_figure() -> None:
    assert set(figures(Totals()).values()) == {Figure(None, None, None, 0)}


def test_the_value_so_far_may_lie_outside_its_bounds() -> None:
    """One of two queries rated, all relevant; the other's two results are open."""
    found = figure("mean_overall_precision", listed("RR"), listed("N."))

    assert found == Figure(value=1.0, lower=0.5, upper=0.75, n=1, of=2)
    assert found.so_far


def test_nothing_rated_leaves_the_widest_bounds_and_a_reason() -> None:
    run = [listed("..."), listed("."), empty()]

    assert figure("mrr", *run) == Figure(None, 0.0, 1.0, 0, of=2)
    assert figure("success_rate", *run) == Figure(None, 0.0, 1.0, 0, of=3)
    assert figure("mean_response_quality", *run) == Figure(None, 0.0, 5.0, 0, of=3)
    assert figure("coverage", *run) == Figure(2 / 3, 2 / 3, 2 / 3, 3, of=3)
    assert figure("mrr", *run).why_undefined is Undefined.INCOMPLETE


def test_the_bounds_of_the_composite_are_made_of_its_parts_bounds() -> None:
    """Coverage is 2/3 whatever is judged: 0.1 x 2/3 = 1/15 at least, 0.9 + 1/15 at most."""
    found = figure("composite", listed("..."), listed("."), empty())

    assert (found.value, found.n) == (None, 0)
    assert found.lower == pytest.approx(1 / 15)
    assert found.upper == pytest.approx(0.9 + 1 / 15)


def test_an_unclassified_empty_list_is_at_0_in_one_bound_and_absent_from_the_other() -> None:
    found = figure("mrr_answerable", listed("NR"), empty())

    assert found == Figure(value=0.5, lower=0.25, upper=0.5, n=1, of=2)


def test_a_list_that_can_only_succeed_or_stay_undefined_is_absent_from_the_lower_bound() -> None:
    found = figure("success_rate", listed("R"), listed("N"), listed("U."))

    assert found == Figure(value=0.5, lower=0.5, upper=2 / 3, n=2, of=3)


def test_a_bound_that_no_query_reaches_takes_the_only_value_there_can_be() -> None:
    assert figure("mrr_answerable", empty()) == Figure(None, 0.0, 0.0, 0, of=1)
    assert figure("success_rate", listed("U.")) == Figure(None, 1.0, 1.0, 0, of=1)


def test_everything_cannot_tell_leaves_precision_and_success_undefined_for_good() -> None:
    run = [listed("UU"), listed("U")]

    assert figure("mean_precision_at_5", *run) == Figure(None, None, None, 0)
    assert figure("success_rate", *run) == Figure(None, None, None, 0)
    assert figure("mrr", *run) == Figure(0.0, 0.0, 0.0, 2, of=2)
    assert figure("composite", *run) == Figure(None, None, None, 0, of=2)
    assert figure("composite", *run).why_undefined is Undefined.NO_QUERY


def test_a_run_in_which_every_call_failed_succeeds_and_covers_nothing() -> None:
    run = [failed(), failed()]

    assert figure("success_rate", *run) == Figure(0.0, 0.0, 0.0, 2, of=2)
    assert figure("coverage", *run) == Figure(0.0, 0.0, 0.0, 2, of=2)
    assert figure("mean_precision_at_5", *run) == Figure(None, None, None, 0)
    assert figure("mrr_answerable", *run) == Figure(None, None, None, 0)


def test_an_unreadable_answer_changes_no_figure() -> None:
    with_it = figures(Totals.of([*SEED_5_2, unreadable()]))

    assert with_it == figures(Totals.of(SEED_5_2))
    assert figure("coverage", unreadable()) == Figure(None, None, None, 0)


def test_an_answer_without_a_grade_is_left_out_of_the_quality_so_far() -> None:
    found = figure("mean_response_quality", listed("R", 4), listed("R"))

    assert found == Figure(value=4.0, lower=2.0, upper=4.5, n=1, of=2)


def test_composite_n_is_the_number_of_complete_queries() -> None:
    run = [listed("R"), listed("U"), failed(), listed("."), unreadable()]

    assert figure("composite", *run).n == 3


def test_the_weights_of_the_composite_add_up_to_1() -> None:
    assert sum(COMPOSITE_WEIGHTS.values()) == pytest.approx(1)


def test_confusion_counts_results_and_empty_lists() -> None:
    assert confusion(Totals.of([*SEED_5_2, listed("RU.")])) == Confusion(
        true_positives=13, false_positives=3, correct_empties=1, false_negatives=1
    )
