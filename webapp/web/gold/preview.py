"""The listings of a run that satisfy a gold question, named and drawn on a map."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from webapp.i18n import gettext
from webapp.importers.gold.gold_questions import KnownPlace
from webapp.metrics.gold.constraints import GoldQuestion
from webapp.metrics.gold.registry import CONSTRAINT_LABELS
from webapp.services.gold.gold import Match
from webapp.web.frame.formatting import number
from webapp.web.gold import constraint_words
from webapp.web.gold import map as gold_map
from webapp.web.gold.constraint_words import ConstraintInWords
from webapp.web.gold.map import SIZE, Frame

LISTED = 60
"""Listings that a preview names; the others are counted."""


class Dot(Struct, frozen=True):
    """A point on the map: where it is drawn, its name, and whether it satisfies."""

    x: str
    y: str
    name: str
    satisfies: bool = False


class Map(Struct, frozen=True):
    """The drawn map; ``circle`` is the point that is asked for, with its radius in pixels."""

    frame: Frame
    size: int
    side: str
    listings: tuple[Dot, ...]
    places: tuple[Dot, ...]
    circle: tuple[str, str, str] | None


class PreviewLine(Struct, frozen=True):
    """A listing that satisfies: how it is named, and whether the run gave it to this question."""

    name: str
    location: str
    price: str
    answered: bool


class Preview(Struct, frozen=True):
    """Which listings of a run satisfy a question, and why the others do not."""

    rules: tuple[ConstraintInWords, ...]
    n_listings: int
    n_satisfying: int
    n_answered: int
    lines: tuple[PreviewLine, ...]
    failing: Mapping[str, int]
    map: Map | None


def preview_of(
    question: GoldQuestion, matches: tuple[Match, ...], places: tuple[KnownPlace, ...]
) -> Preview:
    """Return which of the matched listings satisfy a question, and why the others do not."""
    fitting = [match for match in matches if match.satisfies]
    answered = [match for match in fitting if question.query_id in match.listing.queries]
    failing: dict[str, int] = {}
    for match in matches:
        for check in match.checks:
            if check.outcome in {"fail", "missing"}:
                label = gettext(CONSTRAINT_LABELS[check.constraint])
                failing[label] = failing.get(label, 0) + 1
    return Preview(
        rules=constraint_words.asked(question.constraints),
        n_listings=len(matches),
        n_satisfying=len(fitting),
        n_answered=len(answered),
        lines=tuple(_preview_line(question, match) for match in fitting[:LISTED]),
        failing=failing,
        map=_map(question, matches, places),
    )


def _preview_line(question: GoldQuestion, match: Match) -> PreviewLine:
    facts = match.listing.facts
    return PreviewLine(
        name=facts.name,
        location=facts.location or facts.address,
        price="" if facts.price is None else constraint_words.amount("price", facts.price),
        answered=question.query_id in match.listing.queries,
    )


def _map(
    question: GoldQuestion, matches: tuple[Match, ...], places: tuple[KnownPlace, ...]
) -> Map | None:
    asked = question.constraints.location
    circle = None
    if asked is not None and asked.latitude is not None and asked.longitude is not None:
        circle = ((asked.latitude, asked.longitude), asked.radius_km)
    placed = [
        (match.listing.facts.latitude, match.listing.facts.longitude, match)
        for match in matches
        if match.listing.facts.latitude is not None and match.listing.facts.longitude is not None
    ]
    around = [(latitude, longitude) for latitude, longitude, _ in placed]
    around += [(place.latitude, place.longitude) for place in places]
    frame = gold_map.frame_around(around, circle)
    if frame is None:
        return None
    return Map(
        frame=frame,
        size=SIZE,
        side=number(round(frame.side_km, 1)),
        listings=tuple(
            _dot(frame, lat, lng, match.listing.facts.name, satisfies=match.satisfies)
            for lat, lng, match in placed
        ),
        places=tuple(_dot(frame, one.latitude, one.longitude, one.name) for one in places),
        circle=None if circle is None else _circle(frame, *circle),
    )


def _dot(
    frame: Frame, latitude: float, longitude: float, name: str, *, satisfies: bool = False
) -> Dot:
    x, y = frame.pixels(latitude, longitude)
    return Dot(f"{x:.1f}", f"{y:.1f}", name, satisfies)


def _circle(frame: Frame, point: tuple[float, float], radius_km: float) -> tuple[str, str, str]:
    x, y = frame.pixels(*point)
    return f"{x:.1f}", f"{y:.1f}", f"{frame.length(radius_km):.1f}"
