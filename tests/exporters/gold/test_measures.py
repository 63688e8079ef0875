"""The page of all measures explains those of constraints."""

from __future__ import annotations

import pytest

from tests.exporters.explained import unexplained
from webapp.metrics.gold.registry import CONSTRAINT_MEASURES


@pytest.mark.parametrize("language", ["id", "en"])
def test_every_measure_is_explained_in_both_languages(language: str) -> None:
    measures = CONSTRAINT_MEASURES.values()

    assert measures
    assert unexplained(measures, language) == []
