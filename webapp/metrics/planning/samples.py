"""A sample of the questions as pages and reports show it: its rule, how far, and its figures."""

from __future__ import annotations

from msgspec import Struct

from webapp.metrics.comparisons.significance import Resampling
from webapp.metrics.planning.chosen_rules import ChosenRule
from webapp.metrics.planning.sampling import SampledMean

PART = "sample"
"""The name of the sample among the parts of a comparison."""


class SampledFigure(Struct, frozen=True):
    """A figure of a run, or of a pair of runs (first minus second), over all questions.

    ``found`` has the mean as the sample shows it, with the bootstrap interval of a size fixed
    beforehand; none where the sample grew.
    """

    figure: str
    runs: tuple[str, ...]
    found: SampledMean


class QuestionSample(Struct, frozen=True):
    """A drawn sample: its rule, how many of its questions are rated, and its figures.

    ``rated`` counts the questions whose answers of all runs are judged; a sample of a fixed size
    has figures only when all are. ``figures`` have a value. ``settings`` are those of the
    bootstrap; ``None`` for a sample that grew, which has no interval.
    """

    rule: ChosenRule
    rated: int
    figures: tuple[SampledFigure, ...]
    settings: Resampling | None = None

    @property
    def drawn(self) -> int:
        """Number of questions drawn."""
        return len(self.rule.sample)
