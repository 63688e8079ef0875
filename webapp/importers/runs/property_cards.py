"""Property cards read out of a chatbot's markdown, and written back into it.

What counts as a card: a numbered item (``1.`` or ``1)``) that has a link in its title or at
least one detail line (place, price, rooms, ...). A bold item that has neither is a card with
nothing but a title when the bold title is all there is on its line (``1. **Rumah Cemara**``);
with words behind it or a colon at its end it is a remark (``1. **Saran:** naikkan anggaran``).
A plain item without either is a remark, and so is a numbered heading. An item that only holds
deeper items is a heading over them; a remark listed inside an item leaves the item as it is.
Bulleted bold remarks are never cards.

An item ends at the next item, at a heading, and at words that start at the margin behind an
empty line. The rank of a card is its position in the whole answer, whatever number is printed.
The heading above a card and the lines of it that fill no field are read beside it. All other
text is the answer's prose.

The text is read line by line, each line once, by patterns that never go back over what they
have read, so the time taken grows with the length of the text and no faster.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from webapp.importers.runs.links import find_bare_url, find_link, find_url, slug_of, source_of
from webapp.importers.runs.prices import (
    NUMBER,
    SMALLEST_IN_FULL,
    read_note,
    read_number,
    read_price,
    said,
)
from webapp.records import Card, ListedText

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


_BILLION, _MILLION = 10**9, 10**6
_NOTES = {"sale": ("sale", "jual"), "rent": ("rent", "sewa")}
_PERIODS = {"year": "tahun", "month": "bulan"}
_SOURCES = {"listing": "Resale", "project": "Proyek Baru"}
_LISTING_TYPES = {"sale": "Dijual", "rent": "Disewa"}


class Style(Struct, frozen=True):
    """One chatbot's habits of writing cards.

    ``number_mark`` is "." or ")", ``bullet`` stands before each detail line, ``indent``
    before the bullet. ``thousands`` parts groups of digits ("." or ","); ``short_prices``
    writes 1,5 M and 800 jt where that is exact. ``section_size`` restarts the numbers under
    a heading after so many cards. ``selectors`` puts variation selectors behind markers.
    """

    bold: bool = True
    linked_titles: bool = True
    number_mark: str = "."
    bullet: str = ""
    indent: str = "   "
    thousands: str = "."
    short_prices: bool = False
    indonesian_notes: bool = False
    short_rooms: bool = False
    selectors: bool = False
    section_size: int | None = None


PLAIN = Style()


def render(cards: Iterable[Card], style: Style = PLAIN) -> str:
    """The markdown list of `cards` in rank order; ``parse`` reads the same cards out of it.

    That holds for cards whose slug and source are those of their address, without a listing
    id and an image, which markdown does not carry. A card that has nothing but a title needs
    a bold style.
    """
    return "\n".join(_blocks(cards, style))


def _blocks(cards: Iterable[Card], style: Style) -> Iterator[str]:
    for position, card in enumerate(cards):
        number = position + 1
        if style.section_size:
            section, within = divmod(position, style.section_size)
            number = within + 1
            if not within:
                yield f"### Bagian {section + 1}"
        yield f"{number}{style.number_mark} {_title(card, style)}"
        yield from (f"{style.indent}{style.bullet}{line}" for line in _details(card, style))
        yield ""


def _title(card: Card, style: Style) -> str:
    title = _escaped(card.title)
    if style.linked_titles and card.url:
        title = f"[{title}]({card.url})"
    return f"**{title}**" if style.bold else title


def _escaped(title: str) -> str:
    title = re.sub(r"([\\*_`])", r"\\\1", title)
    return title if _has_balanced_brackets(title) else re.sub(r"([\[\]])", r"\\\1", title)


def _has_balanced_brackets(title: str) -> bool:
    depth = 0
    for bracket in re.findall(r"[\[\]]", title):
        depth += 1 if bracket == "[" else -1
        if depth < 0:
            return False
    return depth == 0 and "](" not in title


def _details(card: Card, style: Style) -> Iterator[str]:
    for marker, text in _marked(card, style):
        if text:
            yield f"{marker}\ufe0f {text}" if style.selectors else f"{marker} {text}"


def _marked(card: Card, style: Style) -> Iterator[tuple[str, str]]:
    yield "🔄", _SOURCES.get(card.source or "", "")
    if card.listing_type != card.price_note:
        yield "🏷", _LISTING_TYPES.get(card.listing_type or "", "")
    yield "📍", card.location or ""
    yield "💰", _price(card, style)
    yield "🏠", _facts(card, style)
    yield "📜", card.certificate or ""
    yield "🔗", f"[Lihat Detail]({card.url})" if card.url and not style.linked_titles else ""


def _price(card: Card, style: Style) -> str:
    if card.price is None and card.price_note is None:
        return ""
    low, high = card.price or 0, card.price_max
    if high is not None and low < SMALLEST_IN_FULL:  # or it would be read in the unit of `high`
        style = replace(style, short_prices=False)
    text = " - ".join(_amount(amount, style) for amount in (low, high) if amount is not None)
    if card.price_period:
        text += f"/{_PERIODS[card.price_period]}"
    if card.price_note:
        text += f" ({_NOTES[card.price_note][style.indonesian_notes]})"
    return text


def _amount(rupiah: int, style: Style) -> str:
    if style.short_prices and rupiah and rupiah % (_BILLION // 10) == 0 and rupiah >= _BILLION:
        whole, tenth = divmod(rupiah // (_BILLION // 10), 10)
        return f"Rp {whole}{',' if style.thousands == '.' else '.'}{tenth} M"
    if style.short_prices and rupiah and rupiah % _MILLION == 0 and rupiah < _BILLION:
        return f"Rp {rupiah // _MILLION} jt"
    return "Rp " + f"{rupiah:,}".replace(",", style.thousands)


def _facts(card: Card, style: Style) -> str:
    bedroom, bathroom = ("KT", "KM") if style.short_rooms else ("Kamar Tidur", "Kamar Mandi")
    facts = (
        (card.bedrooms, f"{card.bedrooms} {bedroom}"),
        (card.bathrooms, f"{card.bathrooms} {bathroom}"),
        (card.land_area, f"LT {card.land_area}m²"),
        (card.building_area, f"LB {card.building_area}m²"),
        (card.floors, f"{card.floors} Lantai"),
    )
    return ", ".join(text for value, text in facts if value is not None)


__all__ = ["Style", "parse", "prose", "read", "render"]

_NUMBERED = re.compile(r"(?P<heading>#{1,6} ?)?(?P<bold>\*\*|__)?[0-9]{1,4}[.)](?: |(?=[*_\[])|$)")
_DECORATION = re.compile(r"[^\w\s*\[\\(\"'\u201c]{1,8} ?(?=\*\*|\[)")
_BOLD = re.compile(r"(\*\*|__)(?P<title>(?:\\.|(?!\1)[^\\])*+)\1")
_BARE_TAIL = re.compile(rf"{MARKER.pattern}|https?://", re.IGNORECASE)
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_INVISIBLE = "\ufeff\u200b\u200e\u200f\u2060"
_BULLETS = "-*+\u2022\u2013> "
_SEPARATORS = " -\u2013\u2014:|,;\u00b7\u2022"
_LINK = re.compile(r"\[([^\[\]]{0,300})\]\([^()\s]{0,500}\)")
_MOST_LINES = 40
_RULE = re.compile(r"[-*_=\s]*$")
_LONGEST_LINE = 1000
"""Characters that are kept of each other line of a card; no answer has more."""


class _Item(Struct):
    title: str
    indent: int
    stands_alone: bool
    fields: Fields = field(default_factory=dict)
    detailed: bool = False
    is_heading: bool = False
    section: str = ""
    lines: list[str] = field(default_factory=list)
    source: list[str] = field(default_factory=list)

    def keep(self, line: str) -> None:
        """Add a line, or the rest of one, that fills no field."""
        text = _unmarked(line)
        if text and len(self.lines) < _MOST_LINES:
            self.lines.append(text)

    def add(self, fields: Fields) -> None:
        """Add the fields of a detail line; a field that has a value keeps it."""
        self.detailed = True
        self.fields = fields | self.fields

    @property
    def speaks_for_itself(self) -> bool:
        """Whether the lines read so far already make it a card."""
        return (self.detailed or self.stands_alone) and bool(self.title or "url" in self.fields)

    def card(self) -> Card:
        url = self.fields.get("url")
        slug = slug_of(url) if url else None
        known: Fields = {"slug": slug, "source": source_of(url) if url else None}
        known |= self.fields
        return Card(title=self.title or slug or url or "", **known)

    def text(self) -> ListedText:
        """The text around the card: the heading above it and its other lines."""
        return ListedText(self.section, tuple(self.lines))


def parse(response: str) -> tuple[Card, ...]:
    """The property cards of a chatbot's answer in rank order (see the module's rules).

    Any text at all is read without error; one without cards gives an empty tuple.
    """
    return tuple(card for card, _ in read(response))


def read(response: str) -> tuple[tuple[Card, ListedText], ...]:
    """The cards that ``parse`` finds, each with the answer's other words on it."""
    found = (item for item in _items(response) if item.speaks_for_itself)
    return tuple((item.card(), item.text()) for item in found)


def prose(response: str) -> tuple[str, str]:
    """The text of an answer that is no listing: before its first card, and after it.

    Headings over cards are not in it, and neither are lines drawn between them.
    """
    before: list[str] = []
    after: list[str] = []
    texts, headings = before, list[str]()
    for part in _parts(response):
        if isinstance(part, _Item) and part.speaks_for_itself:
            texts, headings = after, []
            continue
        for line in part.source if isinstance(part, _Item) else [part]:
            if line.lstrip().startswith("#"):
                headings.append(line)
            elif not _RULE.match(line):
                texts += [*headings, line]
                headings = []
    return "\n".join(before).strip(), "\n".join(after).strip()


def _items(response: str) -> Iterator[_Item]:
    return (part for part in _parts(response) if isinstance(part, _Item))


def _parts(response: str) -> Iterator[_Item | str]:
    item: _Item | None = None
    section = ""
    for indent, line, source in _lines(response):
        new = _read_item(line, indent)
        if new and (not item or new.speaks_for_itself or indent < item.indent + 2):
            if item and (item.detailed or indent <= item.indent):
                yield item
            if item and item.is_heading and not item.speaks_for_itself:
                section = item.title
            new.section = section
            item = new
        elif item and (ended := _ends(item, line, at_margin=source[0] == "\n" and indent == 0)):
            yield ended
            item = None
        if item:
            item.source.append(source)
        else:
            yield source
            if line.startswith("#"):
                section = _unmarked(line.lstrip("#"))
    if item:
        yield item


def _ends(item: _Item, line: str, *, at_margin: bool) -> _Item | None:
    if line.startswith("#"):
        return item
    text = _unlisted(line)
    details = read_details(text)
    if details is None and at_margin:
        return item
    if details is not None:
        item.add(details)
    if details is None or says_more(text):
        item.keep(text)
    return None


def _lines(response: str) -> Iterator[tuple[int, str, str]]:
    blank = ""
    for line in response.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        visible = line.lstrip(_INVISIBLE)
        text = " ".join(visible.split()).removesuffix("\\").rstrip()
        if text:
            yield len(visible) - len(visible.lstrip()), text, blank + visible
        blank = "" if text else "\n"


def _unlisted(line: str) -> str:
    number = _NUMBERED.match(line)
    return line[number.end() :] if number else line.lstrip(_BULLETS)


def _read_item(line: str, indent: int) -> _Item | None:
    number = _NUMBERED.match(line)
    if number is None:
        return None
    text = (number["bold"] or "") + line[number.end() :].strip()
    decoration = _DECORATION.match(text)
    text = text[decoration.end() :] if decoration else text
    if MARKER.match(text):
        return None
    item, tail = _read_title(text, indent)
    if number["heading"]:
        item.stands_alone, item.is_heading = False, True
    tail = tail.strip(_SEPARATORS)
    tail_details = read_details(tail) if tail else None
    if tail_details is not None:
        item.add(tail_details)
    if tail and (tail_details is None or says_more(tail)):
        item.keep(tail)
    return item


def _read_title(text: str, indent: int) -> tuple[_Item, str]:
    body = text.lstrip("*_")
    link = find_link(body)
    if link and not link.before:
        item = _Item(_clean(link.label), indent, stands_alone=False)
        item.add({"url": link.url})
        return item, link.after.lstrip("*_")
    bold = _BOLD.match(text)
    if bold:
        title, tail = bold["title"], text[bold.end() :]
        alone = not tail.strip(_SEPARATORS + "*_") and not title.rstrip().endswith(":")
        return _Item(_clean(title), indent, alone and ":" not in tail), tail
    title, tail = _split_plain(text)
    return _Item(_clean(title), indent, stands_alone=False), tail


def _split_plain(text: str) -> tuple[str, str]:
    link = find_link(text)
    marker = _BARE_TAIL.search(text)
    cut = min(len(link.before) if link else len(text), marker.start() if marker else len(text))
    if cut == len(text) or not (marker or (link and source_of(link.url)) or find_bare_url(text)):
        return text, ""
    return text[:cut].rstrip(_SEPARATORS), text[cut:]


def _clean(title: str) -> str:
    title = title.strip()
    for mark in ("**", "__", "*", "_"):
        inner = title[len(mark) : -len(mark)]
        if inner and title == mark + inner + mark and not inner.endswith("\\"):
            title = inner.strip()
    return _ESCAPED.sub(r"\1", title)


def _unmarked(line: str) -> str:
    words = _LINK.sub(r"\1", line[:_LONGEST_LINE])
    return _ESCAPED.sub(r"\1", words.replace("**", "").replace("__", "")).strip(" *_")
