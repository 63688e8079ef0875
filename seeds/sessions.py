"""Thirty questions put to one search method in one sitting, and what it showed for each."""  # noqa: INP001 (a script's neighbour, no package)

from __future__ import annotations

from dataclasses import dataclass, field, replace

from listings import Listing, Nearby
from questions import QUESTIONS, Question
from retrieval import Filter, Searcher, misses, modify, understand

METHODS = ("hybrid", "api_only", "vector_only")
PAGE = {"hybrid": 10, "api_only": 8, "vector_only": 6}
GROUPED_BY = {24: "mall", 25: "sekolah", 26: "mall"}
WALK_M = 900
GROUP_SIZE = 5
# One call in the three sittings met a busy LLM.
FAILED_CALLS = {
    ("vector_only", 20): "Error code: 429 - rate limit reached for gpt-4o-mini, try again in 20s"
}


@dataclass(frozen=True, slots=True)
class Group:
    """The listings shown under one heading, e.g. near one mall; no heading when ungrouped."""

    listings: tuple[Listing, ...]
    heading: str | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """One question of a sitting with what was shown, group by group.

    ``nothing_fits`` says that none of the listings shown meets what was understood.
    """

    question: Question
    groups: tuple[Group, ...] = ()
    nothing_fits: bool = False
    error: str | None = None

    @property
    def listings(self) -> tuple[Listing, ...]:
        """What was shown, in the order of the answer."""
        return tuple(listing for group in self.groups for listing in group.listings)


@dataclass(slots=True)
class Session:
    """What the chatbot remembers between turns: filter, words and what it has shown."""

    wanted: Filter = field(default_factory=Filter)
    words: str = ""
    shown: set[str] = field(default_factory=set)

    def hear(self, question: Question) -> None:
        """Start afresh with a standalone question, or carry on; other wishes start a new list."""
        before = self.wanted
        if question.context_dependent:
            self.wanted = modify(before, question.text)
            self.words = f"{self.words} {question.text}"
        else:
            self.wanted, self.words = understand(question.text), question.text
        if not question.context_dependent or self.wanted != before:
            self.shown = set()


def hold(method: str, searcher: Searcher) -> list[Turn]:
    """The 30 turns of one sitting with `method`, in order."""
    session = Session()
    return [_turn(method, searcher, session, question) for question in QUESTIONS]


def _turn(method: str, searcher: Searcher, session: Session, question: Question) -> Turn:
    session.hear(question)
    if error := FAILED_CALLS.get((method, question.id)):
        return Turn(question, error=error)
    found = [listing for listing in _search(method, searcher, session) if _is_new(listing, session)]
    page = tuple(found[: PAGE[method]])
    session.shown.update(listing.slug for listing in page)
    unfit = all(_unfit(listing, session.wanted) for listing in page)
    return Turn(question, _groups(method, question, page), nothing_fits=unfit)


def _search(method: str, searcher: Searcher, session: Session) -> list[Listing]:
    if method == "api_only":
        return searcher.api_only(session.wanted)
    if method == "hybrid":
        return searcher.hybrid(session.words, session.wanted)
    return [
        replace(listing, price=listing.indexed_price)
        for listing in searcher.vector_only(session.words)
    ]


def _is_new(listing: Listing, session: Session) -> bool:
    return listing.slug not in session.shown


def _unfit(listing: Listing, wanted: Filter) -> bool:
    """Whether the chatbot itself sees that the listing is not what was asked for."""
    place = (wanted.place or "").split(" ")[0]
    return (
        bool(misses(listing, wanted)) or place not in f"{listing.title} {listing.location}".lower()
    )


def _groups(method: str, question: Question, page: tuple[Listing, ...]) -> tuple[Group, ...]:
    kind = GROUPED_BY.get(question.id)
    if method == "api_only" or kind is None or not page:
        return (Group(page),) if page else ()
    return tuple(_by_landmark(page, kind, limit=PAGE[method]))


def _by_landmark(page: tuple[Listing, ...], kind: str, *, limit: int) -> list[Group]:
    """One group per landmark; a listing within a walk of two of them stands in both."""
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


def _close(listing: Listing, kind: str) -> tuple[Nearby, ...]:
    """The landmarks of that kind within a walk, or the nearest one, or none."""
    places = tuple(place for place in listing.nearby if place.kind == kind)
    return tuple(place for place in places if place.distance_m <= WALK_M) or places[:1]


def _to(listing: Listing, name: str) -> Nearby | None:
    return next((place for place in listing.nearby if place.name == name), None)
