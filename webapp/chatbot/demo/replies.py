"""The replies of the demo chatbot: Indonesian markdown around the listings it shows."""

from __future__ import annotations

from webapp.chatbot.demo.conversations import ConversationTurn, Group
from webapp.chatbot.demo.listings import MILLION, DemoListing
from webapp.chatbot.demo.understanding import Understanding

INTROS = (
    "Berikut adalah beberapa {subject}:",
    "Saya menemukan {count} {subject}:",
    "Tentu! Ini pilihan {subject} yang bisa saya temukan:",
)
OUTROS = (
    "Jika Anda ingin melihat pilihan lain, silakan beri tahu saya!",
    "Apakah ada yang menarik perhatian Anda? Saya siap membantu mencari yang lebih sesuai.",
    "Silakan klik tautan untuk melihat informasi lengkap setiap properti.",
)
SCARCE = "Sayangnya, tidak ada hasil lain yang memenuhi semua kriteria Anda."
EMPTY = (
    "Saat ini, tidak ada {subject} yang tersedia.\n\n"
    "Jika Anda mau, saya bisa mencari di area yang lebih luas atau dengan kriteria lain."
)
UNFIT = (
    "Maaf, saat ini tidak ada {subject} yang sesuai persis. "
    "Namun, ini beberapa properti lain yang mungkin Anda pertimbangkan:"
)
NOT_UNDERSTOOD = (
    "Maaf, saya belum memahami properti apa yang Anda cari. Sebutkan misalnya jenis, lokasi "
    "dan harganya, seperti: rumah dijual di daerah Ringroad di bawah 1 M."
)
NOUNS = {
    "house": "rumah",
    "shophouse": "ruko",
    "land": "tanah",
    "warehouse": "gudang",
    "apartment": "apartemen",
}
_FEW = 3


def write(turn: ConversationTurn) -> str:
    """The chatbot's whole answer to one turn."""
    if not turn.groups:
        understood = turn.wanted != Understanding()
        return EMPTY.format(subject=subject(turn)) if understood else NOT_UNDERSTOOD
    groups = (_group(turn, group) for group in turn.groups)
    return "\n\n".join((_intro(turn), *groups, _outro(turn)))


def subject(turn: ConversationTurn) -> str:
    """The search as the chatbot describes it, in the words of the filter it understood."""
    wanted = turn.wanted
    noun = NOUNS.get(wanted.property_type or "", "properti")
    parts = (
        f"{noun} lain" if turn.is_more else noun,
        f"{wanted.bedrooms} kamar" if wanted.bedrooms else "",
        f"{wanted.floors} lantai" if wanted.floors else "",
        {"sale": "yang dijual", "rent": "yang disewakan"}.get(wanted.listing_type or "", ""),
        _where(wanted),
        f"dengan fasilitas {', '.join(wanted.facilities)}" if wanted.facilities else "",
        _for_how_much(wanted),
    )
    return " ".join(part for part in parts if part)


def rupiah(amount: int) -> str:
    """The full amount with points.

    >>> rupiah(1_670_000_000)
    'Rp 1.670.000.000'
    """
    return f"Rp {amount:,}".replace(",", ".")


def spoken(amount: int) -> str:
    """The amount as people say it.

    >>> spoken(800_000_000), spoken(1_500_000_000)
    ('800 juta', '1,5 M')
    """
    unit, name = (1000 * MILLION, "M") if amount >= 1000 * MILLION else (MILLION, "juta")
    return f"{amount / unit:g} {name}".replace(".", ",")


def is_listed(turn: ConversationTurn, listing: DemoListing) -> bool:
    """Whether the card comes in the list style, with a short place."""
    wanted = turn.wanted
    by_description = turn.method == "vector_only" or wanted.kind or wanted.facilities
    return bool(by_description) or listing.source == "project"


def _where(wanted: Understanding) -> str:
    if wanted.kind:
        return f"di dekat {wanted.kind}"
    place = wanted.place or wanted.elsewhere
    if not place:
        return ""
    name = place.upper() if len(place) <= _FEW else place.title()
    return f"di dekat {name}" if wanted.near else f"di daerah {name}"


def _for_how_much(wanted: Understanding) -> str:
    low, high = wanted.min_price, wanted.max_price
    if low and high:
        return f"dengan harga {spoken(low)} sampai {spoken(high)}"
    if high:
        return f"dengan harga di bawah {spoken(high)}"
    return f"dengan harga di atas {spoken(low)}" if low else ""


def _intro(turn: ConversationTurn) -> str:
    if turn.nothing_fits:
        return UNFIT.format(subject=subject(turn))
    pattern = INTROS[turn.number % len(INTROS)]
    return pattern.format(subject=subject(turn), count=len(turn.listings))


def _outro(turn: ConversationTurn) -> str:
    outro = OUTROS[turn.number // 2 % len(OUTROS)]
    return f"{SCARCE} {outro}" if len(turn.listings) <= _FEW else outro


def _group(turn: ConversationTurn, group: Group) -> str:
    cards = [
        _card(turn, position, listing) for position, listing in enumerate(group.listings, start=1)
    ]
    body = "\n\n".join(cards)
    return f"### {group.heading}\n{body}" if group.heading else body


def _card(turn: ConversationTurn, position: int, listing: DemoListing) -> str:
    if is_listed(turn, listing):
        return _listed_card(position, listing, linked_title=turn.method != "vector_only")
    return _inline_card(position, listing)


def _inline_card(position: int, listing: DemoListing) -> str:
    """A title that links, then one line each for place, price and sizes, broken by blanks."""
    indent = " " * len(f"{position}. ")
    rent = "" if listing.listing_type == "sale" else f" {_rent_words(listing)}"
    return (
        f"{position}. **[{listing.title}]({listing.url})**  \n"
        f"{indent}📍 {listing.location}  \n"
        f"{indent}💰 {rupiah(listing.price)}{rent}  \n"
        f"{indent}🏠 {_sizes(listing, '')}"
    )


def _rent_words(listing: DemoListing) -> str:
    return "per tahun" if listing.property_type == "house" else "(sewa)"


def _listed_card(position: int, listing: DemoListing, *, linked_title: bool) -> str:
    """The list style: kind of offer, short place, price with (sale) or (rent), sizes."""
    title = f"[{listing.title}]({listing.url})" if linked_title else listing.title
    details = [
        "🔄 Proyek Baru" if listing.source == "project" else "🔄 Resale",
        f"📍 {listing.short_location}",
        f"💰 {_listed_price(listing)}",
        f"🏠 {_sizes(listing, '.0')}",
    ]
    if not linked_title:
        details.append(f"🔗 [Lihat Detail]({listing.url})")
    return "\n".join([f"{position}. **{title}**", *(f"   - {detail}" for detail in details)])


def _listed_price(listing: DemoListing) -> str:
    if listing.price_max:
        return f"{rupiah(listing.price)} - {rupiah(listing.price_max)}"
    return f"{rupiah(listing.price)} ({listing.listing_type})"


def _sizes(listing: DemoListing, decimals: str) -> str:
    parts = (
        (listing.bedrooms, "{} Kamar Tidur"),
        (listing.bathrooms, "{} Kamar Mandi"),
        (listing.land_area, "LT {}" + decimals + "m²"),
        (listing.building_area, "LB {}" + decimals + "m²"),
    )
    known = [pattern.format(value) for value, pattern in parts if value]
    return ", ".join(known) or "(Detail ukuran tidak tersedia)"
