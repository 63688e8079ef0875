"""Whether a paired difference is more than chance: intervals, randomisation test, Holm."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Columns = tuple[tuple[float | None, ...], ...]
"""A sample: one value per question in each column, ``None`` where it has none."""

KEPT = 16
"""So many sets of intervals are kept: a page, its pictures and its reports ask for the same."""

MIN_UNITS = 2
"""One unit resampled is always itself, which says nothing about others."""

DRAWS_AT_ONCE = 65_536
"""How many numbers are drawn in one go, so that they stay in the processor's cache."""

MOST_WHOLE = 15_625
"""Up to so many units 64 rows are drawn in one go, above it 2, or published figures would move."""


class Resampling(Struct, frozen=True):
    """How often and from which seed units are drawn again, or signs turned.

    ``confidence`` is the share of resamples between the bounds of an interval. The same settings
    and units give the same one.
    """

    resamples: int = 10_000
    seed: int = 20260301
    confidence: float = 0.95

    def tries_all(self, size: int) -> bool:
        ways: int = 2**size
        return ways <= self.resamples


class Bootstrap(Resampling, frozen=True):
    """How the interval of a coefficient is made."""

    resamples: int = 2000
    method: str = "percentile bootstrap over items"


def resample(counts: Sequence[int], bootstrap: Bootstrap) -> Floats:
    """Return how often each kind of unit is drawn, a row for each resample; under two units, none.

    `counts` says how many units there are of each kind, the kinds in sorted order, so that the
    order in which the units came changes nothing.
    """
    import numpy as np

    kinds = np.repeat(np.arange(len(counts)), counts)
    size, stream = len(kinds), _random_numbers(bootstrap.seed)
    total = bootstrap.resamples if size >= MIN_UNITS else 0
    times = np.zeros((total, len(counts)))
    most = max(1, DRAWS_AT_ONCE // max(size, 1))
    for start in range(0, total, most):
        rows = times[start : start + most]
        places = stream.random_sample((len(rows), size)) * size
        rows += _counted(kinds[places.astype(np.intp)], len(counts))
    return times


def times_drawn(size: int, resampling: Resampling) -> Iterator[Floats]:
    """Yield how often each of `size` places is drawn, a row for each resample."""
    import numpy as np

    stream = np.random.PCG64(resampling.seed)
    for rows in _chunks(size, resampling.resamples):
        yield _counted(_places(stream, size, rows * size).reshape(rows, size), size)


def times_drawn_with_ends(size: int, of: int, resampling: Resampling) -> Iterator[Floats]:
    """Yield how often each of `size` places is drawn, and in the last two columns two further ones.

    The places are a stratum of `of` places. Each draw is either of the further ones with the chance
    ``1 / (of + 2)``, else one of the `size` places.
    """
    import numpy as np

    stream = np.random.PCG64(resampling.seed)
    for rows in _chunks(size, resampling.resamples):
        place, side = np.divmod(_places(stream, size * (of + 2), rows * size), of + 2)
        drawn = np.where(side < of, place, size + side - of)
        yield _counted(drawn.reshape(rows, size), size + 2)


def places_drawn(size: int, shape: tuple[int, int], seed: int) -> NDArray[np.intp]:
    """Return rows and columns of places among `size`, each drawn with replacement."""
    import numpy as np

    rows, columns = shape
    return _places(np.random.PCG64(seed), size, rows * columns).reshape(rows, columns)


def item_times(unit_of: NDArray[np.intp], n_units: int, bootstrap: Bootstrap) -> Floats:
    """Return how often each unit is drawn, by resample; `unit_of` has the unit of each item."""
    import numpy as np

    n, resamples = len(unit_of), bootstrap.resamples
    drawn = np.random.default_rng(bootstrap.seed).integers(0, n, (resamples, n))
    times = np.zeros((resamples, n_units))
    np.add.at(times, (np.arange(resamples)[:, None], unit_of[drawn]), 1)
    return times


def signs(size: int, resampling: Resampling) -> Iterator[Floats]:
    """Yield rows of `size` signs, +1 or -1: every such row once, or as many drawn as asked."""
    import numpy as np

    if resampling.tries_all(size):
        codes = np.arange(2**size)[:, None]
        yield (1 - 2 * (codes >> np.arange(size) & 1)).astype(np.float64)
        return
    stream = np.random.PCG64(resampling.seed)
    for rows in _chunks(size, resampling.resamples):
        words = stream.random_raw((rows * size + 63) // 64)
        bits = np.unpackbits(words.astype("<u8", copy=False).view(np.uint8))[: rows * size]
        turned = bits.astype(np.float64)
        turned *= -2
        turned += 1
        yield turned.reshape(rows, size)


def _random_numbers(seed: int) -> np.random.RandomState:
    """Return the stream of ``random.Random(seed).random()``, which numpy draws in one go."""
    import numpy as np

    _, state, _ = random.Random(seed).getstate()  # noqa: S311 - repeatable, not secret
    stream = np.random.RandomState()
    stream.set_state(("MT19937", np.array(state[:-1], dtype=np.uint32), state[-1], 0, 0.0))
    return stream


def _places(stream: np.random.PCG64, size: int, count: int) -> NDArray[np.intp]:
    """Return `count` places among `size`, of 32 bits each from the stream."""
    import numpy as np

    words = stream.random_raw((count + 1) // 2).astype("<u8", copy=False).view("<u4")
    places = words[:count].astype(np.uint64)
    places *= np.uint64(size)
    places >>= np.uint64(32)
    return places.view(np.int64).astype(np.intp, copy=False)


def _counted(drawn: NDArray[np.intp], places: int) -> Floats:
    """Return how often each of the `places` is in each row of `drawn`, which is used up."""
    import numpy as np

    rows = len(drawn)
    drawn += np.arange(rows)[:, None] * places
    times = np.bincount(drawn.ravel(), minlength=rows * places).reshape(rows, places)
    return times.astype(np.float64)


def _chunks(size: int, rows: int) -> Iterator[int]:
    most = 64 * max(1, DRAWS_AT_ONCE // max(size, 1) // 64) if size <= MOST_WHOLE else 2
    for start in range(0, rows, most):
        yield min(most, rows - start)


class Interval(Struct, frozen=True):
    """The bounds, ``None`` where there are none, and the resamples that had no estimate.

    Those are left out of the bounds: a resample may, for example, hold one label only.
    """

    lower: float | None
    upper: float | None
    left_out: int


NO_INTERVAL = Interval(None, None, 0)


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
    hits: Counter[Columns] = Counter()
    single = [(tuple(sample),) for sample in samples]
    for size, tables in _by_size(single).items():
        observed = {key: abs(values.sum()) - TIE for key, (values,) in tables.items()}
        for turned in signs(size, resampling):
            for key, (values,) in tables.items():
                hits[key] += int((abs(weighed(turned, values)) >= observed[key]).sum())
    return tuple(_p_value(hits[key], len(key[0]), resampling) for key in single)


def mean_intervals(
    samples: Sequence[Sequence[float]], resampling: Resampling
) -> tuple[Interval, ...]:
    """The percentile bootstrap interval of each sample's mean, one value per question.

    Samples of one size are resampled with the same draws. Fewer than two values have no
    interval. Reference: Efron & Tibshirani (1993), An Introduction to the Bootstrap, ch. 13.

    >>> mean_intervals([[0.5, 0.5], [1.0]], Resampling(resamples=100))
    (Interval(lower=0.5, upper=0.5, left_out=0), Interval(lower=None, upper=None, left_out=0))
    """
    return weighted_mean_intervals([1.0], [[sample] for sample in samples], resampling)


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

    keys = [tuple(map(tuple, sample)) for sample in samples]
    found = dict.fromkeys(keys, NO_INTERVAL)
    for size, tables in _by_size(keys).items():
        if size < MIN_UNITS:
            continue
        sums: dict[Columns, list[Floats]] = defaultdict(list)
        for times in times_drawn(size, resampling):
            for key, columns in tables.items():
                total = np.zeros(len(times))
                for weight, values in zip(weights, columns, strict=True):
                    total += weight * _mean_of_known(times, values)
                sums[key].append(total)
        for key, parts in sums.items():
            found[key] = percentiles(np.concatenate(parts), resampling)
    return tuple(found[key] for key in keys)


def _mean_of_known(times: Floats, values: Floats) -> Floats:
    """The mean of the values that are not NaN, as often as each is drawn; NaN of none."""
    import numpy as np

    present = ~np.isnan(values)
    if present.all():
        return weighed(times, values) / len(values)
    counts = weighed(times, present.astype(np.float64))
    known = weighed(times, np.where(present, values, 0.0))
    return np.where(counts > 0, known / np.maximum(counts, 1), np.nan)


def percentiles(estimates: Floats, settings: Resampling) -> Interval:
    """The interval that holds the middle share of the estimates; NaN is not an estimate."""
    import numpy as np

    present = estimates[~np.isnan(estimates)]
    left_out = len(estimates) - len(present)
    if not len(present):
        return Interval(None, None, left_out)
    tail = (1 - settings.confidence) / 2
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


def _by_size(samples: Iterable[Columns]) -> dict[int, dict[Columns, Floats]]:
    """The samples by their size, each once: two figures often have the same values."""
    import numpy as np

    found: dict[int, dict[Columns, Floats]] = defaultdict(dict)
    for sample in samples:
        found[len(sample[0])][sample] = np.array(sample, dtype=np.float64)
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
