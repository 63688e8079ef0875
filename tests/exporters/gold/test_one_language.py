"""A comparison under V2 is in one language."""

from __future__ import annotations

from fractions import Fraction

import pytest
from msgspec.structs import replace

from tests.exporters.comparisons.comparisons import DAY, three_runs
from tests.exporters.one_language import READ, foreign, text_of
from tests.metrics.gold.test_constraint_comparison import DEAR, GOOD, LAND, contender
from webapp.exporters.comparisons import files as comparison_files
from webapp.i18n import speaking
from webapp.metrics.comparisons.comparisons import ComparisonPart, ComparisonReport
from webapp.metrics.comparisons.significance import Resampling
from webapp.metrics.gold.constraints import PART, compare_constraints


def _checked_runs() -> ComparisonReport:
    """Return a comparison under V2 too, with a pending card and a run without its own list."""
    runs = (
        contender("a", (GOOD, DEAR), (GOOD,), (), (GOOD,)),
        contender("b", (LAND,), (), (LAND,), (), not_run=(4,)),
        replace(contender("c", (DEAR,), (LAND,), (), (GOOD,)), from_text=True),
    )
    compared = compare_constraints(
        runs, gold="g", version=1, threshold=Fraction(1, 2), settings=Resampling(resamples=200)
    )
    return replace(three_runs(), parts=(ComparisonPart(PART, compared),))


@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize("language", ["id", "en"])
def test_a_report_is_in_one_language(name: str, language: str) -> None:
    with speaking(language):
        report = comparison_files.FORMATS[name].render(_checked_runs(), DAY)

        assert foreign(text_of(report), language) == []
