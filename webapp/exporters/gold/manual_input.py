"""Decisions by hand written back as ``manual_input.json``, which its reader takes in again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

CARD = "card"
"""The subject of a decision on a whole card; every other one is a constraint."""


class DecidedCard(Struct, frozen=True):
    """The decision on one subject of a card; `card` counts from 0, outcome ``None`` waits."""

    query_id: int
    card: int
    subject: str
    outcome: str | None
    reason: str


def manual_json(decided: Iterable[DecidedCard], *, timestamp: str) -> dict[str, Any]:
    """The file of `decided`; reasons of overrides have a key of their own."""
    overrides: dict[str, dict[str, dict[str, str]]] = {}
    reasons: dict[str, dict[str, dict[str, str]]] = {}
    cards: dict[str, dict[str, dict[str, str]]] = {}
    for one in sorted(decided, key=lambda one: (one.query_id, one.card, one.subject)):
        query, card = str(one.query_id), str(one.card)
        if one.subject == CARD:
            verdict = {"result": one.outcome or "pending", "comment": one.reason}
            cards.setdefault(query, {})[card] = verdict
        elif one.outcome is not None:
            overrides.setdefault(query, {}).setdefault(card, {})[one.subject] = one.outcome
            reasons.setdefault(query, {}).setdefault(card, {})[one.subject] = one.reason
    return {
        "timestamp": timestamp,
        "source_report": "Relevansi",
        "summary": {
            "constraint_overrides_count": _count(overrides),
            "manual_evaluations_count": _count(cards),
        },
        "constraint_overrides": overrides,
        "override_reasons": reasons,
        "manual_evaluations": cards,
    }


def _count(by_query: dict[str, dict[str, dict[str, str]]]) -> int:
    return sum(len(cards) for cards in by_query.values())
