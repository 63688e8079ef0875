"""Every figure of the constraints is explained."""

from __future__ import annotations

from webapp.metrics.gold.registry import CONSTRAINT_ADVICE, CONSTRAINT_LABELS, CONSTRAINT_MEASURES
from webapp.records import CONSTRAINTS


def test_no_figure_is_without_its_explanation() -> None:
    assert {"pca", "mean_cpr", "strict_success_ratio", "query_success_rate"} < set(
        CONSTRAINT_MEASURES
    )
    assert tuple(CONSTRAINT_LABELS) == CONSTRAINTS


def test_every_figure_says_what_it_means_and_where_it_is_from() -> None:
    for measure in CONSTRAINT_MEASURES.values():
        assert measure.label
        assert measure.meaning
        assert measure.source
        assert measure.formula
        assert measure.denominator


def test_what_is_read_together_is_there() -> None:
    assert CONSTRAINT_ADVICE
    for advice in CONSTRAINT_ADVICE:
        assert set(advice.figures) <= set(CONSTRAINT_MEASURES)
