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
from functools import lru_cache
from typing import Any

from msgspec import Struct, field

from relevansi.importers.runs.links import find_bare_url, find_link, find_url, slug_and_source
from relevansi.importers.runs.prices import (
    NUMBER,
    content_of,
    read_note,
    read_number,
    read_price,
)
from relevansi.importers.runs.property_names import LISTS
from relevansi.kinds.property import Card, ListedText

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
# These are of lower-case text: patterns that ignore case take several times as long.
_ROOM = re.compile(rf"(?<![a-z])(?:{_BEDROOM}|{_BATHROOM})")
_COUNT = r"(?<![0-9.,+\u2013-])([0-9]{1,3})(?:\+[0-9]{1,2})? ?"
_COUNT_BEHIND = r" ?[:=]? ?([0-9]{1,3})(?![0-9.,]*[0-9\u2013-])"
_ROOMS = _BEDROOM, _BATHROOM
_NAMED_FIRST = [re.compile(rf"(?<![a-z]){room}{_COUNT_BEHIND}") for room in _ROOMS]
_COUNTED_FIRST = [re.compile(_COUNT + room) for room in _ROOMS]
_FLOORS = re.compile(rf"{_COUNT}(?:lantai|floors?)\b|\blantai ?: ?([0-9]{{1,3}})(?![0-9])")
_AREA = rf"(?![a-z])\.? ?[:=]? ?(?:±|\+/-)? ?({NUMBER})(?! ?(?:x|\u00d7|ha\b|hektar))"
_LAND = re.compile(rf"\b(?:lt|luas tanah|land area){_AREA}")
_BUILDING = re.compile(rf"\b(?:lb|luas bangunan|building area){_AREA}")
_BOTH_AREAS = re.compile(rf"\blt ?/ ?lb ?:? ?({NUMBER}) ?(?:m²|m2)? ?/ ?({NUMBER})")


def read_details(line: str) -> Fields | None:
    """Return the fields of a detail line, the first value of each; ``None`` if it is none."""
    line = line.replace("**", "")
    before, *marked = MARKER.split(line, _MOST_PARTS)
    pairs = zip(marked[::2], marked[1::2], strict=True)
    parts = [READERS[marker](text.strip(" |;")) for marker, text in pairs]
    reader = _unmarked_reader(before) if before else None
    if reader:
        parts.insert(0, reader(before))
    if not parts:
        return None
    return {name: value for fields in reversed(parts) for name, value in fields.items()}


def says_more(line: str) -> bool:
    """Whether a line of rooms and areas names something else too, as a carport.

    >>> says_more("🏠 3 KT, 2 KM, LT 90m²"), says_more("🏠 3 KT, carport 2 mobil")
    (False, True)
    """
    if not _FACTS_MARKER.search(line):
        return False
    words = _LONGER_WORD.findall(_CERTIFICATES.sub(" ", line))
    return not _FACT_WORDS.issuperset(map(str.casefold, words))


def read_badge(text: str) -> Fields:
    """Return the source of the property (resale, new project), and sale or rent where stated."""
    words = text.casefold()
    source = None
    if "resale" in words:
        source = "listing"
    elif "proyek" in words or re.search(r"\b(?:new|baru)\b", words):
        source = "project"
    return _filled_fields(source=source, listing_type=read_note(text))


def read_place(text: str) -> Fields:
    """Return the location as written, without a label before it."""
    place = _PLACE_LABEL.sub("", text, count=1) if _PLACE_LABEL.match(text) else text
    place = place.strip(" \\")
    return _filled_fields(location=None if _NOTHING.match(place) else content_of(place))


def read_price_line(text: str) -> Fields:
    """Return price or range, note and period; the note is also the listing type."""
    price = read_price(text)
    return _filled_fields(
        price=price.low,
        price_max=price.high,
        price_note=price.note,
        price_period=price.period,
        listing_type=price.note,
    )


def read_facts(text: str) -> Fields:
    """Return rooms, areas, floors and certificate, a number only where it is written as one."""
    certificate, text = _CERTIFICATES.search(text), text.lower()
    both = _BOTH_AREAS.search(text) if "/" in text else None
    floors = _FLOORS.search(text) if "lantai" in text or "floor" in text else None
    room = _ROOM.search(text)
    is_named_first = room and not text[: room.start()].rstrip()[-1:].isdigit()  # "KT 3, KM 2"
    rooms = _NAMED_FIRST if is_named_first else _COUNTED_FIRST
    bedrooms, bathrooms = [count.search(text) for count in rooms] if room else (None, None)
    return _filled_fields(
        bedrooms=int(bedrooms[1]) if bedrooms else None,
        bathrooms=int(bathrooms[1]) if bathrooms else None,
        floors=int(floors[1] or floors[2]) or None if floors else None,
        certificate=certificate[0] if certificate else None,
        land_area=_square_metres(both or _LAND.search(text)),
        building_area=_square_metres(both, 2) if both else _square_metres(_BUILDING.search(text)),
    )


def read_certificate(text: str) -> Fields:
    """Return the certificate behind its label, or the text if it names one that is usual."""
    label = _CERTIFICATE_LABEL.match(text)
    certificate = _CERTIFICATES.search(text)
    written = text[label.end() if label else 0 :].strip(" \\") if label or certificate else ""
    if certificate and len(written) > 60:
        written = certificate[0]
    return _filled_fields(certificate=None if _NOTHING.match(written) else content_of(written))


def read_link(text: str) -> Fields:
    """Return the address of the listing."""
    return _filled_fields(url=find_url(text))


READERS: dict[str, Callable[[str], Fields]] = {
    **dict.fromkeys("🔄🏗🆕🏷", read_badge),
    "📍": read_place,
    **dict.fromkeys("💰💵💲", read_price_line),
    **dict.fromkeys("🏠🏡🏘🛏🛌🚿🛁📐📏🏢", read_facts),
    **dict.fromkeys("📜📄📃📋", read_certificate),
    "🔗": read_link,
}
MARKER = re.compile(f"([{''.join(READERS)}])[\ufe0e\ufe0f]?")
"""A marker, with or without the selector that asks for its coloured form."""

_FACTS_MARKER = re.compile(
    f"[{''.join(mark for mark, reader in READERS.items() if reader is read_facts)}]"
)
_LONGER_WORD = re.compile(r"[^\W\d_]{3,}")
_FACT_WORDS = frozenset(LISTS["of_facts"])

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
    link, url = find_link(text), find_url(text)
    says_so = link and re.match(r"(?:lihat|detail|link)", link.label, re.IGNORECASE)
    return read_link if url and (says_so or _is_listing(url)) else None


def _is_listing(url: str) -> bool:
    _, source = slug_and_source(url)
    return source is not None


def _filled_fields(**fields: object) -> Fields:
    return {name: value for name, value in fields.items() if value not in (None, "")}


def _square_metres(match: re.Match[str] | None, group: int = 1) -> float | None:
    number = read_number(match[group]) if match else None
    return float(number) if number is not None and 0 < number <= LARGEST_AREA else None


_PERIODS = {"year": "tahun", "month": "bulan"}
_SOURCES = {"listing": "Resale", "project": "Proyek Baru"}
_LISTING_TYPES = {"sale": "Dijual", "rent": "Disewa"}


def render(cards: Iterable[Card], *, plain: bool = False) -> str:
    """Return the markdown list of `cards` in rank order; ``parse`` reads the same cards out of it.

    That holds for cards whose slug and source are those of their address, without a listing
    id and an image, which markdown does not carry. Where `plain`, titles are neither bold nor
    links, and a card that has nothing but a title is not read again.
    """
    lines = []
    for rank, card in enumerate(cards, 1):
        title = _escaped(card.title)
        if not plain:
            title = f"**[{title}]({card.url})**" if card.url else f"**{title}**"
        listing_type = None if card.listing_type == card.price_note else card.listing_type
        details = (
            ("🔄", _SOURCES.get(card.source or "")),
            ("🏷", _LISTING_TYPES.get(listing_type or "")),
            ("📍", card.location),
            ("💰", _price(card)),
            ("🏠", _facts(card)),
            ("📜", card.certificate),
            ("🔗", f"[Lihat Detail]({card.url})" if plain and card.url else None),
        )
        lines += [f"{rank}. {title}", *(f"   {mark} {text}" for mark, text in details if text), ""]
    return "\n".join(lines)


def _escaped(title: str) -> str:
    title = re.sub(r"([\\*_`])", r"\\\1", title)
    depth, is_balanced = 0, "](" not in title
    for bracket in re.findall(r"[\[\]]", title):
        depth += 1 if bracket == "[" else -1
        is_balanced = is_balanced and depth >= 0
    return title if is_balanced and depth == 0 else re.sub(r"([\[\]])", r"\\\1", title)


def _price(card: Card) -> str:
    if card.price is None and card.price_note is None:
        return ""
    amounts = [card.price or 0, *([] if card.price_max is None else [card.price_max])]
    text = " - ".join(f"Rp {rupiah:,}".replace(",", ".") for rupiah in amounts)
    text += f"/{_PERIODS[card.price_period]}" if card.price_period else ""
    return text + (f" ({card.price_note})" if card.price_note else "")


def _facts(card: Card) -> str:
    facts = (
        (card.bedrooms, f"{card.bedrooms} Kamar Tidur"),
        (card.bathrooms, f"{card.bathrooms} Kamar Mandi"),
        (card.land_area, f"LT {card.land_area}m²"),
        (card.building_area, f"LB {card.building_area}m²"),
        (card.floors, f"{card.floors} Lantai"),
    )
    return ", ".join(text for value, text in facts if value is not None)


_NUMBERED = re.compile(r"(?P<heading>#{1,6} ?)?(?P<bold>\*\*|__)?[0-9]{1,4}[.)](?: |(?=[*_\[])|$)")
# What most titles are, a bold link without any mark within: one step instead of the whole way.
_BOLD_LINK = re.compile(r"[0-9]{1,4}[.)] \*\*\[([^][()\\*_]*)\]\((https?://[^\s()<>]+)\)\*\*")
_NUMBERS = frozenset("#*_0123456789")
"""What a numbered line begins with."""
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
_LONGEST_CACHED = 200
"""Characters of a line that is read once, however often it comes."""
_LONGEST_LINE = 1000
"""Characters that are shown of each further line of a card; no answer has more."""


class _Line(Struct, frozen=True, gc=False):
    """One line: its indent, its words with single blanks, and the line as it was written.

    Of a line without a number, also its details, and whether it says more than these.
    """

    indent: int
    text: str
    source: str
    number: re.Match[str] | None = None
    details: Fields | None = None
    has_more: bool = False


class _Item(Struct, gc=False):
    """A numbered item with the lines below it.

    ``fits_alone``: its title makes it a card even without details. ``lines`` are the words on it
    that fill no field.
    """

    title: str
    indent: int
    fits_alone: bool
    details: list[Fields] = field(default_factory=list)  # of each line that has some
    is_heading: bool = False
    section: str = ""
    lines: list[str] = field(default_factory=list)
    source: list[str] = field(default_factory=list)

    def add_words(self, text: str) -> None:
        words = _unmarked(text)
        if words and len(self.lines) < _MOST_LINES:
            self.lines.append(words)

    @property
    def is_card(self) -> bool:
        has_name = self.title or any("url" in fields for fields in self.details)
        return bool(has_name and (self.details or self.fits_alone))

    def card(self) -> Card:
        fields: Fields = {}
        for of_line in reversed(self.details):  # the first value of each counts
            fields |= of_line
        url = fields.get("url") or ""
        fields["slug"], source = slug_and_source(url)
        fields.setdefault("source", source)
        return Card(**fields, title=self.title or fields["slug"] or url)


def parse(response: str) -> tuple[Card, ...]:
    """Return the cards of a chatbot's answer in rank order; any text is read without error."""
    return tuple([item.card() for item in _listed(response)])


def read(response: str) -> tuple[tuple[Card, ListedText], ...]:
    """Return the cards that ``parse`` returns, each with the answer's other words on it."""
    listed = _listed(response)
    return tuple((item.card(), ListedText(item.section, tuple(item.lines))) for item in listed)


def _listed(response: str) -> list[_Item]:
    return [part for part in _parts(response) if isinstance(part, _Item) and part.is_card]


def prose(response: str) -> tuple[str, str]:
    """Return the text of an answer that is no listing: before its first card, and after it."""
    before: list[str] = []
    after: list[str] = []
    texts, headings = before, list[str]()
    for part in _parts(response):
        if isinstance(part, _Item) and part.is_card:
            texts, headings = after, []
            continue
        for line in part.source if isinstance(part, _Item) else [part]:
            if line.lstrip().startswith("#"):
                headings.append(line)
            elif not _RULE.match(line):
                texts += [*headings, line]
                headings = []
    return "\n".join(before).strip(), "\n".join(after).strip()


def _parts(response: str) -> Iterator[_Item | str]:
    """Yield the items of an answer, and the lines between them as they were written."""
    item: _Item | None = None
    section = ""
    is_below_blank = False
    for line in _lines(response):
        if not line.text:
            is_below_blank = True
            continue
        new = _read_item(line, line.number) if line.number else None
        if new and (not item or new.is_card or line.indent < item.indent + 2):
            if item and (item.details or line.indent <= item.indent):
                yield item
            if item and item.is_heading and not item.is_card:
                section = item.title
            new.section = section
            item = new
        elif item and not _add_line(item, line, at_margin=is_below_blank and line.indent == 0):
            yield item
            item = None
        source = f"\n{line.source}" if is_below_blank else line.source
        if item:
            item.source.append(source)
        else:
            yield source
            if line.text.startswith("#"):
                section = _unmarked(line.text.lstrip("#"))
        is_below_blank = False
    if item:
        yield item


def _add_line(item: _Item, line: _Line, *, at_margin: bool) -> bool:
    """Add what a line says to the item above it, and return whether it belongs to that."""
    if line.text.startswith("#"):
        return False
    text, details, has_more = line.text, line.details, line.has_more
    if line.number:  # an item within the item
        text = line.text[line.number.end() :]
        details, has_more = _details_and_more(text)
    if details is None and at_margin:
        return False
    if details is not None:
        item.details.append(details)
    if has_more:
        item.add_words(text.lstrip(_BULLETS))
    return True


def _details_and_more(text: str) -> tuple[Fields | None, bool]:
    """Return the details that a text states, and whether it has other words."""
    details = read_details(text)
    return details, details is None or says_more(text)


def _lines(response: str) -> Iterator[_Line]:
    for source in response.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        # The lines of one listing come again wherever it is shown, and some are much the same.
        yield _line(source) if len(source) <= _LONGEST_CACHED else _line.__wrapped__(source)


@lru_cache(maxsize=20_000)
def _line(source: str) -> _Line:
    visible = source.lstrip(_INVISIBLE)
    text = " ".join(visible.split())
    if text.endswith("\\"):  # a line break in markdown
        text = text[:-1].rstrip()
    indent = len(visible) - len(visible.lstrip())
    number = _NUMBERED.match(text) if text[:1] in _NUMBERS else None
    if number:
        return _Line(indent, text, visible, number)
    return _Line(indent, text, visible, None, *_details_and_more(text.lstrip(_BULLETS)))


def _read_item(line: _Line, number: re.Match[str]) -> _Item | None:
    if link := _BOLD_LINK.fullmatch(line.text):
        details: list[Fields] = [{"url": link[2]}]
        return _Item(link[1].strip(), line.indent, fits_alone=False, details=details)
    text = (number["bold"] or "") + line.text[number.end() :].strip()
    decoration = _DECORATION.match(text)
    text = text[decoration.end() :] if decoration else text
    if MARKER.match(text):
        return None
    item, tail = _read_title(text, line.indent)
    if number["heading"]:
        item.fits_alone, item.is_heading = False, True
    tail = tail.strip(_SEPARATORS)
    if tail:
        fields, has_more = _details_and_more(tail)
        if fields is not None:
            item.details.append(fields)
        if has_more:
            item.add_words(tail)
    return item


def _read_title(text: str, indent: int) -> tuple[_Item, str]:
    body = text.lstrip("*_")
    link = find_link(body)
    if link and not link.before:
        item = _Item(_clean(link.label), indent, fits_alone=False, details=[{"url": link.url}])
        return item, link.after.lstrip("*_")
    bold = _BOLD.match(text)
    if bold:
        title, tail = bold["title"], text[bold.end() :]
        alone = not tail.strip(_SEPARATORS + "*_") and not title.rstrip().endswith(":")
        return _Item(_clean(title), indent, alone and ":" not in tail), tail
    link = find_link(text)
    marker = _BARE_TAIL.search(text)
    cut = min(len(link.before) if link else len(text), marker.start() if marker else len(text))
    if cut == len(text) or not (marker or (link and _is_listing(link.url)) or find_bare_url(text)):
        return _Item(_clean(text), indent, fits_alone=False), ""
    return _Item(_clean(text[:cut].rstrip(_SEPARATORS)), indent, fits_alone=False), text[cut:]


def _clean(title: str) -> str:
    title = title.strip()
    for mark in ("**", "__", "*", "_") if title[:1] in {"*", "_"} else ():
        inner = title[len(mark) : -len(mark)]
        if inner and title == mark + inner + mark and not inner.endswith("\\"):
            title = inner.strip()
    return _ESCAPED.sub(r"\1", title) if "\\" in title else title


def _unmarked(line: str) -> str:
    words = _LINK.sub(r"\1", line[:_LONGEST_LINE])
    return _ESCAPED.sub(r"\1", words.replace("**", "").replace("__", "")).strip(" *_")
