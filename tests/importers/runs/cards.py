"""Answers that hold one card."""

from __future__ import annotations

from webapp.importers.runs.property_cards import parse
from webapp.records import Card


def only(response: str) -> Card:
    """The one card in `response`."""
    (card,) = parse(response)
    return card


def detail(line: str) -> Card:
    """The one card whose only detail line is `line`."""
    return only(f"1. **Rumah**\n{line}")
