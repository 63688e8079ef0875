"""The counts and figures of one query from one rater's judgments, and the figures' bounds.

Functions of one list take the verdicts in rank order (position 0 is rank 1), ``None`` where a
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
from functools import lru_cache
from typing import Any, NamedTuple

from msgspec import Struct

from relevansi.i18n import mark
from relevansi.records import CannotTell, EmptyOutcome, QueryState, Relevance


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
    NONE_RELEVANT = "none_relevant"


EXPLANATIONS: Mapping[Undefined, str] = {
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
"""Each reason in words for the reader, as a message id."""
OF_RANKINGS: Mapping[Undefined, str] = {
    **EXPLANATIONS,
    Undefined.NONE_RELEVANT: mark("No judged item of the question is relevant."),
}
"""The same with what only ranking figures have."""


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


def precision(verdicts: Sequence[Relevance | None]) -> float | None:
    """Share of relevant results among the decided ones of the whole list (set precision).

    ``P = R / D``: *R* relevant results, *D* decided results (Manning et al. 2008, ch. 8).
    "Cannot tell" and unjudged results are left out of both. None relevant gives 0, nothing
    decided ``None``.

    >>> precision([Relevance.RELEVANT, Relevance.NOT_RELEVANT, Relevance.UNSURE, None])
    0.5
    """
    relevant = verdicts.count(Relevance.RELEVANT)
    decided = relevant + verdicts.count(Relevance.NOT_RELEVANT)
    return relevant / decided if decided else None


def precision_at(verdicts: Sequence[Relevance | None], *, cutoff: int = 5) -> float | None:
    """Share of relevant results among the decided ones of the first `cutoff` ranks.

    ``P@k = R / D`` over ranks 1 to min(k, n): *k* the cutoff, *n* the length of the list,
    *R* relevant and *D* decided results there (Manning et al. 2008, ch. 8). A list shorter
    than *k* is divided by its own length, unlike trec_eval's ``P.k``. The rest is as in
    ``precision``.

    >>> precision_at([Relevance.RELEVANT, Relevance.RELEVANT, Relevance.NOT_RELEVANT], cutoff=2)
    1.0
    """
    return precision(verdicts[:cutoff])


def reciprocal_rank(verdicts: Sequence[Relevance | None]) -> float | None:
    """One divided by the rank of the first relevant result, over the whole list.

    ``RR = 1 / rank``: *rank* the 1-based position of the first relevant result as shown
    (Voorhees 1999; Craswell 2009). "Cannot tell" and unjudged results take up their rank
    without being relevant. None relevant gives 0, an empty list ``None``.

    >>> reciprocal_rank([Relevance.NOT_RELEVANT, Relevance.RELEVANT])
    0.5
    """
    rank = first_relevant_rank(verdicts)
    if rank is None:
        return 0.0 if verdicts else None
    return 1 / rank


def first_relevant_rank(verdicts: Sequence[Relevance | None]) -> int | None:
    """Rank (1-based) of the first relevant result, ``None`` when none is relevant.

    >>> first_relevant_rank([None, Relevance.RELEVANT])
    2
    """
    if Relevance.RELEVANT not in verdicts:
        return None
    return verdicts.index(Relevance.RELEVANT) + 1


def success(verdicts: Sequence[Relevance | None]) -> float | None:
    """1 when at least one result is relevant, else 0 (Voorhees 2002).

    With none relevant a "cannot tell" or unjudged result leaves it undefined (``None``): each
    might be the relevant one. So does an empty list, whose success is its classification's.

    >>> success([Relevance.NOT_RELEVANT, Relevance.RELEVANT])
    1.0
    """
    if Relevance.RELEVANT in verdicts:
        return 1.0
    return 0.0 if {*verdicts} == {Relevance.NOT_RELEVANT} else None


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
    if relevant in {0, decided}:
        return 5 if relevant else 1
    # Whole numbers, since 7/10 must not depend on how floats round.
    if 2 * relevant < decided:
        return 2
    return 3 if 10 * relevant <= 7 * decided else 4


QUERY_FIGURES = (
    "precision_at_5",
    "overall_precision",
    "reciprocal_rank",
    "answerable_reciprocal_rank",
    "success",
    "response_quality",
)
"""The figures of a query, in order; each is a field of ``QuerySummary`` holding a ``Span``."""
_FROM_VERDICTS = QUERY_FIGURES[:-1]
_WITHOUT_RESULTS: Mapping[QueryState | EmptyOutcome | None, tuple[float | None, float | None]] = {
    QueryState.FAILED: (None, 0.0),
    EmptyOutcome.CORRECT_EMPTY: (None, 1.0),
    EmptyOutcome.FALSE_NEGATIVE: (0.0, 0.0),
}
"""The answerable reciprocal rank and the success of a query without results, if it has any."""
_WORST = (Relevance.NOT_RELEVANT, EmptyOutcome.FALSE_NEGATIVE)
_BEST = (Relevance.RELEVANT, EmptyOutcome.CORRECT_EMPTY)
BEST_QUALITY = 5
"""The top of the response quality's scale; its foot is 0."""


class QueryJudgments(Struct, frozen=True):
    """The judgments of one query under one rule, and the answer that came back for it.

    ``verdicts`` holds one entry per result in rank order, ``None`` where unjudged. The outcome
    counts for an empty list only. ``quality`` is 0 to 5, or between grades as a median; it is not
    waited for unless the study ``asks_quality`` of this answer.
    """

    state: QueryState
    verdicts: tuple[Relevance | None, ...] = ()
    empty_outcome: EmptyOutcome | None = None
    quality: float | None = None
    asks_quality: bool = True


class Span(NamedTuple):
    """A figure of one query: its value, and what the finished rating can still make it.

    ``value`` is there once the query is complete and the figure defined. ``lower`` has every
    open judgment not relevant, an unclassified empty list a false negative and an open
    quality at 0; ``upper`` has them relevant, a correct empty and 5. Each is ``None`` where
    that reading leaves the figure undefined.
    """

    value: float | None
    lower: float | None
    upper: float | None

    @classmethod
    def settled(cls, value: float | None) -> Span:
        """The span of a figure that nothing open can change: `value` three times."""
        return cls(value, value, value)

    @classmethod
    def rated(cls, quality: float | None) -> Span:
        """The span of a response quality: settled once it is rated, until then 0 to 5."""
        return cls(None, 0.0, float(BEST_QUALITY)) if quality is None else cls.settled(quality)


NO_FURTHER: Mapping[str, Span] = {}


class QuerySummary(NamedTuple):
    """One query's counts and figures under one rule.

    ``judged_count`` includes "cannot tell". ``first_relevant_rank`` is among what is judged so
    far. ``complete``: every result is judged or the emptiness classified; a failed call always
    is, an unreadable answer never. ``reciprocal_rank`` is what the headline MRR averages
    (queries with results only); ``answerable_reciprocal_rank`` is also 0 for a false negative.
    ``success`` is 0 for a failed call. ``further`` has ranking figures (``graded``) by name.
    """

    state: QueryState
    results_count: int
    judged_count: int
    relevant_count: int
    not_relevant_count: int
    unsure_count: int
    first_relevant_rank: int | None
    complete: bool
    empty_outcome: EmptyOutcome | None
    quality: float | None
    precision_at_5: Span
    overall_precision: Span
    reciprocal_rank: Span
    answerable_reciprocal_rank: Span
    success: Span
    response_quality: Span
    asks_quality: bool = True
    further: Mapping[str, Span] = NO_FURTHER

    @property
    def decided_count(self) -> int:
        return self.relevant_count + self.not_relevant_count

    @property
    def is_unrated(self) -> bool:
        is_asked = self.asks_quality and self.state is not QueryState.UNREADABLE
        return is_asked and self.quality is None

    def span(self, figure: str) -> Span:
        span: Span = self.further.get(figure) or getattr(self, figure)
        return span


def summarise(judgments: QueryJudgments, *, cannot_tell: CannotTell) -> QuerySummary:
    """The counts and figures of one query; `cannot_tell` says what such a result is in them.

    The counts keep the kinds of verdict apart in any case.
    """
    found = _unrated(judgments.state, judgments.verdicts, judgments.empty_outcome, cannot_tell)
    if not judgments.asks_quality and judgments.quality is None:
        return found._replace(response_quality=Span.settled(None), asks_quality=False)
    if judgments.quality is None or judgments.state is QueryState.UNREADABLE:
        return found._replace(quality=judgments.quality)
    settled = Span.rated(float(judgments.quality))
    return found._replace(quality=judgments.quality, response_quality=settled)


@lru_cache(maxsize=4096)
def _unrated(
    state: QueryState,
    verdicts: tuple[Relevance | None, ...],
    outcome: EmptyOutcome | None,
    cannot_tell: CannotTell,
) -> QuerySummary:
    """The same without a quality, kept: thousands of queries have the same few verdicts."""
    complete = {
        QueryState.RESULTS: None not in verdicts,
        QueryState.EMPTY: outcome is not None,
        QueryState.FAILED: True,
        QueryState.UNREADABLE: False,
    }[state]
    taken = counted(verdicts, cannot_tell=cannot_tell)
    if complete:
        spans = [Span.settled(figure) for figure in _figures(state, taken, outcome)]
    else:
        worst, best = (
            _figures(state, [verdict if v is None else v for v in taken], outcome or of_empty)
            for verdict, of_empty in (_WORST, _BEST)
        )
        spans = [Span(None, lower, upper) for lower, upper in zip(worst, best, strict=True)]
    return QuerySummary(
        state=state,
        results_count=len(verdicts),
        judged_count=len(verdicts) - verdicts.count(None),
        relevant_count=verdicts.count(Relevance.RELEVANT),
        not_relevant_count=verdicts.count(Relevance.NOT_RELEVANT),
        unsure_count=verdicts.count(Relevance.UNSURE),
        first_relevant_rank=first_relevant_rank(verdicts),
        complete=complete,
        empty_outcome=outcome if state is QueryState.EMPTY else None,
        quality=None,
        asks_quality=True,
        **dict[str, Any](zip(_FROM_VERDICTS, spans, strict=True)),
        response_quality=Span.settled(None) if state is QueryState.UNREADABLE else Span.rated(None),
        further=NO_FURTHER,
    )


def why_undefined(summary: QuerySummary, figure: str) -> Undefined | None:
    """The reason `figure` (a name that ``span`` takes) has no value, ``None`` when it has one."""
    if summary.span(figure).value is not None:
        return None
    if summary.state is QueryState.UNREADABLE:
        return Undefined.UNREADABLE
    if figure == "response_quality":
        return Undefined.UNRATED
    of_list = summary.state is QueryState.RESULTS
    return _why_of_results(summary, figure) if of_list else _why_without(summary, figure)


def _why_without(summary: QuerySummary, figure: str) -> Undefined:
    if summary.state is QueryState.FAILED and figure not in summary.further:
        return Undefined.FAILED
    if figure not in {"answerable_reciprocal_rank", "success"}:
        return Undefined.NO_RESULTS
    return Undefined.CORRECT_EMPTY if summary.empty_outcome else Undefined.UNCLASSIFIED


def _why_of_results(summary: QuerySummary, figure: str) -> Undefined:
    if figure in summary.further:
        return Undefined.NONE_RELEVANT
    if not summary.complete:
        return Undefined.INCOMPLETE
    if summary.span(figure) != Span.settled(None):
        return Undefined.LEFT_OPEN
    return Undefined.CANNOT_TELL if figure == "success" else Undefined.NOTHING_DECIDED


def _figures(
    state: QueryState, verdicts: Sequence[Relevance | None], outcome: EmptyOutcome | None
) -> list[float | None]:
    """Every figure that verdicts make, as ``_FROM_VERDICTS`` names them; ``None`` if undefined."""
    if state is QueryState.RESULTS:
        rank = reciprocal_rank(verdicts)
        # Twice: a question with results has an answer in any case.
        return [precision_at(verdicts), precision(verdicts), rank, rank, success(verdicts)]
    of_list = outcome if state is QueryState.EMPTY else state
    return [None, None, None, *_WITHOUT_RESULTS.get(of_list, (None, None))]
