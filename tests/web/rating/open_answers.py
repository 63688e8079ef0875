"""Addresses of the open rating page."""

from __future__ import annotations


def place(run_id: str, query_id: int) -> str:
    return f"/runs/{run_id}/queries/{query_id}"
