"""Whether two texts say about the same, and how well two lists of texts cover each other."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from msgspec import Struct

LEAST_JACCARD = Fraction(72, 100)


class Likeness(Struct, frozen=True):
    """How two texts compare once their blanks are deleted.

    ``contained``: one holds the other; ``jaccard``: of their sets of character bigrams.
    """

    contained: bool
    jaccard: Fraction

    @property
    def matches(self) -> bool:
        """Whether they match: one holds the other, or the Jaccard is at least 0.72."""
        return self.contained or self.jaccard >= LEAST_JACCARD


class MatchedItems(Struct, frozen=True):
    """An expected item with the given item that it was paired with, by position from 0."""

    expected: int
    given: int
    likeness: Likeness


class Coverage(Struct, frozen=True):
    """Two lists of texts matched: the pairs, and the figures of their number.

    ``n_given`` counts the items looked at, ``n_ignored`` those beyond the cut-off.
    """

    pairs: tuple[MatchedItems, ...]
    n_expected: int
    n_given: int
    n_ignored: int = 0

    @property
    def recall(self) -> Fraction:
        """Pairs / expected items; 0 without any."""
        return _share(len(self.pairs), self.n_expected)

    @property
    def precision(self) -> Fraction:
        """Pairs / given items looked at; 0 without any."""
        return _share(len(self.pairs), self.n_given)

    @property
    def f1(self) -> Fraction:
        """2 pairs / (expected + given): 1 when both are empty, 0 when one is.

        >>> Coverage((), 0, 0).f1, Coverage((), 2, 0).f1
        (Fraction(1, 1), Fraction(0, 1))
        """
        items = self.n_expected + self.n_given
        return Fraction(2 * len(self.pairs), items) if items else Fraction(1)


def likeness(expected: object, given: object) -> Likeness:
    """How `expected` and `given` compare; an empty text, or none, is like nothing.

    >>> likeness("rumah di Cemara", "rumahdiCemara Asri").contained
    True
    >>> likeness("abcd", "abce").jaccard  # ab, bc of ab, bc, cd, ce
    Fraction(1, 2)
    """
    a, b = _squeezed(expected), _squeezed(given)
    if not a or not b:
        return Likeness(contained=False, jaccard=Fraction(0))
    ours, theirs = _bigrams(a), _bigrams(b)
    jaccard = _share(len(ours & theirs), len(ours | theirs))
    return Likeness(contained=a in b or b in a, jaccard=jaccard)


def cover(expected: Sequence[object], given: Sequence[object], *, most: int) -> Coverage:
    """`expected` items paired with the first `most` of the `given`.

    Each expected item, in order, takes the first given one that matches and is not taken.

    >>> found = cover(["satu kamar", "dua kamar"], ["dua kamar", "kolam"], most=12)
    >>> [(pair.expected, pair.given) for pair in found.pairs], found.f1
    ([(1, 0)], Fraction(1, 2))
    """
    looked_at = given[:most]
    taken: dict[int, MatchedItems] = {}
    for position, item in enumerate(expected):
        for other, candidate in enumerate(looked_at):
            if other in taken:
                continue
            alike = likeness(item, candidate)
            if alike.matches:
                taken[other] = MatchedItems(position, other, alike)
                break
    pairs = sorted(taken.values(), key=lambda pair: pair.expected)
    return Coverage(tuple(pairs), len(expected), len(looked_at), len(given) - len(looked_at))


def _squeezed(text: object) -> str:
    return "".join(text.split()) if isinstance(text, str) else ""


def _bigrams(text: str) -> set[str]:
    return {text[i : i + 2] for i in range(len(text) - 1)}


def _share(part: int, whole: int) -> Fraction:
    return Fraction(part, whole) if whole else Fraction(0)
