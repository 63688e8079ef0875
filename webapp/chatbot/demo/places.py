"""The names by which a catalogue's places are asked for: parts of town, complexes, landmarks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from webapp.chatbot.demo.listings import DemoListing

_SHORT_NAME = re.compile(r"\((\w+)\)")


@dataclass(frozen=True, slots=True)
class DemoPlace:
    """A place as it is asked for, in lower case; a landmark is near things, not around them."""

    name: str
    is_landmark: bool = False


def has_words(text: str, words: str) -> bool:
    """Whether `text` contains `words` as whole words, in upper or lower case.

    >>> has_words("Jl. Ring Road", "road"), has_words("Jl. Ring Road", "roa")
    (True, False)
    """
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text.lower()) is not None


class Gazetteer:
    """Every name that the listings' places go by, the longest first."""

    def __init__(self, listings: Iterable[DemoListing]) -> None:
        found: dict[str, bool] = {}
        kinds: set[str] = set()
        for listing in listings:
            kinds.update(place.kind for place in listing.nearby)
            for name in _names(listing):
                found[name] = False
            for landmark in listing.nearby:
                for name in _landmark_names(landmark.name):
                    found.setdefault(name, True)
        ordered = sorted(found, key=lambda name: (-len(name), name))
        self.places = tuple(DemoPlace(name, found[name]) for name in ordered)
        self.kinds = tuple(sorted(kinds))

    def find(self, text: str) -> DemoPlace | None:
        """The place that `text` names; the longest name where there are several."""
        return next((place for place in self.places if has_words(text, place.name)), None)


def _names(listing: DemoListing) -> Iterable[str]:
    """The part of town, the district, the village and the complex, as people write them."""
    yield listing.area.lower()
    yield listing.district.lower()
    village = re.search(r"Kel\. ([^,]+)", listing.location)
    if village:
        yield village[1].lower()
    if listing.complex:
        yield listing.complex.lower()


def _landmark_names(name: str) -> Iterable[str]:
    """A landmark's name without its part in brackets, then the part in brackets alone: "usu"."""
    yield _SHORT_NAME.sub("", name).strip().lower()
    short = _SHORT_NAME.search(name)
    if short:
        yield short[1].lower()
