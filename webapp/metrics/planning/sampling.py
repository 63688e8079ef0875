"""Questions drawn at random without replacement, and the figure of all from those drawn."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import variance
from typing import TYPE_CHECKING

from webapp.metrics.comparisons.intervals import NO_INTERVAL, Interval
from webapp.metrics.comparisons.resampling import MIN_UNITS, Resampling, times_drawn
from webapp.metrics.comparisons.significance import percentiles, weighed
from webapp.metrics.planning.distributions import normal_cdf, t_quantile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

NO_VALUE = "no_value"
TOO_FEW = "too_few"


@dataclass(frozen=True, slots=True)
class DrawnQuestion:
    """A question drawn at its ``position`` (from 1), from its stratum ("" without strata)."""

    question: int
    position: int
    stratum: str = ""


@dataclass(frozen=True, slots=True)
class Stratum:
    """The questions of one stratum: ``of`` in all, and a value for each one drawn.

    ``None`` is a question that has no value; the mean is over those that have one.
    """

    of: int
    values: tuple[float | None, ...]

    @property
    def drawn(self) -> int:
        """How many of its questions were drawn."""
        return len(self.values)


@dataclass(frozen=True, slots=True)
class SampledMean:
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


def draw(
    strata: Mapping[int, str], n: int, seed: int, *, stratified: bool
) -> tuple[DrawnQuestion, ...]:
    """Return `n` of the questions in the order of drawing; `strata` has the stratum of each.

    Without strata they are the first of ``random_order``. With strata each gets its share
    (``allocation``) of the first of its own in that order.
    """
    order = random_order(tuple(strata), seed)
    if not stratified:
        return tuple(DrawnQuestion(question, place) for place, question in enumerate(order[:n], 1))
    return extend((), strata, allocation(Counter(strata.values()), n), seed)


def extend(
    drawn: Sequence[DrawnQuestion], strata: Mapping[int, str], wanted: Mapping[str, int], seed: int
) -> tuple[DrawnQuestion, ...]:
    """Return a sample with more questions, so that each stratum has at least what is `wanted`.

    Questions already drawn stay; new ones follow in the random order of the seed. A stratum ""
    is all questions together.
    """
    have = {one.question for one in drawn}
    counts = Counter(one.stratum for one in drawn)
    found = list(drawn)
    for question in random_order(tuple(strata), seed):
        stratum = strata[question] if "" not in wanted else ""
        if question not in have and counts[stratum] < wanted.get(stratum, 0):
            counts[stratum] += 1
            found.append(DrawnQuestion(question, len(found) + 1, stratum))
    return tuple(found)


def sampled_mean(strata: Sequence[Stratum], settings: Resampling | None = None) -> SampledMean:
    """Return the mean over all questions, with its interval at a size fixed beforehand.

    Each stratum counts by its size: ``sum_h W_h y_h / sum_h W_h k_h`` with W_h its share of all
    questions, y_h the sum of its values and k_h the number of them, each by question drawn. The
    interval is a bootstrap in each stratum with the finite population correction: the resampled
    means move by ``sqrt((1 - n_h/N_h) n_h / (n_h - 1))`` of what they moved (Rao & Wu), and the
    percentiles are those of Student's t (Hesterberg), with as many degrees of freedom as the
    strata have (Satterthwaite), since few questions have too narrow percentiles. Strata of which
    fewer than two questions were drawn count as one (collapsed). All questions drawn: the interval
    is the point.
    References: Rao & Wu (1988), Resampling inference with complex survey data. JASA 83, 231-241;
    Hesterberg (2015), What teachers should know about the bootstrap. The American Statistician 69,
    371-386; Cochran (1977), Sampling Techniques, 5A.12.

    >>> found = sampled_mean([Stratum(4, (1.0, 0.0)), Stratum(2, (0.5, 0.5))])
    >>> found.value, found.drawn, found.of
    (0.5, 4, 6)
    """
    together = collapsed(strata)
    drawn, of = sum(one.drawn for one in strata), sum(one.of for one in strata)
    known = [value for one in strata for value in one.values if value is not None]

    def found(value: float | None, reason: str | None, interval: Interval) -> SampledMean:
        return SampledMean(value, reason, interval, len(known), drawn, of)

    if not known:
        return found(None, NO_VALUE, NO_INTERVAL)
    value = _estimate(together)
    if drawn == of:
        return found(value, None, Interval(value, value, 0))
    if any(one.drawn < MIN_UNITS for one in together):
        return found(value, TOO_FEW, NO_INTERVAL)
    return found(value, None, _bootstrap(together, settings or Resampling()))


def collapsed(strata: Sequence[Stratum]) -> tuple[Stratum, ...]:
    """Return the strata, those with fewer than two questions drawn joined into one.

    Where they are still fewer than two together, the smallest other stratum joins them.
    """
    asked = sorted((one for one in strata if one.of), key=lambda one: (one.drawn, one.of))
    small = [one for one in asked if one.drawn < MIN_UNITS]
    rest = [one for one in asked if one.drawn >= MIN_UNITS]
    if small and sum(one.drawn for one in small) < MIN_UNITS and rest:
        small.append(rest.pop(0))
    if not small:
        return tuple(rest)
    joined = tuple(value for one in small for value in one.values)
    return (*rest, Stratum(sum(one.of for one in small), joined))


def _estimate(strata: Sequence[Stratum]) -> float:
    above = below = 0.0
    for one in strata:
        known = [value for value in one.values if value is not None]
        weight = one.of / one.drawn
        above, below = above + weight * sum(known), below + weight * len(known)
    return above / below


def _bootstrap(strata: Sequence[Stratum], settings: Resampling) -> Interval:
    import numpy as np

    above, below = np.zeros(settings.resamples), np.zeros(settings.resamples)
    for place, one in enumerate(strata):
        present = np.array([float(value is not None) for value in one.values])
        known = np.array([value or 0.0 for value in one.values])
        scale = _scale(one)
        own = replace(settings, seed=settings.seed + place)
        times = np.concatenate(list(times_drawn(one.drawn, own)))
        weights = (1 + scale * (times - 1)) * one.of / one.drawn
        above += weighed(weights, known)
        below += weighed(weights, present)
    means = np.where(below > 0, above / np.where(below > 0, below, 1), np.nan)
    low = min(value for one in strata for value in one.values if value is not None)
    high = max(value for one in strata for value in one.values if value is not None)
    degrees = _degrees(strata)
    return percentiles(np.clip(means, low, high), _widened(settings, degrees))


def _degrees(strata: Sequence[Stratum]) -> float:
    """The degrees of freedom of the variance: Satterthwaite's, at least 1.

    ``(sum_h v_h)^2 / sum_h (v_h^2 / (n_h - 1))``, where v_h is what a stratum adds to the variance;
    n - 1 without strata.
    """
    middle = _estimate(strata)
    parts: list[tuple[float, int]] = []
    for one in strata:
        apart = [0.0 if value is None else value - middle for value in one.values]
        added = (1 - one.drawn / one.of) * one.of**2 / one.drawn * variance(apart)
        parts.append((added, one.drawn - 1))
    total = sum(added for added, _ in parts)
    if not total:
        return sum(one.drawn for one in strata) - len(strata)
    return max(1.0, total**2 / sum(added**2 / freedom for added, freedom in parts))


def _scale(one: Stratum) -> float:
    correction = (1 - one.drawn / one.of) * one.drawn / (one.drawn - 1)
    return float(correction**0.5)


def _widened(settings: Resampling, degrees: float) -> Resampling:
    """The settings with the confidence at which normal percentiles are those of Student's t."""
    tail = (1 - settings.confidence) / 2
    return replace(settings, confidence=1 - 2 * normal_cdf(t_quantile(tail, degrees)))
