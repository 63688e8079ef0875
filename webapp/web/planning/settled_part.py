"""The settled orders on the page of a comparison."""

from __future__ import annotations

from webapp.metrics.comparisons.comparisons import ComparisonReport
from webapp.metrics.planning.settled import PART, SettledOrders
from webapp.web.comparisons.comparisons import Address
from webapp.web.feature import ShownPart
from webapp.web.planning import settled

STYLES = ("planning/planning.css",)


def part(report: ComparisonReport, address: Address) -> ShownPart | None:
    """Return the settled orders; rated files have no cards, so nothing is known of theirs."""
    found: SettledOrders | None = report.part(PART)
    if found is None or not address.has_answers:
        return None
    return settled.shown(found)
