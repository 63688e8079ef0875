"""The demo chatbot: the sample's questions as recorded, any other by a search of its catalogue.

It speaks the contract of the chatbots that are evaluated, so that the whole method can be tried
on one machine. The methods differ in what they recorded; another question is searched by its words.
"""

from __future__ import annotations

import json
import re
import secrets
from collections import OrderedDict
from pathlib import Path
from threading import Lock
from typing import Any

from msgspec import Struct, field

METHODS = ("hybrid", "api_only", "vector_only")
PAGE = 8
"""The listings that are shown at once."""
MOST_SESSIONS = 1000
"""Conversations that are remembered; beyond, the one that is silent longest is forgotten."""
NEAR_M = 1500
"""Metres within which a landmark is part of a listing's address."""

INTRO = "Saya menemukan {count} properti:"
OUTRO = "Jika Anda ingin melihat pilihan lain, silakan beri tahu saya!"
EMPTY = (
    "Maaf, tidak ada properti lain yang saya temukan. Sebutkan misalnya jenis dan lokasinya, "
    "seperti: rumah dijual di daerah Ringroad."
)
INDONESIAN_KINDS = {
    "house": "rumah", "shophouse": "ruko", "land": "tanah", "warehouse": "gudang",
    "apartment": "apartemen", "sale": "jual", "rent": "sewa",
}  # fmt: skip
SAME_WORDS = {
    "dijual": "jual", "beli": "jual", "membeli": "jual", "disewa": "sewa", "disewakan": "sewa",
    "menyewa": "sewa", "kontrakan": "sewa", "apartment": "apartemen", "villa": "rumah",
    "rukan": "ruko", "kavling": "tanah",
}  # fmt: skip
_STOPWORDS_ID = """
    ada apakah atau bisa cari carikan dan daerah dekat dengan di dibawah bawah harga harganya ingin
    jl juta jt kamar kec kel komp komplek lagi lain lantai m masih mau medan milyar miliar no
    pilihan saya tapi yang
"""
STOPWORDS = frozenset(_STOPWORDS_ID.split())


class Reply(Struct, frozen=True):
    """One answer of the contract, as JSON values."""

    response: str
    properties: list[dict[str, Any]]
    session_id: str
    metadata: dict[str, Any]


class _Conversation(Struct):
    question: str = ""
    shown_urls: set[str] = field(default_factory=set)
    next_recorded: int = 0


class DemoBot:
    """The chatbot over the sample in `seeds`, with its conversations; safe in threads."""

    def __init__(self, seeds: Path) -> None:
        self._listings = [
            (listing, _words(_searchable_text(listing)))
            for listing in json.loads((seeds / "catalogue.json").read_text("utf-8"))
        ]
        self._known = frozenset[str]().union(*(words for _, words in self._listings))
        self._recorded: dict[str, list[dict[str, Any]]] = {}
        for method in METHODS:
            file = seeds / "runs" / method / "test_results.json"
            self._recorded[method] = json.loads(file.read_text("utf-8"))["results"]
        self._conversations: OrderedDict[str, _Conversation] = OrderedDict()
        self._lock = Lock()

    def answer(self, message: str, method: str, session_id: str | None = None) -> Reply:
        session_id = session_id or secrets.token_hex(8)
        with self._lock:
            conversation = self._conversations.setdefault(session_id, _Conversation())
            self._conversations.move_to_end(session_id)
            if len(self._conversations) > MOST_SESSIONS:
                self._conversations.popitem(last=False)
            reply = self._find_recorded(message, method, conversation)
            if _words(message) & self._known:
                conversation.question = message
                conversation.shown_urls.clear()
            reply = reply or self._search_page(method, conversation)
            conversation.shown_urls.update(listing["url"] for listing in reply["properties"])
        return Reply(reply["response"], reply["properties"], session_id, reply["metadata"])

    def _find_recorded(
        self, message: str, method: str, conversation: _Conversation
    ) -> dict[str, Any] | None:
        words = message.lower().split()
        for place, record in enumerate(self._recorded[method]):
            is_next = place == conversation.next_recorded
            same = record["question"].lower().split() == words
            if same and (is_next or not record["context_dependent"]):
                conversation.next_recorded = place + 1
                return record if record["success"] else None
        conversation.next_recorded = 0
        return None

    def _search_page(self, method: str, conversation: _Conversation) -> dict[str, Any]:
        listings = self.search(conversation.question)
        new = [listing for listing in listings if listing["url"] not in conversation.shown_urls]
        page = new[:PAGE]
        metadata = {"total_found": len(listings), "returned": len(page), "method_used": method}
        metadata["has_more"] = len(new) > len(page)
        properties = [*map(_property, page)]
        return {"response": _response_text(page), "properties": properties, "metadata": metadata}

    def search(self, question: str) -> list[dict[str, Any]]:
        """Return the listings that share most words with what is asked."""
        words = _words(question) & self._known
        shared = [(len(words & text), listing) for listing, text in self._listings]
        best = max((count for count, _ in shared), default=0)
        return [listing for count, listing in shared if best and count == best]


def _words(text: str) -> frozenset[str]:
    words = re.findall(r"[a-z]+", text.lower())
    return frozenset(SAME_WORDS.get(word, word) for word in words) - STOPWORDS


def _searchable_text(listing: dict[str, Any]) -> str:
    landmarks = listing.get("nearby", ())
    near = (f"{at['kind']} {at['name']}" for at in landmarks if at["distance_m"] <= NEAR_M)
    kinds = (INDONESIAN_KINDS[listing[name]] for name in ("property_type", "listing_type"))
    names = ("title", "area", "district", "location", "complex")
    places = (listing.get(name, "") for name in names)
    return " ".join((*kinds, *places, *near, *listing.get("facilities", ())))


def _response_text(page: list[dict[str, Any]]) -> str:
    if not page:
        return EMPTY
    cards = (_card(position, listing) for position, listing in enumerate(page, start=1))
    return "\n\n".join((INTRO.format(count=len(page)), *cards, OUTRO))


def _card(position: int, listing: dict[str, Any]) -> str:
    rent = "" if listing["listing_type"] == "sale" else " (sewa)"
    sizes = (
        ("bedrooms", "{} Kamar Tidur"),
        ("bathrooms", "{} Kamar Mandi"),
        ("land_area", "LT {}m²"),
        ("building_area", "LB {}m²"),
    )
    measures = ", ".join(text.format(listing[name]) for name, text in sizes if listing.get(name))
    lines = (
        f"{position}. **[{listing['title']}]({listing['url']})**",
        f"📍 {listing['location']}",
        f"💰 {_rupiah(listing['price'])}{rent}",
        f"🏠 {measures or '(Detail ukuran tidak tersedia)'}",
    )
    return "  \n   ".join(lines)


def _rupiah(amount: int) -> str:
    return f"Rp {amount:,}".replace(",", ".")


def _property(listing: dict[str, Any]) -> dict[str, Any]:
    same = (
        *("id", "title", "price", "location", "property_type", "listing_type", "bedrooms"),
        *("bathrooms", "floors", "land_area", "building_area", "certificate", "source", "url"),
    )
    more = {"price_formatted": _rupiah(listing["price"]), "city": "Medan"}
    more["facilities"] = listing.get("facilities", [])
    return {name: listing.get(name) for name in same} | more
