"""Figures of one ranked list from its verdicts, and the reasons a figure has no value.

Every function takes the verdicts in rank order (position 0 is rank 1), ``None`` where a
result is unjudged. *Decided* means relevant or not relevant: "cannot tell" and unjudged
results are neither. A list that is judged in part gets the figure so far. In a study in which
"cannot tell" counts as not relevant, the verdicts are first put through ``counted``.

References: Manning, Raghavan & Schütze (2008), Introduction to Information Retrieval,
chapter 8; Voorhees (1999), The TREC-8 Question Answering Track Report; Voorhees (2002), The
Philosophy of Information Retrieval Evaluation; Craswell (2009), Mean Reciprocal Rank.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType

from webapp.i18n import mark
from webapp.records import CannotTell, QueryState, Relevance


class Undefined(StrEnum):
    """Why a figure has no value: never to be confused with the value 0."""

    NO_RESULTS = "no_results"
    CORRECT_EMPTY = "correct_empty"
    UNCLASSIFIED = "unclassified"
    NOTHING_DECIDED = "nothing_decided"
    CANNOT_TELL = "cannot_tell"
    INCOMPLETE = "incomplete"
    LEFT_OPEN = "left_open"
    UNRATED = "unrated"
    FAILED = "failed"
    UNREADABLE = "unreadable"
    NO_QUERY = "no_query"


EXPLANATIONS: Mapping[Undefined, str] = MappingProxyType(
    {
        Undefined.NO_RESULTS: mark("There are no results to measure."),
        Undefined.CORRECT_EMPTY: mark(
            "There was truly nothing to find, so there is no rank. (The rated CSV has 0 here.)"
        ),
        Undefined.UNCLASSIFIED: mark("Nobody has decided yet whether the empty list is right."),
        Undefined.NOTHING_DECIDED: mark("No result counted here is relevant or not relevant."),
        Undefined.CANNOT_TELL: mark("No result is relevant, and at least one cannot be told."),
        Undefined.INCOMPLETE: mark("The rating is not complete yet."),
        Undefined.LEFT_OPEN: mark("The counts in the file leave it open."),
        Undefined.UNRATED: mark("The response quality has not been rated yet."),
        Undefined.FAILED: mark("The call to the chatbot failed."),
        Undefined.UNREADABLE: mark("The answer could not be read, so it is not counted."),
        Undefined.NO_QUERY: mark("No question has a value for this figure."),
    }
)
"""Each reason in words for the reader, as a message id."""


def counted(
    verdicts: Sequence[Relevance | None], *, cannot_tell: CannotTell
) -> tuple[Relevance | None, ...]:
    """The verdicts as a study counts them, for the figures below.

    Where `cannot_tell` is "not_relevant", such a result counts like a not relevant one, so that a
    precision is relevant / results, as in the method. Where it is "left_out", all stay as given.

    >>> precision(counted([Relevance.RELEVANT, Relevance.UNSURE], cannot_tell="not_relevant"))
    0.5
    """
    if cannot_tell == "left_out":
        return tuple(verdicts)
    return tuple(Relevance.NOT_RELEVANT if v is Relevance.UNSURE else v for v in verdicts)


def precision(verdicts: Sequence[Relevance | None]) -> float | Undefined:
    """Share of relevant results among the decided ones of the whole list (set precision).

    ``P = R / D``: *R* relevant results, *D* decided results (Manning et al. 2008, ch. 8).
    "Cannot tell" and unjudged results are left out of both. None relevant gives 0, an empty
    list ``NO_RESULTS``, nothing decided ``NOTHING_DECIDED``.

    >>> precision([Relevance.RELEVANT, Relevance.NOT_RELEVANT, Relevance.UNSURE, None])
    0.5
    """
    relevant = verdicts.count(Relevance.RELEVANT)
    decided = relevant + verdicts.count(Relevance.NOT_RELEVANT)
    if decided:
        return relevant / decided
    return Undefined.NOTHING_DECIDED if verdicts else Undefined.NO_RESULTS


def precision_at(verdicts: Sequence[Relevance | None], *, cutoff: int = 5) -> float | Undefined:
    """Share of relevant results among the decided ones of the first `cutoff` ranks.

    ``P@k = R / D`` over ranks 1 to min(k, n): *k* the cutoff, *n* the length of the list,
    *R* relevant and *D* decided results there (Manning et al. 2008, ch. 8). A list shorter
    than *k* is divided by its own length, unlike trec_eval's ``P.k``. "Cannot tell" and
    unjudged results are left out of both. None relevant gives 0, an empty list
    ``NO_RESULTS``, nothing decided in those ranks ``NOTHING_DECIDED``. Raises
    ``ValueError`` for a cutoff below 1.

    >>> precision_at([Relevance.RELEVANT, Relevance.RELEVANT, Relevance.NOT_RELEVANT], cutoff=2)
    1.0
    """
    return precision(_top(verdicts, cutoff))


def reciprocal_rank(verdicts: Sequence[Relevance | None]) -> float | Undefined:
    """One divided by the rank of the first relevant result, over the whole list.

    ``RR = 1 / rank``: *rank* the 1-based position of the first relevant result as shown
    (Voorhees 1999; Craswell 2009). "Cannot tell" and unjudged results take up their rank
    without being relevant. None relevant gives 0, an empty list ``NO_RESULTS``.

    >>> reciprocal_rank([Relevance.NOT_RELEVANT, Relevance.RELEVANT])
    0.5
    """
    if not verdicts:
        return Undefined.NO_RESULTS
    rank = first_relevant_rank(verdicts)
    return 1 / rank if rank else 0.0


def first_relevant_rank(verdicts: Sequence[Relevance | None]) -> int | None:
    """Rank (1-based) of the first relevant result, ``None`` when none is relevant.

    >>> first_relevant_rank([None, Relevance.RELEVANT])
    2
    """
    if Relevance.RELEVANT not in verdicts:
        return None
    return verdicts.index(Relevance.RELEVANT) + 1


def success(verdicts: Sequence[Relevance | None]) -> float | Undefined:
    """1 when at least one result is relevant, else 0 (Voorhees 2002).

    With none relevant a "cannot tell" leaves it undefined (``CANNOT_TELL``), else an
    unjudged result does (``INCOMPLETE``): each might be the relevant one. An empty list is
    ``NO_RESULTS`` here; whether it is a success depends on its classification.

    >>> success([Relevance.NOT_RELEVANT, Relevance.RELEVANT])
    1.0
    """
    if not verdicts:
        return Undefined.NO_RESULTS
    if Relevance.RELEVANT in verdicts:
        return 1.0
    if Relevance.UNSURE in verdicts:
        return Undefined.CANNOT_TELL
    return Undefined.INCOMPLETE if None in verdicts else 0.0


def suggested_quality(state: QueryState, verdicts: Sequence[Relevance | None]) -> int | None:
    """Response quality (0 to 5) that the share of relevant results suggests to the rater.

    ``s = R / D``: *R* relevant, *D* decided results. An empty list or a failed call: 0; s = 0:
    1; s < 50 %: 2; 50 % to 70 %: 3; above 70 %: 4; s = 1: 5. The edges are exact. ``None``
    while a result is unjudged, when nothing is decided and for an unreadable answer.

    >>> suggested_quality(QueryState.RESULTS, [Relevance.RELEVANT, Relevance.NOT_RELEVANT])
    3
    """
    if state in {QueryState.EMPTY, QueryState.FAILED}:
        return 0
    relevant = verdicts.count(Relevance.RELEVANT)
    decided = relevant + verdicts.count(Relevance.NOT_RELEVANT)
    if not decided or None in verdicts:
        return None
    return _grade(relevant, decided)


def _grade(relevant: int, decided: int) -> int:
    """The rubric's grade; whole numbers, since 7/10 must not depend on how floats round."""
    if relevant in {0, decided}:
        return 5 if relevant else 1
    if 2 * relevant < decided:
        return 2
    return 3 if 10 * relevant <= 7 * decided else 4


def _top(verdicts: Sequence[Relevance | None], cutoff: int) -> Sequence[Relevance | None]:
    if cutoff < 1:
        raise ValueError(f"cutoff {cutoff} is below 1")
    return verdicts[:cutoff]
