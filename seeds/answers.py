"""What the chatbot wrote: Indonesian markdown around the listings it shows."""  # noqa: INP001 (a script's neighbour, no package)

from __future__ import annotations

from listings import Listing
from questions import SUBJECTS
from sessions import Group, Turn

LISTED = range(19, 28)  # the questions answered with "- 🔄 Resale" lists

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
APOLOGY = "Maaf, terjadi kesalahan saat memproses permintaan Anda. Silakan coba lagi nanti."


def write_answer(method: str, turn: Turn) -> str:
    """The chatbot's whole answer to one turn, as the run files hold it."""
    if turn.error:
        return APOLOGY
    subject = SUBJECTS[turn.question.id]
    if not turn.groups:
        return EMPTY.format(subject=subject)
    groups = (_group(method, turn.question.id, group) for group in turn.groups)
    return "\n\n".join((_intro(turn, subject), *groups, _outro(turn)))


def _intro(turn: Turn, subject: str) -> str:
    if turn.nothing_fits:
        return UNFIT.format(subject=subject)
    pattern = INTROS[turn.question.id % len(INTROS)]
    return pattern.format(subject=subject, count=len(turn.listings))


def _outro(turn: Turn) -> str:
    outro = OUTROS[turn.question.id // 2 % len(OUTROS)]
    return f"{SCARCE} {outro}" if len(turn.listings) <= 3 else outro


def _group(method: str, question_id: int, group: Group) -> str:
    cards = [
        _card(method, question_id, position, listing)
        for position, listing in enumerate(group.listings, start=1)
    ]
    body = "\n\n".join(cards)
    return f"### {group.heading}\n{body}" if group.heading else body


def _card(method: str, question_id: int, position: int, listing: Listing) -> str:
    if _is_listed(method, question_id, listing):
        return _listed_card(position, listing, linked_title=method != "vector_only")
    return _inline_card(position, listing)


def _inline_card(position: int, listing: Listing) -> str:
    """A title that links, then one line each for place, price and sizes, broken by blanks."""
    indent = " " * len(f"{position}. ")
    rent = "" if listing.listing_type == "sale" else f" {_rent_words(listing)}"
    return (
        f"{position}. **[{listing.title}]({listing.url})**  \n"
        f"{indent}📍 {listing.location}  \n"
        f"{indent}💰 {rupiah(listing.price)}{rent}  \n"
        f"{indent}🏠 {_sizes(listing, '')}"
    )


def _rent_words(listing: Listing) -> str:
    return "per tahun" if listing.property_type == "house" else "(sewa)"


def _listed_card(position: int, listing: Listing, *, linked_title: bool) -> str:
    """The list style: kind of offer, short place, price with (sale) or (rent), sizes."""
    title = f"[{listing.title}]({listing.url})" if linked_title else listing.title
    details = [
        "🔄 Proyek Baru" if listing.source == "project" else "🔄 Resale",
        f"📍 {short_location(listing)}",
        f"💰 {_listed_price(listing)}",
        f"🏠 {_sizes(listing, '.0')}",
    ]
    if not linked_title:
        details.append(f"🔗 [Lihat Detail]({listing.url})")
    return "\n".join([f"{position}. **{title}**", *(f"   - {detail}" for detail in details)])


def _listed_price(listing: Listing) -> str:
    if listing.price_max:
        return f"{rupiah(listing.price)} - {rupiah(listing.price_max)}"
    return f"{rupiah(listing.price)} ({listing.listing_type})"


def short_location(listing: Listing) -> str:
    """The place without street and complex, as the list style gives it."""
    return f"Kel. {listing.village}, Kec. {listing.district}"


def rupiah(amount: int) -> str:
    """The full amount with points, e.g. ``Rp 1.670.000.000``."""
    return f"Rp {amount:,}".replace(",", ".")


def _sizes(listing: Listing, decimals: str) -> str:
    parts = (
        (listing.bedrooms, "{} Kamar Tidur"),
        (listing.bathrooms, "{} Kamar Mandi"),
        (listing.land_area, "LT {}" + decimals + "m²"),
        (listing.building_area, "LB {}" + decimals + "m²"),
    )
    known = [pattern.format(value) for value, pattern in parts if value]
    return ", ".join(known) or "(Detail ukuran tidak tersedia)"


def shown_location(method: str, question_id: int, listing: Listing) -> str:
    """The place as the answer's card words it."""
    if _is_listed(method, question_id, listing):
        return short_location(listing)
    return listing.location


def _is_listed(method: str, question_id: int, listing: Listing) -> bool:
    return method == "vector_only" or question_id in LISTED or listing.source == "project"
