"""The settled orders as sentences, a table and plain values, for pages and reports."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from relevansi import notation
from relevansi.exporters.comparisons import words
from relevansi.exporters.comparisons.figure_names import figure_name, unit_of
from relevansi.exporters.frame.json_files import fields
from relevansi.exporters.frame.tables import Cell, Section, numbers, table_of, word_or_dash
from relevansi.i18n import gettext, ngettext
from relevansi.metrics.planning.settled import PART, SettledOrder, SettledOrders


def section(orders: SettledOrders) -> Section:
    """Return which orders are settled, and how many cards can still change the others."""
    names = orders.names

    def open_questions(order: SettledOrder) -> Cell:
        return word_or_dash(notation.listed(order.open_questions, words.MOST_POSITIONS))

    table = table_of(
        "settled",
        gettext("Which order is settled"),
        orders.orders,
        (
            (gettext("Figure"), lambda order: figure_name(order.figure)),
            (gettext("Runs"), lambda order: f"{names[order.first]} – {names[order.second]}"),
            (gettext("Order"), lambda order: _state(orders, order)),
            (numbers(gettext("The difference can become"), "min", "max"), _bounds),
            (numbers(gettext("Cards that can change it")), lambda order: order.open_cards),
            (gettext("In questions"), open_questions),
        ),
        gettext(
            "Settled: whatever the open cards turn out to be, relevant or not relevant and "
            "the same in every run that lists them, the order of the two runs stays. The "
            "difference is the mean over the questions for which both runs have a value, "
            "first run minus second. In a study that leaves out cards judged “cannot tell”, "
            "the bounds are worked out again after each."
        ),
    )
    return Section(PART, gettext("Settled"), tuple(_sentences(orders)), (table,))


def _sentences(orders: SettledOrders) -> Iterator[str]:
    """Yield how many orders are settled, and on which open cards the others depend."""
    n_settled = sum(order.settled for order in orders.orders)
    if n_settled == len(orders.orders):
        yield gettext("Every order is settled: no card that is still open can change it.")
    elif not n_settled:
        yield gettext("No order is settled yet: the open cards can still change every one.")
    else:
        yield ngettext(
            "%(n)s of %(of)s orders is settled: no card that is still open can change it.",
            "%(n)s of %(of)s orders are settled: no card that is still open can change them.",
            n_settled,
            of=notation.number(len(orders.orders)),
        )
    if n_settled < len(orders.orders):
        yield ngettext(
            "The rest depends on %(cards)s in %(n)s question: %(places)s.",
            "The rest depends on %(cards)s in %(n)s questions: %(places)s.",
            len(orders.open_questions),
            cards=ngettext("%(n)s card", "%(n)s cards", orders.open_cards),
            places=notation.listed(orders.open_questions, words.MOST_POSITIONS),
        )
    yield gettext(
        "Judged so far: %(n)s of %(of)s distinct cards and empty lists.",
        n=notation.number(orders.judged),
        of=notation.number(orders.judged_items),
    )


def _bounds(order: SettledOrder) -> Cell:
    low, high = order.low, order.high
    bounds = notation.interval(low, high, unit_of(order.figure), signed=True)
    return Cell(bounds, (low, high))


def _state(orders: SettledOrders, order: SettledOrder) -> str:
    if order.n == 0:
        return gettext("no question in common")
    if not order.settled:
        return gettext("still open")
    if order.higher is None:
        return gettext("equal")
    lower = order.second if order.higher == order.first else order.first
    return gettext(
        "order fixed: %(higher)s above %(lower)s",
        higher=orders.names[order.higher],
        lower=orders.names[lower],
    )


def part_json(orders: SettledOrders) -> list[dict[str, Any]]:
    """Return each order as plain values.

    ``{runs, figure, settled, ahead, equal, min, max, n, open_cards, questions, judged, of}``:
    ``ahead`` is the run that stays above, ``equal`` that none does; judged of all distinct cards
    and empty lists.
    """
    return [
        {
            "runs": [order.first, order.second],
            **fields(order, "figure", "settled"),
            "ahead": order.higher,
            "equal": order.equal,
            "min": order.low,
            "max": order.high,
            **fields(order, "n", "open_cards"),
            "questions": list(order.open_questions),
            "judged": orders.judged,
            "of": orders.judged_items,
        }
        for order in orders.orders
    ]
