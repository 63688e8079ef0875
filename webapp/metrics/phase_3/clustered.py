"""Intervals where a few people gave many answers each: participants are drawn, not questions.

What one person asks and judges is alike, so ten people with ten questions each are not a
hundred independent questions: an interval over questions would be too narrow.
Reference: Davison & Hinkley (1997), Bootstrap Methods and their Application, section 3.8;
Field & Welsh (2007), Bootstrapping clustered data. Journal of the Royal Statistical Society
B 69, 369-390 (the cluster bootstrap).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import TYPE_CHECKING

from msgspec import Struct

from webapp.i18n import mark
from webapp.metrics.comparisons.significance import (
    MIN_UNITS,
    NO_INTERVAL,
    Interval,
    Resampling,
    percentiles,
    times_drawn,
    weighed,
)
from webapp.metrics.judging.figures import Sum

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TOO_FEW_CLUSTERS = mark(
    "Fewer than two participants have a value: nothing says how far others would differ."
)
"""Why a figure has no interval, as a message id."""


class ClusteredMean(Struct, frozen=True):
    """A mean over all questions, with the interval over the people who asked them.

    ``clusters`` counts the participants who have a value, ``n`` their values.
    """

    value: float | None
    interval: Interval
    clusters: int
    n: int

    @property
    def why_no_interval(self) -> str | None:
        """The reason there is no interval, as a message id; ``None`` when there is one."""
        return TOO_FEW_CLUSTERS if self.interval.lower is None else None


def clustered_mean(clusters: Sequence[Sum], resampling: Resampling) -> ClusteredMean:
    """The mean over all values, with its percentile interval by a bootstrap over clusters.

    ``M = sum of t_i / sum of n_i``: *t_i* the total of participant *i*'s values, *n_i* how
    many there are, so each question weighs the same. A resample draws as many participants as
    there are, with replacement, each with all their values, and is ``M`` of those. Somebody
    without a value is not a cluster. No values at all have no mean, fewer than two participants
    no interval. Where each has one value it is the bootstrap over values, draw for draw.

    >>> clustered_mean([Sum(1.5, 2), Sum(0.5, 2)], Resampling(resamples=100))
    ClusteredMean(value=0.5, interval=Interval(lower=0.25, upper=0.75, left_out=0), clusters=2, n=4)
    >>> clustered_mean([Sum(3.0, 4), Sum()], Resampling()).interval.lower is None
    True
    """
    present = [cluster for cluster in clusters if cluster.n]
    n = sum(cluster.n for cluster in present)
    value = fsum(cluster.total for cluster in present) / n if n else None
    return ClusteredMean(value, _interval(present, resampling), len(present), n)


def _interval(clusters: Sequence[Sum], resampling: Resampling) -> Interval:
    if len(clusters) < MIN_UNITS:
        return NO_INTERVAL
    import numpy as np

    totals = np.array([cluster.total for cluster in clusters], dtype=np.float64)
    counts = np.array([cluster.n for cluster in clusters], dtype=np.float64)
    means: list[NDArray[np.float64]] = [
        weighed(times, totals) / weighed(times, counts)
        for times in times_drawn(len(clusters), resampling)
    ]
    return percentiles(np.concatenate(means), resampling)
