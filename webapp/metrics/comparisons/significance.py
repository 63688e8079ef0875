"""Whether a paired difference is more than chance: intervals, randomisation test, Holm."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from webapp.metrics.comparisons.intervals import NO_INTERVAL, Interval
from webapp.metrics.comparisons.resampling import MIN_UNITS, Resampling, signs, times_drawn

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

TIE = 1e-9
"""Two sums of differences nearer than this are equal: floats add up in different orders."""


class Randomisation(Struct, frozen=True):
    """The two-sided p-value of a randomisation test; ``exact`` when every sign was tried."""

    p: float
    exact: bool


def randomisation_tests(
    samples: Sequence[Sequence[float]], resampling: Resampling
) -> tuple[Randomisation, ...]:
    """How often chance alone gives a mean as far from 0 as the observed one, for each sample.

    A sample is one difference per question. Null hypothesis: the two runs could have changed
    places, so the sign of each difference is a coin's. With *n* differences, all ``2^n``
    signs are tried where that is no more than the resamples: ``p = hits / 2^n``, the observed
    signs among them. Else signs are drawn, the same ones for all samples of one size:
    ``p = (hits + 1) / (permutations + 1)``, which is never 0. No differences, or none but 0,
    give 1.
    Reference: Smucker, Allan & Carterette (2007), A comparison of statistical significance
    tests for information retrieval evaluation. CIKM, 623-632.

    >>> randomisation_tests([[0.2, 0.4, 0.6]], Resampling())  # 2 of the 8 signs: all +, all -
    (Randomisation(p=0.25, exact=True),)
    """
    distinct = _distinct(samples)
    hits = [0] * len(distinct)
    for size, arrays in _by_size(distinct).items():
        observed = {place: abs(values.sum()) - TIE for place, values in arrays.items()}
        for turned in signs(size, resampling):
            for place, values in arrays.items():
                hits[place] += int((abs(weighed(turned, values)) >= observed[place]).sum())
    tests = {
        sample: _p_value(count, len(sample), resampling)
        for count, sample in zip(hits, distinct, strict=True)
    }
    return tuple(tests[tuple(sample)] for sample in samples)


def mean_intervals(
    samples: Sequence[Sequence[float]], resampling: Resampling
) -> tuple[Interval, ...]:
    """The percentile bootstrap interval of each sample's mean, one value per question.

    Samples of one size are resampled with the same draws. Fewer than two values have no
    interval. Reference: Efron & Tibshirani (1993), An Introduction to the Bootstrap, ch. 13.

    >>> mean_intervals([[0.5, 0.5], [1.0]], Resampling(resamples=100))
    (Interval(lower=0.5, upper=0.5, left_out=0), Interval(lower=None, upper=None, left_out=0))
    """
    import numpy as np

    distinct = _distinct(samples)
    means: dict[int, list[Floats]] = defaultdict(list)
    for size, arrays in _by_size(distinct).items():
        if size < MIN_UNITS:
            continue
        for times in times_drawn(size, resampling):
            for place, values in arrays.items():
                means[place].append(weighed(times, values) / size)
    intervals = {
        sample: percentiles(np.concatenate(means[place]), resampling)
        for place, sample in enumerate(distinct)
        if place in means
    }
    return tuple(intervals.get(tuple(sample), NO_INTERVAL) for sample in samples)


def weighted_mean_intervals(
    weights: Sequence[float],
    samples: Sequence[Sequence[Sequence[float | None]]],
    resampling: Resampling,
) -> tuple[Interval, ...]:
    """The bootstrap interval of a weighted sum of means over the same questions, for each sample.

    A sample has a column for each of the `weights`, with one value per question, ``None`` where
    the question has none and is in no mean. A resample in which a column has no value at all is
    left out. Samples of one size are resampled with the same draws.
    """
    import numpy as np

    sums: dict[int, list[Floats]] = defaultdict(list)
    for size, places in _places_by_size(len(sample[0]) for sample in samples).items():
        if size < MIN_UNITS:
            continue
        tables = {place: np.array(samples[place], dtype=np.float64) for place in places}
        for times in times_drawn(size, resampling):
            for place, columns in tables.items():
                total = np.zeros(len(times))
                for weight, values in zip(weights, columns, strict=True):
                    total += weight * _mean_of_known(times, values)
                sums[place].append(total)
    return tuple(
        percentiles(np.concatenate(sums[place]), resampling) if place in sums else NO_INTERVAL
        for place in range(len(samples))
    )


def _mean_of_known(times: Floats, values: Floats) -> Floats:
    """The mean of the values that are not NaN, as often as each is drawn; NaN of none."""
    import numpy as np

    present = ~np.isnan(values)
    if present.all():
        return weighed(times, values) / len(values)
    counts = weighed(times, present.astype(np.float64))
    known = weighed(times, np.where(present, values, 0.0))
    return np.where(counts > 0, known / np.maximum(counts, 1), np.nan)


def percentiles(estimates: Floats, resampling: Resampling) -> Interval:
    """The interval that holds the middle share of the estimates; NaN is not an estimate."""
    import numpy as np

    present = estimates[~np.isnan(estimates)]
    left_out = len(estimates) - len(present)
    if not len(present):
        return Interval(None, None, left_out)
    tail = (1 - resampling.confidence) / 2
    lower, upper = np.quantile(present, [tail, 1 - tail])
    return Interval(float(lower), float(upper), left_out)


def holm(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """The p-values, each made larger so that all may be read together (Holm's step-down).

    The i-th smallest of *m* becomes ``max over j <= i of min(1, (m - j + 1) x p_j)``. A
    missing value stays missing and is not counted in *m*.
    Reference: Holm (1979), A simple sequentially rejective multiple test procedure.
    Scandinavian Journal of Statistics 6, 65-70.

    >>> holm([0.01, 0.04, 0.03])
    (0.03, 0.06, 0.06)
    """
    ordered = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for step, (p, place) in enumerate(ordered):
        highest = max(highest, min(1.0, (len(ordered) - step) * p))
        adjusted[place] = highest
    return tuple(adjusted)


def _distinct(samples: Sequence[Sequence[float]]) -> list[tuple[float, ...]]:
    """Each different sample once: two figures often have the same values in every question."""
    return [*dict.fromkeys(map(tuple, samples))]


def _by_size(samples: Sequence[Sequence[float]]) -> dict[int, dict[int, Floats]]:
    """The samples by their size, each under its place among them."""
    import numpy as np

    return {
        size: {place: np.asarray(samples[place], dtype=np.float64) for place in places}
        for size, places in _places_by_size(map(len, samples)).items()
    }


def _places_by_size(sizes: Iterable[int]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = defaultdict(list)
    for place, size in enumerate(sizes):
        found[size].append(place)
    return found


def weighed(rows: Floats, values: Floats) -> Floats:
    """The sum of `values` under the weights of each row; other rows do not change its digits.

    Not ``@``: its last digit depends on the shape of the matrix.
    """
    import numpy as np

    found: Floats = np.einsum("rn,n->r", rows, values)
    return found


def _p_value(hits: int, size: int, resampling: Resampling) -> Randomisation:
    if resampling.tries_all(size):
        return Randomisation(hits / 2**size, exact=True)
    return Randomisation((hits + 1) / (resampling.resamples + 1), exact=False)
