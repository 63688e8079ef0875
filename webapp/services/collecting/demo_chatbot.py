"""The demo chatbot: the sample's questions as recorded, any other by a search of its catalogue.

It speaks the contract of the chatbots that are evaluated, so that the whole method can be tried
on one machine.
"""

from __future__ import annotations

import json
import secrets
from collections import OrderedDict
from pathlib import Path
from threading import Lock
from typing import Any

from msgspec import Struct, field

from webapp.services.collecting.demo_search import DemoListing, DemoSearch, Wish, load

CITY = "Medan"
PAGE = {"hybrid": 10, "api_only": 8, "vector_only": 6}
"""The methods, and how many listings each shows at once."""
MOST_SESSIONS = 1000
"""Conversations that are remembered; beyond, the one that is silent longest is forgotten."""

INTRO = "Saya menemukan {count} properti:"
OUTRO = "Jika Anda ingin melihat pilihan lain, silakan beri tahu saya!"
EMPTY = (
    "Maaf, tidak ada properti lain yang saya temukan. Sebutkan misalnya jenis, lokasi dan "
    "harganya, seperti: rumah dijual di daerah Ringroad di bawah 1 M."
)


class Reply(Struct, frozen=True):
    """One answer of the contract, as JSON values."""

    response: str
    properties: list[dict[str, Any]]
    session_id: str
    metadata: dict[str, Any]


class Conversation(Struct):
    """One session: what it asks for so far, what it was shown, the recorded question that is next.

    ``wish`` is ``None`` before the first question.
    """

    words: str = ""
    wish: Wish | None = None
    shown: set[str] = field(default_factory=set)
    next_recorded: int = 0


class DemoBot:
    """The chatbot over the sample in `seeds`, with its conversations; safe in threads."""

    def __init__(self, seeds: Path) -> None:
        self.search = DemoSearch(load(seeds / "catalogue.json"))
        self._recorded: dict[str, list[dict[str, Any]]] = {
            method: json.loads((seeds / "runs" / method / "test_results.json").read_text("utf-8"))[
                "results"
            ]
            for method in PAGE
        }
        self._conversations: OrderedDict[str, Conversation] = OrderedDict()
        self._lock = Lock()

    def answer(self, message: str, method: str, session_id: str | None = None) -> Reply:
        """Return the answer to `message` by one of the methods, in its session or in a new one."""
        session_id = session_id or secrets.token_hex(8)
        with self._lock:
            conversation = self._conversations.setdefault(session_id, Conversation())
            self._conversations.move_to_end(session_id)
            if len(self._conversations) > MOST_SESSIONS:
                self._conversations.popitem(last=False)
            recorded = self._find_recorded(message, method, conversation)
            self._hear(message, conversation)
            if recorded is None:
                reply = self._searched(method, conversation, session_id)
            else:
                said, beside = recorded["properties"], recorded["metadata"]
                reply = Reply(recorded["response"], said, session_id, beside)
            conversation.shown.update(one["url"] for one in reply.properties)
        return reply

    def _find_recorded(
        self, message: str, method: str, conversation: Conversation
    ) -> dict[str, Any] | None:
        """Return the recorded answer; one that depends on the conversation only in its place.

        The sample holds a failed call: that question is answered by a search.
        """
        asked = _plain(message)
        for place, record in enumerate(self._recorded[method]):
            is_next = place == conversation.next_recorded
            if _plain(record["question"]) == asked and (is_next or not record["context_dependent"]):
                conversation.next_recorded = place + 1
                return record if record["success"] else None
        conversation.next_recorded = 0
        return None

    def _hear(self, message: str, conversation: Conversation) -> None:
        """Go on with the conversation where a message names no type and no place."""
        wish = self.search.wish(message)
        goes_on = conversation.wish is not None and not (wish.types or wish.places)
        conversation.words = f"{conversation.words} {message}" if goes_on else message
        wish = self.search.wish(conversation.words)
        if not goes_on or wish != conversation.wish:
            conversation.shown.clear()
        conversation.wish = wish

    def _searched(self, method: str, conversation: Conversation, session_id: str) -> Reply:
        found = getattr(self.search, method)(conversation.words)
        new = [listing for listing in found if listing.url not in conversation.shown]
        page = new[: PAGE[method]]
        return Reply(
            response=_written(page),
            properties=[_property(listing) for listing in page],
            session_id=session_id,
            metadata={
                "total_found": len(found),
                "returned": len(page),
                "method_used": method,
                "has_more": len(new) > len(page),
            },
        )


def _plain(question: str) -> str:
    return " ".join(question.lower().split())


def _written(page: list[DemoListing]) -> str:
    if not page:
        return EMPTY
    cards = (_card(position, listing) for position, listing in enumerate(page, start=1))
    return "\n\n".join((INTRO.format(count=len(page)), *cards, OUTRO))


def _card(position: int, listing: DemoListing) -> str:
    """Return a title that links, then one line each for place, price and sizes."""
    rent = "" if listing.listing_type == "sale" else " (sewa)"
    sizes = (
        (listing.bedrooms, "{} Kamar Tidur"),
        (listing.bathrooms, "{} Kamar Mandi"),
        (listing.land_area, "LT {}m²"),
        (listing.building_area, "LB {}m²"),
    )
    known = ", ".join(pattern.format(value) for value, pattern in sizes if value)
    lines = (
        f"{position}. **[{listing.title}]({listing.url})**",
        f"📍 {listing.location}",
        f"💰 {_rupiah(listing.price)}{rent}",
        f"🏠 {known or '(Detail ukuran tidak tersedia)'}",
    )
    return "  \n   ".join(lines)


def _rupiah(amount: int) -> str:
    return f"Rp {amount:,}".replace(",", ".")


def _property(listing: DemoListing) -> dict[str, Any]:
    """Return the listing as the contract has it: null where the seller gave no value."""
    same = (
        *("id", "title", "price", "location", "property_type", "listing_type", "bedrooms"),
        *("bathrooms", "floors", "land_area", "building_area", "certificate", "source", "url"),
    )
    return {
        **{name: getattr(listing, name) for name in same},
        "price_formatted": _rupiah(listing.price),
        "city": CITY,
        "facilities": list(listing.facilities),
    }
