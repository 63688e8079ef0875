"""Properties: what a real-estate chatbot shows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar, Self

from msgspec import Struct
from msgspec.structs import asdict, replace

from relevansi.records import Item

EMOJI = re.compile("[\U0001f000-\U0001faff\u2600-\u27bf\ufe0e\ufe0f\u200d]+ ?")
_WORD = re.compile(r"\w+")

CITY, DISTRICT, VILLAGE, STREET = range(4)
"""What a part of a place can name, from the coarsest; a housing complex is as fine as a street."""
_LEVELS = {
    CITY: re.compile(r"(?:kota|kab\.?|kabupaten)\s+", re.IGNORECASE),
    DISTRICT: re.compile(r"(?:kec\.|kecamatan)\s*", re.IGNORECASE),
    VILLAGE: re.compile(r"(?:kel\.|kelurahan|desa)\s*", re.IGNORECASE),
}


# Not gettext: the words belong to the version of a judge and must not change with ours.
_LABELS = {
    "title": "Title",
    "listing_type": "Offer",
    "source": "Kind",
    "price": "Price",
    "location": "Location",
    "bedrooms": "Bedrooms",
    "bathrooms": "Bathrooms",
    "land_area": "Land area",
    "building_area": "Building area",
    "floors": "Floors",
    "certificate": "Certificate",
    "sale": "for sale",
    "rent": "for rent",
    "project": "new project",
    "year": "a year",
    "month": "a month",
}


def _title_words(text: str | None) -> frozenset[str]:
    return frozenset(_WORD.findall((text or "").casefold()))


def _parts_of_place(place: str) -> list[tuple[int, str]]:
    """Return the parts of a place with the level of each, those above the street without its word.

    >>> _parts_of_place("Jl. Gereja No.1, Kel. Silalas, Kec. Medan Barat")
    [(3, 'Jl. Gereja No.1'), (2, 'Silalas'), (1, 'Medan Barat')]
    >>> _parts_of_place("Medan Johor, Kab. Deli Serdang"), _parts_of_place("Percut Sei Tuan")
    ([(1, 'Medan Johor'), (0, 'Deli Serdang')], [(1, 'Percut Sei Tuan')])
    """
    parts: list[tuple[int, str]] = []
    names = [name.strip() for name in place.split(",") if name.strip()]
    for number, part in reversed([*enumerate(names)]):
        for level, word in _LEVELS.items():
            if begin := word.match(part):
                parts.append((level, part[begin.end() :]))
                break
        else:  # unnamed, it is a district before its city or alone
            is_district = number == 0 and all(level == CITY for level, _ in parts)
            parts.append((DISTRICT if is_district else STREET, part))
    return parts[::-1]


def _normalised(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


class Card(Item, frozen=True, omit_defaults=True):
    """One property as the chatbot's user saw it; ``None`` where the answer states no value.

    Prices are whole rupiah (``price_max`` only for a range), areas square metres.
    ``price_note`` and ``listing_type`` are "sale" or "rent", ``price_period`` "year" or
    "month", ``source`` "listing" or "project".
    """

    kind: ClassVar[str] = "property"
    labels: ClassVar[tuple[str, ...]] = ("search_method", "llm")
    columns: ClassVar[tuple[str, ...]] = (
        *("title", "url", "slug", "price", "price_max", "price_note", "price_period", "location"),
        *("bedrooms", "bathrooms", "land_area", "building_area", "floors", "certificate"),
        *("listing_type", "source"),
    )
    seen_blind: ClassVar[tuple[str, ...]] = tuple(name for name in columns if name != "slug")
    states_more: ClassVar[bool] = True
    has_pictures: ClassVar[bool] = True
    always_answered: ClassVar[bool] = True
    reasons: ClassVar[tuple[str, ...]] = (
        *("location", "price", "type", "specification", "gone", "other"),
    )

    slug: str | None = None
    listing_id: str | None = None
    price: int | None = None
    price_max: int | None = None
    price_note: str | None = None
    price_period: str | None = None
    location: str | None = None
    bedrooms: int | None = None
    bathrooms: int | None = None
    land_area: float | None = None
    building_area: float | None = None
    floors: int | None = None
    certificate: str | None = None
    listing_type: str | None = None
    source: str | None = None
    image_url: str | None = None

    @property
    def identity(self) -> str:
        """Its identity in every run, as ``what:value``."""
        if self.slug:
            return f"slug:{self.slug}"
        if self.listing_id:
            return f"id:{self.listing_id}"
        return f"title:{_normalised(self.title)}|{_normalised(self.location or '')}"

    def differences(self, version: Card) -> tuple[str, ...]:
        """Return the fields that two versions of a property both state, and otherwise."""
        versions = (self, version)
        prices = {(card.price, card.price_max) for card in versions if card.price is not None}
        notes, rooms = {self.price_note, version.price_note}, {self.bedrooms, version.bedrooms}
        words, others = _title_words(self.location), _title_words(version.location)
        differing = {
            "price": len(prices) > 1,
            "price_note": len(notes - {None}) > 1,
            "bedrooms": len(rooms - {None}) > 1,
            "location": not (words <= others or others <= words),
        }
        return tuple(name for name, differs in differing.items() if differs)

    def fullest(self, version: Card) -> Card:
        """Return this version with its gaps filled, and the fuller of the two locations."""
        ours, theirs = asdict(self), asdict(version)
        gaps = {name: theirs[name] for name, value in ours.items() if value is None}
        if self.location and _title_words(self.location) < _title_words(version.location):
            gaps["location"] = version.location
        return replace(self, **gaps)

    def uniform(self, offer: str | None) -> Card:
        """Return it without what only some methods write: emoji, and the offer asked for."""
        return replace(
            self,
            title=EMOJI.sub("", self.title) or self.title,
            location=self.location and EMOJI.sub("", self.location),
            price_note=None if self.price_note == offer else self.price_note,
            listing_type=None if self.listing_type == offer else self.listing_type,
        )

    @classmethod
    def alike(cls, items: Sequence[Self]) -> list[Self]:
        """Return the items with their places to the level that all of them have.

        Some methods state the street and others only the district: lists would be told apart by
        it. Streets and complexes stand alone; what is coarser loses the word for its level.
        """
        places = [_parts_of_place(item.location or "") for item in items]
        finest = min((max(place)[0] if place else -1 for place in places), default=-1)
        coarsest = STREET if finest == STREET else min(finest, DISTRICT)
        return [
            replace(
                item,
                location=", ".join(part for at, part in place if coarsest <= at <= finest) or None,
            )
            for item, place in zip(items, places, strict=True)
        ]

    def described(self) -> str:
        """Return its fields, line by line, without its address and its number.

        >>> print(Card("Rumah", price=650000000, bedrooms=3).described())
        - Title: Rumah
        - Price: Rp 650000000
        - Bedrooms: 3
        """
        fields: dict[str, object] = {
            "title": self.title,
            "listing_type": _LABELS.get(self.listing_type or self.price_note or "", ""),
            "source": _LABELS["project"] if self.source == "project" else "",
            "price": self._price(),
            "location": self.location,
            "bedrooms": self.bedrooms,
            "bathrooms": self.bathrooms,
            "land_area": self.land_area and f"{self.land_area:g} m²",
            "building_area": self.building_area and f"{self.building_area:g} m²",
            "floors": self.floors,
            "certificate": self.certificate,
        }
        return "\n".join(f"- {_LABELS[name]}: {text}" for name, text in fields.items() if text)

    def _price(self) -> str:
        if not self.price:
            return ""
        highest = self.price_max if self.price_max != self.price else None
        amount = f"Rp {self.price}" + (f" - Rp {highest}" if highest else "")
        return f"{amount} {_LABELS.get(self.price_period or '', '')}".strip()


class ListedText(Struct, frozen=True):
    """The words of an answer on a card that fill no field of it, below its section's heading."""

    heading: str = ""
    lines: tuple[str, ...] = ()


class Particulars(Struct, frozen=True):
    """Details that a file states of a property beyond its card; empty where it states none.

    ``facts`` are further values, each behind its name (one of
    ``importers.runs.property_particulars``, or one of the file's own).
    """

    description: str = ""
    features: tuple[str, ...] = ()
    facts: tuple[tuple[str, str | bool], ...] = ()
    latitude: float | None = None
    longitude: float | None = None

    @property
    def texts(self) -> tuple[str, ...]:
        values = (str(value) for _, value in self.facts)
        return tuple(filter(None, (self.description, *self.features, *values)))


_SHORT = 160  # texts under a card up to this number of characters need not be folded


class CardParticulars(Struct, frozen=True):
    """The details of one card beyond its fields.

    ``headings`` are of the sections it was under and ``lines`` the answer's other words on
    it, ``listed`` what the chatbot listed beside its answer. ``recorded`` and the fields of
    ``record`` are known to the record of the listing only. The distances are from ``place``.
    """

    headings: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    listed: Particulars = Particulars()
    recorded: Particulars = Particulars()
    record: Card = Card(title="")
    place: str = ""
    listed_km: float | None = None
    recorded_km: float | None = None

    @property
    def is_long(self) -> bool:
        """Whether it is more than a line or two, beside the headings and the distance."""
        texts = (*self.lines, *self.listed.texts, *self.recorded.texts)
        return sum(map(len, texts)) > _SHORT or self.has_record

    @property
    def is_listed(self) -> bool:
        return bool(self.listed.texts) or self.listed_km is not None

    @property
    def is_recorded(self) -> bool:
        """Whether the record alone knows anything that is shown."""
        alone = bool(self.recorded.texts) or self.recorded_km is not None
        return alone or self.has_record

    @property
    def has_record(self) -> bool:
        """Whether the record states a field that the card does not, or states otherwise."""
        return self.record != Card(title="")
