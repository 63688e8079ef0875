"""Whether an automatic figure puts items in the order in which people grade them.

Spearman's rho is Pearson's correlation of the midranks; Kendall's tau-b is (concordant -
discordant) / sqrt(pairs untied in x times pairs untied in y). Both are -1 to 1, 0 where the
orders have nothing to do with each other, and undefined where one side has one value only.
Intervals: percentile bootstrap over items. References: Spearman (1904), American Journal of
Psychology 15; Kendall (1945), Biometrika 33.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from webapp.i18n import mark
from webapp.metrics.comparisons.significance import Bootstrap, item_times, percentiles

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

MOST_FOR_INTERVAL = 1500
"""Items up to which intervals are made: their cost grows with the square of the items."""
FEWEST_FOR_INTERVAL = 5
"""Items from which intervals are made: fewer are nearly always drawn in their own order."""
_BLOCK = 500


class NoCorrelation(StrEnum):
    """Why there is no correlation: never to be confused with a correlation of 0."""

    TOO_FEW = "too_few_items"
    ONE_MACHINE_VALUE = "one_machine_value"
    ONE_GRADE = "one_grade"


EXPLANATIONS: Mapping[NoCorrelation, str] = {
    NoCorrelation.TOO_FEW: mark("An order needs at least two graded items."),
    NoCorrelation.ONE_MACHINE_VALUE: mark(
        "The figure is the same for every graded item, so it puts them in no order."
    ),
    NoCorrelation.ONE_GRADE: mark("Every item has the same grade, so people put them in no order."),
}
"""Each reason in words for the reader, as a message id."""


class Correlation(Struct, frozen=True):
    value: float | None
    lower: float | None = None
    upper: float | None = None


class RankCorrelation(Struct, frozen=True):
    n: int
    spearman: Correlation
    kendall_tau_b: Correlation
    why_undefined: NoCorrelation | None = None


def rank_correlation(
    pairs: Iterable[tuple[float, float]], *, bootstrap: Bootstrap | None = None
) -> RankCorrelation:
    """How the first values of `pairs` (the machine's) order the second ones (people's grades).

    The order in which the pairs come changes nothing.

    >>> found = rank_correlation([(0.1, 0), (0.4, 3), (0.5, 2), (0.9, 5)])
    >>> round(found.spearman.value, 4)  # 1 - 6 x 2/60
    0.8
    >>> round(found.kendall_tau_b.value, 4)  # (5 - 1)/6
    0.6667
    """
    import numpy as np  # only who asks for a correlation pays for it

    ordered = sorted((float(machine), float(grade)) for machine, grade in pairs)
    n, why = len(ordered), None
    if n < 2:
        why = NoCorrelation.TOO_FEW
    elif len({machine for machine, _ in ordered}) == 1:
        why = NoCorrelation.ONE_MACHINE_VALUE
    elif len({grade for _, grade in ordered}) == 1:
        why = NoCorrelation.ONE_GRADE
    if why is not None:
        return RankCorrelation(n, Correlation(None), Correlation(None), why)
    units, of = np.unique(np.array(ordered), axis=0, return_inverse=True)  # equal pairs count once
    x, y = units.T
    once = np.bincount(of.ravel(), minlength=len(units))[None, :].astype(np.float64)
    settings = bootstrap or Bootstrap()
    has_interval = FEWEST_FOR_INTERVAL <= n <= MOST_FOR_INTERVAL
    draws = item_times(of.ravel(), len(units), settings) if has_interval else None

    def correlated(formula: Any) -> Correlation:
        value = float(formula(x, y, once)[0])
        if draws is None:
            return Correlation(value)
        found = percentiles(formula(x, y, draws), settings)
        return Correlation(value, found.lower, found.upper)

    return RankCorrelation(n, correlated(_rho), correlated(_tau))


def _rho(x: Values, y: Values, times: Values) -> Values:
    """Spearman's rho of every row of `times`, which says how often each item counts."""
    import numpy as np

    n = times.sum(axis=1, keepdims=True)
    a, b = (_midranks(side, times) - (n + 1) / 2 for side in (x, y))
    with np.errstate(invalid="ignore", divide="ignore"):
        product = (times * a * b).sum(axis=1)
        lengths = np.sqrt((times * a * a).sum(axis=1) * (times * b * b).sum(axis=1))
        return np.asarray(np.clip(product / lengths, -1, 1), dtype=np.float64)


def _midranks(values: Values, times: Values) -> Values:
    import numpy as np

    counts, of = _per_level(values, times)
    below = np.cumsum(counts, axis=1) - counts
    return np.asarray((below + (counts + 1) / 2)[:, of], dtype=np.float64)


def _per_level(values: Values, times: Values) -> tuple[Values, Any]:
    """How often each distinct value counts, from the lowest on, and which one an item has."""
    import numpy as np

    levels, of = np.unique(values, return_inverse=True)
    return times @ np.eye(len(levels))[of], of


def _tau(x: Values, y: Values, times: Values) -> Values:
    import numpy as np

    product = np.zeros(len(times))
    for start in range(0, len(x), _BLOCK):  # never the table of all pairs at once
        some = slice(start, start + _BLOCK)
        signs = np.sign(x[:, None] - x[None, some]) * np.sign(y[:, None] - y[None, some])
        product += ((times @ signs) * times[:, some]).sum(axis=1)
    n = times.sum(axis=1)
    apart = [n * n - (_per_level(side, times)[0] ** 2).sum(axis=1) for side in (x, y)]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.clip(product / np.sqrt(apart[0] * apart[1]), -1, 1), dtype=np.float64)
