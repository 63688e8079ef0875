"""The rules that a question sets for a card, and the checks whether the card meets them.

Numbers are compared as the exact decimals that were written: 0.1 of tolerance on a price of
1,000,000,000 ends at 1,100,000,000 and not a rounding beyond it. Only the distance is a
floating-point number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from fractions import Fraction
from types import MappingProxyType

from msgspec import Struct

from webapp.metrics.runs.provenance import haversine_km
from webapp.records import CONSTRAINTS

DEFAULT_RADIUS_KM = 2.0

PROPERTY_TYPES: Mapping[str, str] = MappingProxyType(
    {
        "rumah": "house",
        "apartemen": "apartment",
        "ruko": "shophouse",
        "tanah": "land",
        "gudang": "warehouse",
        "kantor": "office",
    }
)
"""Indonesian kinds of property by the name that equals them; any other word is itself."""

LISTING_TYPES: Mapping[str, str] = MappingProxyType(
    {"dijual": "sale", "jual": "sale", "disewa": "rent", "sewa": "rent"}
)
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
        bounds = [
            None if self.minimum is None else self.minimum * (1 - self.tolerance),
            self.exact,
            None if self.target is None else self.target * (1 - self.tolerance),
        ]
        return max((bound for bound in bounds if bound is not None), default=None)

    @property
    def highest(self) -> Fraction | None:
        """The greatest number that passes, ``None`` when any large one does."""
        bounds = [
            None if self.maximum is None else self.maximum * (1 + self.tolerance),
            self.exact,
            None if self.target is None else self.target * (1 + self.tolerance),
        ]
        return min((bound for bound in bounds if bound is not None), default=None)


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


class _Finding(Struct, frozen=True):
    outcome: Outcome
    reason: OutcomeReason
    words: str | None = None
    number: Fraction | None = None
    keyword: str | None = None
    distance_km: float | None = None


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
    found = _NOT_ASKED if rule is None else _RULES[name](rule, card)
    return Check(
        constraint=name,
        outcome=found.outcome if by_hand is None else by_hand,
        reason=found.reason if by_hand is None else OutcomeReason.BY_HAND,
        automatic=found.outcome,
        rule=rule,
        words=found.words,
        number=found.number,
        keyword=found.keyword,
        distance_km=found.distance_km,
    )


_NOT_ASKED = _Finding(Outcome.NA, OutcomeReason.NOT_ASKED)
_NOT_ON_CARD = _Finding(Outcome.MISSING, OutcomeReason.NOT_ON_CARD)


def _same_word(words: Mapping[str, str], asked: str, shown: str | None) -> _Finding:
    if not (shown or "").strip():
        return _NOT_ON_CARD
    assert shown is not None
    same = _plain(words, asked) == _plain(words, shown)
    outcome, reason = (
        (Outcome.PASS, OutcomeReason.EQUAL) if same else (Outcome.FAIL, OutcomeReason.DIFFERENT)
    )
    return _Finding(outcome, reason, shown)


def _plain(words: Mapping[str, str], word: str) -> str:
    lower = word.strip().lower()
    return words.get(lower, lower)


def _property_type(rule: Rule, card: CardFacts) -> _Finding:
    assert isinstance(rule, str)
    return _same_word(PROPERTY_TYPES, rule, card.property_type)


def _listing_type(rule: Rule, card: CardFacts) -> _Finding:
    assert isinstance(rule, str)
    return _same_word(LISTING_TYPES, rule, card.listing_type)


def _location(rule: Rule, card: CardFacts) -> _Finding:
    """A keyword in location, name or address passes; else the distance decides.

    A card that says nothing of where it is (no location, address or coordinates, and no
    keyword in its name) is missing it; with words or coordinates that do not fit it fails.
    """
    assert isinstance(rule, Place)
    text = f"{card.location} {card.name} {card.address}".lower()
    shown = card.location or card.address or None
    keyword = next((k for k in rule.keywords if k.strip() and k.lower() in text), None)
    away = _distance(rule, card)
    if keyword is not None:
        return _Finding(
            Outcome.PASS,
            OutcomeReason.KEYWORD,
            shown or card.name,
            keyword=keyword,
            distance_km=away,
        )
    if away is not None:
        near = away <= rule.radius_km
        outcome = Outcome.PASS if near else Outcome.FAIL
        reason = OutcomeReason.WITHIN_RADIUS if near else OutcomeReason.OUTSIDE_RADIUS
        return _Finding(outcome, reason, shown, distance_km=away)
    if shown is None and (card.latitude is None or card.longitude is None):
        return _NOT_ON_CARD
    return _Finding(Outcome.FAIL, OutcomeReason.NO_KEYWORD, shown)


def _distance(rule: Place, card: CardFacts) -> float | None:
    """How far the card is from the place, ``None`` where one of them has no coordinates."""
    if rule.latitude is None or rule.longitude is None:
        return None
    if card.latitude is None or card.longitude is None:
        return None
    return haversine_km(rule.latitude, rule.longitude, card.latitude, card.longitude)


def _number(shown: Callable[[CardFacts], Fraction | None]) -> Callable[[Rule, CardFacts], _Finding]:
    def check(rule: Rule, card: CardFacts) -> _Finding:
        assert isinstance(rule, Range)
        value = shown(card)
        if value is None:
            return _NOT_ON_CARD
        if rule.lowest is not None and value < rule.lowest:
            return _Finding(Outcome.FAIL, OutcomeReason.TOO_LOW, number=value)
        if rule.highest is not None and value > rule.highest:
            return _Finding(Outcome.FAIL, OutcomeReason.TOO_HIGH, number=value)
        return _Finding(Outcome.PASS, OutcomeReason.WITHIN, number=value)

    return check


_RULES: dict[str, Callable[[Rule, CardFacts], _Finding]] = {
    "property_type": _property_type,
    "listing_type": _listing_type,
    "location": _location,
    "price": _number(lambda card: card.price),
    "bedrooms": _number(lambda card: card.bedrooms),
    "floors": _number(lambda card: card.floors),
}
