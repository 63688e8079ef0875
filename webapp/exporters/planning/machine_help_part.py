"""People with a machine's help in the files of a comparison: a section, and an object."""

from __future__ import annotations

from typing import Any

from webapp.exporters.frame.tables import Section
from webapp.exporters.planning import machine_help
from webapp.metrics.planning.machine_help import PART, MachineHelp

__all__ = ["PART", "part_json", "section"]


def section(found: MachineHelp) -> Section:
    """Return the section of a report."""
    return machine_help.section(found)


def part_json(found: MachineHelp) -> dict[str, Any]:
    """Return the figures as plain values."""
    return machine_help.help_json(found)
