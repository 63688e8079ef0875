"""The filter that a question asks for, found in Indonesian words by fixed patterns."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace

from webapp.chatbot.demo.listings import MILLION
from webapp.chatbot.demo.places import Gazetteer, has_words

TYPES = {
    "rumah": "house",
    "villa": "house",
    "ruko": "shophouse",
    "rukan": "shophouse",
    "tanah": "land",
    "kavling": "land",
    "gudang": "warehouse",
    "apartemen": "apartment",
    "apartment": "apartment",
    "apartement": "apartment",
}
FACILITIES = {
    "cctv": "CCTV",
    "wifi": "WiFi",
    "basket": "lapangan basket",
    "kolam renang": "kolam renang",
    "gym": "gym",
    "security": "security",
    "parkir": "parkir",
    "carport": "carport",
    "garasi": "garasi",
    "ac": "AC",
    "lemari": "lemari",
    "dapur": "dapur",
    "tangki air": "tangki air",
    "water heater": "water heater",
    "taman": "taman",
    "kanopi": "kanopi",
    "furnished": "furnished",
}
_NUMBERS = {"satu": 1, "dua": 2, "tiga": 3, "empat": 4, "lima": 5, "enam": 6}
_SALE = re.compile(r"\b(dijual|jual|beli|membeli)\b")
_RENT = re.compile(r"\b(sewa|disewa|disewakan|menyewa|kontrak|kontrakan|dikontrakkan)\b")
_NEAR = re.compile(r"\b(dekat|sekitar|seputar|samping|seberang)\b")
_AMOUNT = (
    r"(?:rp\.? ?)?(\d+(?:[.,]\d+)?)\s*(juta|jt|milyar|miliar|m)\b"
    r"(?!\s*(?:dari|persegi))[\s-]*(an\b)?"
)
_BETWEEN = re.compile(rf"{_AMOUNT}\s*(?:-|sampai|hingga|s/d|dan)\s*{_AMOUNT}")
_ABOUT = re.compile(rf"\b(?:sekitar|kisaran|kira-kira)\s+(?:harga\s+)?{_AMOUNT}")
_ABOVE = re.compile(rf"(?:\bdi\s?atas|\blebih dari|\bminimal|\bmulai|>)\s*(?:harga\s+)?{_AMOUNT}")
_ANY_AMOUNT = re.compile(_AMOUNT)
_UNKNOWN_PLACE = re.compile(
    r"\b(?:di|daerah|kawasan|dekat|komplek|kota|jalan|jl)\s+((?:(?!\b(?:yang|harga|harganya|dengan|dalam"
    r"|dibawah|bawah|atas|diatas|dekat|daerah|kawasan|komplek|tapi|ada|untuk|dan|atau|sekitar"
    r"|fasilitas|lantai|full|sewa|jual|dijual|disewa|disewakan|sana|sini|mana|antara|budget|medan)\b)"
    r"[a-z.]+\s?)+)"
)
_MORE = re.compile(
    r"\b(pilihan|opsi|rekomendasi)\b.*\b(lain|lainnya|lagi)\b|\b(yang|ada) lain(nya)?\b|\blainnya\b"
    r"|\b(berikan|kasih|tampilkan|cari(kan)?) lagi\b|\bmasih (ada|sama)\b|\bselain itu\b"
)
_CHANGE = re.compile(r"\b(kalau|bagaimana|gimana|tapi)\b")


@dataclass(frozen=True, slots=True)
class Understanding:
    """The parts of a question that were understood; ``None`` or empty where nothing was asked.

    ``place`` is a name the catalogue knows, ``elsewhere`` one it does not; ``near`` says that
    a listing near the place fits as well as one in it; ``kind`` is a kind of landmark ("mall").
    """

    property_type: str | None = None
    listing_type: str | None = None
    place: str | None = None
    near: bool = False
    elsewhere: str | None = None
    kind: str | None = None
    min_price: int | None = None
    max_price: int | None = None
    bedrooms: int | None = None
    floors: int | None = None
    facilities: tuple[str, ...] = ()


def understand(question: str, gazetteer: Gazetteer) -> Understanding:
    """The filter in a question: type, sale or rent, place, price, rooms, floors, facilities."""
    text = " ".join(question.lower().split())
    low, high = _price_range(text)
    place = gazetteer.find(text)
    kind = _kind(text, gazetteer)
    near = _NEAR.search(text) is not None
    return Understanding(
        property_type=_property_type(text, kind),
        listing_type=_listing_type(text),
        place=place.name if place else None,
        near=place is not None and (near or place.is_landmark),
        elsewhere=None if place or kind else _elsewhere(text),
        kind=kind if place is None else None,
        min_price=low,
        max_price=high,
        bedrooms=_count(text, r"(?:kamar(?!\s*mandi)|kt\b)"),
        floors=_count(text, r"(?:lantai|lt\b)"),
        facilities=tuple(name for word, name in FACILITIES.items() if has_words(text, word)),
    )


def modify(standing: Understanding, asked: Understanding) -> Understanding:
    """The filter in force, changed by the parts that a follow-up names ("tapi yang 3 lantai").

    A new price replaces both ends of the old one, a new place all parts of the old one.
    """
    said = {name: value for name in _NAMES if (value := getattr(asked, name))}
    if "max_price" in said or "min_price" in said:
        said |= {"min_price": asked.min_price, "max_price": asked.max_price}
    if said.keys() & {"place", "elsewhere", "kind"}:
        said |= {name: getattr(asked, name) for name in ("place", "near", "elsewhere", "kind")}
    return replace(standing, **said)


def is_follow_up(question: str, asked: Understanding) -> bool:
    """Whether a question goes on with an earlier one.

    It asks for more or for others, or it names no kind of property and no new place, unless
    that is what it changes ("kalau di johor?").
    """
    text = " ".join(question.lower().split())
    somewhere = bool(asked.place or asked.elsewhere or asked.kind)
    if asked.property_type:
        return not somewhere and _MORE.search(text) is not None
    return not somewhere or (_MORE.search(text) or _CHANGE.search(text)) is not None


_NAMES = tuple(field.name for field in fields(Understanding))


def _property_type(text: str, kind: str | None) -> str | None:
    """The type that is named first; a landmark's own name ("rumah sakit") is none."""
    text = text.replace(kind, "") if kind else text
    found = [(match.start(), TYPES[word]) for word in TYPES if (match := _word(word, text))]
    return min(found)[1] if found else None


def _word(word: str, text: str) -> re.Match[str] | None:
    return re.search(rf"\b{word}\b", text)


def _listing_type(text: str) -> str | None:
    sale, rent = _SALE.search(text), _RENT.search(text)
    if sale and rent:
        return None
    return "sale" if sale else "rent" if rent else None


def _kind(text: str, gazetteer: Gazetteer) -> str | None:
    """The kind of landmark that something shall be near."""
    return next(
        (kind for kind in gazetteer.kinds if re.search(rf"\bdekat (dengan )?{kind}\b", text)), None
    )


def _elsewhere(text: str) -> str | None:
    """The name of a place the catalogue does not know, as the question writes it."""
    found = _UNKNOWN_PLACE.search(text)
    return found[1].strip(" .") or None if found else None


def _price_range(text: str) -> tuple[int | None, int | None]:
    """Lowest and highest rupiah asked for; "1M an" is read as 0.8 to 1.3 milyar.

    A bare amount is the most that somebody wants to pay.
    """
    if between := _BETWEEN.search(text):
        return _rupiah(between[1], between[2]), _rupiah(between[4], between[5])
    found = _ANY_AMOUNT.search(text)
    if found is None:
        return None, None
    amount = _rupiah(found[1], found[2])
    if found[3] or _ABOUT.search(text):
        return amount * 8 // 10, amount * 13 // 10
    return (amount, None) if _ABOVE.search(text) else (None, amount)


def _rupiah(number: str, unit: str) -> int:
    millions = 1 if unit in {"juta", "jt"} else 1000
    return round(float(number.replace(",", ".")) * millions * MILLION)


def _count(text: str, words: str) -> int | None:
    found = re.search(rf"\b(\d{{1,2}}|{'|'.join(_NUMBERS)})\s*{words}", text)
    if found is None:
        return None
    return _NUMBERS.get(found[1]) or int(found[1])
