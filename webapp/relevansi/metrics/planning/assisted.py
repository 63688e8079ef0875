"""A mean over questions where people judged a sample and a machine judged everything: PPI++.

The machine's figure of each question helps as far as it correlates with people's: its weight is
estimated from the sample, and a machine that says nothing about people's verdicts gets the weight
0, which gives people alone. The estimate is valid however good the machine is, as long as the
sample was drawn at random. For two runs the values are the differences of their values, question
by question.

Reference: Angelopoulos, Duchi & Zrnic (2023), PPI++: Efficient Prediction-Powered Inference,
arXiv:2311.01453; value, weight and variance as ppi-python 0.2 has them (``ppi_mean_ci``). The
interval is that of every estimate (``intervals``), from this variance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from math import fsum, sqrt
from statistics import fmean

from msgspec import Struct
from msgspec.structs import replace

from relevansi.metrics.intervals import Interval, estimate_interval
from relevansi.metrics.planning.sampling import ChosenRule, sampled_mean

MIN_SAMPLE = 2  # one question has no variance

WORTHLESS = 0.1
"""The machine's weight below which pages warn that it hardly helps."""


class Unassisted(StrEnum):
    """Why a mean has no machine's help."""

    FEW_SAMPLED = "few_sampled"
    NONE_UNSAMPLED = "none_unsampled"
    MACHINE_OPEN = "machine_open"
    MACHINE_CONSTANT = "machine_constant"


class MeanEstimate(Struct, frozen=True):
    """An estimated mean with its interval; ``variance`` is the estimate's own, as in PPI++."""

    value: float
    variance: float
    interval: Interval


class AssistedMean(Struct, frozen=True):
    """People with a machine's help, beside people alone on the same sample.

    ``n`` questions were sampled of ``of``. ``weight`` is the machine's (lambda), 0 to 1. ``alone``
    is there from two sampled questions on, ``assisted`` unless ``why`` states a reason.
    ``moments`` are the variances of people's and the machine's values and their covariance; the
    machine's is over all questions, divided by their number less 1, the others over the sample.
    """

    n: int
    of: int
    alone: MeanEstimate | None = None
    assisted: MeanEstimate | None = None
    weight: float | None = None
    moments: Mapping[str, float] | None = None
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


def assisted_mean(
    people: Sequence[float],
    machine: Sequence[float | None],
    unsampled: Sequence[float | None],
    *,
    is_difference: bool = False,
) -> AssistedMean:
    """Return the mean over all questions by PPI++.

    `people` and `machine` are the values of the n sampled questions, in the same order, `unsampled`
    the machine's of the N others; ``None`` where it has judged only in part.
    ``value = mean(l f over N) + mean(y - l f over n)`` with
    ``l = cov(y, f) / ((1 + n / N) var(f))``, clipped to 0..1, and
    ``variance = var(l f over N) / N + var(y - l f over n) / n``, both variances divided by their
    number. People alone are the same with ``l = 0``. Fewer than ``MIN_SAMPLE`` sampled questions
    give neither; nothing unsampled, a machine that has not judged everything, or one whose values
    do not differ give people alone and the reason.

    The values lie between 0 and 1, those of a difference between -1 and 1. People alone have the
    interval of their sample.

    >>> mean = assisted_mean([1, 0, 1, 0.5], [1, 0, 1, 1], [1, 1, 0, 0])
    >>> round(mean.weight, 3), round(mean.assisted.value, 3), round(mean.alone.value, 3)
    (0.292, 0.552, 0.625)
    """
    n, n_all = len(people), len(people) + len(unsampled)
    if n < MIN_SAMPLE:
        return AssistedMean(n, n_all, why=Unassisted.FEW_SAMPLED)
    variance = _covariance(people, people)
    interval = sampled_mean(people, n_all, is_difference=is_difference).interval
    mean = AssistedMean(n, n_all, alone=MeanEstimate(fmean(people), variance / n, interval))
    sampled = [value for value in machine if value is not None]
    remaining = [value for value in unsampled if value is not None]
    if len(sampled) + len(remaining) < n_all:
        return replace(mean, why=Unassisted.MACHINE_OPEN)
    covariance = _covariance(people, sampled)
    product = variance * _covariance(sampled, sampled)
    if product > 0:
        mean = replace(mean, correlation=covariance / sqrt(product))
    if not remaining:
        return replace(mean, why=Unassisted.NONE_UNSAMPLED)
    everything = sampled + remaining
    machine_variance = _covariance(everything, everything) * n_all / (n_all - 1)
    moments = {"people": variance, "machine": machine_variance, "covariance": covariance}
    if not machine_variance:
        return replace(mean, moments=moments, why=Unassisted.MACHINE_CONSTANT)
    weight = min(1.0, max(0.0, covariance / ((1 + n / len(remaining)) * machine_variance)))
    corrected = [y - weight * f for y, f in zip(people, sampled, strict=True)]
    value = fmean(corrected) + weight * fmean(remaining)
    assisted_variance = _covariance(corrected, corrected) / n
    assisted_variance += weight**2 * _covariance(remaining, remaining) / len(remaining)
    lowest = -1.0 if is_difference else 0.0
    interval = estimate_interval(value, n * assisted_variance, n, lowest=lowest)
    assisted = MeanEstimate(value, assisted_variance, interval)
    return replace(mean, assisted=assisted, weight=weight, moments=moments)


def _covariance(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the mean product of the deviations from the means; equal values give exactly 0."""
    return fmean(a * b for a, b in zip(_centred(first), _centred(second), strict=True))


def _centred(values: Sequence[float]) -> list[float]:
    # The mean of equal floats can differ from them in the last digit.
    if min(values) == max(values):
        return [0.0] * len(values)
    mean = fsum(values) / len(values)
    return [value - mean for value in values]


PART = "machine_help"
"""The name of the part in the files of a comparison."""


class HelpedFigure(Struct, frozen=True):
    """One figure of a run, or with ``second`` the difference of two runs, first minus second.

    ``waiting`` counts sampled questions that people have not judged completely.
    """

    figure: str
    first: str
    second: str | None
    mean: AssistedMean
    waiting: int


class MachineHelp(Struct, frozen=True):
    """The figures of runs of one question set by people with a machine's help.

    ``rule`` merges the people, ``machine`` is the judge's name, ``None`` for people alone;
    ``names`` are those of the runs. ``sampling`` is the rule that drew the sample; where it is
    ``None`` the questions that people have judged are taken for one. The machine has cards left in
    ``machine_open`` of the ``questions``.
    """

    machine: str | None
    rule: str
    names: Mapping[str, str]
    sampling: ChosenRule | None
    questions: int
    machine_open: int
    figures: tuple[HelpedFigure, ...]

    @property
    def is_valid(self) -> bool:
        """Whether the questions were drawn before people's first verdict, as PPI++ assumes."""
        return self.sampling is not None and self.sampling.beforehand
