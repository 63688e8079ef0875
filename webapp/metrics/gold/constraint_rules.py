"""The rules that a question sets for a card, and the checks whether the card meets them.

Numbers are compared as the exact decimals that were written: 0.1 of tolerance on a price of
1,000,000,000 ends at 1,100,000,000 and not a rounding beyond it. Only the distance is a
floating-point number.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from webapp.metrics.runs.provenance import haversine_km
from webapp.records import CONSTRAINTS

DEFAULT_RADIUS_KM = 2.0

PROPERTY_TYPES = {
    "rumah": "house",
    "apartemen": "apartment",
    "ruko": "shophouse",
    "tanah": "land",
    "gudang": "warehouse",
    "kantor": "office",
}
"""Indonesian kinds of property by the name that equals them; any other word is itself."""

LISTING_TYPES = {"dijual": "sale", "jual": "sale", "disewa": "rent", "sewa": "rent"}
"""Words for how a property is offered by the name that equals them."""


class Outcome(StrEnum):
    """The result of one constraint on one card."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    FAIL = "fail"
    MISSING = "missing"
    NA = "na"


class OutcomeReason(StrEnum):
    """Why a constraint came to its outcome, for a page to put into words."""

    NOT_ASKED = "not_asked"
    NOT_ON_CARD = "not_on_card"
    EQUAL = "equal"
    DIFFERENT = "different"
    KEYWORD = "keyword"
    WITHIN_RADIUS = "within_radius"
    OUTSIDE_RADIUS = "outside_radius"
    NO_KEYWORD = "no_keyword"
    WITHIN = "within"
    TOO_LOW = "too_low"
    TOO_HIGH = "too_high"
    BY_HAND = "by_hand"


class Place(Struct, frozen=True, tag=True):
    """Where a property should be: words in its address, or within a radius of a point."""

    keywords: tuple[str, ...] = ()
    latitude: float | None = None
    longitude: float | None = None
    radius_km: float = DEFAULT_RADIUS_KM


class Range(Struct, frozen=True, tag=True):
    """Numbers that are asked for, ends included; every bound that is stated must hold.

    The tolerance widens both ends and the target: ``minimum`` x (1 - tolerance),
    ``maximum`` x (1 + tolerance), ``target`` x (1 - tolerance) to x (1 + tolerance).
    """

    minimum: Fraction | None = None
    maximum: Fraction | None = None
    exact: Fraction | None = None
    target: Fraction | None = None
    tolerance: Fraction = Fraction(0)

    @property
    def lowest(self) -> Fraction | None:
        """The least number that passes, ``None`` when any small one does."""
        less = 1 - self.tolerance
        bounds = (_times(self.minimum, less), self.exact, _times(self.target, less))
        return max((bound for bound in bounds if bound is not None), default=None)

    @property
    def highest(self) -> Fraction | None:
        """The greatest number that passes, ``None`` when any large one does."""
        more = 1 + self.tolerance
        bounds = (_times(self.maximum, more), self.exact, _times(self.target, more))
        return min((bound for bound in bounds if bound is not None), default=None)


def _times(bound: Fraction | None, factor: Fraction) -> Fraction | None:
    return None if bound is None else bound * factor


Rule = str | Place | Range


class Constraints(Struct, frozen=True):
    """The constraints of one question on every card; ``None`` where it asks nothing."""

    property_type: str | None = None
    listing_type: str | None = None
    location: Place | None = None
    price: Range | None = None
    bedrooms: Range | None = None
    floors: Range | None = None


NOTHING_ASKED = Constraints()


class CardFacts(Struct, frozen=True):
    """The known facts of one card; ``None`` for an unknown one. Price 0 is a price."""

    name: str = ""
    location: str = ""
    address: str = ""
    property_type: str | None = None
    listing_type: str | None = None
    price: Fraction | None = None
    bedrooms: Fraction | None = None
    floors: Fraction | None = None
    latitude: float | None = None
    longitude: float | None = None
    slug: str | None = None
    verified: bool = False


class Check(Struct, frozen=True):
    """One constraint on one card: the outcome that counts, and all that led to it.

    ``words`` or ``number`` is what the card shows; ``keyword`` the one that was found;
    ``distance_km`` is set wherever both have coordinates. ``automatic`` is the outcome before
    a person's override, and differs from ``outcome`` only where ``reason`` is ``BY_HAND``.
    """

    constraint: str
    outcome: Outcome
    reason: OutcomeReason
    automatic: Outcome
    rule: Rule | None = None
    words: str | None = None
    number: Fraction | None = None
    keyword: str | None = None
    distance_km: float | None = None

    @property
    def value(self) -> str | Fraction | None:
        """The words or the number that the card shows, ``None`` where it shows nothing."""
        return self.words if self.number is None else self.number


def check_card(
    constraints: Constraints,
    card: CardFacts,
    overrides: Mapping[str, Outcome] = MappingProxyType({}),
) -> tuple[Check, ...]:
    """Every constraint checked on `card`, in the order of ``CONSTRAINTS``.

    `overrides` are a person's outcomes by constraint; they also settle what was not asked.

    >>> asked = Constraints(property_type="rumah", bedrooms=Range(minimum=Fraction(3)))
    >>> [str(check.outcome) for check in check_card(asked, CardFacts(property_type="House"))]
    ['pass', 'na', 'na', 'na', 'missing', 'na']
    """
    return tuple(
        _check(name, getattr(constraints, name), card, overrides.get(name)) for name in CONSTRAINTS
    )


def _check(name: str, rule: Rule | None, card: CardFacts, by_hand: Outcome | None) -> Check:
    if rule is None:
        found = Check(name, Outcome.NA, OutcomeReason.NOT_ASKED, Outcome.NA)
    elif isinstance(rule, Place):
        found = _location(rule, card)
    elif isinstance(rule, Range):
        found = _number(name, rule, getattr(card, name))
    else:
        found = _word(name, rule, getattr(card, name) or "")
    if by_hand is None:
        return replace(found, rule=rule)
    return replace(found, rule=rule, outcome=by_hand, reason=OutcomeReason.BY_HAND)


def _found(name: str, reason: OutcomeReason, **shown: Any) -> Check:
    outcome = Outcome.PASS if reason in _PASSING else Outcome.FAIL
    if reason is OutcomeReason.NOT_ON_CARD:
        outcome = Outcome.MISSING
    return Check(name, outcome, reason, outcome, **shown)


_PASSING = {
    *(OutcomeReason.EQUAL, OutcomeReason.KEYWORD),
    *(OutcomeReason.WITHIN_RADIUS, OutcomeReason.WITHIN),
}


def _word(name: str, rule: str, shown: str) -> Check:
    if not shown.strip():
        return _found(name, OutcomeReason.NOT_ON_CARD)
    same = PROPERTY_TYPES if name == "property_type" else LISTING_TYPES
    asked, found = (word.strip().lower() for word in (rule, shown))
    is_equal = same.get(asked, asked) == same.get(found, found)
    return _found(name, OutcomeReason.EQUAL if is_equal else OutcomeReason.DIFFERENT, words=shown)


def _location(rule: Place, card: CardFacts) -> Check:
    """A keyword in location, name or address passes; else the distance decides.

    A card that says nothing of where it is (no location, address or coordinates, and no
    keyword in its name) is missing it; with words or coordinates that do not fit it fails.
    """
    text = f"{card.location} {card.name} {card.address}".lower()
    shown = card.location or card.address or None
    keyword = next((k for k in rule.keywords if k.strip() and k.lower() in text), None)
    away, point = None, (card.latitude, card.longitude)
    if None not in {rule.latitude, rule.longitude, *point}:
        away = haversine_km(rule.latitude, rule.longitude, *point)  # type: ignore[arg-type]
    if keyword is not None:
        said = {"words": shown or card.name, "keyword": keyword, "distance_km": away}
        return _found("location", OutcomeReason.KEYWORD, **said)
    if away is not None:
        near = away <= rule.radius_km
        reason = OutcomeReason.WITHIN_RADIUS if near else OutcomeReason.OUTSIDE_RADIUS
        return _found("location", reason, words=shown, distance_km=away)
    if shown is None and None in point:
        return _found("location", OutcomeReason.NOT_ON_CARD)
    return _found("location", OutcomeReason.NO_KEYWORD, words=shown)


def _number(name: str, rule: Range, value: Fraction | None) -> Check:
    if value is None:
        return _found(name, OutcomeReason.NOT_ON_CARD)
    reason = OutcomeReason.WITHIN
    if rule.lowest is not None and value < rule.lowest:
        reason = OutcomeReason.TOO_LOW
    elif rule.highest is not None and value > rule.highest:
        reason = OutcomeReason.TOO_HIGH
    return _found(name, reason, number=value)
