"""Agreement per pair of raters, per group of items and of raters with themselves.

Tables are those of `agreement`; the keyword arguments are handed on to it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType

from webapp.metrics.agreement.agreement import (
    DEFAULT,
    Agreement,
    Bootstrap,
    Scale,
    Table,
    agreement,
)
from webapp.records import Relevance

_LABELS: Mapping[Relevance | None, int | None] = MappingProxyType(
    {Relevance.RELEVANT: 1, Relevance.NOT_RELEVANT: 0, Relevance.UNSURE: None, None: None}
)


@dataclass(frozen=True, slots=True)
class CannotTell:
    """How many of the judgments given are "cannot tell"."""

    n_cannot_tell: int
    n_judged: int

    @property
    def rate(self) -> float | None:
        """The share, 0 to 1; ``None`` when nothing was judged."""
        return self.n_cannot_tell / self.n_judged if self.n_judged else None


def labels_of(verdicts: Sequence[Sequence[Relevance | None]]) -> Table:
    """The table of `verdicts`: 1 relevant, 0 not relevant, missing for all else.

    >>> labels_of([[Relevance.RELEVANT, Relevance.UNSURE], [Relevance.NOT_RELEVANT, None]])
    [[1, None], [0, None]]
    """
    return [[_LABELS[verdict] for verdict in row] for row in verdicts]


def cannot_tell(verdicts: Iterable[Relevance | None]) -> CannotTell:
    """How often "cannot tell" was the verdict, among the results that were judged.

    ``rate = U / J``: *U* "cannot tell", *J* judged results, cannot tell among them. Unjudged
    results are in neither.

    >>> cannot_tell([Relevance.UNSURE, Relevance.RELEVANT, None]).rate
    0.5
    """
    judged = [verdict for verdict in verdicts if verdict is not None]
    return CannotTell(judged.count(Relevance.UNSURE), len(judged))


def by_pair(
    table: Table,
    raters: Sequence[str],
    *,
    scale: Scale = Scale.NOMINAL,
    labels: Collection[int] = (),
    bootstrap: Bootstrap = DEFAULT,
) -> dict[tuple[str, str], Agreement]:
    """The agreement of every two raters; `raters` names the columns of `table`.

    Pairs are in the order of the columns. Raters who share no item have no value, with the reason.
    """
    named = [(name, [row[place] for row in table]) for place, name in enumerate(raters)]
    return {
        (one, other): agreement(
            list(zip(first, second, strict=True)), scale=scale, labels=labels, bootstrap=bootstrap
        )
        for (one, first), (other, second) in combinations(named, 2)
    }


def by_group(
    table: Table,
    groups: Sequence[str],
    *,
    scale: Scale = Scale.NOMINAL,
    labels: Collection[int] = (),
    bootstrap: Bootstrap = DEFAULT,
) -> dict[str, Agreement]:
    """The agreement within each group of items; `groups` has one name per row of `table`.

    A group is a category, a week or any other part; groups are in order of first occurrence.
    """
    rows: dict[str, list[Sequence[int | None]]] = {}
    for row, group in zip(table, groups, strict=True):
        rows.setdefault(group, []).append(row)
    return {
        group: agreement(members, scale=scale, labels=labels, bootstrap=bootstrap)
        for group, members in rows.items()
    }


def repeat_agreement(
    pairs: Iterable[tuple[int | None, int | None]],
    *,
    scale: Scale = Scale.NOMINAL,
    labels: Collection[int] = (),
    bootstrap: Bootstrap = DEFAULT,
) -> Agreement:
    """The agreement of one rater with themselves: first and repeated label of each item.

    Read `raw` as the share of repeats that got the same label; Cohen's kappa takes the two
    passes as its two raters. A pair with a side missing is not counted.

    >>> repeat_agreement([(1, 1), (0, 1), (1, None)]).raw.value
    0.5
    """
    return agreement(list(pairs), scale=scale, labels=labels, bootstrap=bootstrap)
