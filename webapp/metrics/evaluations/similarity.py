"""How near the text of a claim is to a context: the cosine of their vectors."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Protocol

DEFAULT_TAU_SIM = 0.6
LEXICAL_TAU_SIM = 0.3
"""The threshold of TF-IDF: there even a claim taken word for word out of a longer context
reaches only about 0.4."""

_WORD = re.compile(r"\w+")


class Embedder(Protocol):
    """Anything that can say how near claims are to contexts."""

    @property
    def name(self) -> str:
        """The name of the embedder in reports."""
        ...

    @property
    def default_tau_sim(self) -> float:
        """The threshold that goes with it."""
        ...

    def cosines(self, pairs: Sequence[tuple[str, str]], contexts: Sequence[str]) -> list[float]:
        """The cosine of every (claim, context) pair; `contexts` are all texts of the row."""
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
        """The cosine of the TF-IDF vectors of each pair; 0 where one has no word."""
        seen = Counter(word for context in contexts for word in set(_words(context)))
        return [
            _sparse_cosine(
                _weights(claim, seen, len(contexts)), _weights(context, seen, len(contexts))
            )
            for claim, context in pairs
        ]


def cosine(a: Sequence[float], b: Sequence[float]) -> float:
    """The product a · b over |a| |b|, from -1 to 1; 0 where one of them has no length.

    >>> cosine([3, 4], [4, 3])
    0.96
    """
    lengths = math.hypot(*a) * math.hypot(*b)
    return (
        max(-1.0, min(1.0, math.fsum(x * y for x, y in zip(a, b, strict=True)) / lengths))
        if lengths
        else 0.0
    )


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _weights(text: str, seen: Mapping[str, int], n_contexts: int) -> dict[str, float]:
    return {
        word: count * (math.log((1 + n_contexts) / (1 + seen.get(word, 0))) + 1)
        for word, count in Counter(_words(text)).items()
    }


def _sparse_cosine(a: Mapping[str, float], b: Mapping[str, float]) -> float:
    lengths = math.hypot(*a.values()) * math.hypot(*b.values())
    product = math.fsum(weight * b[word] for word, weight in a.items() if word in b)
    return min(1.0, product / lengths) if lengths else 0.0
