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

from msgspec import Struct
from msgspec.structs import replace

from relevansi.i18n import mark
from relevansi.metrics.runs.provenance import haversine_km
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


NOT_SAID = mark("the card does not say")


class Outcome(StrEnum):
    """The result of one constraint on one card."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    FAIL = "fail"
    MISSING = "missing"
    NA = "na"


Point = tuple[float, float]
"""Latitude and longitude."""


class Place(Struct, frozen=True):
    """Where a property should be: words in its address, or within a radius of a point."""

    keywords: tuple[str, ...] = ()
    point: Point | None = None
    radius_km: float = DEFAULT_RADIUS_KM


class AskedPlace(Struct, frozen=True):
    """The place that a question asks for, as the gold questions know it."""

    name: str
    latitude: float
    longitude: float


class Range(Struct, frozen=True):
    """Numbers that are asked for, ends included; every bound that is stated must hold.

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

    ``automatic`` is the outcome before a person's, ``by_hand``. ``value`` is what the card shows,
    ``keyword`` the one that was found in it; ``distance_km`` is set wherever both have
    coordinates. ``why`` explains what value and rule do not show already, as a message id.
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

    `overrides` are a person's outcomes by constraint; they also settle what was not asked.

    >>> asked = Constraints(property_type="rumah", bedrooms=Range(min=Fraction(3)))
    >>> [str(check.outcome) for check in check_card(asked, CardFacts(property_type="House"))]
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
        return Check(name, Outcome.MISSING, NOT_SAID)
    same = PROPERTY_TYPES if name == "property_type" else LISTING_TYPES
    asked_word, card_word = (word.strip().lower() for word in (rule, text))
    if same.get(asked_word, asked_word) == same.get(card_word, card_word):
        return Check(name, Outcome.PASS, value=text)
    return Check(name, Outcome.FAIL, mark("something else"), text)


def _location(rule: Place, card: CardFacts) -> Check:
    """Return a keyword in location, name or address passes; else the distance decides.

    A card that says nothing of where it is (no location, address or coordinates, and no
    keyword in its name) is missing it; with words or coordinates that do not fit it fails.
    """
    text = f"{card.location} {card.name} {card.address}".lower()
    text_of_place = card.location or card.address or None
    away = haversine_km(*rule.point, *card.point) if rule.point and card.point else None
    for keyword in rule.keywords:
        if keyword.strip() and keyword.lower() in text:
            return Check("location", Outcome.PASS, "", text_of_place or card.name, keyword, away)
    if away is not None:
        outcome = Outcome.PASS if away <= rule.radius_km else Outcome.FAIL
        return Check("location", outcome, value=text_of_place, distance_km=away)
    if text_of_place is None and card.point is None:
        return Check("location", Outcome.MISSING, NOT_SAID)
    return Check("location", Outcome.FAIL, mark("none of these words"), text_of_place)


def _number(name: str, rule: Range, value: Fraction | None) -> Check:
    if value is None:
        return Check(name, Outcome.MISSING, NOT_SAID)
    if rule.lowest is not None and value < rule.lowest:
        return Check(name, Outcome.FAIL, mark("too low"), value)
    if rule.highest is not None and value > rule.highest:
        return Check(name, Outcome.FAIL, mark("too high"), value)
    return Check(name, Outcome.PASS, value=value)
