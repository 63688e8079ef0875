"""The orders of runs that are settled, and how much each question can still move the others.

An order is settled once the difference of two runs, summed over their questions, has one sign (or
is 0) however the open judgments turn out: see ``bounds``. The effect of a question is the sum of
its ranges over everything that is not settled: what its open cards can move at most.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from webapp.metrics.planning.bounds import BOUNDED, PooledLists, reach

if TYPE_CHECKING:
    from webapp.metrics.planning.bounds import Codes, Flags, Numbers

EQUAL = 1e-9
"""Sums of shares that are nearer to each other than this are equal."""


class RunOrder(Struct, frozen=True):
    """Two runs (by number) in one figure: the bounds of their mean difference.

    ``low`` and ``high`` are means over the ``n`` questions that are or can become a pair; ``None``
    without any. ``open_things`` counts the open cards and empty lists that can still change the
    order, ``open_questions`` are the numbers of their questions: none once it is settled.
    """

    figure: str
    first: int
    second: int
    low: float | None
    high: float | None
    n: int
    open_things: int = 0
    open_questions: tuple[int, ...] = ()

    @property
    def is_settled(self) -> bool:
        """Whether no open judgment can change which of the two is ahead, or that neither is."""
        if self.low is None or self.high is None:
            return True
        return self.low > EQUAL or self.high < -EQUAL or self.high - self.low < EQUAL

    @property
    def ahead(self) -> int | None:
        """The run that is ahead for certain; ``None`` while it is open, or where they are equal."""
        if self.low is not None and self.low > EQUAL:
            return self.first
        if self.high is not None and self.high < -EQUAL:
            return self.second
        return None


class Reaches(NamedTuple):
    """The reach of every order (each figure, each pair of runs) in each question.

    The arrays of ``Reach``, one more dimension in front: orders x questions (x things).
    """

    low: Numbers
    high: Numbers
    pairs: Flags
    moving: Flags


class OrdersSoFar(Struct, frozen=True):
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


def reaches(lists: PooledLists, states: Codes) -> Reaches:
    """Return how far every order can move in each question."""
    import numpy as np

    found = [reach(lists, states, *one) for one in _named(lists)]
    return Reaches(
        low=np.stack([one.low for one in found]),
        high=np.stack([one.high for one in found]),
        pairs=np.stack([one.pairs for one in found]),
        moving=np.stack([one.moving for one in found]),
    )


def reaches_anew(before: Reaches, lists: PooledLists, states: Codes, changed: Flags) -> Reaches:
    """Return the reaches once the states of the `changed` questions are others than `before`."""
    after = Reaches(
        before.low.copy(), before.high.copy(), before.pairs.copy(), before.moving.copy()
    )
    mended = reaches(lists.of(changed), states[changed])
    for array, new in zip(after, mended, strict=True):
        array[:, changed] = new
    return after


def bounded_orders(lists: PooledLists, found: Reaches) -> list[RunOrder]:
    """Return the orders of all pairs of runs in all figures, without their open things."""
    counts = found.pairs.sum(axis=1).tolist()
    lows, highs = found.low.sum(axis=1).tolist(), found.high.sum(axis=1).tolist()
    return [
        RunOrder(figure, first, second, low / n if n else None, high / n if n else None, n)
        for (figure, first, second), n, low, high in zip(
            _named(lists), counts, lows, highs, strict=True
        )
    ]


def effects_left(found: Reaches, orders: Sequence[RunOrder]) -> Numbers:
    """Return how far each question can still move the orders that are not settled, in sum."""
    unsettled = [place for place, order in enumerate(orders) if not order.is_settled]
    effects: Numbers = (found.high[unsettled] - found.low[unsettled]).sum(axis=0)
    return effects


def orders_so_far(lists: PooledLists, found: Reaches) -> OrdersSoFar:
    """Return the orders of all pairs of runs in all figures, and the effect of each question."""
    import numpy as np

    moving = np.zeros(found.moving.shape[1:], dtype=bool)
    orders = bounded_orders(lists, found)
    effects = effects_left(found, orders)
    for place, order in enumerate(orders):
        if not order.is_settled:
            own = found.moving[place]
            moving |= own
            things, questions = int(own.sum()), _numbers(own)
            orders[place] = replace(order, open_things=things, open_questions=questions)
    return OrdersSoFar(tuple(orders), effects, int(moving.sum()), _numbers(moving))


def _named(lists: PooledLists) -> Iterator[tuple[str, int, int]]:
    """Yield every order: the figure, and the numbers of the two runs."""
    pairs = list(combinations(range(lists.has_results.shape[1]), 2))
    for figure in BOUNDED:
        for first, second in pairs:
            yield figure, first, second


def _numbers(marked: Flags) -> tuple[int, ...]:
    """Return the numbers of the questions in which a thing is marked."""
    import numpy as np

    return tuple(np.flatnonzero(marked.any(axis=1)).tolist())
