"""How far an answer agrees with the gold answer: exact match and F1 on normalised words.

Citations are not words: an answer that cites as its contract asks can be the gold answer. With
``keep_citations`` of an `AnswerScale` each becomes a word of its own (``citd1``).
"""

from __future__ import annotations

import string
from collections import Counter

from msgspec import Struct

_ARTICLES = frozenset({"a", "an", "the"})
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


class GoldMatch(Struct, frozen=True):
    """How far an answer is its gold answer."""

    em: int
    f1: float


def normalised(text: str) -> tuple[str, ...]:
    """The words of `text` in lower case, without ASCII punctuation and a, an, the.

    >>> normalised("The price: Rp 800-juta!")
    ('price', 'rp', '800juta')
    """
    words = text.lower().translate(_NO_PUNCTUATION).split()
    return tuple(word for word in words if word not in _ARTICLES)


def match(answer: str, gold: str) -> GoldMatch:
    """`answer` against `gold`: EM 1 or 0, F1 over the words with their repetitions.

    F1 = 2 PR / (P + R) = 2 common / (words of the answer + words of gold). Both empty: 1
    and 1; one empty: 0 and 0.

    >>> found = match("rumah dua kamar", "rumah tiga kamar")
    >>> found.em, round(found.f1, 4)
    (0, 0.6667)
    """
    given, wanted = normalised(answer), normalised(gold)
    common = (Counter(given) & Counter(wanted)).total()
    words = len(given) + len(wanted)
    f1 = 2 * common / words if words else 1.0
    return GoldMatch(int(given == wanted), f1)
