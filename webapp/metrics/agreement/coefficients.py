"""Formulas of agreement, over items that were labelled alike counted together.

An *item* here is the sorted labels it got, from any rater: ``(0, 1, 1)``. A *pair* is the
labels of two raters for one item, in the raters' order. `Items` and `Pairs` count how often
each occurs. Labels are whole numbers in the order of their scale. Every formula returns a
`NoAgreement` where it has no value; `agreement` has them on tables, with intervals.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import lru_cache
from math import fsum
from types import MappingProxyType

from webapp.i18n import mark

Items = Counter[tuple[int, ...]]
Pairs = Counter[tuple[int, int]]
Distance = Callable[[int, int, Mapping[int, float]], float]


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


def shared(items: Items) -> int:
    """How many items have at least two labels."""
    return sum(count for item, count in items.items() if len(item) > 1)


def observed(items: Items) -> float | NoAgreement:
    """Mean share of agreeing pairs of labels over the items that have two or more.

    ``Pa = mean over i of sum_k r_ik (r_ik - 1) / (r_i (r_i - 1))``: *r_ik* labels *k* among
    the *r_i* labels of item *i*.
    """
    n = shared(items)
    if not n:
        return NoAgreement.NO_SHARED_ITEM
    return fsum(count * _agreeing(item) for item, count in items.items() if len(item) > 1) / n


def fleiss(items: Items) -> float | NoAgreement:
    """Fleiss' kappa: chance is two labels drawn by their mean shares, ``Pe = sum_k p_k^2``."""
    agreed, shares = observed(items), _shares(items)
    if isinstance(agreed, NoAgreement):
        return agreed
    if len(shares) == 1:
        return NoAgreement.ONE_LABEL
    return _beyond_chance(agreed, fsum(share * share for share in shares.values()))


def gwet(items: Items, n_labels: int) -> float | NoAgreement:
    """Gwet's AC1 on a scale of `n_labels`: ``Pe = sum_k p_k (1 - p_k) / (q - 1)``."""
    agreed, shares = observed(items), _shares(items)
    if isinstance(agreed, NoAgreement):
        return agreed
    chance = fsum(share * (1 - share) for share in shares.values()) / (n_labels - 1)
    return _beyond_chance(agreed, chance)


def cohen(pairs: Pairs) -> float | NoAgreement:
    """Cohen's kappa: chance is each rater's own shares, ``Pe = sum_k a_k b_k``."""
    n = pairs.total()
    if not n:
        return NoAgreement.NO_SHARED_ITEM
    first, second, same = Counter[int](), Counter[int](), 0
    for (one, other), count in pairs.items():
        first[one] += count
        second[other] += count
        same += count * (one == other)
    met = sum(first[label] * second[label] for label in first)
    if met == n * n:
        return NoAgreement.ONE_LABEL
    return (n * same - met) / (n * n - met)


def alpha(items: Items, distance: Distance) -> float | NoAgreement:
    """Krippendorff's alpha: one minus observed over expected disagreement, by `distance`."""
    together, totals = _coincidences(items)
    if not totals:
        return NoAgreement.NO_SHARED_ITEM
    if len(totals) == 1:
        return NoAgreement.ONE_LABEL
    apart = {(c, k): distance(c, k, totals) for c in totals for k in totals}
    seen = fsum(times * apart[labels] for labels, times in together.items())
    expected = fsum(totals[c] * totals[k] * apart[c, k] for c, k in apart)
    return 1 - (fsum(totals.values()) - 1) * seen / expected


def nominal(one: int, other: int, totals: Mapping[int, float]) -> float:  # noqa: ARG001
    """1 for two different labels, 0 for the same one."""
    return float(one != other)


def ordinal(one: int, other: int, totals: Mapping[int, float]) -> float:
    """The squared number of labels between two, each end counted half.

    ``(sum of n_g for g from c to k - (n_c + n_k) / 2)^2``: *n_g* how often label *g* was used.
    """
    low, high = sorted((one, other))
    between = fsum(times for label, times in totals.items() if low <= label <= high)
    return (between - (totals[one] + totals[other]) / 2) ** 2


@lru_cache(maxsize=4096)  # resampling asks for the same few items thousands of times
def _used(item: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
    """How often each label of `item` was used."""
    return tuple(Counter(item).items())


@lru_cache(maxsize=4096)
def _agreeing(item: tuple[int, ...]) -> float:
    same = sum(times * (times - 1) for _, times in _used(item))
    return same / (len(item) * (len(item) - 1))


def _shares(items: Items) -> dict[int, float]:
    """Label to the mean, over all items with a label, of its share among an item's labels."""
    found: defaultdict[int, list[float]] = defaultdict(list)
    for item, count in sorted(items.items()):
        for label, times in _used(item):
            found[label].append(count * times / len(item))
    return {label: fsum(parts) / items.total() for label, parts in found.items()}


def _coincidences(items: Items) -> tuple[dict[tuple[int, int], float], dict[int, float]]:
    """How often two labels met on an item, and each label's total over the shared items.

    The ordered pairs of an item's *m* labels count ``1 / (m - 1)`` each.
    """
    together: defaultdict[tuple[int, int], float] = defaultdict(float)
    totals: defaultdict[int, float] = defaultdict(float)
    for item, count in sorted(items.items()):
        if len(item) < 2:
            continue
        for one, times in _used(item):
            totals[one] += count * times
            for other, others in _used(item):
                met = times * (others - (one == other))
                together[one, other] += count * met / (len(item) - 1)
    return together, totals


def _beyond_chance(agreed: float, chance: float) -> float:
    return (agreed - chance) / (1 - chance)
