"""Gold questions and decisions by hand as JSON, which our importers read in again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from msgspec.structs import asdict

from webapp.metrics.gold.constraint_rules import NOTHING_ASKED, Constraints, Place, Range
from webapp.metrics.gold.constraints import CARD, Decided, GoldQuestion

KEYS = ("id", "question", "category", "expected_result", "evaluation_mode", "constraints")


def question_json(
    question: GoldQuestion,
    entry: Mapping[str, Any] = MappingProxyType({}),
    before: Constraints = NOTHING_ASKED,
) -> dict[str, Any]:
    """The entry of a gold file for `question`, which was `entry` and asked `before` until now.

    Its other keys stay, and constraints that were not changed are written as they were stated.
    """
    asked = asdict(question.constraints).items()
    constraints = {name: _rule(rule) for name, rule in asked if rule is not None}
    stated = entry.get("constraints")
    for name, value in stated.items() if isinstance(stated, dict) else ():
        if name in constraints and isinstance(value, dict) and "currency" in value:
            constraints[name]["currency"] = value["currency"]
        if getattr(question.constraints, name, None) == getattr(before, name, None):
            constraints[name] = value
    return {
        "id": question.query_id,
        "question": question.text,
        "category": question.category,
        "expected_result": str(question.expected),
        **({"evaluation_mode": "manual"} if question.manual else {}),
        "constraints": constraints,
        **{key: value for key, value in entry.items() if key not in KEYS},
    }


def _rule(rule: str | Place | Range) -> Any:
    if isinstance(rule, str):
        return rule
    if isinstance(rule, Place):
        point = dict(zip(("lat", "lng"), rule.point or (), strict=False))
        return {"keywords": list(rule.keywords), **point, "radius_km": rule.radius_km}
    return {
        name: plain(number)
        for name, number in asdict(rule).items()
        if number is not None and (number or name != "tolerance")
    }


def plain(number: Fraction) -> int | float:
    return int(number) if number.denominator == 1 else float(number)


def manual_json(decided: Iterable[Decided], *, timestamp: str) -> dict[str, Any]:
    """Return the file of decisions; reasons of overrides have a key of their own."""
    overrides: dict[str, dict[str, dict[str, str]]] = {}
    reasons: dict[str, dict[str, dict[str, str]]] = {}
    cards: dict[str, dict[str, dict[str, str]]] = {}
    for number, index, subject, outcome, reason in sorted(decided, key=lambda one: one[:3]):
        query, card = str(number), str(index)
        if subject == CARD:
            verdict = {"result": outcome or "pending", "comment": reason}
            cards.setdefault(query, {})[card] = verdict
        elif outcome is not None:
            overrides.setdefault(query, {}).setdefault(card, {})[subject] = outcome
            reasons.setdefault(query, {}).setdefault(card, {})[subject] = reason
    return {
        "timestamp": timestamp,
        "source_report": "Relevansi",
        "summary": {
            "constraint_overrides_count": sum(map(len, overrides.values())),
            "manual_evaluations_count": sum(map(len, cards.values())),
        },
        "constraint_overrides": overrides,
        "override_reasons": reasons,
        "manual_evaluations": cards,
    }
