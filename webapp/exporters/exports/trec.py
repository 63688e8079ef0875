"""Judgments and ranked lists in the two TREC text forms that evaluation tools read.

Both name a document by what the caller gives (property and content number). A property
listed twice in one answer is two documents, the second ending in ``#2``: TREC lists hold
no document twice. On these files the reciprocal rank of ``ir_measures`` or ``trec_eval``
is this product's. Their ``P@5`` is `P@5 (trec_eval)` here; times 5 / min(n, 5) it is P@5,
as long as nothing is "cannot tell".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from urllib.parse import quote

from msgspec import Struct

from webapp.i18n import gettext, ngettext
from webapp.records import Relevance

_UNSAFE = re.compile(r"[\s%#\x00]")
_GRADES = {Relevance.RELEVANT: 1, Relevance.NOT_RELEVANT: 0}


class TrecResult(Struct, frozen=True):
    """One result of one list: its 1-based rank, its document, its verdict if it has one.

    ``repetition`` is 1 at the document's first place in the list, 2 at the next place.
    """

    query_id: int
    rank: int
    doc_id: str
    relevance: Relevance | None = None
    repetition: int = 1


def qrels(results: Iterable[TrecResult]) -> tuple[str, tuple[str, ...]]:
    """The judgments, ``query 0 document grade`` per line, grade 1 or 0.

    "Cannot tell" and unjudged results are left out, and the notes beside the text count them.
    """
    found = list(results)
    lines = [
        f"{result.query_id} 0 {document(result)} {_GRADES[result.relevance]}\n"
        for result in found
        if result.relevance in _GRADES
    ]
    return "".join(dict.fromkeys(lines)), tuple(_left_out(found))


def run_file(results: Iterable[TrecResult], *, tag: str) -> str:
    """The ranked lists, ``query Q0 document rank score tag`` per line.

    The score falls by one from rank to rank and ends at 1, since tools sort by it and not
    by the rank. A question with an empty list has no line, as the form has none for it.
    """
    found = list(results)
    longest: dict[int, int] = {}
    for result in found:
        longest[result.query_id] = max(result.rank, longest.get(result.query_id, 0))
    return "".join(
        f"{result.query_id} Q0 {document(result)} {result.rank} "
        f"{longest[result.query_id] + 1 - result.rank} {_safe(tag)}\n"
        for result in found
    )


def document(result: TrecResult) -> str:
    """The document id of `result`: blanks, ``%`` and ``#`` as ``%20``, repetitions marked.

    >>> document(TrecResult(1, 3, "title:rumah cemara/1", repetition=2))
    'title:rumah%20cemara/1#2'
    """
    name = _safe(result.doc_id)
    return name if result.repetition == 1 else f"{name}#{result.repetition}"


def _safe(text: str) -> str:
    return _UNSAFE.sub(lambda found: quote(found[0], safe=""), text)


def _left_out(results: Iterable[TrecResult]) -> Iterator[str]:
    counts = Counter(result.relevance for result in results)
    if unsure := counts[Relevance.UNSURE]:
        yield ngettext(
            "%(n)s result is left out of the qrels: cannot tell.",
            "%(n)s results are left out of the qrels: cannot tell.",
            unsure,
        )
    if unjudged := counts[None]:
        yield ngettext(
            "%(n)s result is left out of the qrels: not judged yet.",
            "%(n)s results are left out of the qrels: not judged yet.",
            unjudged,
        )
    if unsure or unjudged:
        yield gettext("Evaluation tools count what is left out as not relevant.")
