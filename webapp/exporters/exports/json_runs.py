"""One run with every verdict in it as JSON values, for users' own scripts."""

from __future__ import annotations

from webapp.records import Blindness, Card, CardParticulars, GivenOn, Particulars, Relevance

JsonValue = str | int | float | bool | None | list["JsonValue"] | dict[str, "JsonValue"]

CARD_FIELDS = (
    "title",
    "url",
    "slug",
    "price",
    "price_max",
    "price_note",
    "price_period",
    "location",
    "bedrooms",
    "bathrooms",
    "land_area",
    "building_area",
    "floors",
    "certificate",
    "listing_type",
    "source",
)
"""The fields of a card in the order in which they are written."""

VERDICTS: dict[Relevance | None, int | str | None] = {
    Relevance.RELEVANT: 1,
    Relevance.NOT_RELEVANT: 0,
    Relevance.UNSURE: "unsure",
    None: None,
}
"""How a verdict is written."""


def blindness_json(found: Blindness) -> dict[str, JsonValue]:
    """How many verdicts and grades were given blind, open (with the last one's time) or neither."""
    return {"verdicts": _given_on(found.verdicts), "grades": _given_on(found.grades)}


def whole(value: JsonValue) -> JsonValue:
    """`value`, as a whole number where it is one.

    >>> whole(105.0), whole(62.5), whole(None)
    (105, 62.5, None)
    """
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _given_on(given: GivenOn) -> JsonValue:
    return {
        "n": given.n,
        "blind": given.blind,
        "open": given.open,
        "last_open": given.last_open.isoformat() if given.last_open else None,
        "unknown": given.unknown,
    }


def result_json(
    rank: int, card: Card, relevance: Relevance | None, known: CardParticulars
) -> dict[str, JsonValue]:
    """One result at its 1-based rank: its card, what else is `known` of it, and its verdict."""
    fields = {name: whole(getattr(card, name)) for name in CARD_FIELDS}
    return {
        "rank": rank,
        **fields,
        "particulars": _particulars(known),
        "relevance": VERDICTS[relevance],
    }


def _particulars(known: CardParticulars) -> dict[str, JsonValue]:
    """The facts beyond the card, from the answer's text or its list; the record has its own key."""
    return {
        "headings": list(known.headings),
        "lines": list(known.lines),
        **_details(known.listed, known.listed_km),
        "asked_place": known.place or None,
        "record": {
            **_details(known.recorded, known.recorded_km),
            "card": {
                name: whole(value)
                for name in CARD_FIELDS
                if (value := getattr(known.record, name)) not in (None, "")
            },
        },
    }


def _details(said: Particulars, distance_km: float | None) -> dict[str, JsonValue]:
    return {
        "description": said.description or None,
        "features": list(said.features),
        "facts": dict(said.facts),
        "latitude": said.latitude,
        "longitude": said.longitude,
        "distance_km": distance_km,
    }
