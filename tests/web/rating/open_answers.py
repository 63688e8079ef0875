"""Addresses of the open rating page."""

from __future__ import annotations


def place(run_id: str, query_id: int) -> str:
    """Return the address of one question of a run."""
    return f"/runs/{run_id}/queries/{query_id}"
