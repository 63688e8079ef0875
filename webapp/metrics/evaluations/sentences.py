"""The sentences of an answer with their citations, and which of them say "I don't know".

A sentence ends at ``.``, ``!`` or ``?`` before a blank or the end of the text; citations
right after the mark, with or without a blank between, belong to the sentence before. Line
breaks are blanks: they end nothing by themselves. What is left without a letter, a digit or
a citation (a stray mark) is not a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

_CITATION = re.compile(r"\[CIT:([\w-]+)\]")
_CITATIONS = r"(?:\s*\[CIT:[\w-]+\])"
_END = re.compile(rf"[.!?](?:{_CITATIONS}+[.!?]*|(?=\s|\Z))")
_SAYS_SOMETHING = re.compile(r"[^\W_]")

DO_NOT_KNOW = frozenset({"i don't know", "i dont know", "tidak tahu", "saya tidak tahu"})
"""Sentences that claim nothing, in lower case and without closing marks."""


class Sentence(Struct, frozen=True):
    """One sentence: its place in the answer, its text there, and the ids it cites in order.

    ``claim`` is the text without citations, which is what is compared with a context.
    """

    start: int
    end: int
    text: str
    claim: str
    citations: tuple[str, ...]

    @property
    def is_do_not_know(self) -> bool:
        """Whether it is an I-don't-know sentence, with or without citations."""
        words = " ".join(self.claim.replace("\u2019", "'").split()).lower()
        return words.rstrip(".!? ") in DO_NOT_KNOW


def sentences(answer: str) -> tuple[Sentence, ...]:
    """The sentences of `answer` in order.

    >>> [s.citations for s in sentences("Ada 3 kamar [CIT:a]. Luas 90 m2. [CIT:b] Tidak tahu!")]
    [('a',), ('b',), ()]
    """
    return tuple(
        _sentence(answer, start, end)
        for start, end in _pieces(answer)
        if _SAYS_SOMETHING.search(answer, start, end)
    )


def without_citations(answer: str) -> str:
    """`answer` with every citation taken out.

    >>> without_citations("Ada 3 kamar [CIT:a].")
    'Ada 3 kamar  .'
    """
    return _CITATION.sub(" ", answer)


def _pieces(answer: str) -> Iterator[tuple[int, int]]:
    start = 0
    for end in _END.finditer(answer):
        yield start, end.end()
        start = end.end()
    yield start, len(answer)


def _sentence(answer: str, start: int, end: int) -> Sentence:
    text = answer[start:end]
    start += len(text) - len(text.lstrip())
    text = text.strip()
    return Sentence(
        start=start,
        end=start + len(text),
        text=text,
        claim=_CITATION.sub("", text).strip(),
        citations=tuple(_CITATION.findall(text)),
    )
