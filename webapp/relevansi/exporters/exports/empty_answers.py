"""What looking gave for empty answers, in words and as JSON values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from relevansi import notation
from relevansi.i18n import gettext, ngettext
from relevansi.metrics.judging.empty_answers import EmptyAnswer, EmptyAnswerCounts


def sentences(counts: EmptyAnswerCounts) -> Iterator[str]:
    """Yield a sentence on correct empty answers and one on false negatives, where there are any."""
    number = notation.number
    if counts.correct_empty and not counts.checked:
        yield gettext(
            "Correct empty: %(n)s, none of them given after looking.",
            n=number(counts.correct_empty),
        )
    elif counts.correct_empty:
        yield ngettext(
            "Correct empty: %(correct)s, of these %(checked)s after looking (%(n)s search).",
            "Correct empty: %(correct)s, of these %(checked)s after looking (%(n)s searches).",
            counts.searches,
            correct=number(counts.correct_empty),
            checked=number(counts.checked),
        )
    if counts.false_negatives and not counts.evidence:
        yield gettext(
            "False negatives: %(n)s, none of them with evidence.",
            n=number(counts.false_negatives),
        )
    elif counts.false_negatives:
        yield ngettext(
            "False negatives: %(missed)s, of these %(shown)s with evidence: %(n)s property that "
            "fits.",
            "False negatives: %(missed)s, of these %(shown)s with evidence: %(n)s properties that "
            "fit.",
            counts.evidence,
            missed=number(counts.false_negatives),
            shown=number(counts.with_evidence),
        )


def counts_json(counts: EmptyAnswerCounts) -> dict[str, Any]:
    """Return counts by name; ``checked_share`` is the figure, null without a correct one."""
    return {**counts._asdict(), "checked_share": counts.share_checked}


def answer_json(answer: EmptyAnswer | None) -> dict[str, Any]:
    """Return the searches behind an outcome and the ids of the evidence; nothing without one."""
    if answer is None:
        return {}
    return {
        "searches": answer.searches,
        "evidence": [item.identity for item in answer.evidence],
    }
