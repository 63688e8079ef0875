from __future__ import annotations

import pytest

from webapp.metrics.comparisons.registry import COMPARISON_MEASURES
from webapp.metrics.judging.registry import MEASURES


@pytest.mark.parametrize("name", COMPARISON_MEASURES)
def test_every_number_states_formula_denominator_edge_cases_reading_and_source(name: str) -> None:
    measure = COMPARISON_MEASURES[name]

    assert all([measure.label, measure.meaning, measure.formula, measure.denominator])
    assert all([measure.edge_cases, measure.reading, measure.source])


def test_no_number_of_a_comparison_has_the_name_of_a_figure() -> None:
    assert not set(COMPARISON_MEASURES) & set(MEASURES)


def test_everything_a_comparison_tests_with_is_explained() -> None:
    assert {
        *("paired_difference", "bootstrap_interval", "randomisation_p", "mcnemar_p", "holm_p"),
        *("win_tie_loss", "stability", "original_composite", "signed_rank_p"),
    } == set(COMPARISON_MEASURES)
