"""Settled orders: the exact bounds within which open judgments can move the difference of two runs.

An open card will be relevant or not relevant, in both runs alike where both list it; an open empty
list will be a correct empty or a false negative; "cannot tell" stays as it is (decision 0030). The
difference of a figure is the sum over the questions of (first run - second run); a question where
either run has no value for the figure is not a pair and adds 0, as in the tests of a comparison.
An order is settled once this sum has one sign, or is 0, however the open judgments turn out.

The bounds are exact without enumerating the possible judgments:

- Precision is a sum over cards once its denominator is known, and it is: an open card will be
  decided either way. A card adds its weight in the first run minus its weight in the second if it
  is relevant, so the cards can be set one by one.
- Of the reciprocal rank only the first relevant card counts. If the difference is largest where
  the first run's first relevant card is an open card c, every other open card may as well be not
  relevant: that only moves the second run's first relevant card down. So the extremes are among
  "none" and "c alone" for each open c; exchanging the runs gives the smallest.
- A success depends on whether a relevant card is among the first run's, and among the second's:
  four cases, each possible or not.

All arrays are questions x runs x items, or questions x items; an item is a judged item of the
question: a card, or its emptiness. The tests compare with full enumeration of small lists.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple, Self

from msgspec import Struct
from msgspec.structs import replace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Flags = NDArray[np.bool_]
    Numbers = NDArray[np.float64]
    Codes = NDArray[np.int8]
    Counts = NDArray[np.int16]

PART = "settled"
"""The name of the settled orders among the parts of a comparison."""

NOT_RELEVANT, RELEVANT, CANNOT_TELL, OPEN, ABSENT = range(5)
"""The states of an item; a false negative is NOT_RELEVANT, a correct empty RELEVANT.

ABSENT fills the rows of questions that have fewer items than the widest.
"""

CUTOFF = 5
BOUNDED = ("mean_precision_at_5", "mean_overall_precision", "mrr", "success_rate")
"""The headline figures whose differences have exact bounds."""

EQUAL = 1e-9
"""Sums nearer to each other than this are equal: sums of floats depend on their order."""

MAX_NEXT = 2
"""How many of the questions that can move the open orders most are named."""


class SettledOrder(Struct, frozen=True):
    """Two runs in one figure: the bounds of their mean difference, first minus second.

    ``low`` and ``high`` are means over the ``n`` questions that are or can become a pair; ``None``
    without any. ``open_cards`` counts the open cards and empty lists that can still change the
    order, ``open_questions`` are the positions of their questions: none once it is settled.
    """

    figure: str
    first: str
    second: str
    low: float | None
    high: float | None
    n: int
    open_cards: int = 0
    open_questions: tuple[int, ...] = ()

    @property
    def settled(self) -> bool:
        """Whether no open judgment can change the order of the two, or that they are equal.

        Where no question can be compared nothing is settled.
        """
        return self.higher is not None or self.equal

    @property
    def equal(self) -> bool:
        """Whether the difference is 0 however the open judgments turn out."""
        if self.low is None or self.high is None:
            return False
        return self.higher is None and self.high - self.low < EQUAL

    @property
    def higher(self) -> str | None:
        """The run that stays above the other; ``None`` while that is open, or if none does."""
        if self.low is not None and self.low > EQUAL:
            return self.first
        if self.high is not None and self.high < -EQUAL:
            return self.second
        return None


class SettledOrders(Struct, frozen=True):
    """The orders of all pairs of runs of a question set in each figure, and what is still open.

    ``names`` are those of the runs by id. ``judged`` of ``judged_items`` distinct cards and empty
    lists have a verdict that counts; ``open_cards`` of the others, in the questions at
    ``open_questions``, can still change an order. ``next_questions`` are the positions of those
    that can move the open orders most.
    """

    names: Mapping[str, str]
    orders: tuple[SettledOrder, ...]
    judged: int
    judged_items: int
    open_cards: int
    open_questions: tuple[int, ...]
    next_questions: tuple[int, ...] = ()


def settled_orders(
    lists: PooledLists, states: Codes, *, names: Mapping[str, str], positions: Sequence[int]
) -> SettledOrders:
    """Return the orders of all pairs of the runs `names` in all figures.

    `states` has the state of each item of each question, `positions` those of the questions.
    """
    import numpy as np  # noqa: PLC0415 - a tenth of a second

    moving, effects = np.zeros(states.shape, dtype=bool), np.zeros(len(states))
    orders: list[SettledOrder] = []

    def positions_of(items: Flags) -> tuple[int, ...]:
        return tuple(positions[place] for place in np.flatnonzero(items.any(axis=1)).tolist())

    for figure in BOUNDED:
        for (first, first_run), (second, second_run) in combinations(enumerate(names), 2):
            bounds = difference_bounds(lists, states, figure, first, second)
            n = int(bounds.pairs.sum())
            low = float(bounds.low.sum()) / n if n else None
            high = float(bounds.high.sum()) / n if n else None
            order = SettledOrder(figure, first_run, second_run, low, high, n)
            if not order.settled:
                moving |= bounds.moving
                effects += bounds.high - bounds.low
                order = replace(
                    order,
                    open_cards=int(bounds.moving.sum()),
                    open_questions=positions_of(bounds.moving),
                )
            orders.append(order)
    largest_first = sorted(zip((-effects).tolist(), positions, strict=True))
    return SettledOrders(
        names=names,
        orders=tuple(orders),
        judged=int(((states != OPEN) & (states != ABSENT)).sum()),
        judged_items=int((states != ABSENT).sum()),
        open_cards=int(moving.sum()),
        open_questions=positions_of(moving),
        next_questions=tuple(
            position for effect, position in largest_first[:MAX_NEXT] if effect < 0
        ),
    )


class PooledLists(Struct, frozen=True):
    """The lists of each run for each question, as arrays of questions x runs x items.

    ``top`` and ``every_rank`` count how often an item is listed among the first five and in all.
    ``reciprocal`` is 1 / its first rank, 0 where it is not listed. ``succeeds`` says whether the
    item makes the run succeed once it is relevant: it is listed, or it is the emptiness of the
    run's empty list. ``has_results`` and ``has_success`` (questions x runs) say where a run has a
    list, and where success is defined: for a list, an empty list and a failed call.
    """

    top: Counts
    every_rank: Counts
    reciprocal: Numbers
    succeeds: Flags
    has_results: Flags
    has_success: Flags

    @classmethod
    def of(
        cls,
        listings: Sequence[tuple[int, int, int, int]],
        width: int,
        has_results: Flags,
        has_success: Flags,
    ) -> Self:
        """Return the arrays of `listings`: places of question, run and item, and the item's rank.

        An emptiness has rank 0. No question has more than `width` items.
        """
        import numpy as np  # noqa: PLC0415 - a tenth of a second

        shape = *has_results.shape, width
        top, every_rank = np.zeros(shape, dtype=np.int16), np.zeros(shape, dtype=np.int16)
        reciprocal, succeeds = np.zeros(shape), np.zeros(shape, dtype=bool)
        *places, ranks = np.array(listings, dtype=np.int64).reshape(-1, 4).T
        succeeds[tuple(places)] = True
        listed, ranks = tuple(place[ranks > 0] for place in places), ranks[ranks > 0]
        # `at` counts an item once for each rank it has; an index on its own would count it once.
        np.add.at(top, listed, ranks <= CUTOFF)
        np.add.at(every_rank, listed, 1)
        np.maximum.at(reciprocal, listed, 1 / ranks)
        return cls(top, every_rank, reciprocal, succeeds, has_results, has_success)


class DifferenceBounds(NamedTuple):
    """The range of the difference of two runs for each question.

    ``low`` and ``high`` are 0 where there is no pair; ``pairs`` says where there can be one.
    ``moving`` (questions x items) marks the open items that can move the difference.
    """

    low: Numbers
    high: Numbers
    pairs: Flags
    moving: Flags


def difference_bounds(
    lists: PooledLists, states: Codes, figure: str, first: int, second: int
) -> DifferenceBounds:
    """Return the bounds of the difference of `figure`, run `first` minus run `second`.

    `states` has the state of each item of each question. `figure` is one of ``BOUNDED``.
    """
    if figure == "mean_precision_at_5":
        return _precision_bounds(lists.top, states, first, second)
    if figure == "mean_overall_precision":
        return _precision_bounds(lists.every_rank, states, first, second)
    if figure == "mrr":
        return _rank_bounds(lists, states, first, second)
    return _success_bounds(lists, states, first, second)


def _precision_bounds(counts: Counts, states: Codes, first: int, second: int) -> DifferenceBounds:
    """Return the bounds for a precision: each open card is set for itself."""
    import numpy as np  # noqa: PLC0415 - a tenth of a second

    decides = (states != CANNOT_TELL) & (states != ABSENT)
    weights_a, defined_a = _weights(counts[:, first], decides)
    weights_b, defined_b = _weights(counts[:, second], decides)
    pairs = defined_a & defined_b
    moves = np.where(pairs[:, None], weights_a - weights_b, 0.0)
    is_open = states == OPEN
    fixed = np.where(states == RELEVANT, moves, 0.0).sum(axis=1)
    free = np.where(is_open, moves, 0.0)
    return DifferenceBounds(
        low=fixed + np.minimum(free, 0.0).sum(axis=1),
        high=fixed + np.maximum(free, 0.0).sum(axis=1),
        pairs=pairs,
        moving=is_open & (moves != 0.0),
    )


def _weights(counts: Counts, decides: Flags) -> tuple[Numbers, Flags]:
    """Return what each item adds to a precision if relevant, and where a precision is defined."""
    import numpy as np  # noqa: PLC0415 - a tenth of a second

    deciding = np.where(decides, counts, 0)
    totals = deciding.sum(axis=1)
    return deciding / np.maximum(totals, 1)[:, None], totals > 0


def _rank_bounds(lists: PooledLists, states: Codes, first: int, second: int) -> DifferenceBounds:
    """Return the bounds for the reciprocal rank: at most one open card matters."""
    import numpy as np  # noqa: PLC0415 - a tenth of a second

    ranks_a, ranks_b = lists.reciprocal[:, first], lists.reciprocal[:, second]
    is_relevant, is_open = states == RELEVANT, states == OPEN
    best_a = np.where(is_relevant, ranks_a, 0.0).max(axis=1, initial=0.0)
    best_b = np.where(is_relevant, ranks_b, 0.0).max(axis=1, initial=0.0)
    # The difference with no open item relevant, and with each of them relevant alone.
    with_none = best_a - best_b
    with_item = np.maximum(best_a[:, None], ranks_a) - np.maximum(best_b[:, None], ranks_b)
    with_item = np.where(is_open, with_item, with_none[:, None])
    pairs = lists.has_results[:, first] & lists.has_results[:, second]
    # No difference is beyond 1, so an initial 2 or -2 never is the bound.
    low = np.where(pairs, np.minimum(with_none, with_item.min(axis=1, initial=2.0)), 0.0)
    high = np.where(pairs, np.maximum(with_none, with_item.max(axis=1, initial=-2.0)), 0.0)
    is_earlier = (ranks_a > best_a[:, None]) | (ranks_b > best_b[:, None])
    return DifferenceBounds(low, high, pairs, is_open & is_earlier & (low < high)[:, None])


def _success_bounds(lists: PooledLists, states: Codes, first: int, second: int) -> DifferenceBounds:
    """Return the bounds for success: of four cases each is possible or not."""
    import numpy as np  # noqa: PLC0415 - a tenth of a second

    lists_a, lists_b = lists.succeeds[:, first], lists.succeeds[:, second]
    is_relevant, is_open = states == RELEVANT, states == OPEN
    is_unsure = states == CANNOT_TELL
    sure_a, sure_b = (is_relevant & lists_a).any(axis=1), (is_relevant & lists_b).any(axis=1)
    unsure_a, unsure_b = (is_unsure & lists_a).any(axis=1), (is_unsure & lists_b).any(axis=1)
    only_a = (is_open & lists_a & ~lists_b).any(axis=1) | sure_a
    only_b = (is_open & lists_b & ~lists_a).any(axis=1) | sure_b
    both = (is_open & lists_a & lists_b).any(axis=1)
    is_defined = lists.has_success[:, first] & lists.has_success[:, second]
    low, high = np.full(len(states), 2.0), np.full(len(states), -2.0)
    pairs = np.zeros(len(states), dtype=bool)
    for hit_a, hit_b, is_possible in (
        (False, False, ~sure_a & ~sure_b),
        (True, False, only_a & ~sure_b),
        (False, True, only_b & ~sure_a),
        (True, True, both | (only_a & only_b)),
    ):
        # A miss is undefined where a card of the list is left out as "cannot tell".
        has_value = is_defined & (hit_a | ~unsure_a) & (hit_b | ~unsure_b)
        value = np.where(has_value, float(hit_a) - float(hit_b), 0.0)
        low = np.where(is_possible, np.minimum(low, value), low)
        high = np.where(is_possible, np.maximum(high, value), high)
        pairs |= is_possible & has_value
    waits = (lists_a & ~sure_a[:, None]) | (lists_b & ~sure_b[:, None])
    return DifferenceBounds(low, high, pairs, is_open & waits & (low < high)[:, None])
