"""The rules that a question sets for a card, and the checks whether the card meets them.

Numbers are compared as the exact decimals that were written: 0.1 of tolerance on a price of
1,000,000,000 ends at 1,100,000,000 and not a rounding beyond it. Only the distance is a
floating-point number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import StrEnum
from fractions import Fraction
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from relevansi.i18n import mark
from relevansi.metrics.judging.registry import read_groups
from relevansi.records import CONSTRAINTS

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


CONSTRAINT_LABELS = {
    "property_type": mark("Property type"),
    "listing_type": mark("Sale or rent"),
    "location": mark("Location"),
    "price": mark("Price"),
    "bedrooms": mark("Bedrooms"),
    "floors": mark("Floors"),
}
"""The label of each constraint, as a message id."""

[_GROUP] = read_groups("gold").values()
CONSTRAINT_MEASURES, CONSTRAINT_ADVICE = _GROUP.measures, _GROUP.advice


NOT_STATED = mark("the card does not say")


class Outcome(StrEnum):
    """The result of one constraint on one card."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    FAIL = "fail"
    MISSING = "missing"
    NA = "na"


Point = tuple[float, float]
"""Latitude and longitude."""


class Place(Struct, frozen=True):
    """Where a property should be: words in its address, or at most a distance from a point."""

    keywords: tuple[str, ...] = ()
    point: Point | None = None
    radius_km: float = DEFAULT_RADIUS_KM


class AskedPlace(Struct, frozen=True):
    """The place that a question asks for, as the gold questions know it."""

    name: str
    latitude: float
    longitude: float


class Range(Struct, frozen=True):
    """The numbers that pass, ends included; every bound that is set must hold.

    The tolerance widens both ends and the target: ``min`` x (1 - tolerance),
    ``max`` x (1 + tolerance), ``target`` x (1 - tolerance) to x (1 + tolerance).
    """

    min: Fraction | None = None
    max: Fraction | None = None
    exact: Fraction | None = None
    target: Fraction | None = None
    tolerance: Fraction = Fraction(0)

    @property
    def lowest(self) -> Fraction | None:
        """The least number that passes, ``None`` when any small one does."""
        less = 1 - self.tolerance
        bounds = (_times(self.min, less), self.exact, _times(self.target, less))
        return max((bound for bound in bounds if bound is not None), default=None)

    @property
    def highest(self) -> Fraction | None:
        """The greatest number that passes, ``None`` when any large one does."""
        more = 1 + self.tolerance
        bounds = (_times(self.max, more), self.exact, _times(self.target, more))
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
    point: Point | None = None
    slug: str | None = None


class Check(Struct, frozen=True):
    """One constraint on one card: the outcome that counts, and all that led to it.

    ``by_hand`` is the outcome that a person set instead of the ``automatic`` one. ``value`` is what
    the card shows, ``keyword`` the one of the rule that occurs in it; ``distance_km`` is set where
    rule and card both have coordinates. ``why`` explains what value and rule do not show already,
    as a message id.
    """

    constraint: str
    automatic: Outcome
    why: str = ""
    value: str | Fraction | None = None
    keyword: str | None = None
    distance_km: float | None = None
    rule: Rule | None = None
    by_hand: Outcome | None = None

    @property
    def outcome(self) -> Outcome:
        return self.by_hand or self.automatic


def check_card(
    constraints: Constraints,
    card: CardFacts,
    overrides: Mapping[str, Outcome] = MappingProxyType({}),
) -> tuple[Check, ...]:
    """Return every constraint checked on `card`, in the order of ``CONSTRAINTS``.

    `overrides` are a person's outcomes by constraint, of constraints without a rule too.

    >>> rules = Constraints(property_type="rumah", bedrooms=Range(min=Fraction(3)))
    >>> [str(check.outcome) for check in check_card(rules, CardFacts(property_type="House"))]
    ['pass', 'na', 'na', 'na', 'missing', 'na']
    """
    return tuple(
        _check(name, getattr(constraints, name), card, overrides.get(name)) for name in CONSTRAINTS
    )


def _check(name: str, rule: Rule | None, card: CardFacts, by_hand: Outcome | None) -> Check:
    if rule is None:
        check = Check(name, Outcome.NA)
    elif isinstance(rule, Place):
        check = _location(rule, card)
    elif isinstance(rule, Range):
        check = _number(name, rule, getattr(card, name))
    else:
        check = _word(name, rule, getattr(card, name) or "")
    return replace(check, rule=rule, by_hand=by_hand)


def _word(name: str, rule: str, text: str) -> Check:
    if not text.strip():
        return Check(name, Outcome.MISSING, NOT_STATED)
    synonyms = PROPERTY_TYPES if name == "property_type" else LISTING_TYPES
    rule_word, card_word = rule.strip().lower(), text.strip().lower()
    if synonyms.get(rule_word, rule_word) == synonyms.get(card_word, card_word):
        return Check(name, Outcome.PASS, value=text)
    return Check(name, Outcome.FAIL, mark("something else"), text)


def _location(rule: Place, card: CardFacts) -> Check:
    """Return the check of the place: a keyword in the card passes, else the distance decides.

    Keywords count in location, name and address. The location is MISSING on a card without
    location, address and coordinates whose name has no keyword either; with words or coordinates
    that do not fit it fails.
    """
    text = f"{card.location} {card.name} {card.address}".lower()
    location = card.location or card.address or None
    distance = haversine_km(*rule.point, *card.point) if rule.point and card.point else None
    for keyword in rule.keywords:
        if keyword.strip() and keyword.lower() in text:
            return Check("location", Outcome.PASS, "", location or card.name, keyword, distance)
    if distance is not None:
        outcome = Outcome.PASS if distance <= rule.radius_km else Outcome.FAIL
        return Check("location", outcome, value=location, distance_km=distance)
    if location is None and card.point is None:
        return Check("location", Outcome.MISSING, NOT_STATED)
    return Check("location", Outcome.FAIL, mark("none of these words"), location)


def _number(name: str, rule: Range, value: Fraction | None) -> Check:
    if value is None:
        return Check(name, Outcome.MISSING, NOT_STATED)
    if rule.lowest is not None and value < rule.lowest:
        return Check(name, Outcome.FAIL, mark("too low"), value)
    if rule.highest is not None and value > rule.highest:
        return Check(name, Outcome.FAIL, mark("too high"), value)
    return Check(name, Outcome.PASS, value=value)


EARTH_RADIUS_KM = 6371.0


def haversine_km(
    latitude: float, longitude: float, to_latitude: float, to_longitude: float
) -> float:
    """The distance of two points over the globe in km, with R = 6371 km.

    2 R asin(sqrt(sin²(Δφ/2) + cos φ1 cos φ2 sin²(Δλ/2))).

    >>> round(haversine_km(0, 0, 0, 90), 4)  # a quarter of the way round: 6371 π / 2
    10007.5434
    """
    phi, to_phi = math.radians(latitude), math.radians(to_latitude)
    half = math.sin((to_phi - phi) / 2) ** 2
    around = math.sin(math.radians(to_longitude - longitude) / 2) ** 2
    half += math.cos(phi) * math.cos(to_phi) * around
    return 2 * EARTH_RADIUS_KM * math.asin(math.sqrt(min(1.0, half)))
