"""Rules, values and outcomes of constraints in the reader's words."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from babel.numbers import format_decimal
from msgspec.structs import asdict

from relevansi.i18n import gettext, language, mark
from relevansi.metrics.gold.constraint_rules import (
    CONSTRAINT_LABELS,
    Check,
    Constraints,
    Outcome,
    Place,
    Range,
    Rule,
)
from relevansi.notation import UNBROKEN, number, rupiah, short_rupiah
from relevansi.services.gold import decisions

MAX_REASON = decisions.MAX_REASON

SIGNS = {Outcome.PASS: "✓", Outcome.FAIL: "✗", Outcome.MISSING: "?", Outcome.NA: "–"}
OUTCOMES = {
    Outcome.PASS: mark("Pass"),
    Outcome.FAIL: mark("Fail"),
    Outcome.MISSING: mark("Missing"),
    Outcome.NA: mark("Not asked"),
}
KINDS = {
    "house": mark("house"),
    "apartment": mark("apartment"),
    "shophouse": mark("shophouse"),
    "land": mark("land"),
    "warehouse": mark("warehouse"),
    "office": mark("office"),
    "sale": mark("for sale"),
    "rent": mark("for rent"),
}


def rules_in_words(constraints: Constraints) -> list[tuple[str, str]]:
    """Return the constraints that a question sets, in their fixed order: label and rule."""
    return [
        (gettext(CONSTRAINT_LABELS[name]), rule_words(name, rule))
        for name, rule in asdict(constraints).items()
        if rule is not None
    ]


def labels(names: Iterable[str]) -> list[str]:
    return [gettext(CONSTRAINT_LABELS[name]) for name in names]


def failed(checks: Iterable[Check]) -> list[str]:
    """Return the constraints that a card fails or does not show, each with what it shows."""
    return [
        f"{SIGNS[check.outcome]} {gettext(CONSTRAINT_LABELS[check.constraint])}: "
        f"{value_words(check) or gettext(OUTCOMES[check.outcome])}"
        for check in checks
        if check.outcome in {Outcome.FAIL, Outcome.MISSING}
    ]


def rule_words(name: str, rule: Rule | None) -> str:
    if rule is None:
        return ""
    if isinstance(rule, str):
        return _kind(rule)
    return _place(rule) if isinstance(rule, Place) else _range(name, rule)


def value_words(check: Check) -> str:
    """Return the card's value in short; empty where the card states none."""
    if check.value is None:
        return ""
    if isinstance(check.value, str):
        return check.value if check.constraint == "location" else _kind(check.value)
    return amount(check.constraint, check.value)


def full_value(check: Check) -> str:
    """Return a price with every digit; empty for a value that is not a price."""
    is_price = check.constraint == "price" and isinstance(check.value, Fraction)
    return rupiah(int(check.value or 0)) if is_price else ""


def why(check: Check) -> str:
    """Return the reason for the outcome; empty where value and rule show it already."""
    if check.by_hand is not None:
        outcome = gettext(OUTCOMES[check.automatic])
        return gettext("by hand; without that: %(outcome)s", outcome=outcome)
    if check.keyword is not None:
        return gettext("“%(word)s” is in it", word=check.keyword)
    return gettext(check.why) if check.why else ""


def distance(check: Check) -> str:
    """Return how far the card is from the place; empty where the distance is unknown."""
    return "" if check.distance_km is None else gettext("%(km)s away", km=_km(check.distance_km))


def amount(name: str, value: Fraction) -> str:
    """Return a value of the constraint `name`; a price in short only where that is exact."""
    return short_rupiah(round(value)) if name == "price" else number(float(value))


def _kind(word: str) -> str:
    name = KINDS.get(word.strip().lower())
    return gettext(name) if name else word


def _place(place: Place) -> str:
    words = " / ".join(f"“{word}”" for word in place.keywords)
    parts = [gettext("%(words)s in its place, name or address", words=words)] if words else []
    if place.point is not None:
        lat, lng = (f"{degrees:.4f}" for degrees in place.point)
        km = _km(place.radius_km)
        parts.append(gettext("within %(km)s of %(lat)s, %(lng)s", km=km, lat=lat, lng=lng))
    return gettext("%(one)s, or %(other)s", one=parts[0], other=parts[1]) if parts[1:] else parts[0]


def _range(name: str, bounds: Range) -> str:
    """Return the bounds of a number in words, with its tolerance."""
    low, high = bounds.min, bounds.max
    parts = []
    if bounds.exact is not None:
        parts.append(gettext("exactly %(n)s", n=amount(name, bounds.exact)))
    if low is not None and high is not None:
        ends = amount(name, low), amount(name, high)
        parts.append(gettext("%(low)s to %(high)s", low=ends[0], high=ends[1]))
    elif low is not None:
        parts.append(gettext("at least %(n)s", n=amount(name, low)))
    elif high is not None:
        parts.append(gettext("at most %(n)s", n=amount(name, high)))
    if bounds.target is not None:
        parts.append(gettext("about %(n)s", n=amount(name, bounds.target)))
    words = ", ".join(parts)
    if not bounds.tolerance:
        return words
    percent = number(float(bounds.tolerance * 100))
    return gettext("%(bounds)s (± %(percent)s%%)", bounds=words, percent=percent)


def _km(value: float) -> str:
    return f"{format_decimal(value, format='0.##', locale=language())}{UNBROKEN}km"
