"""The parts of planning in a comparison: the settled orders, people with a machine's help."""

from __future__ import annotations

from webapp.exporters.planning import machine_help_part, sample_part, settled_part

MODULES = (settled_part, sample_part, machine_help_part)
