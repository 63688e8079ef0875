"""Every draw behind an interval or a p-value: resamples of units, and permutations of signs.

The same settings and sizes draw the same numbers, to the last one. Each kind of figure has its
own way of drawing, which stays as it is, so that published figures stay what they are:

- ``resample``, for agreement: rows of counts for the kinds of *n* units, one for each resample, as
  ``choices`` of ``random.Random(seed)`` draws from the units in sorted order; numpy draws the same
  numbers.
- ``times_drawn``, for means over questions or participants: rows of *n* counts, one for each
  resample, in chunks; 32 bits for each place from the raw stream of ``PCG64(seed)``.
- ``times_drawn_with_ends``, for means over a sample of the questions: the same with two columns
  more, for two further questions.
- ``places_drawn``, for studies that a simulated power draws: places among the questions rated;
  32 bits for each from the raw stream of ``PCG64(seed)``.
- ``signs``, for randomisation tests: rows of *n* signs, one for each permutation, in chunks; a bit
  for each sign from the raw stream of ``PCG64(seed)``, or all ``2^n`` rows where they are few.
- ``item_times``, for rank correlations: a row for each resample with a count for each unit;
  *n* places for each resample, all at once, by ``integers`` of ``default_rng(seed)``.

numpy keeps the raw stream of PCG64 the same from version to version.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

KEPT = 16
"""So many sets of intervals are kept: a page, its pictures and its reports ask for the same."""

MIN_UNITS = 2
"""One unit resampled is always itself, which says nothing about others."""

DRAWS_AT_ONCE = 65_536
"""How many numbers are drawn in one go, so that they stay in the processor's cache."""

MOST_WHOLE = 15_625
"""Up to so many units 64 rows are drawn in one go, above it 2, or published figures would move."""

FEW_KINDS = 12
"""Up to so many kinds of units are counted faster by comparing than one by one."""


class Bootstrap(Struct, frozen=True):
    """How an interval is made; the same settings and units give the same interval.

    `resamples` is how often as many units as there are get drawn with replacement, `seed`
    where the drawing starts, `confidence` the share of resamples between the bounds.
    """

    resamples: int = 2000
    seed: int = 20260301
    confidence: float = 0.95
    method: str = "percentile bootstrap over items"


class Resampling(Struct, frozen=True):
    """How often and from which seed questions are drawn again, or signs turned.

    ``resamples`` counts both the bootstrap's resamples and the test's permutations.
    """

    resamples: int = 10_000
    seed: int = 20260301
    confidence: float = 0.95

    def tries_all(self, size: int) -> bool:
        """Whether all signs of `size` differences are no more than the permutations."""
        ways: int = 2**size
        return ways <= self.resamples


def resample(samples: Sequence[Sequence[int]], bootstrap: Bootstrap) -> list[Floats]:
    """Return how often each kind of unit of a sample is drawn, a row for each resample of it.

    A sample has how many units there are of each kind, the kinds in sorted order, so that the
    order in which the units came changes nothing. Under two units there are no rows. Every sample
    is drawn from the beginning of the same stream, which is read once for all of them.
    """
    import numpy as np

    below = [
        np.zeros((bootstrap.resamples if sum(counts) >= MIN_UNITS else 0, len(counts)))
        for counts in samples
    ]
    read = [
        (np.repeat(np.arange(len(counts)), counts), np.cumsum(counts), rows)
        for counts, rows in zip(samples, below, strict=True)
        if len(rows)
    ]
    stream = _random_numbers(bootstrap.seed)
    longest = max((len(kinds) for kinds, _, _ in read), default=0) * bootstrap.resamples
    for start in range(0, longest, DRAWS_AT_ONCE):
        numbers = stream.random_sample(min(DRAWS_AT_ONCE, longest - start))
        for kinds, ends, rows in read:
            _draw(numbers, start, kinds, ends, rows)
    return [np.diff(rows, axis=1, prepend=0) for rows in below]


def _draw(
    numbers: Floats, start: int, kinds: NDArray[np.intp], ends: NDArray[np.intp], rows: Floats
) -> None:
    """Add to the `rows` of a sample how many places some numbers draw below the end of each kind.

    The numbers begin at `start` of the stream, which may lie within a row, as may their end.
    `kinds` has the kind of each place.
    """
    size = len(kinds)
    places = numbers[: max(0, len(rows) * size - start)] * size
    row, first = start // size, min(-start % size, len(places))
    last = first + (len(places) - first) // size * size
    whole = places[first:last].reshape(-1, size)
    for part in (places[None, :first], whole, places[None, last:]):
        if part.size:
            _count_below(part, kinds, ends, rows[row : row + len(part)])
            row += len(part)


def _count_below(
    places: Floats, kinds: NDArray[np.intp], ends: NDArray[np.intp], rows: Floats
) -> None:
    import numpy as np

    if len(ends) > FEW_KINDS:
        rows += _counted(kinds[places.astype(np.intp)], len(ends)).cumsum(axis=1)
        return
    rows[:, -1] += places.shape[1]
    for kind, end in enumerate(ends[:-1]):
        rows[:, kind] += (places < end).view(np.uint8).sum(axis=1, dtype=np.uint32)


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
    """Return how often each unit is drawn in each resample of the items.

    `unit_of` has the unit of each item; the rows are resamples, the columns units.
    """
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
    """Yield how many rows of `size` to draw at once, until all `rows` are."""
    most = 64 * max(1, DRAWS_AT_ONCE // max(size, 1) // 64) if size <= MOST_WHOLE else 2
    for start in range(0, rows, most):
        yield min(most, rows - start)
