"""How often each interval holds the true value, in studies drawn from recorded questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean
from zlib import crc32

import numpy as np

from tests.simulations.recorded import RecordedValues
from webapp.metrics.comparisons.significance import Resampling
from webapp.metrics.planning.assisted import assisted_mean
from webapp.metrics.planning.power import spread
from webapp.metrics.planning.sampling import Stratum, allocation, sampled_mean

SEED = 20260301
RESAMPLES = 500
COPIES = 20
"""A large set has each recorded question so many times."""
SIZES = ((1, 10), (1, 20), (COPIES, 30), (COPIES, 100))
"""Copies of the recorded questions, and how many of them are drawn."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """The share of simulated studies whose interval held the true value, and the mean width.

    ``studies`` are those that show an interval, ``none`` those that give a reason instead.
    ``claimed`` is the share the interval promises, ``width`` ``None`` where only one side or only
    whether it held is looked at.
    """

    method: str
    values: RecordedValues
    n: int
    of: int
    studies: int
    share: float
    claimed: float
    width: float | None = None
    none: int = 0

    @property
    def error(self) -> float:
        """Twice the standard error of the share, had it been as claimed."""
        return 2 * sqrt(self.claimed * (1 - self.claimed) / self.studies)

    @property
    def falls_short(self) -> bool:
        """Whether fewer intervals held the value than chance explains."""
        return self.share < self.claimed - self.error


Simulation = Callable[[RecordedValues, int], Iterator[Coverage]]


def fixed(values: RecordedValues, studies: int) -> Iterator[Coverage]:
    """A size fixed beforehand, drawn plainly: the bootstrap with its finite correction."""
    for copies, n in SIZES:
        yield _drawn("fixed", values, studies, copies, n, stratified=False)


def stratified(values: RecordedValues, studies: int) -> Iterator[Coverage]:
    """The same, each category in proportion."""
    for copies, n in SIZES:
        yield _drawn("stratified", values, studies, copies, n, stratified=True)


def _drawn(
    method: str, values: RecordedValues, studies: int, copies: int, n: int, *, stratified: bool
) -> Coverage:
    people = values.people * copies
    strata = values.strata * copies if stratified else ("",) * len(people)
    places = {name: [i for i, one in enumerate(strata) if one == name] for name in set(strata)}
    shares = allocation(Counter(strata), n)
    rng = _rng(values, n, copies)
    truth, settings = _mean(people), Resampling(RESAMPLES, SEED)
    found: list[Ends] = []
    for _ in range(studies):
        sample = [
            Stratum(len(own), tuple(people[i] for i in rng.permutation(own)[: shares[name]]))
            for name, own in sorted(places.items())
        ]
        interval = sampled_mean(sample, settings, bounds=values.bounds).interval
        found.append((interval.lower, interval.upper))
    return _counted(method, values, (n, len(people)), truth, found)


Ends = tuple[float | None, float | None]


def _counted(
    method: str,
    values: RecordedValues,
    sizes: tuple[int, int],
    truth: float,
    found: Sequence[Ends],
) -> Coverage:
    shown = [(low, high) for low, high in found if low is not None and high is not None]
    held = sum(low - 1e-9 <= truth <= high + 1e-9 for low, high in shown)
    width, none = fmean(high - low for low, high in shown), len(found) - len(shown)
    return Coverage(method, values, *sizes, len(shown), held / len(shown), 0.95, width, none)


def _rng(values: RecordedValues, *sizes: int) -> np.random.Generator:
    """Return draws of its own for each row, so that one unlucky draw is not in all of them."""
    return np.random.default_rng([SEED, crc32(f"{values.figure} {values.name}".encode()), *sizes])


def assisted(values: RecordedValues, studies: int) -> Iterator[Coverage]:
    """People with a machine's help, and people alone on the same sample, of all questions."""
    middle = _mean(values.machine)  # as the product does where a machine has no value
    pairs = [
        (one, middle if other is None else other)
        for one, other in zip(values.people, values.machine, strict=True)
        if one is not None
    ]
    truth = fmean(one for one, _ in pairs)
    for copies, n in SIZES:
        every = pairs * copies
        rng = _rng(values, n, copies)
        found: dict[str, list[Ends]] = {"assisted": [], "people alone": []}
        for _ in range(studies):
            drawn = [every[i] for i in rng.permutation(len(every))]
            helped = assisted_mean(
                [one for one, _ in drawn[:n]],
                [other for _, other in drawn[:n]],
                [other for _, other in drawn[n:]],
                bounds=values.bounds,
            )
            for name, one in (("assisted", helped.assisted), ("people alone", helped.alone)):
                found[name].append((one.lower, one.upper) if one is not None else (None, None))
        for name, own in found.items():
            yield _counted(name, values, (n, len(every)), truth, own)


def deviation(values: RecordedValues, studies: int) -> Iterator[Coverage]:
    """The upper 80 % limit of the standard deviation, from questions drawn with replacement."""
    if not values.is_difference:
        return
    known = np.array([one for one in values.people if one is not None])
    truth = float(known.std())
    for n in (10, 30, 100):
        drawn = known[_rng(values, n).integers(0, len(known), (studies, n))]
        found = [one.upper for one in map(spread, drawn.tolist()) if one is not None]
        share = sum(limit >= truth for limit in found) / len(found)
        none = studies - len(found)
        yield Coverage("deviation", values, n, len(known), len(found), share, 0.8, none=none)


SIMULATIONS: dict[str, Simulation] = {
    "fixed": fixed,
    "stratified": stratified,
    "assisted": assisted,
    "deviation": deviation,
}


def _mean(values: Sequence[float | None]) -> float:
    return fmean(value for value in values if value is not None)
