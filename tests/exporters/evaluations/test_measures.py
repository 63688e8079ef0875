from __future__ import annotations

import pytest

from relevansi.metrics.evaluations.registry import EVALUATIONS
from tests.exporters.explained import unexplained


@pytest.mark.parametrize("language", ["id", "en"])
def test_every_measure_is_explained_in_both_languages(language: str) -> None:
    measures = [measure for result in EVALUATIONS.values() for measure in result.measures.values()]

    assert measures
    assert unexplained(measures, language) == []
