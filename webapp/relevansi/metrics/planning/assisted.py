"""A mean over questions where people judged a sample and a machine judged everything: PPI++.

The machine's figure of each question helps as far as it goes with people's: its weight is
estimated from the sample, and a machine that is worth nothing gets the weight 0, which gives
people alone. The estimate is valid whatever the machine is worth, as long as the sample was drawn
at random. For two runs the values are the differences of their values, question by question.

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

MIN_SAMPLE = 2
"""One question has no variance."""

WORTHLESS = 0.1
"""Below this weight a machine helps so little that pages warn of it."""


class Unassisted(StrEnum):
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

    >>> found = assisted_mean([1, 0, 1, 0.5], [1, 0, 1, 1], [1, 1, 0, 0])
    >>> round(found.weight, 3), round(found.assisted.value, 3), round(found.alone.value, 3)
    (0.292, 0.552, 0.625)
    """
    n, of = len(people), len(people) + len(unsampled)
    alone = AssistedMean(n, of)
    if n < MIN_SAMPLE:
        return replace(alone, why=Unassisted.FEW_SAMPLED)
    interval = sampled_mean(people, of, is_difference=is_difference).interval
    by_people = MeanEstimate(fmean(people), _covariance(people, people) / n, interval)
    alone = replace(alone, alone=by_people)
    sampled = [value for value in machine if value is not None]
    remaining = [value for value in unsampled if value is not None]
    if len(sampled) + len(remaining) < of:
        return replace(alone, why=Unassisted.MACHINE_OPEN)
    variance, covariance = _covariance(people, people), _covariance(people, sampled)
    if (spread := variance * _covariance(sampled, sampled)) > 0:  # Pearson's coefficient
        alone = replace(alone, correlation=covariance / sqrt(spread))
    if not remaining:
        return replace(alone, why=Unassisted.NONE_UNSAMPLED)
    everything = sampled + remaining
    of_machine = _covariance(everything, everything) * of / (of - 1)
    moments = {"people": variance, "machine": of_machine, "covariance": covariance}
    if not of_machine:
        return replace(alone, moments=moments, why=Unassisted.MACHINE_CONSTANT)
    weight = min(1.0, max(0.0, covariance / ((1 + n / len(remaining)) * of_machine)))
    corrected = [y - weight * f for y, f in zip(people, sampled, strict=True)]
    value = fmean(corrected) + weight * fmean(remaining)
    spread = _covariance(corrected, corrected) / n
    spread += weight**2 * _covariance(remaining, remaining) / len(remaining)
    lowest = -1.0 if is_difference else 0.0
    interval = estimate_interval(value, n * spread, n, lowest=lowest)
    assisted = MeanEstimate(value, spread, interval)
    return replace(alone, assisted=assisted, weight=weight, moments=moments)


def _covariance(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the mean product of the deviations from the means; equal values give exactly 0."""
    return fmean(a * b for a, b in zip(_centred(first), _centred(second), strict=True))


def _centred(values: Sequence[float]) -> list[float]:
    if min(values) == max(values):
        return [0.0] * len(values)
    middle = fsum(values) / len(values)
    return [value - middle for value in values]


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
    ``names`` are those of the runs. ``sampling`` is the rule that drew the sample; ``None`` where
    none did and the questions that people have judged stand for it. The machine has cards left in
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
        return self.sampling is not None and self.sampling.beforehand
