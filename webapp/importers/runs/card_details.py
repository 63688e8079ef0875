"""The detail lines of a property card: a marker, and the values in the text behind it.

Every reader takes text with single blanks and gives back the `Card` fields it found. Most
lines carry an emoji marker; the same words without one are read too at the start of the
line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from webapp.importers.runs.blanks import said
from webapp.importers.runs.links import find_link, find_url, source_of
from webapp.importers.runs.prices import read_note, read_price
from webapp.importers.runs.written_numbers import NUMBER, read_number

Fields = dict[str, Any]
"""`Card` field name to value; a field without a value is absent."""

LARGEST_AREA = 10**9
"""Square metres."""

_MOST_PARTS = 20
"""Markers on one line that are read one by one; no card has more."""

_CERTIFICATES = re.compile(
    r"\b(?:SHM(?:SRS)?|SHGB|HGB|HGU|AJB|PPJB|SKT|SK Camat|Girik|Strata Title"
    r"|Hak Milik|Hak Guna Bangunan|Hak Pakai)\b"
)
_CERTIFICATE_LABEL = re.compile(
    r"(?:sertifikat|legalitas|certificate) ?(?:: ?|(?=SHM|SHGB|HG|AJB|PPJB|SK))", re.IGNORECASE
)
_PLACE_LABEL = re.compile(r"(?:lokasi|alamat|location|address) ?: ?", re.IGNORECASE)
_NOTHING = re.compile(
    r"[-\u2013\u2014. ]*$|n/?a$"
    r"|\(?(?:[a-z]{1,15} ){0,3}(?:tidak|belum) (?:tersedia|disebutkan|diketahui|ada)[.)]*$",
    re.IGNORECASE,
)
_BEDROOM = r"(?:kamar tidur|kt|bedrooms?|br)(?![a-z])"
_BATHROOM = r"(?:kamar mandi|km|bathrooms?|ba)(?![a-z])"
_ROOM = re.compile(rf"(?<![a-z])(?:{_BEDROOM}|{_BATHROOM})", re.IGNORECASE)
_COUNT = r"(?<![0-9.,+\u2013-])([0-9]{1,3})(?:\+[0-9]{1,2})? ?"
_COUNT_BEHIND = r" ?[:=]? ?([0-9]{1,3})(?![0-9.,]*[0-9\u2013-])"
_FLOORS = re.compile(
    rf"{_COUNT}(?:lantai|floors?)\b|\blantai ?: ?([0-9]{{1,3}})(?![0-9])", re.IGNORECASE
)
_AREA = rf"(?![a-z])\.? ?[:=]? ?(?:±|\+/-)? ?({NUMBER})(?! ?(?:x|\u00d7|ha\b|hektar))"
_LAND = re.compile(rf"\b(?:lt|luas tanah|land area){_AREA}", re.IGNORECASE)
_BUILDING = re.compile(rf"\b(?:lb|luas bangunan|building area){_AREA}", re.IGNORECASE)
_BOTH_AREAS = re.compile(rf"\blt ?/ ?lb ?:? ?({NUMBER}) ?(?:m²|m2)? ?/ ?({NUMBER})", re.IGNORECASE)


def read_details(line: str) -> Fields | None:
    """The fields of a detail line; empty if it states none, ``None`` if it is not a detail line.

    Several markers on one line each begin their own part; the first value of a field is kept.
    """
    line = line.replace("**", "")
    before, *marked = MARKER.split(line, _MOST_PARTS)
    found = [READERS[marker](text.strip(" |;")) for marker, text in _pairs(marked)]
    reader = _unmarked_reader(before)
    if reader:
        found.insert(0, reader(before))
    if not found:
        return None
    return {name: value for fields in reversed(found) for name, value in fields.items()}


def says_more(line: str) -> bool:
    """Whether a line of rooms and areas names something else too, as a carport.

    >>> says_more("🏠 3 KT, 2 KM, LT 90m²"), says_more("🏠 3 KT, carport 2 mobil")
    (False, True)
    """
    if not _FACTS_MARKER.search(line):
        return False
    rest = _CERTIFICATES.sub(" ", line)
    return any(word.casefold() not in _FACT_WORDS for word in _LONGER_WORD.findall(rest))


def read_badge(text: str) -> Fields:
    """The source of the property (resale, new project), and sale or rent where stated."""
    words = text.casefold()
    source = None
    if "resale" in words:
        source = "listing"
    elif "proyek" in words or re.search(r"\b(?:new|baru)\b", words):
        source = "project"
    return _said(source=source, listing_type=read_note(text))


def read_place(text: str) -> Fields:
    """The location as written, without a label before it."""
    place = _PLACE_LABEL.sub("", text, count=1) if _PLACE_LABEL.match(text) else text
    place = place.strip(" \\")
    return _said(location=None if _NOTHING.match(place) else said(place))


def read_price_line(text: str) -> Fields:
    """Price or range, note and period; the note is also the listing type."""
    price = read_price(text)
    return _said(
        price=price.low,
        price_max=price.high,
        price_note=price.note,
        price_period=price.period,
        listing_type=price.note,
    )


def read_facts(text: str) -> Fields:
    """Rooms, areas, floors and certificate, each only where it is written as one number."""
    named_first = _names_come_first(text)
    certificate = _CERTIFICATES.search(text)
    return _said(
        bedrooms=_rooms(text, _BEDROOM, named_first=named_first),
        bathrooms=_rooms(text, _BATHROOM, named_first=named_first),
        floors=_floors(text),
        certificate=certificate[0] if certificate else None,
        **_areas(text),
    )


def read_certificate(text: str) -> Fields:
    """The certificate behind its label, or a text that names one that is known."""
    label = _CERTIFICATE_LABEL.match(text)
    known = _CERTIFICATES.search(text)
    written = text[label.end() :].strip(" \\") if label else text.strip(" \\") if known else ""
    if known and len(written) > 60:
        written = known[0]
    return _said(certificate=None if _NOTHING.match(written) else said(written))


def read_link(text: str) -> Fields:
    """The address of the listing."""
    return _said(url=find_url(text))


READERS: dict[str, Callable[[str], Fields]] = {
    **dict.fromkeys("🔄🏗🆕🏷", read_badge),
    "📍": read_place,
    **dict.fromkeys("💰💵💲", read_price_line),
    **dict.fromkeys("🏠🏡🏘🛏🛌🚿🛁📐📏🏢", read_facts),
    **dict.fromkeys("📜📄📃📋", read_certificate),
    "🔗": read_link,
}
"""The reader of the text behind each marker."""

MARKER = re.compile(f"([{''.join(READERS)}])[\ufe0e\ufe0f]?")
"""A marker, with or without the selector that asks for its coloured form."""

_FACTS_MARKER = re.compile(
    f"[{''.join(mark for mark, reader in READERS.items() if reader is read_facts)}]"
)
_LONGER_WORD = re.compile(r"[^\W\d_]{3,}")
_FACT_WORDS = frozenset(
    (
        *("kamar", "tidur", "mandi", "bedroom", "bedrooms", "bathroom", "bathrooms", "bed", "bath"),
        *("luas", "tanah", "bangunan", "land", "area", "building", "lantai", "floor", "floors"),
        *("sertifikat", "certificate", "meter", "persegi", "sqm", "unit", "rumah", "dan", "and"),
        *("tidak", "belum", "tersedia", "disebutkan", "diketahui", "ada"),
        *("informasi", "detail", "ukuran"),
    )
)
"""Words in which rooms, areas and floors are written, or that they are unknown."""

_UNMARKED: tuple[tuple[re.Pattern[str], Callable[[str], Fields]], ...] = (
    (re.compile(r"(?:harga|price) ?:|(?:rp\.?|idr) ?[0-9]", re.IGNORECASE), read_price_line),
    (_PLACE_LABEL, read_place),
    (_CERTIFICATE_LABEL, read_certificate),
    (re.compile(rf"(?:{_CERTIFICATES.pattern})$"), read_certificate),
    (re.compile(rf"{_COUNT}(?:{_BEDROOM}|{_BATHROOM}|lantai\b)", re.IGNORECASE), read_facts),
    (re.compile(rf"(?:{_BEDROOM}|{_BATHROOM}|lantai)(?: ?:)? ?[0-9]", re.IGNORECASE), read_facts),
    (
        re.compile(r"(?:lt|lb|luas tanah|luas bangunan)(?![a-z]) ?[:/=]? ?", re.IGNORECASE),
        read_facts,
    ),
    (re.compile(r"(?:resale|proyek baru|dijual|disewa|disewakan)$", re.IGNORECASE), read_badge),
)


def _unmarked_reader(text: str) -> Callable[[str], Fields] | None:
    for pattern, reader in _UNMARKED:
        if pattern.match(text):
            return reader
    return read_link if _leads_to_a_listing(text) else None


def _leads_to_a_listing(text: str) -> bool:
    url = find_url(text)
    if url is None:
        return False
    link = find_link(text)
    says_so = link is not None and re.match(r"(?:lihat|detail|link)", link.label, re.IGNORECASE)
    return bool(says_so) or source_of(url) is not None


def _pairs(marked: list[str]) -> Iterator[tuple[str, str]]:
    return zip(marked[::2], marked[1::2], strict=True)


def _said(**fields: object) -> Fields:
    return {name: value for name, value in fields.items() if value not in (None, "")}


def _names_come_first(text: str) -> bool:
    """Whether rooms are written "KT 3, KM 2" rather than "3 KT, 2 KM"."""
    room = _ROOM.search(text)
    return room is not None and not text[: room.start()].rstrip()[-1:].isdigit()


def _rooms(text: str, name: str, *, named_first: bool) -> int | None:
    pattern = rf"(?<![a-z]){name}{_COUNT_BEHIND}" if named_first else _COUNT + name
    found = re.search(pattern, text, re.IGNORECASE)
    return int(found[1]) if found else None


def _floors(text: str) -> int | None:
    found = _FLOORS.search(text)
    return int(found[1] or found[2]) or None if found else None


def _areas(text: str) -> Fields:
    both = _BOTH_AREAS.search(text)
    land, building = (both[1], both[2]) if both else (_first(_LAND, text), _first(_BUILDING, text))
    return {"land_area": _square_metres(land), "building_area": _square_metres(building)}


def _first(pattern: re.Pattern[str], text: str) -> str | None:
    found = pattern.search(text)
    return found[1] if found else None


def _square_metres(written: str | None) -> float | None:
    number = read_number(written) if written else None
    return float(number) if number is not None and 0 < number <= LARGEST_AREA else None
