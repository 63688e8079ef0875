"""The settled orders of the runs of a comparison, as pages and reports show them."""

from __future__ import annotations

from msgspec import Struct

from webapp.metrics.planning.chosen_rules import ChosenRule

PART = "settled"
"""The name of the settled orders among the parts of a comparison."""


class SettledOrder(Struct, frozen=True):
    """Two runs in one figure: whether their order is settled, who is ahead, and the bounds.

    ``low`` and ``high`` bound the mean difference, first minus second, over the ``n`` questions
    that are or can become pairs; ``None`` without any. ``open_cards`` counts what could still
    change the order (0 once it is settled), ``open_questions`` are the positions of its questions.
    """

    figure: str
    first: str
    second: str
    settled: bool
    ahead: str | None
    low: float | None
    high: float | None
    n: int
    open_cards: int
    open_questions: tuple[int, ...]


class SettledOrders(Struct, frozen=True):
    """The orders of all pairs of some runs of a question set, by figure, and the cards in all.

    ``judged`` of ``things`` distinct cards and empty lists have a verdict that counts;
    ``open_cards`` of the others, in the questions at ``open_questions``, can still change an
    order. ``by_effect`` is the rule by which the questions came, where their effect decided.
    """

    names: tuple[tuple[str, str], ...]
    orders: tuple[SettledOrder, ...]
    judged: int
    things: int
    open_cards: int
    open_questions: tuple[int, ...]
    by_effect: ChosenRule | None

    @property
    def is_settled(self) -> bool:
        """Whether every order is settled."""
        return all(one.settled for one in self.orders)

    def name(self, run: str) -> str:
        """Return the name of a run by its id; raises ``KeyError``."""
        return dict(self.names)[run]
