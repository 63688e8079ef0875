"""The settled orders as sentences, a table and plain values, for pages and reports."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from relevansi import notation
from relevansi.exporters.comparisons import words
from relevansi.exporters.comparisons.figure_names import figure_name, unit_of
from relevansi.exporters.frame.tables import (
    Cell,
    Column,
    Section,
    Table,
    whole_number,
    word,
    word_or_dash,
)
from relevansi.i18n import gettext, ngettext
from relevansi.metrics.planning.settled import PART, SettledOrder, SettledOrders


def section(orders: SettledOrders) -> Section:
    table = Table(
        "settled",
        gettext("Which order is settled"),
        (
            Column(gettext("Figure")),
            Column(gettext("Runs")),
            Column(gettext("Order")),
            Column(gettext("The difference can become"), numeric=True, parts=("min", "max")),
            Column(gettext("Cards that can change it"), numeric=True),
            Column(gettext("In questions")),
        ),
        tuple(_row(orders, order) for order in orders.orders),
        (
            gettext(
                "Settled: whatever the open cards turn out to be, relevant or not relevant and "
                "the same in every run that lists them, the order of the two runs stays. The "
                "difference is the mean over the questions for which both runs have a value, "
                "first run minus second. In a study that leaves out cards judged “cannot tell”, "
                "the bounds are worked out again after each."
            ),
        ),
    )
    return Section(PART, gettext("Settled"), tuple(_sentences(orders)), (table,))


def _sentences(orders: SettledOrders) -> Iterator[str]:
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
            places=_places(orders.open_questions),
        )
    yield gettext(
        "Judged so far: %(n)s of %(of)s distinct cards and empty lists.",
        n=notation.number(orders.judged),
        of=notation.number(orders.judged_items),
    )


def _row(orders: SettledOrders, order: SettledOrder) -> tuple[Cell, ...]:
    bounds = Cell(notation.UNDEFINED, (None, None))
    if order.low is not None and order.high is not None:
        low, high, unit = order.low, order.high, unit_of(order.figure)
        bounds = Cell(notation.interval(low, high, unit, signed=True), (low, high))
    if order.n == 0:
        state = gettext("no question in common")
    elif not order.settled:
        state = gettext("still open")
    elif order.higher is None:
        state = gettext("equal")
    else:
        lower = order.second if order.higher == order.first else order.first
        state = gettext(
            "order fixed: %(higher)s above %(lower)s",
            higher=orders.names[order.higher],
            lower=orders.names[lower],
        )
    return (
        word(figure_name(order.figure)),
        word(f"{orders.names[order.first]} – {orders.names[order.second]}"),
        word(state),
        bounds,
        whole_number(order.open_cards),
        word_or_dash(_places(order.open_questions)),
    )


def _places(positions: tuple[int, ...]) -> str:
    listed = ", ".join(map(str, positions[: words.MOST_NAMED]))
    more = len(positions) - words.MOST_NAMED
    if more <= 0:
        return listed
    return gettext("%(listed)s and %(n)s more", listed=listed, n=notation.number(more))


def part_json(orders: SettledOrders) -> list[dict[str, Any]]:
    """Return each order as plain values.

    ``{runs, figure, settled, ahead, equal, min, max, n, open_cards, questions, judged, of}``:
    ``ahead`` is the run that stays above, ``equal`` that none does; judged of all distinct cards
    and empty lists.
    """
    return [
        {
            "runs": [order.first, order.second],
            "figure": order.figure,
            "settled": order.settled,
            "ahead": order.higher,
            "equal": order.equal,
            "min": order.low,
            "max": order.high,
            "n": order.n,
            "open_cards": order.open_cards,
            "questions": list(order.open_questions),
            "judged": orders.judged,
            "of": orders.judged_items,
        }
        for order in orders.orders
    ]
