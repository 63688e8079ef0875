"""Questions drawn at random without replacement: the rule, its draws, and the figure of all.

Intervals from a sample of the questions take two further questions into account, one with the
lowest and one with the highest value that the figure can have. A sample often has none of the few
questions that differ from the rest, and an interval from its own values alone is then too narrow,
or no wider than a point. With the two it holds as often as it says, for few questions and for
values that hardly differ too; the more questions are drawn, the less they count. For shares this
is the rule of Agresti and Coull, "add two successes and two failures", with one of each.
References: Agresti & Coull (1998), Approximate is better than "exact" for interval estimation of
binomial proportions. The American Statistician 52, 119-126; Agresti & Caffo (2000), Simple and
effective confidence intervals for proportions and differences of proportions result from adding
two successes and two failures. The American Statistician 54, 280-288. ``docs/planning-coverage.md``
has how often these intervals hold.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from math import fsum
from typing import Annotated, Any

from msgspec import Meta, Struct, ValidationError, convert, field
from msgspec.structs import replace

from webapp.metrics.comparisons.significance import (
    MIN_UNITS,
    NO_INTERVAL,
    Interval,
    Resampling,
    times_drawn_with_ends,
    weighed,
)
from webapp.metrics.planning.power import t_quantile

FURTHER = 2
"""The number of further questions, one for each end of the range."""


class ValueRange(Struct, frozen=True):
    """The values that a figure or a difference can have."""

    low: float = 0.0
    high: float = 1.0

    @property
    def ends(self) -> tuple[float, float]:
        return self.low, self.high

    def cut(self, value: float) -> float:
        return min(self.high, max(self.low, value))


NO_VALUE = "no_value"
TOO_FEW = "too_few"
FEWEST = 3
"""Strata of which fewer questions were drawn vary together: each alone would say too little."""


class Stratum(Struct, frozen=True):
    """The questions of one stratum: ``of`` in all, and a value for each one drawn.

    ``None`` is a question that has no value; the mean is over those that have one.
    """

    of: int
    values: tuple[float | None, ...]

    @property
    def drawn(self) -> int:
        return len(self.values)


class SampledMean(Struct, frozen=True):
    """A mean over all questions as a sample shows it, or the reason why it has none.

    ``values`` of the ``drawn`` questions have a value; ``of`` are all questions.
    """

    value: float | None
    reason: str | None
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


def allocation(sizes: Mapping[str, int], n: int) -> dict[str, int]:
    """Return how many of `n` questions each stratum gets, in proportion to its size.

    Largest remainders: each gets the whole part of its share, and those with the largest
    remainders one more, of equal remainders the larger stratum, then the first by name.
    Reference: Balinski & Young (2001), Fair Representation, 2nd edition, ch. 3.

    >>> allocation({"a": 5, "b": 3, "c": 2}, 4)  # 2.0, 1.2 and 0.8
    {'a': 2, 'b': 1, 'c': 1}
    """
    total = sum(sizes.values())
    n = min(n, total)
    if not total:
        return dict.fromkeys(sizes, 0)
    found = {name: n * size // total for name, size in sizes.items()}
    by_remainder = sorted(sizes, key=lambda name: (-(n * sizes[name] % total), -sizes[name], name))
    for name in by_remainder[: n - sum(found.values())]:
        found[name] += 1
    return found


def sampled_mean(
    strata: Sequence[Stratum],
    settings: Resampling | None = None,
    *,
    bounds: ValueRange | None = None,
) -> SampledMean:
    """Return the mean over all questions, with its interval at a size fixed beforehand.

    Each stratum counts by its size: ``sum_h W_h y_h / sum_h W_h k_h`` with W_h its share of all
    questions, y_h the sum of its values and k_h the number of them, each by question drawn. Strata
    of which nothing was drawn are joined to others.

    The interval is ``m +- t s``: m and s are the mean and the standard deviation of the figure in
    resamples of each stratum, t is the quantile of Student's t with the degrees of freedom of s
    (Satterthwaite). The resamples take two further questions into account, one at each end of
    `bounds` (the module): each draw is one of them with the chance ``2 / (n + 2)``. What a
    stratum's part moves is scaled by ``sqrt((1 - n_h/N_h) n_h / (u_h - 1))``, with
    ``u_h = n_h (n + 2) / n``: the correction for a finite number of questions (Rao & Wu). Strata of
    which fewer than `FEWEST` questions were drawn count as one there (collapsed). The interval is
    cut to `bounds`. All questions drawn: the interval is the point.
    References: Rao & Wu (1988), Resampling inference with complex survey data. JASA 83, 231-241;
    Hesterberg (2015), What teachers should know about the bootstrap. The American Statistician 69,
    371-386; Cochran (1977), Sampling Techniques, 5A.12.

    >>> found = sampled_mean([Stratum(4, (1.0, 0.0)), Stratum(2, (0.5, 0.5))])
    >>> found.value, found.drawn, found.of
    (0.5, 4, 6)
    """
    drawn, of = _drawn(strata), sum(one.of for one in strata)
    known = sum(value is not None for one in strata for value in one.values)
    value = _estimate(collapsed(strata, fewest=MIN_UNITS)) if known else None
    reason, interval = None, NO_INTERVAL
    if value is None:
        reason = NO_VALUE
    elif drawn == of:
        interval = Interval(value, value, 0)
    elif drawn < MIN_UNITS:
        reason = TOO_FEW
    else:
        interval = _bootstrap(value, collapsed(strata), settings or Resampling(), bounds)
    return SampledMean(value, reason, interval, known, drawn, of)


def collapsed(strata: Sequence[Stratum], *, fewest: int = FEWEST) -> tuple[Stratum, ...]:
    """Return the strata, those with fewer than `fewest` questions drawn joined into one.

    Where they are still fewer together, the smallest other strata join them.
    """
    rest = sorted((one for one in strata if one.of), key=lambda one: (one.drawn, one.of))
    joined: list[Stratum] = []
    while rest and (rest[0].drawn < fewest or (joined and _drawn(joined) < fewest)):
        joined.append(rest.pop(0))
    if not joined:
        return tuple(rest)
    values = tuple(value for one in joined for value in one.values)
    return (*rest, Stratum(sum(one.of for one in joined), values))


def _drawn(strata: Sequence[Stratum]) -> int:
    return sum(one.drawn for one in strata)


def _estimate(strata: Sequence[Stratum]) -> float:
    known = [[value for value in one.values if value is not None] for one in strata]
    weights = [one.of / one.drawn for one in strata]
    above = fsum(weight * fsum(values) for weight, values in zip(weights, known, strict=True))
    return above / fsum(weight * len(values) for weight, values in zip(weights, known, strict=True))


def _bootstrap(
    value: float, strata: Sequence[Stratum], settings: Resampling, bounds: ValueRange | None
) -> Interval:
    import numpy as np

    bounds = bounds or ValueRange()
    drawn, middle = _drawn(strata), _estimate(strata)
    above, below = np.zeros(settings.resamples), np.zeros(settings.resamples)
    parts: list[tuple[float, float]] = []
    for place, one in enumerate(strata):
        known = np.array([*(value or 0.0 for value in one.values), *bounds.ends])
        present = np.array([*(float(value is not None) for value in one.values), 1.0, 1.0])
        units = one.drawn * (drawn + FURTHER) / drawn
        scale = ((1 - one.drawn / one.of) * one.drawn / (units - 1)) ** 0.5
        own = replace(settings, seed=settings.seed + place)
        times = np.concatenate(list(times_drawn_with_ends(one.drawn, drawn, own)))
        up, down = (
            (scale * weighed(times, each) + (1 - scale) * each[: one.drawn].sum())
            * (one.of / one.drawn)
            for each in (known, present)
        )
        above, below = above + up, below + down
        parts.append((float(np.var(up - middle * down)), units - 1))
    means = np.clip(above[below > 0] / below[below > 0], bounds.low, bounds.high)
    if not len(means):
        return Interval(None, None, len(below))
    centre = value + float(means.mean()) - middle
    degrees = 1.0  # of one resample
    if total := fsum(added for added, _ in parts):
        # Of a sum of variances, each with its own: (sum v)^2 / sum (v^2 / d) (Satterthwaite).
        degrees = max(1.0, total**2 / fsum(added**2 / freedom for added, freedom in parts))
    reach = t_quantile((1 + settings.confidence) / 2, degrees) * float(means.std())
    left_out = len(below) - len(means)
    return Interval(bounds.cut(centre - reach), bounds.cut(centre + reach), left_out)


class ChosenRule(Struct, frozen=True):
    """A rule with its seed, when it was chosen, and the questions it drew.

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
    strata: tuple[str, ...] = ()

    @property
    def beforehand(self) -> bool:
        return self.verdicts_before == 0


STATED = (
    *("kind", "seed", "chosen_at", "verdicts_before"),
    *("ended_at", "verdicts_at_end", "outcome", "settings"),
)
"""The fields that a rule has beside the questions it drew, in the order of files."""
MOST_DRAWS = 1000
"""A sample that says it was drawn in more steps is not drawn again."""


class SampleDraw(Struct, frozen=True):
    """One draw of ``n`` questions beside those drawn before.

    ``stratified``: each category has its share of the sample then. ``category``: all of this one.
    """

    n: Annotated[int, Meta(ge=0)]
    stratified: bool = False
    category: str | None = None


def extended(
    before: Iterable[int], categories: Mapping[int, str], wanted: SampleDraw, seed: int
) -> dict[int, str]:
    """Return the questions of a sample after one more draw, in order, each with its stratum.

    `categories` are those of all questions. Strata are the categories where the draw asks for them,
    else all questions together (""). What was drawn `before` stays; new questions follow in the
    random order of the seed.

    >>> extended([2], {1: "a", 2: "a", 3: "b"}, SampleDraw(1, category="b"), 7)
    {2: 'a', 3: 'b'}
    """
    by_category = wanted.stratified or wanted.category is not None
    strata = categories if by_category else dict.fromkeys(categories, "")
    found = {question: strata[question] for question in before}
    counts = Counter(found.values())
    if wanted.category is not None:
        sizes = counts + Counter({wanted.category: wanted.n})
    else:
        sizes = Counter(allocation(Counter(strata.values()), len(found) + wanted.n))
    for question in random_order(tuple(strata), seed):
        stratum = strata[question]
        if question not in found and counts[stratum] < sizes[stratum]:
            counts[stratum] += 1
            found[question] = stratum
    return found


def drawn_again(
    categories: Mapping[int, str], draws: Iterable[SampleDraw], seed: int
) -> dict[int, str]:
    """Return the sample that these draws make of all questions, by their positions."""
    found: dict[int, str] = {}
    for one in draws:
        found = extended(found, categories, one, seed)
    return found


def from_settings(settings: Mapping[str, Any]) -> tuple[SampleDraw, ...]:
    """Return the draws that the settings of a rule state; raises ``ValueError``.

    Settings that state a size alone are of a sample drawn at once.
    """
    alone = {"n": settings.get("size", 0), "stratified": settings.get("stratified", False)}
    listed = settings.get("draws", [alone])
    if not isinstance(listed, Sequence) or len(listed) > MOST_DRAWS:
        raise ValueError("draws")
    try:
        return tuple(convert(listed, list[SampleDraw]))
    except ValidationError as wrong:
        raise ValueError("draws") from wrong


PART = "sample"
"""The name of the sample among the parts of a comparison."""


class SampledFigure(Struct, frozen=True):
    """A figure of a run, or of a pair of runs (first minus second), over all questions."""

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
        return len(self.rule.sample)
