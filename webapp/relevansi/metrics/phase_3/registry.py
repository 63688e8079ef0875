"""The meaning of the numbers about users of phase 3, and of people beside machines.

They stand in ``meanings.toml`` beside this file.
"""

from __future__ import annotations

from relevansi.metrics.judging.registry import read_groups

GROUPS = tuple(read_groups(__file__).values())
USER_MEASURES, MACHINE_MEASURES = (group.measures for group in GROUPS)
