"""Agreement between raters: five coefficients, each with n, an interval and why it is undefined.

A `Table` has a row per item and a column per rater: labels as whole numbers in the order of
their scale, ``None`` where a rater has not decided. "Cannot tell" is missing too.

Wherever it is defined a coefficient is at most 1, and 1 for perfect agreement; neither the
order of the raters nor that of the items changes it or its interval. `n` is the number of
items with two labels or more. The chance-corrected ones (all but raw agreement) are 0 for
agreement no better than chance and below 0 for worse. References: Cohen (1960), Educational
and Psychological Measurement 20; Fleiss (1971), Psychological Bulletin 76; Hayes & Krippendorff
(2007), Communication Methods and Measures 1; Gwet (2008), British Journal of Mathematical and
Statistical Psychology 61; Krippendorff (2011), Computing Krippendorff's Alpha-Reliability.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from functools import partial
from math import isnan
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from webapp.i18n import mark
from webapp.metrics.agreement import coefficients
from webapp.metrics.agreement.coefficients import EXPLANATIONS, Kinds, NoAgreement
from webapp.metrics.comparisons.significance import NO_INTERVAL, Bootstrap, interval, resample

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from webapp.metrics.agreement.coefficients import Distance

    Floats = NDArray[np.float64]

__all__ = [
    "EXPLANATIONS",
    "Agreement",
    "Bootstrap",
    "Coefficient",
    "NoAgreement",
    "Rows",
    "Scale",
    "Table",
    "agreement",
    "agreements",
    "cohen_kappa",
]

Table = Sequence[Sequence[int | None]]
Rows = Mapping[tuple[int | None, ...], int]
"""The different rows of a table, and how often each occurs."""

DEFAULT = Bootstrap()


class Scale(StrEnum):
    """How the numbers of the labels are read: as names only (✓/✗), or in an order (quality 0-5)."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"


_DISTANCES: Mapping[Scale, Distance] = {
    Scale.NOMINAL: coefficients.nominal,
    Scale.ORDINAL: coefficients.ordinal,
}


class Coefficient(Struct, frozen=True):
    """One agreement figure over `n` items, with its interval as `bootstrap` describes it.

    Without a value `why_undefined` says why. A value of a single item has no interval.
    `left_out` counts the resamples in which the figure was undefined; they are not in it.
    """

    value: float | None
    n: int
    lower: float | None
    upper: float | None
    why_undefined: NoAgreement | None
    bootstrap: Bootstrap
    left_out: int = 0


class Agreement(Struct, frozen=True):
    """Every coefficient of one table; Cohen's kappa is undefined unless raters are two."""

    raw: Coefficient
    cohen: Coefficient
    fleiss: Coefficient
    alpha: Coefficient
    ac1: Coefficient


def agreement(
    table: Table,
    *,
    scale: Scale = Scale.NOMINAL,
    labels: Collection[int] = (),
    bootstrap: Bootstrap = DEFAULT,
) -> Agreement:
    """All five coefficients of `table`, alpha by its `scale`; `labels` as in `coefficients.gwet`.

    >>> found = agreement([[1, 1], [1, 0], [0, 0], [1, 1]])
    >>> found.raw.value, found.cohen.value, found.raw.n
    (0.75, 0.5, 4)
    """
    (found,) = agreements([_rows(table)], scale=scale, labels=labels, bootstrap=bootstrap)
    return found


def agreements(
    tables: Sequence[Rows],
    *,
    scale: Scale = Scale.NOMINAL,
    labels: Collection[int] = (),
    bootstrap: Bootstrap = DEFAULT,
) -> list[Agreement]:
    """The `agreement` of each table, all resampled at once."""
    units = [*map(_Units.items, tables), *map(_Units.pairs, tables)]
    samples = _Sample.drawn(units, bootstrap)
    both = zip(samples[: len(tables)], samples[len(tables) :], strict=True)
    return [_agreement(items, pairs, scale, labels) for items, pairs in both]


def _agreement(items: _Sample, pairs: _Sample, scale: Scale, labels: Collection[int]) -> Agreement:
    n_labels = _scale_size(items.kinds, labels)
    return Agreement(
        raw=items.measured(coefficients.observed),
        cohen=pairs.measured(coefficients.cohen),
        fleiss=items.measured(coefficients.fleiss),
        alpha=items.measured(partial(coefficients.alpha, distance=_DISTANCES[scale])),
        ac1=items.measured(partial(coefficients.gwet, n_labels=n_labels)),
    )


def cohen_kappa(table: Table, *, bootstrap: Bootstrap = DEFAULT) -> Coefficient:
    """Agreement of two raters beyond what their own habits would give (Cohen 1960).

    ``kappa = (Pa - Pe) / (1 - Pe)``, ``Pe = sum_k a_k b_k``: *a_k*, *b_k* the share of label
    *k* among the first (second) rater's labels, over the items that both decided; other
    items are left out, as scikit-learn must be given them. Unweighted on every scale.
    Undefined unless the table has two columns, and when both used one and the same label.

    >>> cohen_kappa([[1, 1], [1, 0], [0, 0], [1, 1]]).value  # (3/4 - 1/2) / (1 - 1/2)
    0.5
    """
    return _Sample.of(_Units.pairs(_rows(table)), bootstrap).measured(coefficients.cohen)


class _Units(Struct, frozen=True):
    """The different items or pairs of a table in order, and how often each is in it."""

    kinds: Kinds
    counts: Sequence[int]
    unfit: NoAgreement | None

    @classmethod
    def items(cls, rows: Rows) -> _Units:
        """The labels of each row, without the raters who gave them."""
        items: Counter[tuple[int, ...]] = Counter()
        for row, times in rows.items():
            items[tuple(sorted(x for x in row if x is not None))] += times
        del items[()]
        return cls.of(items, _unfit(rows))

    @classmethod
    def pairs(cls, rows: Rows) -> _Units:
        """The labels of each row to which both of two raters gave one, in the raters' order."""
        reason = _unfit(rows)
        if reason is None and len(next(iter(rows))) != 2:
            reason = NoAgreement.NOT_TWO_RATERS
        fit = rows.items() if reason is None else ()
        pairs = {
            (one, other): n for (one, other), n in fit if one is not None and other is not None
        }
        swapped = {(other, one): count for (one, other), count in pairs.items()}
        # Kappa does not ask who is who; nor must the drawing.
        return cls.of(min(pairs, swapped, key=lambda units: sorted(units.items())), reason)

    @classmethod
    def of(cls, units: Mapping[Any, int], unfit: NoAgreement | None) -> _Units:
        """The units, their kinds in order."""
        kinds = sorted(units)
        return cls(kinds, [units[kind] for kind in kinds], unfit)


class _Sample(Struct, frozen=True):
    """The items of a table by kind, and their resamples, drawn once for all its coefficients.

    The first row of ``times`` has how often each kind is in the table, the others in a resample.
    """

    kinds: Kinds
    times: Floats
    unfit: NoAgreement | None
    bootstrap: Bootstrap

    @classmethod
    def of(cls, units: _Units, bootstrap: Bootstrap) -> _Sample:
        """The resamples of one table's items or pairs."""
        (found,) = cls.drawn([units], bootstrap)
        return found

    @classmethod
    def drawn(cls, tables: Sequence[_Units], bootstrap: Bootstrap) -> list[_Sample]:
        """The resamples of each table's items or pairs; an unfit one is not resampled."""
        import numpy as np

        fit = iter(resample([one.counts for one in tables if one.unfit is None], bootstrap))
        found = []
        for one in tables:
            times = np.array([one.counts], dtype=np.float64)
            if one.unfit is None:
                times = np.concatenate([times, next(fit)])
            found.append(cls(one.kinds, times, one.unfit, bootstrap))
        return found

    def measured(self, formula: Callable[[Kinds, Floats], Floats]) -> Coefficient:
        """The coefficient that `formula` makes of the items, with its interval."""
        n = int(coefficients.shared(self.kinds, self.times[:1])[0])
        value, *drawn = formula(self.kinds, self.times).tolist()
        why = self.unfit
        if why is None and isnan(value):
            why = NoAgreement.ONE_LABEL if n else NoAgreement.NO_SHARED_ITEM
        if why is not None:
            return Coefficient(None, n, None, None, why, self.bootstrap)
        bounds = NO_INTERVAL
        if n > 1:
            bounds = interval(drawn, confidence=self.bootstrap.confidence)
        return Coefficient(
            value, n, bounds.lower, bounds.upper, None, self.bootstrap, bounds.left_out
        )


def _rows(table: Table) -> Rows:
    return Counter(map(tuple, table))


def _unfit(rows: Rows) -> NoAgreement | None:
    """Why the shape of a table allows no agreement; rows of unequal length raise."""
    widths = {len(row) for row in rows}
    if len(widths) > 1:
        raise ValueError("the rows of a table have a cell for every rater")
    if not widths:
        return NoAgreement.NO_SHARED_ITEM
    return NoAgreement.TOO_FEW_RATERS if max(widths) < 2 else None


def _scale_size(kinds: Kinds, labels: Collection[int]) -> int:
    used = {label for kind in kinds for label in kind}
    return max(2, len(used | set(labels)))


class NoShare(StrEnum):
    """Why precision or recall has no value."""

    MACHINE_PASSED_NOTHING = "machine_passed_nothing"
    PERSON_PASSED_NOTHING = "person_passed_nothing"


NO_SHARE_EXPLANATIONS = MappingProxyType(
    {
        NoShare.MACHINE_PASSED_NOTHING: mark("The machine passed none of what people judged."),
        NoShare.PERSON_PASSED_NOTHING: mark("People passed none of what they judged."),
    }
)
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
        """The number of pairs."""
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


def binary_agreement(
    pairs: Iterable[tuple[bool, bool]], *, bootstrap: Bootstrap | None = None
) -> BinaryAgreement:
    """The agreement of `pairs` of (machine, person); kappa is Cohen's, with its interval.

    >>> found = binary_agreement([(True, True), (True, False), (False, False), (True, True)])
    >>> found.both, found.machine_only, round(found.precision, 4), found.recall
    (2, 1, 0.6667, 1.0)
    >>> found.kappa.value  # (3/4 - 1/2) / (1 - 1/2)
    0.5
    """
    counts = Counter((bool(machine), bool(person)) for machine, person in pairs)
    table = [[int(machine), int(person)] for machine, person in counts.elements()]
    return BinaryAgreement(
        both=counts[True, True],
        machine_only=counts[True, False],
        people_only=counts[False, True],
        neither=counts[False, False],
        kappa=cohen_kappa(table, bootstrap=bootstrap or Bootstrap()),
    )
