"""The demo chatbot's memory of a conversation, and the listings it shows next."""

from __future__ import annotations

from dataclasses import dataclass, field

from webapp.chatbot.demo.listings import DemoListing, Nearby
from webapp.chatbot.demo.places import Gazetteer, has_words
from webapp.chatbot.demo.searching import Searcher, misses
from webapp.chatbot.demo.understanding import Understanding, is_follow_up, modify, understand

METHODS = ("hybrid", "api_only", "vector_only")
PAGE = {"hybrid": 10, "api_only": 8, "vector_only": 6}
WALK_M = 900
GROUP_SIZE = 5


@dataclass(frozen=True, slots=True)
class Group:
    """The listings shown under one heading, e.g. near one mall; no heading when ungrouped."""

    listings: tuple[DemoListing, ...]
    heading: str | None = None


@dataclass(frozen=True, slots=True)
class ConversationTurn:
    """The answer to one message, group by group; ``number`` counts the messages from 1.

    ``nothing_fits`` says that none of the listings shown meets the filter, ``is_more`` that
    the message asked for more of the same; ``found`` counts the results of the search.
    """

    number: int
    method: str
    wanted: Understanding
    groups: tuple[Group, ...]
    found: int
    has_more: bool
    is_more: bool
    nothing_fits: bool

    @property
    def listings(self) -> tuple[DemoListing, ...]:
        """The listings shown, in the order of the answer."""
        return tuple(listing for group in self.groups for listing in group.listings)


@dataclass(slots=True)
class Conversation:
    """One session: the filter in force, its words, and the listings it has shown."""

    wanted: Understanding = field(default_factory=Understanding)
    words: str = ""
    shown: set[str] = field(default_factory=set)
    turns: int = 0

    def next_turn(
        self, message: str, method: str, searcher: Searcher, gazetteer: Gazetteer
    ) -> ConversationTurn:
        """The turn that answers `message`; the listings it shows will not be shown again."""
        is_more = self._hear(message, gazetteer)
        found = _search(method, searcher, self)
        new = [listing for listing in found if listing.slug not in self.shown]
        page = tuple(new[: PAGE[method]])
        self.shown.update(listing.slug for listing in page)
        self.turns += 1
        return ConversationTurn(
            number=self.turns,
            method=method,
            wanted=self.wanted,
            groups=_groups(method, self.wanted.kind, page),
            found=len(found),
            has_more=len(new) > len(page),
            is_more=is_more,
            nothing_fits=all(_unfit(listing, self.wanted) for listing in page),
        )

    def _hear(self, message: str, gazetteer: Gazetteer) -> bool:
        """Carry on with a follow-up, or start afresh; other wishes start a new list."""
        before, asked = self.wanted, understand(message, gazetteer)
        is_more = self.turns > 0 and is_follow_up(message, asked)
        if is_more:
            self.wanted, self.words = modify(before, asked), f"{self.words} {message}"
        else:
            self.wanted, self.words = asked, message
        if not is_more or self.wanted != before:
            self.shown = set()
        return is_more


def _search(method: str, searcher: Searcher, conversation: Conversation) -> list[DemoListing]:
    if method == "api_only":
        return searcher.api_only(conversation.wanted)
    if method == "hybrid":
        return searcher.hybrid(conversation.words, conversation.wanted)
    return searcher.vector_only(conversation.words)


def _unfit(listing: DemoListing, wanted: Understanding) -> bool:
    """Whether the chatbot itself sees that the listing does not fit the question."""
    if misses(listing, wanted):
        return True
    known = f"{listing.title} {listing.location}"
    if wanted.near:
        known = " ".join((known, *(place.name for place in listing.nearby)))
    place = (wanted.place or wanted.elsewhere or "").split(" ")[0]
    return bool(place) and not has_words(known, place)


def _groups(method: str, kind: str | None, page: tuple[DemoListing, ...]) -> tuple[Group, ...]:
    if method != "api_only" and kind is not None:
        near = tuple(_by_landmark(page, kind, limit=PAGE[method]))
        if near:
            return near
    return (Group(page),) if page else ()


def _by_landmark(page: tuple[DemoListing, ...], kind: str, *, limit: int) -> list[Group]:
    """One group per landmark; a listing within a walk of two of them is in both."""
    names = dict.fromkeys(place.name for listing in page for place in _close(listing, kind))
    groups: list[Group] = []
    for name in names:
        room = limit - sum(len(group.listings) for group in groups)
        near = [(listing, _to(listing, name)) for listing in page]
        inside = [(listing, place) for listing, place in near if place in _close(listing, kind)]
        if kept := inside[: min(room, GROUP_SIZE)]:
            reach = sorted(place.distance_m for _, place in kept if place)
            heading = f"Dekat **{name}** ({_span(reach[0], reach[-1])})"
            groups.append(Group(tuple(listing for listing, _ in kept), heading))
    return groups


def _span(nearest: int, farthest: int) -> str:
    return f"{nearest}m" if nearest == farthest else f"{nearest}m - {farthest}m"


def _close(listing: DemoListing, kind: str) -> tuple[Nearby, ...]:
    """The landmarks of that kind within a walk, or the nearest one, or none."""
    places = tuple(place for place in listing.nearby if place.kind == kind)
    return tuple(place for place in places if place.distance_m <= WALK_M) or places[:1]


def _to(listing: DemoListing, name: str) -> Nearby | None:
    return next((place for place in listing.nearby if place.name == name), None)
