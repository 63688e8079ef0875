"""The meaning of every number of a comparison: ``meanings.toml`` beside this file."""

from __future__ import annotations

from relevansi.metrics.judging.registry import read_groups

GROUPS = tuple(read_groups(__file__).values())
