"""Every figure of the automatic evaluations is explained."""

from __future__ import annotations

import pytest

from webapp.metrics.evaluations.answers import AnswerSummary
from webapp.metrics.evaluations.chunks import FIGURES
from webapp.metrics.evaluations.json_answers import CLASSES, WEIGHTS
from webapp.metrics.evaluations.registry import (
    ANSWER_MEASURES,
    CHUNK_MEASURES,
    EVALUATIONS,
    JSON_MEASURES,
)
from webapp.metrics.judging.registry import MeasureGroup


def test_no_figure_is_without_its_explanation() -> None:
    assert list(ANSWER_MEASURES) == list(AnswerSummary().figures())
    assert tuple(CHUNK_MEASURES) == FIGURES
    assert set(WEIGHTS) - set(CLASSES) < set(JSON_MEASURES)
    assert {"eval_score_avg", "schema_pass_rate", "gate_passed", "classes"} < set(JSON_MEASURES)


@pytest.mark.parametrize("name", EVALUATIONS)
def test_every_figure_says_what_it_means_and_where_it_is_from(name: str) -> None:
    for measure in EVALUATIONS[name].measures.values():
        assert measure.label
        assert measure.meaning
        assert measure.source
        assert measure.name == "count" or (measure.formula and measure.denominator)


@pytest.mark.parametrize("evaluation", EVALUATIONS.values(), ids=list(EVALUATIONS))
def test_what_is_read_together_is_there(evaluation: MeasureGroup) -> None:
    assert evaluation.advice
    for advice in evaluation.advice:
        assert set(advice.figures) <= set(evaluation.measures)
