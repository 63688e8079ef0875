"""Agreement between raters: its coefficients, each with n, an interval and why it is undefined.

A `Table` has a row per item and a column per rater: labels as whole numbers in the order of
their scale, ``None`` where a rater has not decided. "Cannot tell" is missing too.

Wherever it is defined a coefficient is at most 1, and 1 for perfect agreement; neither the
order of the raters nor that of the items changes it or its interval. `n` is the number of
items with two labels or more. The chance-corrected ones (all but raw agreement) are 0 for
agreement no better than chance and below 0 for worse. References: Cohen (1960), Educational
and Psychological Measurement 20; Cohen (1968) and Fleiss (1971), Psychological Bulletin 70, 76;
Hayes & Krippendorff (2007), Communication Methods and Measures 1; Gwet (2008), British Journal
of Mathematical and Statistical Psychology 61; Krippendorff (2011), Computing Krippendorff's
Alpha-Reliability.

The formulas count items that were labelled alike together. An *item* is there the sorted labels
it got, from any rater: ``(0, 1, 1)``; a *pair* the labels of two raters, in the raters' order.
`Kinds` are the different items, or pairs, in sorted order; the rows of `Times` say how often each
occurs: in the study, and with one of each kind left out. Every formula returns, for each row, the
observed and the expected disagreement, both as shares of the largest that can be, NaN where there
is none: the coefficient is 1 less the one by the other.

The interval is that of a mean of the jackknife's pseudo-values (``intervals``): the variance comes
from leaving out one item at a time, and the range ends where all disagree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from functools import partial
from math import isnan
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from relevansi.i18n import mark
from relevansi.metrics.intervals import NO_INTERVAL, Interval, estimate_interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Times = Floats
    Distance = Callable[[int, int, Mapping[int, Floats]], Floats]

Kinds = Sequence[tuple[int, ...]]
Formula = Callable[[Kinds, "Times"], "tuple[Floats, Floats]"]
Table = Sequence[Sequence[int | None]]
Rows = Mapping[tuple[int | None, ...], int]
"""The different rows of a table, and how often each occurs."""


class NoAgreement(StrEnum):
    """Why an agreement figure has no value: never to be confused with agreement 0."""

    TOO_FEW_RATERS = "too_few_raters"
    NOT_TWO_RATERS = "not_two_raters"
    NO_SHARED_ITEM = "no_shared_item"
    ONE_LABEL = "one_label"


EXPLANATIONS: Mapping[NoAgreement, str] = {
    NoAgreement.TOO_FEW_RATERS: mark("Agreement needs at least two raters."),
    NoAgreement.NOT_TWO_RATERS: mark("This figure is for exactly two raters."),
    NoAgreement.NO_SHARED_ITEM: mark("No item has been decided at least twice."),
    NoAgreement.ONE_LABEL: mark(
        "Only one label was used, so agreement cannot be told from chance."
    ),
}
"""Each reason in words for the reader, as a message id."""


class Scale(StrEnum):
    """How the numbers of the labels are read: as names only (✓/✗), or in an order (quality 0-5)."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"


class Coefficient(Struct, frozen=True):
    """One agreement figure over `n` items that two or more decided, with its interval.

    Without a value `why_undefined` says why. A value of a single item has no interval.
    """

    value: float | None
    n: int
    lower: float | None = None
    upper: float | None = None
    why_undefined: NoAgreement | None = None


class Agreement(Struct, frozen=True):
    """Every coefficient of one table; Cohen's kappas are undefined unless raters are two.

    The weighted ones are ``None`` unless they were asked for. `n_rated` items have a label at
    least: the chance term of Fleiss' kappa and AC1 is over these.
    """

    raw: Coefficient
    cohen: Coefficient
    fleiss: Coefficient
    alpha: Coefficient
    ac1: Coefficient
    n_rated: int = 0
    linear: Coefficient | None = None
    quadratic: Coefficient | None = None


def agreement(
    table: Iterable[Sequence[int | None]],
    *,
    scale: Scale = Scale.NOMINAL,
    labels: Collection[int] = (),
    weighted: bool = False,
) -> Agreement:
    """The coefficients of `table`, alpha by its `scale`; `labels` are those of the scale.

    `weighted` adds Cohen's kappas that weigh how far two grades are apart.

    >>> found = agreement([[1, 1], [1, 0], [0, 0], [1, 1]])
    >>> found.raw.value, found.cohen.value, found.raw.n
    (0.75, 0.5, 4)
    """
    rows: Rows = Counter(map(tuple, table))
    unfit = _unfit(rows)
    items: Counter[tuple[int, ...]] = Counter()
    for row, times in rows.items():
        items[tuple(sorted(x for x in row if x is not None))] += times
    del items[()]
    used = {label for item in items for label in item}
    distance = ordinal if scale is Scale.ORDINAL else nominal
    of_items = _measuring(items, unfit)
    of_pairs = _of_pairs(rows, unfit)
    return Agreement(
        raw=of_items(observed),
        cohen=of_pairs(cohen),
        fleiss=of_items(fleiss),
        alpha=of_items(partial(alpha, distance=distance)),
        ac1=of_items(partial(gwet, n_labels=max(2, len(used.union(labels))))),
        n_rated=items.total(),
        linear=of_pairs(partial(cohen, power=1)) if weighted else None,
        quadratic=of_pairs(partial(cohen, power=2)) if weighted else None,
    )


def _of_pairs(rows: Rows, unfit: NoAgreement | None) -> Callable[[Formula], Coefficient]:
    """The function that applies a formula to the items on which both of two raters decided."""
    if unfit is None and any(len(row) != 2 for row in rows):
        unfit = NoAgreement.NOT_TWO_RATERS
    if unfit is not None:
        return _measuring({}, unfit)
    return _measuring({row: times for row, times in rows.items() if None not in row}, None)


def _measuring(
    units: Mapping[Any, int], unfit: NoAgreement | None
) -> Callable[[Formula], Coefficient]:
    """The function that applies a formula to `units`; it finds no value in an `unfit` table."""
    import numpy as np  # noqa: PLC0415 - a tenth of a second

    # Items that were labelled alike are computed once and counted: real tables have few kinds.
    kinds = sorted(units)
    counts = np.array([units[kind] for kind in kinds], dtype=np.float64)
    times = np.vstack([counts, counts - np.eye(len(counts))]) if kinds else np.zeros((1, 0))
    n = int(shared(kinds, times[:1])[0])

    def measured(formula: Formula) -> Coefficient:
        observed, expected = formula(kinds, times)
        values = 1 - _ratio(observed, expected)
        value, why = float(values[0]), unfit
        if why is None and isnan(value):
            why = NoAgreement.ONE_LABEL if n else NoAgreement.NO_SHARED_ITEM
        if why is not None:
            return Coefficient(None, n, why_undefined=why)
        bounds = _interval(value, float(expected[0]), values[1:], counts, n)
        return Coefficient(value, n, bounds.lower, bounds.upper)

    return measured


def _interval(
    value: float, expected: float, without_one: Floats, counts: Floats, n: int
) -> Interval:
    """The interval of a coefficient from its values without one item of each kind.

    The jackknife's, ``((N - 1) / N)^2 sum (c_i - mean)^2``, over the N items but those without
    which the coefficient is undefined (Efron & Tibshirani 1993, ch. 11; by N, not N - 1).
    """
    import numpy as np  # noqa: PLC0415 - a tenth of a second

    present = ~np.isnan(without_one)
    weights = counts[present]
    if n < 2 or weights.sum() < 2:
        return NO_INTERVAL
    middle = np.average(without_one[present], weights=weights)
    scatter = float((weights * (without_one[present] - middle) ** 2).sum())
    variance = scatter * float((weights.sum() - 1) / weights.sum()) ** 2
    return estimate_interval(value, n * variance, n, lowest=1 - 1 / expected)


def _unfit(rows: Rows) -> NoAgreement | None:
    """Why a table has no coefficient at all, ``None`` where it may have."""
    widths = {len(row) for row in rows}
    if len(widths) > 1:
        raise ValueError("the rows of a table have a cell for every rater")
    if not widths:
        return NoAgreement.NO_SHARED_ITEM
    return NoAgreement.TOO_FEW_RATERS if max(widths) < 2 else None


def shared(kinds: Kinds, times: Times) -> Floats:
    """The number of items with two labels or more."""
    units: Floats = times[:, [len(kind) > 1 for kind in kinds]].sum(axis=1)
    return units


def observed(kinds: Kinds, times: Times) -> tuple[Floats, Floats]:
    """Raw agreement: share of agreeing pairs of raters, averaged over the items of two or more.

    ``Pa = mean over i of sum_k r_ik (r_ik - 1) / (r_i (r_i - 1))``: *r_i* labels on item *i*,
    *r_ik* of them *k*; with two raters the share of items on which they agree. Each item
    counts the same, however many raters it had. Defined when only one label was used.
    """
    agreeing = []
    for place, kind in enumerate(kinds):
        if len(kind) > 1:
            same = sum(used * (used - 1) for used in Counter(kind).values())
            agreeing.append(times[:, place] * (same / (len(kind) * (len(kind) - 1))))
    apart = 1 - _ratio(_sum(agreeing, times), shared(kinds, times))
    return apart, _sum([], times) + 1


def fleiss(kinds: Kinds, times: Times) -> tuple[Floats, Floats]:
    """Fleiss' kappa: agreement beyond the labels' overall shares (Fleiss 1971).

    ``kappa = (Pa - Pe) / (1 - Pe)``, ``Pe = sum_k p_k^2``: *Pa* as in raw agreement, *p_k* the
    mean over items of the share of label *k* among an item's labels. Where items have
    unequal numbers of labels this is the generalised form of irrCAC: *Pa* over items with two
    labels or more, *p_k* over all that have any, each item weighing the same. Undefined when
    only one label was used.
    """
    shares = _shares(kinds, times)
    chance = _sum([share * share for share in shares], times)
    return _defined(observed(kinds, times)[0], shares), 1 - chance


def gwet(kinds: Kinds, times: Times, n_labels: int) -> tuple[Floats, Floats]:
    """Gwet's AC1: agreement beyond chance on hard items, steady where one label prevails (2008).

    ``AC1 = (Pa - Pe) / (1 - Pe)``, ``Pe = sum_k p_k (1 - p_k) / (q - 1)``: *Pa* and *p_k* as in
    Fleiss' kappa, unequal numbers of labels too (as irrCAC), *q* the number of labels of
    the scale: of those stated, else of those used, at least 2. Defined (as 1) when only one was.
    """
    uneven = [share * (1 - share) for share in _shares(kinds, times)]
    chance = _sum(uneven, times) / (n_labels - 1)
    return observed(kinds, times)[0], 1 - chance


def cohen(kinds: Kinds, times: Times, power: int = 0) -> tuple[Floats, Floats]:
    """Agreement of two raters beyond what their own habits would give (Cohen 1960, 1968).

    ``kappa = 1 - n sum w_jk n_jk / sum w_jk a_j b_k``: *n_jk* how often the first rater gave *j*
    where the second gave *k*, *a_j*, *b_k* how often each used them, over the *n* items that both
    decided; others are left out, as scikit-learn must be given them. For different labels *w_jk*
    is ``|j - k|^power``: 1 for 0, which makes it ``(Pa - Pe) / (1 - Pe)``, linear weights for 1,
    quadratic for 2. Undefined when both used one and the same label.
    """

    def weight(label: int, other_label: int) -> int:
        return 0 if label == other_label else abs(label - other_label) ** power

    observed = _sum([times[:, at] * weight(*kind) for at, kind in enumerate(kinds)], times)
    labels = sorted({label for kind in kinds for label in kind})
    first = {x: times[:, [label == x for label, _ in kinds]].sum(axis=1) for x in labels}
    second = {x: times[:, [label == x for _, label in kinds]].sum(axis=1) for x in labels}
    met = _sum([first[j] * second[k] * weight(j, k) for j in labels for k in labels], times)
    n, farthest = times.sum(axis=1), max((weight(j, k) for j in labels for k in labels), default=1)
    return _ratio(observed, n * max(farthest, 1)), _ratio(met, n**2 * max(farthest, 1))


def alpha(kinds: Kinds, times: Times, distance: Distance) -> tuple[Floats, Floats]:
    """Krippendorff's alpha: one minus observed over expected disagreement (2007).

    ``alpha = 1 - (n - 1) sum o_ck d_ck / sum n_c n_k d_ck``: *o_ck* how often labels *c* and
    *k* met on an item, an item's *m* labels giving ``1 / (m - 1)`` per ordered pair; *n_c* the
    labels *c* and *n* all labels on items with two or more (an item with one says nothing);
    *d_ck* the squared `distance` (Krippendorff 2011). Undefined when only one label was used
    on those items.
    """
    import numpy as np  # noqa: PLC0415 - a tenth of a second

    items = [(at, Counter(kind)) for at, kind in enumerate(kinds) if len(kind) > 1]
    labels = sorted({label for _, used in items for label in used})
    totals = {x: _sum([times[:, at] * used[x] for at, used in items], times) for x in labels}
    apart = {(c, k): distance(c, k, totals) for c in labels for k in labels}
    observed = [
        times[:, at] * (used[c] * used[k] / (used.total() - 1)) * apart[c, k]
        for at, used in items
        for c in used
        for k in used
    ]
    expected = _sum([totals[c] * totals[k] * apart[c, k] for c, k in apart], times)
    every = _sum([*totals.values()], times)
    farthest = np.max([*apart.values(), _sum([], times)], axis=0)
    disagreement = _defined(_ratio(_sum(observed, times), every * farthest), [*totals.values()])
    return disagreement, _ratio(expected, every * (every - 1) * farthest)


def nominal(label: int, second: int, totals: Mapping[int, Floats]) -> Floats:
    """1 for two different labels, 0 for the same one."""
    return 0 * totals[label] + float(label != second)


def ordinal(label_a: int, label_b: int, totals: Mapping[int, Floats]) -> Floats:
    """The squared number of labels between two, each end counted half.

    ``(sum of n_g for g from c to k - (n_c + n_k) / 2)^2``: *n_g* how often label *g* was used.
    """
    low, high = sorted((label_a, label_b))
    between = sum(times for label, times in totals.items() if low <= label <= high)
    squared: Floats = (between - (totals[label_a] + totals[label_b]) / 2) ** 2
    return squared


def _shares(kinds: Kinds, times: Times) -> list[Floats]:
    """For each label the mean, over all items with a label, of its share among an item's labels."""
    by_label: dict[int, list[Floats]] = {}
    for place, kind in enumerate(kinds):
        for label, used in Counter(kind).items():
            by_label.setdefault(label, []).append(times[:, place] * used / len(kind))
    every = times.sum(axis=1)
    return [_ratio(_sum(parts, times), every) for parts in by_label.values()]


def _ratio(part: Floats, total: Floats) -> Floats:
    import numpy as np  # noqa: PLC0415 - a tenth of a second

    with np.errstate(divide="ignore", invalid="ignore"):
        quotients: Floats = np.where(total == 0, np.nan, part / total)
    return quotients


def _defined(values: Floats, uses: Sequence[Floats]) -> Floats:
    """The values, NaN where fewer than two labels have any use."""
    import numpy as np  # noqa: PLC0415 - a tenth of a second

    used = sum(((use > 0).astype(int) for use in uses), np.zeros(len(values), dtype=int))
    return np.where(used > 1, values, np.nan)


def _sum(terms: Sequence[Floats], times: Times) -> Floats:
    import numpy as np  # noqa: PLC0415 - a tenth of a second

    return np.sum(terms, axis=0) if terms else np.zeros(len(times))


class NoShare(StrEnum):
    MACHINE_PASSED_NOTHING = "machine_passed_nothing"
    PERSON_PASSED_NOTHING = "person_passed_nothing"


NO_SHARE_EXPLANATIONS = {
    NoShare.MACHINE_PASSED_NOTHING: mark("The machine passed none of what people judged."),
    NoShare.PERSON_PASSED_NOTHING: mark("People passed none of what they judged."),
}
"""Each reason in words for the reader, as a message id."""


class BinaryAgreement(Struct, frozen=True):
    """Pairs counted: passed by both, by the machine only, by people only, by neither."""

    both: int
    machine_only: int
    people_only: int
    neither: int
    kappa: Coefficient

    @property
    def n(self) -> int:
        return self.both + self.machine_only + self.people_only + self.neither

    @property
    def agreed(self) -> float | None:
        """Pairs on which both say the same / all pairs; ``None`` without any."""
        return (self.both + self.neither) / self.n if self.n else None

    @property
    def precision(self) -> float | NoShare:
        """Passed by both / passed by the machine."""
        passed = self.both + self.machine_only
        return self.both / passed if passed else NoShare.MACHINE_PASSED_NOTHING

    @property
    def recall(self) -> float | NoShare:
        """Passed by both / passed by people."""
        passed = self.both + self.people_only
        return self.both / passed if passed else NoShare.PERSON_PASSED_NOTHING


def binary_agreement(pairs: Iterable[tuple[bool, bool]]) -> BinaryAgreement:
    """The agreement of `pairs` of (machine, person); kappa is Cohen's, with its interval.

    >>> found = binary_agreement([(True, True), (True, False), (False, False), (True, True)])
    >>> found.both, found.machine_only, round(found.precision, 4), found.recall
    (2, 1, 0.6667, 1.0)
    >>> found.kappa.value  # (3/4 - 1/2) / (1 - 1/2)
    0.5
    """
    counts: Counter[tuple[int | None, ...]] = Counter(pairs)
    return BinaryAgreement(
        both=counts[True, True],
        machine_only=counts[True, False],
        people_only=counts[False, True],
        neither=counts[False, False],
        kappa=_of_pairs(counts, _unfit(counts))(cohen),
    )
