"""Which questions a rater walks through, as the address of either rating page says."""

from __future__ import annotations

from typing import Any

from flask import request

from webapp.services.rating.pages import QueryFilter


def wanted() -> QueryFilter:
    """Return which questions the rater walks through."""
    return QueryFilter("open" in request.args, request.args.get("category") or None)


def query() -> dict[str, Any]:
    """Return the arguments that keep the filter in an address; none without a filter."""
    said = wanted()
    open_only = {"open": 1} if said.only_open else {}
    return open_only | ({"category": said.category} if said.category else {})
