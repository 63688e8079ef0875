"""Agreement in a study, taken apart: overall, per pair of raters, per category, over time.

Items are cards, empty lists and the quality of whole answers. Figures are of ``agreement``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from itertools import combinations
from math import ceil
from operator import itemgetter

from msgspec import Struct

from relevansi.i18n import mark
from relevansi.metrics.agreement.agreement import Agreement, Coefficient, Scale, agreement
from relevansi.metrics.judging.queries import BEST_QUALITY
from relevansi.metrics.judging.registry import read_groups
from relevansi.records import EmptyOutcome, Relevance

MAX_PARTS = 10
LEAST_PART = 10
"""Over time the items are cut into ten parts, or fewer so that each holds ten items."""

MOST_GRADES = 5
"""The most grades of a scale, 0 included."""
_VERDICTS: Mapping[str, int] = {
    **{str(grade): grade for grade in range(MOST_GRADES)},
    EmptyOutcome.CORRECT_EMPTY: 1,
    EmptyOutcome.FALSE_NEGATIVE: 0,
}
CACHED_TABLES = 1024
"""Tables whose agreement is cached."""

Row = tuple[int | None, ...]
"""The labels that raters gave to one item."""


class ItemKind(StrEnum):
    """The kinds of items that raters judge: cards, empty lists, quality."""

    CARDS = "cards"
    EMPTY_LISTS = "empty_lists"
    QUALITY = "quality"

    def scale(self, top: int) -> Scale:
        """How labels of this kind are read, where the grades of cards are 0 to `top`."""
        is_graded = self is ItemKind.QUALITY or (self is ItemKind.CARDS and top > 1)
        return Scale.ORDINAL if is_graded else Scale.NOMINAL


class CannotTell(Struct, frozen=True):
    """How many of the judged cards got the verdict "cannot tell"."""

    n_cannot_tell: int
    n_judged: int

    @property
    def rate(self) -> float | None:
        return self.n_cannot_tell / self.n_judged if self.n_judged else None


class LabelledItem(Struct, frozen=True):
    """One item to agree on, with each rater's label, and when it was first judged, if known."""

    category: str
    labels: Mapping[str, str | float]
    first: datetime | None = None


class KindAgreement(Struct, frozen=True):
    """Agreement on one kind of items, by the raters who judged any of them.

    ``n_items`` have a judgment of any rater, "cannot tell" included. ``cannot_tell`` is over
    all raters and ``cannot_tell_by`` for each; for empty lists and quality they are ``None``
    and empty, as only cards have this verdict. ``pairs`` has two raters over the items that both
    decided, ``categories`` how many items a category has and all raters over them, ``over_time``
    the same of each part of the items in the order of their first judgments, from when to when.
    """

    kind: ItemKind
    scale: Scale
    raters: tuple[str, ...]
    n_items: int
    cannot_tell: CannotTell | None
    cannot_tell_by: Mapping[str, CannotTell]
    overall: Agreement
    pairs: Mapping[tuple[str, str], Agreement]
    categories: Mapping[str, tuple[int, Agreement]]
    over_time: tuple[tuple[datetime, datetime, int, Agreement], ...]

    @property
    def n_shared(self) -> int:
        return self.overall.raw.n


class Consistency(Struct, frozen=True):
    """One rater's second labels of hidden repeats against the labels in force.

    ``answered`` of the ``repeats`` got a second label; coefficients need both decided.
    """

    rater: str
    kind: ItemKind
    repeats: int
    answered: int
    agreement: Agreement


class AgreementReport(Struct, frozen=True):
    """Agreement in a study, kind by kind, and how each rater agrees with themselves.

    ``seconds`` has each rater's median time per verdict, and of how many, in studies of documents.
    """

    raters: tuple[str, ...]
    kinds: tuple[KindAgreement, ...]
    repeats: tuple[Consistency, ...]
    seconds: Mapping[str, tuple[float, int]] = {}


def of_kind(
    kind: ItemKind, raters: Sequence[str], items: Sequence[LabelledItem], *, top: int = 1
) -> KindAgreement:
    """The agreement of `raters` on `items`, whose order is that of the categories.

    The grades of cards are 0 to `top`; above 1 they are an order, and kappa is weighted too.
    Raters without any judgment are left out: they share no item with other raters.
    """
    judged = [item for item in items if item.labels]
    active = [name for name in raters if any(name in item.labels for item in judged)]
    table = [tuple(_label(item.labels.get(name)) for name in active) for item in judged]
    categories: dict[str, list[Row]] = defaultdict(list)
    for item, row in zip(judged, table, strict=True):
        categories[item.category].append(row)
    everybody, by_rater = _cannot_tell(active, judged) if kind is ItemKind.CARDS else (None, {})

    def measured(rows: Iterable[Row]) -> Agreement:
        return measure(rows, kind, top)

    return KindAgreement(
        kind=kind,
        scale=kind.scale(top),
        raters=tuple(active),
        n_items=len(judged),
        cannot_tell=everybody,
        cannot_tell_by=by_rater,
        overall=measured(table),
        pairs={
            (active[first], active[second]): measured(map(itemgetter(first, second), table))
            for first, second in combinations(range(len(active)), 2)
        },
        categories={name: (len(rows), measured(rows)) for name, rows in categories.items()},
        over_time=tuple(
            (since, until, len(places), measured(table[place] for place in places))
            for since, until, places in _parts(judged)
        ),
    )


def consistency(
    rater: str,
    kind: ItemKind,
    repeats: Sequence[tuple[str | float | None, str | float | None]],
    *,
    top: int = 1,
) -> Consistency:
    """How one rater agrees with themselves over pairs of the label in force and the second one."""
    answered = sum(second is not None for _, second in repeats)
    table = ((_label(verdict), _label(second)) for verdict, second in repeats)
    agreement = measure(table, kind, top)
    return Consistency(rater, kind, len(repeats), answered, agreement)


def measure(rows: Iterable[Row], kind: ItemKind, top: int) -> Agreement:
    """The agreement on items of a kind, where the grades of cards are 0 to `top`."""
    return _measured(frozenset(Counter(rows).items()), kind, top)


@lru_cache(maxsize=CACHED_TABLES)
def _measured(rows: frozenset[tuple[Row, int]], kind: ItemKind, top: int) -> Agreement:
    """The agreement, cached: a click changes few of the tables of a report."""
    is_graded = kind is ItemKind.CARDS and top > 1
    if kind is ItemKind.QUALITY:
        n_labels = BEST_QUALITY + 1
    else:
        n_labels = top + 1 if is_graded else 2
    return agreement(
        Counter(dict(rows)).elements(),
        scale=kind.scale(top),
        labels=range(n_labels),
        weighted=is_graded,
    )


def _label(verdict: str | float | None) -> int | None:
    if isinstance(verdict, str):
        return _VERDICTS.get(verdict)
    return None if verdict is None else int(verdict)


def _cannot_tell(
    raters: Sequence[str], items: Sequence[LabelledItem]
) -> tuple[CannotTell, dict[str, CannotTell]]:
    by_rater = {}
    for name in raters:
        verdicts = [item.labels[name] for item in items if name in item.labels]
        by_rater[name] = CannotTell(verdicts.count(Relevance.UNSURE), len(verdicts))
    n_cannot_tell = sum(each.n_cannot_tell for each in by_rater.values())
    n_judged = sum(each.n_judged for each in by_rater.values())
    return CannotTell(n_cannot_tell, n_judged), by_rater


def _parts(items: Sequence[LabelledItem]) -> list[tuple[datetime, datetime, list[int]]]:
    """The places of dated items in parts of equal size, each with its time; the earliest first."""
    dated = [(item.first, number) for number, item in enumerate(items) if item.first is not None]
    ordered = sorted(dated)
    if not ordered:
        return []
    size = ceil(len(ordered) / max(1, min(MAX_PARTS, len(ordered) // LEAST_PART)))
    cuts = [ordered[start : start + size] for start in range(0, len(ordered), size)]
    return [(cut[0][0], cut[-1][0], [number for _, number in cut]) for cut in cuts]


KIND_LABELS = {
    ItemKind.CARDS: mark("Cards"),
    ItemKind.EMPTY_LISTS: mark("Empty lists"),
    ItemKind.QUALITY: mark("Response quality"),
}
"""The name of each kind of items."""

[_GROUP] = read_groups("agreement").values()
COEFFICIENTS = _GROUP.measures
"""Every coefficient by the name it has in JSON, in the order in which they are shown."""

OF_TWO = ("cohen_kappa", "linear_kappa", "quadratic_kappa")
"""The coefficients that only two raters have."""


def coefficients(agreement: Agreement) -> dict[str, Coefficient]:
    """The coefficients that `agreement` has by their names in ``COEFFICIENTS``, in its order."""
    kappas = (agreement.cohen, agreement.linear, agreement.quadratic, agreement.fleiss)
    values = dict(
        zip(COEFFICIENTS, (agreement.raw, *kappas, agreement.alpha, agreement.ac1), strict=True)
    )
    return {name: coefficient for name, coefficient in values.items() if coefficient is not None}
