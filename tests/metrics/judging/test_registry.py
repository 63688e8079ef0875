from __future__ import annotations

import pytest

from webapp.metrics.judging.figures import HEADLINES
from webapp.metrics.judging.queries import QUERY_FIGURES
from webapp.metrics.judging.registry import MEASURES, measure_of

CSV_COLUMNS = (
    "query_id",
    "question",
    "category",
    "results_count",
    "relevant_count",
    "first_relevant_rank",
    "overall_precision",
    "precision_at_5",
    "mrr",
    "success",
    "response_quality",
    "notes",
)


def test_the_headline_figures_come_first_in_their_order() -> None:
    assert tuple(MEASURES)[: len(HEADLINES)] == HEADLINES


@pytest.mark.parametrize("name", [*HEADLINES, *QUERY_FIGURES, *CSV_COLUMNS])
def test_every_figure_and_column_is_explained(name: str) -> None:
    measure = measure_of(name)

    assert measure.label
    assert measure.meaning


@pytest.mark.parametrize("name", [*HEADLINES, "trec_precision_at_5"])
def test_every_figure_states_formula_denominator_edge_cases_and_source(name: str) -> None:
    measure = MEASURES[name]

    assert all([measure.formula, measure.denominator, measure.edge_cases, measure.source])


def test_every_figure_of_a_query_belongs_to_one_headline_figure() -> None:
    assert sorted(m.query_name for m in MEASURES.values() if m.query_name) == sorted(QUERY_FIGURES)


def test_the_two_conventions_of_precision_at_5_have_two_names() -> None:
    assert MEASURES["trec_precision_at_5"].label != MEASURES["mean_precision_at_5"].label


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(KeyError):
        measure_of("ndcg")
