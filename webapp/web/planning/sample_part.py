"""The sample of the questions on the page of a comparison."""

from __future__ import annotations

from webapp.exporters.planning import sample_part
from webapp.metrics.comparisons.comparisons import ComparisonReport
from webapp.metrics.planning.samples import PART, QuestionSample
from webapp.web.comparisons.comparisons import Address
from webapp.web.feature import ShownPart

STYLES: tuple[str, ...] = ()


def part(report: ComparisonReport, _address: Address) -> ShownPart | None:
    """Return the figures over all questions, where only a sample is asked."""
    found: QuestionSample | None = report.part(PART)
    if found is None:
        return None
    return ShownPart("planning/_compared_sample.html", sample_part.section(found))
