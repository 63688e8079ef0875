"""Judgments and ranked lists in the two TREC text forms that evaluation tools read.

A property listed twice in one answer is two documents, the second ending in ``#2``: TREC lists hold
no document twice. On these files the reciprocal rank of ``ir_measures`` or ``trec_eval``
is this product's. Their ``P@5`` is `P@5 (trec_eval)` here; times 5 / min(n, 5) it is P@5,
as long as nothing is "cannot tell".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from webapp.exporters.exports.judged_results import JudgedResult, document, one_word
from webapp.i18n import gettext, ngettext


def qrels(
    results: Iterable[JudgedResult], *, unjudged: bool = False
) -> tuple[str, tuple[str, ...]]:
    """The judgments, ``query 0 document grade`` per line.

    "Cannot tell" and unjudged results are left out, and the notes beside the text count them.
    With `unjudged` they have the grade -1, as infAP reads what was pooled and not judged.
    """
    found = list(results)
    lines = [
        f"{one_word(result.query_id)} 0 {document(result)} "
        f"{result.verdict if isinstance(result.verdict, int) else -1}\n"
        for result in found
        if isinstance(result.verdict, int) or (unjudged and result.is_pooled)
    ]
    return "".join(dict.fromkeys(lines)), () if unjudged else tuple(_left_out(found))


def run_file(results: Iterable[JudgedResult], *, tag: str, scores: bool = False) -> str:
    """The ranked lists, ``query Q0 document rank score tag`` per line.

    The score falls by one from rank to rank and ends at 1, since tools sort by it and not
    by the rank. A question with an empty list has no line, as the form has none for it. With
    `scores` the list's own score is behind a tab after the tag, where it is known.
    """
    found = [(result, result.rank) for result in results if result.rank is not None]
    longest: dict[str, int] = {}
    for result, rank in found:
        longest[result.query_id] = max(rank, longest.get(result.query_id, 0))
    own = (f"\t{one.score}" if scores and one.score is not None else "" for one, _ in found)
    return "".join(
        f"{one_word(result.query_id)} Q0 {document(result)} {rank} "
        f"{longest[result.query_id] + 1 - rank} {one_word(tag)}{score}\n"
        for (result, rank), score in zip(found, own, strict=True)
    )


def _left_out(results: Iterable[JudgedResult]) -> Iterator[str]:
    counts = Counter(result.verdict for result in results if result.is_pooled and result.rank)
    if unsure := counts["unsure"]:
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
