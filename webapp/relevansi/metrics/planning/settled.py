"""Settled orders: how far the difference of two runs can still move, exactly.

An open card will be relevant or not relevant, in both runs alike where both list it; an open empty
list will be a correct empty or a false negative; "cannot tell" stays as it is (METHOD part 7). The
difference of a figure is the sum over the questions of (first run - second run); a question where
either run has no value for the figure is not a pair and adds 0, as in the tests of a comparison.
An order is settled once this sum has one sign, or is 0, however the open judgments turn out.

Nothing is enumerated, and yet the bounds are exact:

- Precision is a sum over cards once its denominator is known, and it is: an open card will be
  decided either way. A card adds its weight in the first run minus its weight in the second if it
  is relevant, so the cards can be set one by one.
- Of the reciprocal rank only the first relevant card counts. If the difference is largest where
  the first run's first relevant card is an open card c, every other open card may as well be not
  relevant: that only moves the second run's first relevant card down. So "none" and "c alone" for
  each open c are all there is to look at; exchanging the runs gives the smallest.
- A success depends on whether a relevant card is among the first run's, and among the second's:
  four cases, each possible or not.

All arrays are questions x runs x things, or questions x things; a thing is a judged item of the
question, its emptiness among them. ``tests`` compare with full enumeration of small lists.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

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
"""The state of a thing; of an emptiness, false negative and correct empty are the first two."""
CUTOFF = 5
BOUNDED = ("mean_precision_at_5", "mean_overall_precision", "mrr", "success_rate")
"""The headline figures whose differences are bounded."""
EQUAL = 1e-9
"""Sums of shares that are nearer to each other than this are equal."""
MOST_NEXT = 2
"""So many questions that can move the open orders most are named."""


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
    """The orders of all pairs of some runs of a question set, by figure, and the cards in all.

    ``names`` are those of the runs by id. ``judged`` of ``judged_items`` distinct cards and empty
    lists have a verdict that counts; ``open_cards`` of the others, in the questions at
    ``open_questions``, can still change an order. ``next_ones`` are the positions of the questions
    that can move the open orders most.
    """

    names: Mapping[str, str]
    orders: tuple[SettledOrder, ...]
    judged: int
    judged_items: int
    open_cards: int
    open_questions: tuple[int, ...]
    next_ones: tuple[int, ...] = ()


def settled_orders(
    lists: PooledLists, states: Codes, *, names: Mapping[str, str], positions: Sequence[int]
) -> SettledOrders:
    """Return the orders of all pairs of the runs `names` in all figures.

    `states` has the state of each thing of each question, `positions` those of the questions.
    """
    import numpy as np  # noqa: PLC0415 - a tenth of a second

    moving, effects = np.zeros(states.shape, dtype=bool), np.zeros(len(states))
    orders: list[SettledOrder] = []

    def places(marked: Flags) -> tuple[int, ...]:
        return tuple(positions[place] for place in np.flatnonzero(marked.any(axis=1)).tolist())

    for figure in BOUNDED:
        for (first, first_run), (second, second_run) in combinations(enumerate(names), 2):
            reached = reach(lists, states, figure, first, second)
            n = int(reached.pairs.sum())
            low, high = (
                float(ends.sum()) / n if n else None for ends in (reached.low, reached.high)
            )
            order = SettledOrder(figure, first_run, second_run, low, high, n)
            if not order.settled:
                moving |= reached.moving
                effects += reached.high - reached.low
                cards, questions = int(reached.moving.sum()), places(reached.moving)
                order = SettledOrder(figure, first_run, second_run, low, high, n, cards, questions)
            orders.append(order)
    ranked = sorted(zip((-effects).tolist(), positions, strict=True))
    return SettledOrders(
        names=names,
        orders=tuple(orders),
        judged=int(((states != OPEN) & (states != ABSENT)).sum()),
        judged_items=int((states != ABSENT).sum()),
        open_cards=int(moving.sum()),
        open_questions=places(moving),
        next_ones=tuple(position for effect, position in ranked[:MOST_NEXT] if effect < 0),
    )


class PooledLists(Struct, frozen=True):
    """The lists of each run for each question, as arrays of questions x runs x things.

    ``top`` and ``every_rank`` count how often a thing is listed among the first five and in all.
    ``reciprocal`` is 1 / its first rank, 0 where it is not listed. ``succeeds`` says whether the
    thing makes the run succeed once it is relevant: it is listed, or it is the emptiness of the
    run's empty list. ``has_results`` and ``has_success`` (questions x runs) say where a run has a
    list, and where it can have a success: with a list, an empty list and a failed call.
    """

    top: Counts
    every_rank: Counts
    reciprocal: Numbers
    succeeds: Flags
    has_results: Flags
    has_success: Flags


class Reach(NamedTuple):
    """The range of the difference of two runs for each question.

    ``low`` and ``high`` are 0 where there is no pair; ``pairs`` says where there can be one.
    ``moving`` (questions x things) marks the open things that can move the difference.
    """

    low: Numbers
    high: Numbers
    pairs: Flags
    moving: Flags


def reach(lists: PooledLists, states: Codes, figure: str, first: int, second: int) -> Reach:
    """Return how far the difference of `figure`, run `first` minus run `second`, can move.

    `states` has the state of each thing of each question. Raises ``KeyError`` for a figure that is
    not in ``BOUNDED``.
    """
    return _REACHES[figure](lists, states, first, second)


def _of_precision(counts: Counts, states: Codes, first: int, second: int) -> Reach:
    import numpy as np  # noqa: PLC0415 - a tenth of a second

    decides = (states != CANNOT_TELL) & (states != ABSENT)
    weights_a, has_one = _weights(counts[:, first], decides)
    weights_b, has_two = _weights(counts[:, second], decides)
    pairs = has_one & has_two
    moves = np.where(pairs[:, None], weights_a - weights_b, 0.0)
    is_open = states == OPEN
    fixed = np.where(states == RELEVANT, moves, 0.0).sum(axis=1)
    free = np.where(is_open, moves, 0.0)
    return Reach(
        low=fixed + np.minimum(free, 0.0).sum(axis=1),
        high=fixed + np.maximum(free, 0.0).sum(axis=1),
        pairs=pairs,
        moving=is_open & (moves != 0.0),
    )


def _weights(counts: Counts, decides: Flags) -> tuple[Numbers, Flags]:
    """Return what each thing adds to a precision, and where there is one."""
    import numpy as np  # noqa: PLC0415 - a tenth of a second

    deciding = np.where(decides, counts, 0)
    of = deciding.sum(axis=1)
    return deciding / np.maximum(of, 1)[:, None], of > 0


def _of_rank(lists: PooledLists, states: Codes, first: int, second: int) -> Reach:
    import numpy as np  # noqa: PLC0415 - a tenth of a second

    ranks_a, ranks_b = lists.reciprocal[:, first], lists.reciprocal[:, second]
    fixed, is_open = states == RELEVANT, states == OPEN
    best_one = np.where(fixed, ranks_a, 0.0).max(axis=1, initial=0.0)
    best_two = np.where(fixed, ranks_b, 0.0).max(axis=1, initial=0.0)
    alone = best_one - best_two
    # With one open thing relevant and no other; a thing that is not open changes nothing.
    with_it = np.maximum(best_one[:, None], ranks_a) - np.maximum(best_two[:, None], ranks_b)
    with_it = np.where(is_open, with_it, alone[:, None])
    pairs = lists.has_results[:, first] & lists.has_results[:, second]
    low = np.where(pairs, np.minimum(alone, with_it.min(axis=1, initial=2.0)), 0.0)
    high = np.where(pairs, np.maximum(alone, with_it.max(axis=1, initial=-2.0)), 0.0)
    earlier = (ranks_a > best_one[:, None]) | (ranks_b > best_two[:, None])
    return Reach(low, high, pairs, is_open & earlier & (low < high)[:, None])


def _of_success(lists: PooledLists, states: Codes, first: int, second: int) -> Reach:
    import numpy as np  # noqa: PLC0415 - a tenth of a second

    lists_a, lists_b = lists.succeeds[:, first], lists.succeeds[:, second]
    fixed, is_open = states == RELEVANT, states == OPEN
    is_unsure = states == CANNOT_TELL
    sure_one, sure_two = (fixed & lists_a).any(axis=1), (fixed & lists_b).any(axis=1)
    unsure_one, unsure_two = ((is_unsure & lists_a).any(axis=1), (is_unsure & lists_b).any(axis=1))
    only_one = (is_open & lists_a & ~lists_b).any(axis=1) | sure_one
    only_two = (is_open & lists_b & ~lists_a).any(axis=1) | sure_two
    both = (is_open & lists_a & lists_b).any(axis=1)
    askable = lists.has_success[:, first] & lists.has_success[:, second]
    low, high = np.full(len(states), 2.0), np.full(len(states), -2.0)
    pairs = np.zeros(len(states), dtype=bool)
    for hit_one, hit_two, possible in (
        (False, False, ~sure_one & ~sure_two),
        (True, False, only_one & ~sure_two),
        (False, True, only_two & ~sure_one),
        (True, True, both | (only_one & only_two)),
    ):
        has_value = askable & (hit_one | ~unsure_one) & (hit_two | ~unsure_two)
        value = np.where(has_value, float(hit_one) - float(hit_two), 0.0)
        low = np.where(possible, np.minimum(low, value), low)
        high = np.where(possible, np.maximum(high, value), high)
        pairs |= possible & has_value
    waits = (lists_a & ~sure_one[:, None]) | (lists_b & ~sure_two[:, None])
    return Reach(low, high, pairs, is_open & waits & (low < high)[:, None])


_REACHES: Mapping[str, Callable[[PooledLists, Codes, int, int], Reach]] = {
    "mean_precision_at_5": lambda lists, *runs: _of_precision(lists.top, *runs),
    "mean_overall_precision": lambda lists, *runs: _of_precision(lists.every_rank, *runs),
    "mrr": _of_rank,
    "success_rate": _of_success,
}
