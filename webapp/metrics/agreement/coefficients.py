"""Formulas of agreement, over items that were labelled alike counted together.

An *item* here is the sorted labels it got, from any rater: ``(0, 1, 1)``. A *pair* is the
labels of two raters for one item, in the raters' order. `Kinds` are the different items, or
pairs, in sorted order; the rows of `Times` say how often each occurs: in the study, and in each
resample of it. Labels are whole numbers in the order of their scale. Every formula returns a value
for each row, NaN where it has none; `agreement` has them on tables, with intervals.

Sums are exact, as ``math.fsum`` makes them, so that the order of the items changes no digit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from math import fsum
from types import MappingProxyType
from typing import TYPE_CHECKING

from webapp.i18n import mark

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Times = Floats
    Distance = Callable[[int, int, Mapping[int, Floats]], Floats | float]

Kinds = Sequence[tuple[int, ...]]


class NoAgreement(StrEnum):
    """Why an agreement figure has no value: never to be confused with agreement 0."""

    TOO_FEW_RATERS = "too_few_raters"
    NOT_TWO_RATERS = "not_two_raters"
    NO_SHARED_ITEM = "no_shared_item"
    ONE_LABEL = "one_label"


EXPLANATIONS: Mapping[NoAgreement, str] = MappingProxyType(
    {
        NoAgreement.TOO_FEW_RATERS: mark("Agreement needs at least two raters."),
        NoAgreement.NOT_TWO_RATERS: mark("This figure is for exactly two raters."),
        NoAgreement.NO_SHARED_ITEM: mark("No item has been decided at least twice."),
        NoAgreement.ONE_LABEL: mark(
            "Only one label was used, so agreement cannot be told from chance."
        ),
    }
)
"""Each reason in words for the reader, as a message id."""


def shared(kinds: Kinds, times: Times) -> Floats:
    """How many items have at least two labels."""
    found: Floats = times[:, [len(kind) > 1 for kind in kinds]].sum(axis=1)
    return found


def observed(kinds: Kinds, times: Times) -> Floats:
    """Raw agreement: share of agreeing pairs of raters, averaged over the items of two or more.

    ``Pa = mean over i of sum_k r_ik (r_ik - 1) / (r_i (r_i - 1))``: *r_i* labels on item *i*,
    *r_ik* of them *k*; with two raters the share of items on which they agree. Each item
    counts the same, however many raters it had. Defined when only one label was used.
    """
    agreeing = [
        times[:, place] * _agreeing(kind) for place, kind in enumerate(kinds) if len(kind) > 1
    ]
    return _ratio(_sum(agreeing, times), shared(kinds, times))


def fleiss(kinds: Kinds, times: Times) -> Floats:
    """Fleiss' kappa: agreement beyond the labels' overall shares (Fleiss 1971).

    ``kappa = (Pa - Pe) / (1 - Pe)``, ``Pe = sum_k p_k^2``: *Pa* as in raw agreement, *p_k* the
    mean over items of the share of label *k* among an item's labels. Where items have
    unequal numbers of labels this is the generalised form of irrCAC: *Pa* over items with two
    labels or more, *p_k* over all that have any, each item weighing the same. Undefined when
    only one label was used.
    """
    shares = _shares(kinds, times)
    chance = _sum([share * share for share in shares], times)
    return _defined(_beyond_chance(observed(kinds, times), chance), shares)


def gwet(kinds: Kinds, times: Times, n_labels: int) -> Floats:
    """Gwet's AC1: agreement beyond chance on hard items, steady where one label prevails (2008).

    ``AC1 = (Pa - Pe) / (1 - Pe)``, ``Pe = sum_k p_k (1 - p_k) / (q - 1)``: *Pa* and *p_k* as in
    Fleiss' kappa, unequal numbers of labels too (as irrCAC), *q* the number of labels of
    the scale: of those stated, else of those used, at least 2. Defined (as 1) when only one was.
    """
    uneven = [share * (1 - share) for share in _shares(kinds, times)]
    return _beyond_chance(observed(kinds, times), _sum(uneven, times) / (n_labels - 1))


def cohen(kinds: Kinds, times: Times) -> Floats:
    """Cohen's kappa of pairs: chance is each rater's own shares, ``Pe = sum_k a_k b_k``."""
    import numpy as np

    n = times.sum(axis=1)
    labels = sorted({label for kind in kinds for label in kind})
    first = {x: times[:, [one == x for one, _ in kinds]].sum(axis=1) for x in labels}
    second = {x: times[:, [other == x for _, other in kinds]].sum(axis=1) for x in labels}
    same = times[:, [one == other for one, other in kinds]].sum(axis=1)
    met = sum((first[x] * second[x] for x in labels), np.zeros(len(times)))
    return _ratio(n * same - met, n * n - met)


def alpha(kinds: Kinds, times: Times, distance: Distance) -> Floats:
    """Krippendorff's alpha: one minus observed over expected disagreement (2007).

    ``alpha = 1 - (n - 1) sum o_ck d_ck / sum n_c n_k d_ck``: *o_ck* how often labels *c* and
    *k* met on an item, an item's *m* labels giving ``1 / (m - 1)`` per ordered pair; *n_c* the
    labels *c* and *n* all labels on items with two or more (an item with one says nothing);
    *d_ck* the squared `distance` (Krippendorff 2011). Undefined when only one label was used
    on those items.
    """
    together, totals = _coincidences(kinds, times)
    apart = {(c, k): distance(c, k, totals) for c in totals for k in totals}
    seen = _sum([met * apart[labels] for labels, met in together.items()], times)
    expected = _sum([totals[c] * totals[k] * apart[c, k] for c, k in apart], times)
    every = _sum([*totals.values()], times)
    return _defined(1 - _ratio((every - 1) * seen, expected), [*totals.values()])


def nominal(one: int, other: int, totals: Mapping[int, Floats]) -> float:  # noqa: ARG001
    """1 for two different labels, 0 for the same one."""
    return float(one != other)


def ordinal(one: int, other: int, totals: Mapping[int, Floats]) -> Floats:
    """The squared number of labels between two, each end counted half.

    ``(sum of n_g for g from c to k - (n_c + n_k) / 2)^2``: *n_g* how often label *g* was used.
    """
    low, high = sorted((one, other))
    between = sum(times for label, times in totals.items() if low <= label <= high)
    found: Floats = (between - (totals[one] + totals[other]) / 2) ** 2
    return found


def _used(item: tuple[int, ...]) -> dict[int, int]:
    """How often each label of `item` was used."""
    return {label: item.count(label) for label in item}


def _agreeing(item: tuple[int, ...]) -> float:
    same = sum(times * (times - 1) for times in _used(item).values())
    return same / (len(item) * (len(item) - 1))


def _shares(kinds: Kinds, times: Times) -> list[Floats]:
    """For each label the mean, over all items with a label, of its share among an item's labels."""
    found: dict[int, list[Floats]] = {}
    for place, kind in enumerate(kinds):
        for label, used in _used(kind).items():
            found.setdefault(label, []).append(times[:, place] * used / len(kind))
    every = times.sum(axis=1)
    return [_ratio(_sum(parts, times), every) for parts in found.values()]


def _coincidences(
    kinds: Kinds, times: Times
) -> tuple[dict[tuple[int, int], Floats], dict[int, Floats]]:
    """How often two labels met on an item, and each label's total over the shared items.

    The ordered pairs of an item's *m* labels count ``1 / (m - 1)`` each.
    """
    import numpy as np

    together: dict[tuple[int, int], Floats] = {}
    totals: dict[int, Floats] = {}
    none = np.zeros(len(times))
    for place, kind in enumerate(kinds):
        if len(kind) < 2:
            continue
        for one, used in _used(kind).items():
            totals[one] = totals.get(one, none) + times[:, place] * used
            for other, others in _used(kind).items():
                met = used * (others - (one == other))
                parts = times[:, place] * met / (len(kind) - 1)
                together[one, other] = together.get((one, other), none) + parts
    return together, totals


def _beyond_chance(agreed: Floats, chance: Floats) -> Floats:
    return _ratio(agreed - chance, 1 - chance)


def _ratio(part: Floats, whole: Floats) -> Floats:
    """One through the other, NaN where the other is 0."""
    import numpy as np

    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = np.where(whole == 0, np.nan, part / whole)
    return found


def _defined(values: Floats, uses: Sequence[Floats]) -> Floats:
    """The values, NaN where fewer than two labels have any use."""
    import numpy as np

    used = sum(((use > 0).astype(int) for use in uses), np.zeros(len(values), dtype=int))
    return np.where(used > 1, values, np.nan)


def _sum(terms: Sequence[Floats], times: Times) -> Floats:
    """The exact sum of the terms of each row, rounded once.

    Each term is cut into a part on a grid so coarse that the parts add up without rounding, and a
    rest, which is cut again (Rump, Ogita & Oishi 2008, Accurate floating-point summation, SIAM
    Journal on Scientific Computing 31, 189-224). Rows with a rest even then are left to ``fsum``.
    """
    import numpy as np

    if not terms:
        return np.zeros(len(times))
    left = np.stack(terms)
    parts = []
    for _ in range(2):
        largest = np.frexp(np.abs(left).max(axis=0))[1] + len(terms).bit_length() + 1
        grid = np.ldexp(1.0, largest)
        on_grid = (grid + left) - grid
        parts.append(on_grid.sum(axis=0))
        left = left - on_grid
    found: Floats = parts[0] + parts[1]
    for row in np.flatnonzero(left.any(axis=0)):
        found[row] = fsum(float(term[row]) for term in terms)
    return found
