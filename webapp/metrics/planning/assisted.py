"""A mean over questions where people judged a sample and a machine judged everything: PPI++.

The machine's figure of each question helps as far as it goes with people's: its weight is
estimated from the sample, and a machine that is worth nothing gets the weight 0, which gives
people alone. The estimate is valid whatever the machine is worth, as long as the sample was drawn
at random. For two runs the values are the differences of their values, question by question.

Reference: Angelopoulos, Duchi & Zrnic (2023), PPI++: Efficient Prediction-Powered Inference,
arXiv:2311.01453; reckoned as ppi-python 0.2 does (``ppi_mean_ci``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import fsum, sqrt
from statistics import NormalDist, fmean

MIN_SAMPLE = 2
"""One question has no variance."""

WORTHLESS = 0.1
"""Below this weight a machine helps so little that pages warn of it."""


class Unassisted(StrEnum):
    """The reason why a machine cannot help, or people alone have no interval."""

    FEW_SAMPLED = "few_sampled"
    NONE_UNSAMPLED = "none_unsampled"
    MACHINE_OPEN = "machine_open"
    MACHINE_CONSTANT = "machine_constant"


@dataclass(frozen=True, slots=True)
class MeanEstimate:
    """An estimated mean with its normal interval; ``variance`` is the estimate's own."""

    value: float
    variance: float
    lower: float
    upper: float

    @property
    def width(self) -> float:
        """Upper minus lower bound."""
        return self.upper - self.lower


@dataclass(frozen=True, slots=True)
class Moments:
    """Variance of people's and of the machine's values, and their covariance.

    The machine's is over all questions, divided by their number less 1; the other two are over
    the sample, divided by its size.
    """

    people: float
    machine: float
    covariance: float


@dataclass(frozen=True, slots=True)
class AssistedMean:
    """People with a machine's help, beside people alone on the same sample.

    ``n`` questions were sampled of ``of``. ``weight`` is the machine's (lambda), 0 to 1. ``alone``
    is there from two sampled questions on, ``assisted`` unless ``why`` states a reason.
    """

    n: int
    of: int
    confidence: float
    alone: MeanEstimate | None = None
    assisted: MeanEstimate | None = None
    weight: float | None = None
    moments: Moments | None = None
    correlation: float | None = None
    why: Unassisted | None = None

    @property
    def share_saved(self) -> float | None:
        """The share of judging that the machine saves at equal width; below 0 it costs.

        People alone would need ``n x V_alone / V_assisted`` questions for the width of the assisted
        interval: ``1 - V_assisted / V_alone``. ``None`` where either has no interval or people's
        values do not differ.
        """
        if self.assisted is None or self.alone is None or not self.alone.variance:
            return None
        return 1 - self.assisted.variance / self.alone.variance

    @property
    def is_worthless(self) -> bool:
        """Whether the machine helps so little that it need not be asked."""
        return self.weight is not None and self.weight < WORTHLESS


def assisted_mean(
    people: Sequence[float],
    machine: Sequence[float | None],
    unsampled: Sequence[float | None],
    *,
    confidence: float = 0.95,
) -> AssistedMean:
    """The mean over all questions by PPI++.

    `people` and `machine` are the values of the n sampled questions, in the same order, `unsampled`
    the machine's of the N others; ``None`` where it has judged only in part.
    ``value = mean(l f over N) + mean(y - l f over n)`` with
    ``l = cov(y, f) / ((1 + n / N) var(f))``, clipped to 0..1, and
    ``variance = var(l f over N) / N + var(y - l f over n) / n``, both variances divided by their
    number; the interval is normal. People alone are the same with ``l = 0``. Fewer than
    ``MIN_SAMPLE`` sampled questions give neither; nothing unsampled, a machine that has not judged
    everything, or one whose values do not differ give people alone and the reason.

    >>> found = assisted_mean([1, 0, 1, 0.5], [1, 0, 1, 1], [1, 1, 0, 0])
    >>> round(found.weight, 3), round(found.assisted.value, 3), round(found.alone.value, 3)
    (0.292, 0.552, 0.625)
    """
    if len(people) != len(machine):
        raise ValueError("people and machine take the same questions")
    n, of = len(people), len(people) + len(unsampled)
    if n < MIN_SAMPLE:
        return AssistedMean(n, of, confidence, why=Unassisted.FEW_SAMPLED)
    alone = AssistedMean(n, of, confidence, _estimate(people, people, (), 0.0, confidence))
    known = [value for value in machine if value is not None]
    rest = [value for value in unsampled if value is not None]
    if len(known) + len(rest) < of:
        return replace(alone, why=Unassisted.MACHINE_OPEN)
    alone = replace(alone, correlation=_correlation(people, known))
    if not rest:
        return replace(alone, why=Unassisted.NONE_UNSAMPLED)
    everything = known + rest
    moments = Moments(
        people=_covariance(people, people),
        machine=_covariance(everything, everything) * of / (of - 1),
        covariance=_covariance(people, known),
    )
    if not moments.machine:
        return replace(alone, moments=moments, why=Unassisted.MACHINE_CONSTANT)
    weight = _weight(moments, n, of)
    assisted = _estimate(people, known, rest, weight, confidence)
    return replace(alone, assisted=assisted, weight=weight, moments=moments)


def needed(
    moments: Moments, *, of: int, width: float, confidence: float = 0.95, help_given: bool = True
) -> int | None:
    """The fewest questions people should judge for an interval of `width`; ``None``: all of them.

    The machine judges all `of` questions. With n of them sampled the variance is expected to be
    ``l^2 var(f) / N + (var(y) - 2 l cov(y, f) + l^2 var(f)) / n`` at the best l for this n, with
    N = of - n; without help ``var(y) / n``. The smallest n of which the interval is no wider.

    >>> moments = Moments(people=0.04, machine=0.04, covariance=0.03)
    >>> needed(moments, of=200, width=0.1)
    33
    >>> needed(moments, of=200, width=0.1, help_given=False)
    62
    """
    wanted = (width / (2 * _z(confidence))) ** 2
    for n in range(MIN_SAMPLE, of):
        weight = _weight(moments, n, of) if help_given and moments.machine > 0 else 0.0
        of_machine = weight**2 * moments.machine
        of_rest = moments.people - 2 * weight * moments.covariance + of_machine
        if of_machine / (of - n) + of_rest / n <= wanted:
            return n
    return None


def _weight(moments: Moments, n: int, of: int) -> float:
    found = moments.covariance / ((1 + n / (of - n)) * moments.machine)
    return min(1.0, max(0.0, found))


def _estimate(
    people: Sequence[float],
    machine: Sequence[float],
    unsampled: Sequence[float],
    weight: float,
    confidence: float,
) -> MeanEstimate:
    rest = [y - weight * f for y, f in zip(people, machine, strict=True)]
    value, variance = fmean(rest), _covariance(rest, rest) / len(rest)
    if unsampled:
        value += weight * fmean(unsampled)
        variance += weight**2 * _covariance(unsampled, unsampled) / len(unsampled)
    reach = _z(confidence) * sqrt(variance)
    return MeanEstimate(value, variance, value - reach, value + reach)


def _correlation(people: Sequence[float], machine: Sequence[float]) -> float | None:
    """Pearson's coefficient; ``None`` where the values of one do not differ."""
    spread = _covariance(people, people) * _covariance(machine, machine)
    return _covariance(people, machine) / sqrt(spread) if spread > 0 else None


def _covariance(one: Sequence[float], other: Sequence[float]) -> float:
    """The mean product of the deviations from the means; equal values give exactly 0."""
    return fmean(a * b for a, b in zip(_centred(one), _centred(other), strict=True))


def _centred(values: Iterable[float]) -> list[float]:
    listed = list(values)
    if min(listed) == max(listed):
        return [0.0] * len(listed)
    middle = fsum(listed) / len(listed)
    return [value - middle for value in listed]


def _z(confidence: float) -> float:
    return NormalDist().inv_cdf((1 + confidence) / 2)
