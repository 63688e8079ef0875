"""The orders of runs that are settled, and how much each question can still move the others.

An order is settled once the difference of two runs, summed over their questions, has one sign (or
is 0) however the open judgments turn out: see ``bounds``. The effect of a question is the sum of
its ranges over everything that is not settled: what its open cards can move at most.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from webapp.metrics.planning.bounds import BOUNDED, PooledLists, Reach, reach

if TYPE_CHECKING:
    from webapp.metrics.planning.bounds import Codes, Flags, Numbers

EQUAL = 1e-9
"""Sums of shares that are nearer to each other than this are equal."""


@dataclass(frozen=True, slots=True)
class RunOrder:
    """Two runs (by number) in one figure: the bounds of their mean difference.

    ``low`` and ``high`` are means over the ``n`` questions that are or can become a pair; ``None``
    without any. ``open_things`` counts the open cards and empty lists that can still move the
    difference, ``open_questions`` are the numbers of their questions; both are of no interest
    once the order is settled.
    """

    figure: str
    first: int
    second: int
    low: float | None
    high: float | None
    n: int
    open_things: int
    open_questions: tuple[int, ...]

    @property
    def is_settled(self) -> bool:
        """Whether no open judgment can change which of the two is ahead, or that neither is."""
        if self.low is None or self.high is None:
            return not self.open_things
        return self.low > EQUAL or self.high < -EQUAL or self.high - self.low < EQUAL

    @property
    def ahead(self) -> int | None:
        """The run that is ahead for certain; ``None`` while it is open, or where they are equal."""
        if self.low is not None and self.low > EQUAL:
            return self.first
        if self.high is not None and self.high < -EQUAL:
            return self.second
        return None


@dataclass(frozen=True, slots=True)
class OrdersSoFar:
    """Every order of the runs, figure by figure, and the effect that each question has left.

    ``open_things`` counts the distinct open cards and empty lists that can still change an order,
    ``open_questions`` are the numbers of their questions.
    """

    orders: tuple[RunOrder, ...]
    effects: Numbers
    open_things: int
    open_questions: tuple[int, ...]

    @property
    def is_settled(self) -> bool:
        """Whether every order is settled."""
        return all(order.is_settled for order in self.orders)


def orders_so_far(
    lists: PooledLists, states: Codes, figures: Sequence[str] = BOUNDED
) -> OrdersSoFar:
    """Return the orders of all pairs of runs in `figures`, and the effect of each question."""
    import numpy as np

    effects = np.zeros(len(states))
    moving = np.zeros(states.shape, dtype=bool)
    found = []
    for order, one in _orders(lists, states, figures):
        found.append(order)
        if not order.is_settled:
            effects += one.high - one.low
            moving |= one.moving
    return OrdersSoFar(tuple(found), effects, int(moving.sum()), _numbers(moving))


def _orders(
    lists: PooledLists, states: Codes, figures: Sequence[str]
) -> Iterator[tuple[RunOrder, Reach]]:
    runs = lists.has_results.shape[1]
    for figure in figures:
        for first, second in combinations(range(runs), 2):
            found = reach(lists, states, figure, first, second)
            n = int(found.pairs.sum())
            yield (
                RunOrder(
                    figure=figure,
                    first=first,
                    second=second,
                    low=float(found.low.sum()) / n if n else None,
                    high=float(found.high.sum()) / n if n else None,
                    n=n,
                    open_things=int(found.moving.sum()),
                    open_questions=_numbers(found.moving),
                ),
                found,
            )


def _numbers(marked: Flags) -> tuple[int, ...]:
    """Return the numbers of the questions in which a thing is marked."""
    return tuple(sorted(set(marked.nonzero()[0].tolist())))
