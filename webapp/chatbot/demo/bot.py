"""The demo chatbot as a whole: a message in a session goes in, an answer comes out."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from webapp.chatbot.demo import replies
from webapp.chatbot.demo.conversations import METHODS, Conversation, ConversationTurn
from webapp.chatbot.demo.listings import DemoListing, load
from webapp.chatbot.demo.places import Gazetteer
from webapp.chatbot.demo.searching import Searcher

CITY = "Medan"
MOST_SESSIONS = 1000
"""Conversations that are remembered; beyond, the one that is silent longest is forgotten."""

__all__ = ["METHODS", "DemoBot", "Reply"]


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of the contract, as JSON values."""

    response: str
    properties: list[dict[str, Any]]
    session_id: str
    metadata: dict[str, Any]


class DemoBot:
    """The chatbot over one catalogue, with the conversations it holds; safe in threads."""

    def __init__(self, listings: Iterable[DemoListing]) -> None:
        self._searcher = Searcher(listings)
        self._gazetteer = Gazetteer(self._searcher.listings)
        self._conversations: OrderedDict[str, Conversation] = OrderedDict()
        self._lock = Lock()

    @classmethod
    def of(cls, catalogue: Path) -> DemoBot:
        """The chatbot over a catalogue file."""
        return cls(load(catalogue))

    def answer(self, message: str, method: str, session_id: str | None = None) -> Reply:
        """The answer to `message` by one of ``METHODS``, in its session or in a new one."""
        session_id = session_id or secrets.token_hex(8)
        with self._lock:
            conversation = self._conversations.setdefault(session_id, Conversation())
            self._conversations.move_to_end(session_id)
            if len(self._conversations) > MOST_SESSIONS:
                self._conversations.popitem(last=False)
            turn = conversation.next_turn(message, method, self._searcher, self._gazetteer)
        return Reply(
            response=replies.write(turn),
            properties=[_property(listing) for listing in turn.listings],
            session_id=session_id,
            metadata=_metadata(turn),
        )


def _metadata(turn: ConversationTurn) -> dict[str, Any]:
    return {
        "total_found": turn.found,
        "returned": len(turn.listings),
        "method_used": turn.method,
        "has_more": turn.has_more,
    }


def _property(listing: DemoListing) -> dict[str, Any]:
    """The listing as the contract has it: null where the seller gave no value."""
    return {
        "id": listing.id,
        "title": listing.title,
        "price": listing.price,
        "price_formatted": replies.rupiah(listing.price),
        "location": listing.location,
        "city": CITY,
        "property_type": listing.property_type,
        "listing_type": listing.listing_type,
        "bedrooms": listing.bedrooms,
        "bathrooms": listing.bathrooms,
        "floors": listing.floors,
        "land_area": listing.land_area,
        "building_area": listing.building_area,
        "certificate": listing.certificate,
        "facilities": list(listing.facilities),
        "source": listing.source,
        "url": listing.url,
    }
