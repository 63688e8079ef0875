"""People with a machine's help on the page of a comparison."""

from __future__ import annotations

from webapp.metrics.comparisons.comparisons import ComparisonReport
from webapp.metrics.planning.machine_help import PART, MachineHelp
from webapp.web.comparisons.comparisons import Address
from webapp.web.feature import ShownPart

STYLES: tuple[str, ...] = ()


def part(report: ComparisonReport, _address: Address) -> ShownPart | None:
    """Return the figures of people with a machine's help, where a sample was drawn."""
    from webapp.exporters.planning import machine_help

    found: MachineHelp | None = report.part(PART)
    if found is None:
        return None
    return ShownPart("planning/_compared_with_help.html", machine_help.section(found))
