"""What looking gave for empty answers: correct ones that were checked, misses with evidence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from msgspec import Struct

from relevansi.records import EmptyOutcome

CHECKED = "empty_answers_checked"
"""The name of the figure in files."""


class Evidence(NamedTuple):
    """An item of the catalogue that a rater pinned, since it fits the question.

    ``item_id`` is of the judged item, ``run_id`` of the run whose conversation it belongs to.
    ``identity`` is how files name it, ``name`` how pages do.
    """

    item_id: int
    identity: str
    name: str
    run_id: str | None = None


class EmptyAnswer(NamedTuple):
    """An empty list that was classified, and the searches and evidence behind its outcome.

    ``emptiness`` is the judged item, which several runs may share. ``searches`` were made for the
    question no later than the verdict, by raters whose verdict it is. ``evidence`` is there only
    of a false negative.
    """

    emptiness: int
    outcome: EmptyOutcome
    searches: int = 0
    evidence: tuple[Evidence, ...] = ()


class EmptyAnswerCounts(Struct, frozen=True):
    """How many empty answers are right and missed, and how many of each rest on a search.

    ``checked`` of the correct ones were classified after ``searches`` of the catalogue;
    ``with_evidence`` of the false negatives have at least one of the ``evidence`` items.
    """

    correct_empty: int = 0
    checked: int = 0
    searches: int = 0
    false_negatives: int = 0
    with_evidence: int = 0
    evidence: int = 0

    @property
    def share_checked(self) -> float | None:
        """Empty answers checked: verdicts "correct empty" given after a search / all of them.

        ``None`` where there are none. Searches after the verdict do not count. n is
        ``correct_empty``.

        >>> EmptyAnswerCounts(correct_empty=4, checked=3, searches=5).share_checked
        0.75
        >>> EmptyAnswerCounts(false_negatives=2).share_checked
        """
        return self.checked / self.correct_empty if self.correct_empty else None


def counts_of(answers: Iterable[EmptyAnswer | None]) -> EmptyAnswerCounts:
    """Return the counts of `answers`; one verdict that several runs share is counted once.

    >>> nothing, miss = EmptyOutcome
    >>> rumah = Evidence(7, "slug:rumah", "Rumah")
    >>> counts_of([EmptyAnswer(1, nothing, 2), EmptyAnswer(1, nothing, 2), EmptyAnswer(2, nothing),
    ...          EmptyAnswer(3, miss, 1, (rumah,)), EmptyAnswer(4, miss), None])
    EmptyAnswerCounts(correct_empty=2, checked=1, searches=2, false_negatives=2, \
with_evidence=1, evidence=1)
    """
    distinct = {answer.emptiness: answer for answer in answers if answer}.values()
    right = [answer for answer in distinct if answer.outcome is EmptyOutcome.CORRECT_EMPTY]
    missed = [answer for answer in distinct if answer.outcome is EmptyOutcome.FALSE_NEGATIVE]
    return EmptyAnswerCounts(
        correct_empty=len(right),
        checked=sum(answer.searches > 0 for answer in right),
        searches=sum(answer.searches for answer in right),
        false_negatives=len(missed),
        with_evidence=sum(bool(answer.evidence) for answer in missed),
        evidence=sum(len(answer.evidence) for answer in missed),
    )
