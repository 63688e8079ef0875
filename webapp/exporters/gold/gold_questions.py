"""A gold file written back as JSON, which `importers.gold.gold_questions` reads in again.

An unchanged question is written as its file had it; so is each unchanged constraint of a
question that was changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from msgspec.structs import replace

from webapp.metrics.gold.constraint_rules import Place, Range
from webapp.metrics.gold.constraints import GoldQuestion


def gold_json(
    questions: Sequence[GoldQuestion], threshold: Fraction | None, extra: Mapping[str, object]
) -> dict[str, Any]:
    """The gold file of `questions`; `extra` holds the other keys of the file's top level."""
    stated = {} if threshold is None else {"threshold_t": _plain(threshold)}
    return {**extra, **stated, "questions": [_question(question) for question in questions]}


def _question(question: GoldQuestion) -> dict[str, Any]:
    stated = question.stated
    if stated is not None and stated.question == replace(question, stated=None):
        return dict(stated.entry)
    asked, extra = question.constraints, dict(question.extra)
    written: dict[str, Any] = {
        "property_type": asked.property_type,
        "listing_type": asked.listing_type,
        "location": _place(asked.location) if asked.location else None,
        "price": _range(asked.price),
        "bedrooms": _range(asked.bedrooms),
        "floors": _range(asked.floors),
    }
    constraints = {name: value for name, value in written.items() if value is not None}
    currency = extra.pop("currency", None)
    if currency is not None and asked.price:
        constraints["price"]["currency"] = currency
    for name, value in ((stated.entry.get("constraints") or {}) if stated else {}).items():
        before = stated and getattr(stated.question.constraints, name, None)
        if getattr(asked, name, None) == before:  # it is written as it was stated
            constraints[name] = value
    return {
        "id": question.query_id,
        "question": question.text,
        "category": question.category,
        "expected_result": str(question.expected),
        **({"evaluation_mode": "manual"} if question.manual else {}),
        "constraints": constraints,
        **extra,
    }


def _place(place: Place) -> dict[str, Any]:
    point = {"lat": place.latitude, "lng": place.longitude}
    if place.latitude is None:
        point = {}
    return {"keywords": list(place.keywords), **point, "radius_km": place.radius_km}


def _range(bounds: Range | None) -> dict[str, Any] | None:
    if bounds is None:
        return None
    stated = {
        "min": bounds.minimum,
        "max": bounds.maximum,
        "exact": bounds.exact,
        "target": bounds.target,
        "tolerance": bounds.tolerance or None,
    }
    return {name: _plain(value) for name, value in stated.items() if value is not None}


def _plain(number: Fraction) -> int | float:
    return int(number) if number.denominator == 1 else float(number)


CARD = "card"
"""The subject of a decision on a whole card; every other one is a constraint."""


def manual_json(
    decided: Iterable[tuple[int, int, str, str | None, str]], *, timestamp: str
) -> dict[str, Any]:
    """Return the file of decisions; reasons of overrides have a key of their own.

    A decision is the number of the question, the card counted from 0, the subject, the outcome
    (``None`` waits) and the reason.
    """
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
