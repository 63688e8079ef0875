"""The settled orders as sentences, a table and plain values, for pages and reports."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from relevansi import notation
from relevansi.exporters.comparisons import words
from relevansi.exporters.comparisons.figure_names import (
    figure_name,
    unit_of,
)
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


def section(found: SettledOrders) -> Section:
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
        tuple(_row(found, one) for one in found.orders),
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
    return Section(PART, gettext("Settled"), tuple(_sentences(found)), (table,))


def _sentences(found: SettledOrders) -> Iterator[str]:
    done = sum(one.settled for one in found.orders)
    if done == len(found.orders):
        yield gettext("Every order is settled: no card that is still open can change it.")
    elif not done:
        yield gettext("No order is settled yet: the open cards can still change every one.")
    else:
        yield ngettext(
            "%(n)s of %(of)s orders is settled: no card that is still open can change it.",
            "%(n)s of %(of)s orders are settled: no card that is still open can change them.",
            done,
            of=notation.number(len(found.orders)),
        )
    if done < len(found.orders):
        yield ngettext(
            "The rest depends on %(cards)s in %(n)s question: %(places)s.",
            "The rest depends on %(cards)s in %(n)s questions: %(places)s.",
            len(found.open_questions),
            cards=ngettext("%(n)s card", "%(n)s cards", found.open_cards),
            places=_places(found.open_questions),
        )
    yield gettext(
        "Judged so far: %(n)s of %(of)s distinct cards and empty lists.",
        n=notation.number(found.judged),
        of=notation.number(found.things),
    )


def _row(found: SettledOrders, one: SettledOrder) -> tuple[Cell, ...]:
    bounds = Cell(notation.UNDEFINED, (None, None))
    if one.low is not None and one.high is not None:
        unit = unit_of(one.figure)
        bounds = Cell(notation.interval(one.low, one.high, unit, signed=True), (one.low, one.high))
    if one.n == 0:
        order = gettext("no question in common")
    elif not one.settled:
        order = gettext("still open")
    elif one.higher is None:
        order = gettext("equal")
    else:
        lower = one.second if one.higher == one.first else one.first
        order = gettext(
            "order fixed: %(higher)s above %(lower)s",
            higher=found.names[one.higher],
            lower=found.names[lower],
        )
    return (
        word(figure_name(one.figure)),
        word(f"{found.names[one.first]} – {found.names[one.second]}"),
        word(order),
        bounds,
        whole_number(one.open_cards),
        word_or_dash(_places(one.open_questions)),
    )


def _places(positions: tuple[int, ...]) -> str:
    named = ", ".join(map(str, positions[: words.MOST_NAMED]))
    rest = len(positions) - words.MOST_NAMED
    if rest <= 0:
        return named
    return gettext("%(listed)s and %(n)s more", listed=named, n=notation.number(rest))


def part_json(found: SettledOrders) -> list[dict[str, Any]]:
    """Return each order as plain values.

    ``{runs, figure, settled, ahead, equal, min, max, n, open_cards, questions, judged, of}``:
    ``ahead`` is the run that stays above, ``equal`` that none does; judged of all distinct cards
    and empty lists.
    """
    return [
        {
            "runs": [one.first, one.second],
            "figure": one.figure,
            "settled": one.settled,
            "ahead": one.higher,
            "equal": one.equal,
            "min": one.low,
            "max": one.high,
            "n": one.n,
            "open_cards": one.open_cards,
            "questions": list(one.open_questions),
            "judged": found.judged,
            "of": found.things,
        }
        for one in found.orders
    ]
