"""The page of all measures explains those of phase 3."""

from __future__ import annotations

import pytest

from tests.exporters.explained import unexplained
from webapp.metrics.phase_3.registry import MACHINE_MEASURES, USER_MEASURES


@pytest.mark.parametrize("language", ["id", "en"])
def test_every_measure_is_explained_in_both_languages(language: str) -> None:
    measures = (*USER_MEASURES.values(), *MACHINE_MEASURES.values())

    assert measures
    assert unexplained(measures, language) == []
