"""Property cards written as the markdown a chatbot would answer with."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from webapp.importers.runs.prices import SMALLEST_IN_FULL
from webapp.records import Card

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
    """`title` with those characters escaped that markdown would take for its own."""
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
    """The detail lines, each behind its marker."""
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
