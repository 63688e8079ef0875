"""How often each interval holds the true value, in studies drawn from recorded questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import log, sqrt
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from tests.simulations.recorded import RecordedValues
from webapp.metrics.comparisons.resampling import Resampling
from webapp.metrics.planning.assisted import assisted_mean
from webapp.metrics.planning.power import upper_limit
from webapp.metrics.planning.sampling import Stratum, allocation, sampled_mean
from webapp.metrics.planning.sequences import log_capitals

SEED = 20260301
RESAMPLES = 500
COPIES = 20
"""A large set has each recorded question so many times."""
SIZES = ((1, 10), (1, 20), (COPIES, 30), (COPIES, 100))
"""Copies of the recorded questions, and how many of them are drawn."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """The share of simulated studies whose interval held the true value, and the mean width.

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
    rng = np.random.default_rng([SEED, n, copies])
    held, widths = 0, []
    truth = _mean(people)
    settings = Resampling(RESAMPLES, SEED)
    for _ in range(studies):
        sample = [
            Stratum(len(own), tuple(people[i] for i in rng.permutation(own)[: shares[name]]))
            for name, own in sorted(places.items())
        ]
        interval = sampled_mean(sample, settings).interval
        if interval.lower is not None and interval.upper is not None:
            held += interval.lower - 1e-9 <= truth <= interval.upper + 1e-9
            widths.append(interval.upper - interval.lower)
    return Coverage(method, values, n, len(people), studies, held / studies, 0.95, fmean(widths))


def sequence(values: RecordedValues, studies: int) -> Iterator[Coverage]:
    """The confidence sequence: held at every look, up to the whole set or 300 questions."""
    low = -1.0 if values.is_difference else 0.0
    for copies in (1, COPIES):
        people = np.array([np.nan if v is None else v for v in values.people * copies])
        scaled = (people - low) / (1 - low)
        truth = float(np.nanmean(scaled))
        looks = min(len(people), 300)
        rng = np.random.default_rng([SEED, copies])
        orders = np.array([rng.permutation(scaled)[:looks] for _ in range(studies)])
        worst: NDArray[np.float64] = np.zeros(studies)
        for logs in log_capitals(orders, len(people), np.array([[truth]])):
            worst = np.maximum(worst, logs[:, 0])
        share = float((worst < log(2 / 0.05)).mean())
        yield Coverage("sequence", values, looks, len(people), studies, share, 0.95)


def assisted(values: RecordedValues, studies: int) -> Iterator[Coverage]:
    """People with a machine's help, and people alone, on questions drawn with replacement."""
    middle = _mean(values.machine)  # as the product does where a machine has no value
    pairs = [
        (one, middle if other is None else other)
        for one, other in zip(values.people, values.machine, strict=True)
        if one is not None
    ]
    truth = fmean(one for one, _ in pairs)
    for n, of in ((30, 150), (100, 500)):
        rng = np.random.default_rng([SEED, n])
        held, widths = Counter[str](), {"assisted": [0.0][:0], "people alone": [0.0][:0]}
        for _ in range(studies):
            drawn = [pairs[i] for i in rng.integers(0, len(pairs), of)]
            found = assisted_mean(
                [one for one, _ in drawn[:n]],
                [other for _, other in drawn[:n]],
                [other for _, other in drawn[n:]],
            )
            for name, one in (("assisted", found.assisted), ("people alone", found.alone)):
                if one is not None:
                    held[name] += one.lower - 1e-9 <= truth <= one.upper + 1e-9
                    widths[name].append(one.width)
        for name, own in widths.items():
            if own:  # a machine whose values do not differ helps with nothing
                share = held[name] / len(own)
                yield Coverage(name, values, n, of, len(own), share, 0.95, fmean(own))


def deviation(values: RecordedValues, studies: int) -> Iterator[Coverage]:
    """The upper 80 % limit of the standard deviation, from questions drawn with replacement."""
    if not values.is_difference:
        return
    known = np.array([one for one in values.people if one is not None])
    truth = float(known.std())
    for n in (10, 30, 100):
        rng = np.random.default_rng([SEED, n])
        spreads = known[rng.integers(0, len(known), (studies, n))].std(axis=1, ddof=1)
        limits = [upper_limit(float(one), n) if one > 0 else 0.0 for one in spreads]
        share = sum(limit >= truth for limit in limits) / studies
        yield Coverage("deviation", values, n, len(known), studies, share, 0.8)


SIMULATIONS: dict[str, Simulation] = {
    "fixed": fixed,
    "stratified": stratified,
    "sequence": sequence,
    "assisted": assisted,
    "deviation": deviation,
}


def _mean(values: Sequence[float | None]) -> float:
    return fmean(value for value in values if value is not None)
