"""The settled orders as sentences, a table and plain values, for pages and reports."""

from __future__ import annotations

from typing import Any

from webapp import notation
from webapp.exporters.comparisons import words
from webapp.exporters.frame.tables import (
    Cell,
    Column,
    Section,
    Table,
    whole_number,
    word,
    word_or_dash,
)
from webapp.exporters.planning.samples import rule_json
from webapp.i18n import gettext, ngettext
from webapp.metrics.planning.settled import PART, SettledOrder, SettledOrders


def sentences(found: SettledOrders) -> tuple[str, ...]:
    """Return how much is settled, what could still change the rest, and the rule by effect."""
    return tuple(filter(None, (_settled(found), _waiting(found), _judged(found), _rule(found))))


def section(found: SettledOrders) -> Section:
    """Return the section of a report."""
    return Section(PART, gettext("Settled"), sentences(found), (table(found),))


def table(found: SettledOrders) -> Table:
    """Return every order: figure, runs, which is ahead, the bounds, what is open."""
    return Table(
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


def _settled(found: SettledOrders) -> str:
    n = len(found.orders)
    done = sum(one.settled for one in found.orders)
    if done == n:
        return gettext("Every order is settled: no card that is still open can change it.")
    if not done:
        return gettext("No order is settled yet: the open cards can still change every one.")
    return ngettext(
        "%(n)s of %(of)s orders is settled: no card that is still open can change it.",
        "%(n)s of %(of)s orders are settled: no card that is still open can change them.",
        done,
        of=notation.number(n),
    )


def _waiting(found: SettledOrders) -> str:
    if found.is_settled:
        return ""
    cards = ngettext("%(n)s card", "%(n)s cards", found.open_cards)
    return ngettext(
        "The rest depends on %(cards)s in %(n)s question: %(places)s.",
        "The rest depends on %(cards)s in %(n)s questions: %(places)s.",
        len(found.open_questions),
        cards=cards,
        places=_places(found.open_questions),
    )


def _judged(found: SettledOrders) -> str:
    return gettext(
        "Judged so far: %(n)s of %(of)s distinct cards and empty lists.",
        n=notation.number(found.judged),
        of=notation.number(found.things),
    )


def _rule(found: SettledOrders) -> str:
    rule = found.by_effect
    if rule is None or rule.ended_at is None:
        return ""
    return gettext(
        "Until %(until)s questions came in the order of their effect (seed %(seed)s).",
        until=notation.zoned_moment(rule.ended_at),
        seed=rule.seed,
    )


def _row(found: SettledOrders, one: SettledOrder) -> tuple[Cell, ...]:
    return (
        word(words.figure_name(one.figure)),
        word(f"{found.names[one.first]} – {found.names[one.second]}"),
        word(_order(found, one)),
        _bounds(one),
        whole_number(one.open_cards),
        word_or_dash(_places(one.open_questions)),
    )


def _order(found: SettledOrders, one: SettledOrder) -> str:
    if not one.settled:
        return gettext("still open")
    if one.n == 0:
        return gettext("no question in common")
    if one.ahead is None:
        return gettext("settled: equal")
    return gettext("settled: %(run)s is ahead", run=found.names[one.ahead])


def _bounds(one: SettledOrder) -> Cell:
    if one.low is None or one.high is None:
        return Cell(notation.UNDEFINED, (None, None))
    unit = words.unit_of(one.figure)
    return Cell(notation.interval(one.low, one.high, unit, signed=True), (one.low, one.high))


def _places(positions: tuple[int, ...]) -> str:
    """Return positions of questions, the first few of many by number."""
    named = ", ".join(map(str, positions[: words.MOST_NAMED]))
    rest = len(positions) - words.MOST_NAMED
    if rest <= 0:
        return named
    return gettext("%(listed)s and %(n)s more", listed=named, n=notation.number(rest))


def part_json(found: SettledOrders) -> list[dict[str, Any]]:
    """Return each order as plain values.

    ``{runs, figure, settled, ahead, min, max, n, open_cards, questions, judged, of, rule}``: judged
    of all distinct cards and empty lists, and the former rule by effect, null where there was none.
    """
    return [
        {
            "runs": [one.first, one.second],
            "figure": one.figure,
            "settled": one.settled,
            "ahead": one.ahead,
            "min": one.low,
            "max": one.high,
            "n": one.n,
            "open_cards": one.open_cards,
            "questions": list(one.open_questions),
            "judged": found.judged,
            "of": found.things,
            "rule": rule_json(found.by_effect),
        }
        for one in found.orders
    ]
