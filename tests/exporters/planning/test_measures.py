"""The page of all measures explains those of intervals of a rating plan."""

from __future__ import annotations

import pytest

from tests.exporters.explained import unexplained
from webapp.metrics.planning.registry import PLANNING_MEASURES


@pytest.mark.parametrize("language", ["id", "en"])
def test_every_measure_is_explained_in_both_languages(language: str) -> None:
    measures = PLANNING_MEASURES.values()

    assert measures
    assert unexplained(measures, language) == []
