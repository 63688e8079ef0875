"""A sample of the questions as pages and reports show it: its rule, how far, and its figures."""

from __future__ import annotations

from msgspec import Struct

from webapp.metrics.comparisons.significance import Interval, Resampling
from webapp.metrics.planning.chosen_rules import ChosenRule
from webapp.metrics.planning.sampling import SampledMean

PART = "sample"
"""The name of the sample among the parts of a comparison."""


class SampledFigure(Struct, frozen=True):
    """A figure of a run, or of a pair of runs (first minus second), over all questions.

    ``found`` has the mean as the sample shows it. Its interval is the bootstrap interval of a
    size fixed beforehand, or the latest of the confidence sequence, as the rule says.
    """

    figure: str
    runs: tuple[str, ...]
    found: SampledMean


class SequenceLook(Struct, frozen=True):
    """The interval of the asked difference after ``n`` questions, and what it ended, if it did."""

    n: int
    interval: Interval
    outcome: str | None


class QuestionSample(Struct, frozen=True):
    """A drawn sample: its rule, how many of its questions are rated, and its figures.

    ``looks`` are those of a sample that grows, up to the first that ends it; empty for a size fixed
    beforehand, which has the ``settings`` of its bootstrap. ``rated`` counts the questions, in the
    order of drawing, whose answers of all runs are judged; a fixed sample has figures only when all
    are. ``figures`` have a value. ``compared`` are the names of the runs that the looks compare.
    """

    rule: ChosenRule
    rated: int
    figures: tuple[SampledFigure, ...]
    looks: tuple[SequenceLook, ...] = ()
    settings: Resampling | None = None
    compared: tuple[str, ...] = ()

    @property
    def drawn(self) -> int:
        """Number of questions drawn."""
        return len(self.rule.sample)

    @property
    def stopped(self) -> SequenceLook | None:
        """The look that ended the sampling, by the rule that was chosen."""
        return self.looks[-1] if self.looks and self.looks[-1].outcome else None
