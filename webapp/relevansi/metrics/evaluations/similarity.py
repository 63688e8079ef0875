"""Similarity of texts: cosines of claims and contexts, matches of expected and answered texts."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Protocol

from msgspec import Struct

DEFAULT_TAU_SIM = 0.6
LEXICAL_TAU_SIM = 0.3
"""The threshold of TF-IDF: there even a claim taken word for word out of a longer context
reaches only about 0.4."""

_WORD = re.compile(r"\w+")


class Embedder(Protocol):
    """What computes cosines of claims and contexts, with its name and its usual threshold."""

    name: str
    default_tau_sim: float

    def cosines(self, pairs: Sequence[tuple[str, str]], contexts: Sequence[str]) -> list[float]:
        """Return the cosine of every (claim, context) pair; `contexts` are all texts of the row."""
        ...


class LexicalEmbedder:
    """TF-IDF vectors of the words, each row of answers by itself; it must be asked for.

    Words in lower case, counted, times ln((1 + contexts) / (1 + contexts with the word)) + 1,
    over the contexts of the row. Words of the claim that no context has lower the cosine.

    >>> lexical = LexicalEmbedder()
    >>> lexical.cosines([("Rumah di Cemara", "rumah di cemara"), ("kolam", "rumah")], ["rumah"])
    [1.0, 0.0]
    """

    name = "lexical (TF-IDF)"
    default_tau_sim = LEXICAL_TAU_SIM

    def cosines(self, pairs: Sequence[tuple[str, str]], contexts: Sequence[str]) -> list[float]:
        """Return the cosine of the TF-IDF vectors of each pair; 0 where one has no word."""
        frequencies = Counter(word for context in contexts for word in set(_words(context)))
        n = len(contexts)
        return [
            _sparse_cosine(_weights(claim, frequencies, n), _weights(context, frequencies, n))
            for claim, context in pairs
        ]


def cosine(a: Sequence[float], b: Sequence[float]) -> float:
    """Return the product a · b over |a| |b|, from -1 to 1; 0 where one of them has no length.

    >>> cosine([3, 4], [4, 3])
    0.96
    """
    lengths = math.hypot(*a) * math.hypot(*b)
    product = math.fsum(x * y for x, y in zip(a, b, strict=True))
    return max(-1.0, min(1.0, product / lengths)) if lengths else 0.0


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _weights(text: str, frequencies: Mapping[str, int], n_contexts: int) -> dict[str, float]:
    return {
        word: count * (math.log((1 + n_contexts) / (1 + frequencies.get(word, 0))) + 1)
        for word, count in Counter(_words(text)).items()
    }


def _sparse_cosine(a: Mapping[str, float], b: Mapping[str, float]) -> float:
    lengths = math.hypot(*a.values()) * math.hypot(*b.values())
    product = math.fsum(weight * b[word] for word, weight in a.items() if word in b)
    return min(1.0, product / lengths) if lengths else 0.0


LEAST_JACCARD = Fraction(72, 100)


class Likeness(Struct, frozen=True):
    """The similarity of two texts once their blanks are deleted.

    ``contained`` says whether one is a part of the other; ``jaccard`` is that of their sets of
    character bigrams.
    """

    contained: bool
    jaccard: Fraction

    @property
    def matches(self) -> bool:
        """Whether one is a part of the other, or the Jaccard is at least 0.72."""
        return self.contained or self.jaccard >= LEAST_JACCARD


class Coverage(Struct, frozen=True):
    """Two lists of texts matched: the pairs (expected, given) by position from 0.

    ``n_given`` counts the items that were compared, ``n_ignored`` those beyond the cut-off.
    """

    pairs: tuple[tuple[int, int], ...]
    n_expected: int
    n_given: int
    n_ignored: int = 0

    @property
    def f1(self) -> Fraction:
        """2 pairs / (expected + given): 1 when both are empty, 0 when one is.

        >>> Coverage((), 0, 0).f1, Coverage((), 2, 0).f1
        (Fraction(1, 1), Fraction(0, 1))
        """
        items = self.n_expected + self.n_given
        return Fraction(2 * len(self.pairs), items) if items else Fraction(1)


def likeness(expected: object, answered: object) -> Likeness:
    """Return the similarity of `expected` and `answered`; an empty text, or none, matches nothing.

    >>> likeness("rumah di Cemara", "rumahdiCemara Asri").contained
    True
    >>> likeness("abcd", "abce").jaccard  # ab, bc of ab, bc, cd, ce
    Fraction(1, 2)
    """
    a, b = _squeezed(expected), _squeezed(answered)
    if not a or not b:
        return Likeness(contained=False, jaccard=Fraction(0))
    bigrams_a, bigrams_b = _bigrams(a), _bigrams(b)
    n_union = len(bigrams_a | bigrams_b)
    # Two texts of one character have no bigrams.
    jaccard = Fraction(len(bigrams_a & bigrams_b), n_union) if n_union else Fraction(0)
    return Likeness(contained=a in b or b in a, jaccard=jaccard)


def cover(expected: Sequence[object], answered: Sequence[object], *, most: int) -> Coverage:
    """Return `expected` items paired with the first `most` of the `answered`.

    Each expected item, in order, is paired with the first answered one that matches and has no
    pair yet.

    >>> coverage = cover(["satu kamar", "dua kamar"], ["dua kamar", "kolam"], most=12)
    >>> coverage.pairs, coverage.f1
    (((1, 0),), Fraction(1, 2))
    """
    unpaired = dict(enumerate(answered[:most]))
    n_given = len(unpaired)
    pairs = []
    for position, item in enumerate(expected):
        for place, text in unpaired.items():
            if likeness(item, text).matches:
                pairs.append((position, place))
                del unpaired[place]
                break
    return Coverage(tuple(pairs), len(expected), n_given, len(answered) - n_given)


def _squeezed(text: object) -> str:
    return "".join(text.split()) if isinstance(text, str) else ""


def _bigrams(text: str) -> set[str]:
    return {text[i : i + 2] for i in range(len(text) - 1)}
