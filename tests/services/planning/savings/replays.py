"""A finished rating replayed in another order: how many judgments until every order is settled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import TYPE_CHECKING

from msgspec import Struct

from webapp.metrics.planning.bounds import ABSENT, BOUNDED, OPEN, PooledLists
from webapp.metrics.planning.effect import (
    EQUAL,
    OrdersSoFar,
    orders_so_far,
    reaches,
    reaches_anew,
)

if TYPE_CHECKING:
    from webapp.metrics.planning.bounds import Codes

Pick = Callable[[OrdersSoFar, Sequence[int]], int]
"""Return the question to judge next, of those that are left."""


class ReplayedRating(Struct, frozen=True):
    """The judgments that one order of the questions took.

    ``settled_after`` has, for each figure, the number of judgments after which all its orders were
    settled; ``all_after`` is the largest of them. ``steps`` are the judgments given and the share
    of orders that were open then, question by question. ``same`` says that no settled order was
    another one in the end.
    """

    settled_after: dict[str, int]
    all_after: int
    total: int
    steps: tuple[tuple[int, float], ...]
    same: bool


def replay(lists: PooledLists, complete: Codes, pick: Pick) -> ReplayedRating:
    """Return how a rating goes whose questions `pick` orders, with the verdicts of `complete`.

    All things of a question are judged together, as a rater does. Raises ``ValueError`` where
    `complete` leaves a thing open.
    """
    import numpy as np

    if (complete == OPEN).any():
        raise ValueError("the rating is not complete")
    states = np.where(complete == ABSENT, complete, OPEN).astype(np.int8)
    left = list(range(len(states)))
    found = reaches(lists, states)
    so_far = orders_so_far(lists, found)
    judged, settled_after = 0, dict[str, int]()
    said: dict[int, int | None] = {}
    steps = [_step(judged, so_far, said, settled_after)]
    while left:
        question = pick(so_far, left)
        left.remove(question)
        states[question] = complete[question]
        judged += int((complete[question] != ABSENT).sum())
        changed = np.zeros(len(states), dtype=bool)
        changed[question] = True
        found = reaches_anew(found, lists, states, changed)
        so_far = orders_so_far(lists, found)
        steps.append(_step(judged, so_far, said, settled_after))
    same = all(order.ahead == said[place] for place, order in enumerate(so_far.orders))
    return ReplayedRating(settled_after, max(settled_after.values()), judged, tuple(steps), same)


def _step(
    judged: int,
    so_far: OrdersSoFar,
    said: dict[int, int | None],
    settled_after: dict[str, int],
) -> tuple[int, float]:
    """Note what is settled by now; return the judgments, and the share of orders still open."""
    still_open = {order.figure for order in so_far.orders if not order.is_settled}
    for figure in BOUNDED:
        if figure not in still_open:
            settled_after.setdefault(figure, judged)
    for place, order in enumerate(so_far.orders):
        if order.is_settled:
            said.setdefault(place, order.ahead)
    n_open = sum(not order.is_settled for order in so_far.orders)
    return judged, n_open / len(so_far.orders)


def by_effect(seed: int) -> Pick:
    """Return the order by effect: the question that can move most, ties at random."""
    generator = Random(seed)

    def pick(so_far: OrdersSoFar, left: Sequence[int]) -> int:
        most = max(so_far.effects[question] for question in left)
        return generator.choice([q for q in left if so_far.effects[q] > most - EQUAL])

    return pick


def at_random(seed: int) -> Pick:
    """Return a random order."""
    generator = Random(seed)
    return lambda _so_far, left: generator.choice(left)


def in_file_order(_so_far: OrdersSoFar, left: Sequence[int]) -> int:
    """Return the first of the questions that are left: the order of the file."""
    return min(left)
