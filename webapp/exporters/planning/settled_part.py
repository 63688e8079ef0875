"""The settled orders in the files of a comparison: a section, and a list in its JSON."""

from __future__ import annotations

from typing import Any

from webapp.exporters.frame.tables import Section
from webapp.exporters.planning import settled_tables
from webapp.exporters.planning.rule_words import rule_json
from webapp.metrics.planning.settled import PART, SettledOrders


def section(found: SettledOrders) -> Section:
    """Return the section of a report."""
    return Section(
        PART,
        settled_tables.title(),
        settled_tables.sentences(found),
        (settled_tables.table(found),),
    )


def part_json(found: SettledOrders) -> list[dict[str, Any]]:
    """Return each order as plain values.

    ``{runs, figure, settled, ahead, min, max, n, open_cards, questions, judged, of, rule}``: judged
    of all distinct cards and empty lists, and the rule by effect, null where there was none.
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
