"""The intervals from samples that version 1.0.0 reckoned: packs of that time state them.

They held less often than they said (docs/decisions/0031), so nothing new is made with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import NormalDist, variance

from msgspec.structs import replace

from webapp.metrics.comparisons.significance import (
    MIN_UNITS,
    Interval,
    Resampling,
    percentiles,
    times_drawn,
    weighed,
)
from webapp.metrics.planning.assisted import AssistedMean, MeanEstimate
from webapp.metrics.planning.distributions import normal_cdf, t_quantile
from webapp.metrics.planning.sampling import SampledMean, Stratum, collapsed, sampled_mean


def formerly_sampled(strata: Sequence[Stratum], settings: Resampling) -> SampledMean:
    """Return the mean over all questions with percentiles of the bootstrap, widened to Student's t.

    They were cut to the values of the sample.
    """
    found = sampled_mean(strata, settings)
    if found.value is None or found.interval.lower is None or found.drawn == found.of:
        return found
    joined = collapsed(strata, fewest=MIN_UNITS)
    return replace(found, interval=_percentiles(found.value, joined, settings))


def formerly_assisted(found: AssistedMean) -> AssistedMean:
    """Return people with a machine's help, and alone, with normal intervals."""
    return replace(
        found,
        alone=found.alone and _normal(found.alone, found.confidence),
        assisted=found.assisted and _normal(found.assisted, found.confidence),
    )


def _normal(one: MeanEstimate, confidence: float) -> MeanEstimate:
    reach = NormalDist().inv_cdf((1 + confidence) / 2) * sqrt(one.variance)
    return replace(one, lower=one.value - reach, upper=one.value + reach)


def _percentiles(value: float, strata: Sequence[Stratum], settings: Resampling) -> Interval:
    import numpy as np

    above, below = np.zeros(settings.resamples), np.zeros(settings.resamples)
    for place, one in enumerate(strata):
        present = np.array([float(value is not None) for value in one.values])
        known = np.array([value or 0.0 for value in one.values])
        scale = ((1 - one.drawn / one.of) * one.drawn / (one.drawn - 1)) ** 0.5
        own = replace(settings, seed=settings.seed + place)
        times = np.concatenate(list(times_drawn(one.drawn, own)))
        weights = (1 + scale * (times - 1)) * one.of / one.drawn
        above += weighed(weights, known)
        below += weighed(weights, present)
    means = np.where(below > 0, above / np.where(below > 0, below, 1), np.nan)
    known_values = [value for one in strata for value in one.values if value is not None]
    tail = normal_cdf(t_quantile((1 - settings.confidence) / 2, _degrees(value, strata)))
    widened = replace(settings, confidence=1 - 2 * tail)
    return percentiles(np.clip(means, min(known_values), max(known_values)), widened)


def _degrees(middle: float, strata: Sequence[Stratum]) -> float:
    parts: list[tuple[float, int]] = []
    for one in strata:
        apart = [0.0 if value is None else value - middle for value in one.values]
        added = (1 - one.drawn / one.of) * one.of**2 / one.drawn * variance(apart)
        parts.append((added, one.drawn - 1))
    total = sum(added for added, _ in parts)
    if not total:
        return sum(one.drawn for one in strata) - len(strata)
    return max(1.0, total**2 / sum(added**2 / freedom for added, freedom in parts))
