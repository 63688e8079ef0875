"""A simple random sample of the questions, and the mean over all questions estimated from it.

The size is fixed before the first verdict. The interval is that of every figure (``intervals``),
its half widths times the finite population correction ``sqrt(1 - n / N)``.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from datetime import datetime
from statistics import fmean
from typing import Any

from msgspec import Struct, field

from relevansi.metrics.intervals import NO_INTERVAL, Interval, difference_interval, mean_interval


class SampledMean(Struct, frozen=True):
    """A mean over all questions estimated from a sample, ``None`` where no question has a value.

    ``values`` of the ``drawn`` questions have a value; ``of`` are all questions.
    """

    value: float | None
    interval: Interval
    values: int
    drawn: int
    of: int


def random_order(questions: Sequence[int], seed: int) -> tuple[int, ...]:
    """Return all questions in the random order of a seed, whatever order they came in.

    Every order is as likely as any other, so its first *n* are a sample without replacement.

    >>> sorted(random_order([3, 1, 2], 7))
    [1, 2, 3]
    """
    drawn = sorted(questions)
    random.Random(seed).shuffle(drawn)  # noqa: S311 - repeatable, not secret
    return tuple(drawn)


def sampled_mean(
    values: Sequence[float | None], of: int, *, highest: float = 1.0, is_difference: bool = False
) -> SampledMean:
    """Return the mean over `of` questions from the values of those drawn, with its interval.

    ``None`` is a question that has no value; the mean is over those that have one. If all questions
    were drawn, nothing is estimated: the interval is the value. Values are from 0 to `highest`, a
    difference's from -`highest`. Reference: Cochran (1977), Sampling Techniques, ch. 2.

    >>> mean = sampled_mean([1.0, 0.0, None], 12)
    >>> mean.value, mean.values, mean.drawn, mean.of
    (0.5, 2, 3, 12)
    """
    defined, drawn = [value for value in values if value is not None], len(values)
    if not defined:
        return SampledMean(None, NO_INTERVAL, 0, drawn, of)
    mean = fmean(defined)
    if drawn == of:
        interval = Interval(mean, mean)
    elif is_difference:
        interval = difference_interval(defined, highest=highest)
    else:
        interval = mean_interval(defined, highest=highest)
    return SampledMean(mean, interval.of_sample(mean, drawn / of), len(defined), drawn, of)


class ChosenRule(Struct, frozen=True):
    """A planning rule as reports name it, with its seed and the questions it drew.

    ``verdicts_before`` counts people's verdicts on the question set when it was chosen,
    ``verdicts_at_end`` when it ended. ``sample`` has the positions of the questions drawn, in
    order, of ``of`` in the set; empty for a rule that draws none.
    """

    kind: str
    seed: int
    chosen_at: datetime
    verdicts_before: int
    of: int
    ended_at: datetime | None = None
    verdicts_at_end: int | None = None
    outcome: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    sample: tuple[int, ...] = ()

    @property
    def beforehand(self) -> bool:
        """Whether the rule was chosen before people's first verdict."""
        return self.verdicts_before == 0

    @property
    def is_stratified(self) -> bool:
        """Whether each category had its share of the sample, as a rule of version 1.1 could ask."""
        return bool(self.settings.get("stratified"))


RULE_FIELDS = (
    "kind",
    "seed",
    "chosen_at",
    "verdicts_before",
    "ended_at",
    "verdicts_at_end",
    "outcome",
    "settings",
)
"""The stored fields of a rule, in the order of files."""


PART = "sample"
"""The name of the sample among the parts of a comparison."""


class SampledFigure(Struct, frozen=True):
    """A figure of a run, or of a pair of runs (first minus second), over all questions."""

    figure: str
    runs: tuple[str, ...]
    mean: SampledMean


class QuestionSample(Struct, frozen=True):
    """A drawn sample: its rule, how many of its questions are rated, and its figures.

    ``rated`` counts the questions whose answers of all runs are judged; a sample of a fixed size
    has figures only when all are. ``figures`` have a value.
    """

    rule: ChosenRule
    rated: int
    figures: tuple[SampledFigure, ...]

    @property
    def drawn(self) -> int:
        return len(self.rule.sample)
