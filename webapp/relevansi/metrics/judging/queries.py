"""The counts and figures of one query from one rater's judgments, and the figures' bounds.

Functions of one list take the verdicts in rank order (position 0 is rank 1), ``None`` where a
result is unjudged. *Decided* means relevant or not relevant: "cannot tell" and unjudged
results are neither. A list that is judged in part gets the figure so far. In a study in which
"cannot tell" counts as not relevant, the verdicts are first put through ``as_counted``.

References: Manning, Raghavan & Schütze (2008), Introduction to Information Retrieval,
chapter 8; Voorhees (1999), The TREC-8 Question Answering Track Report; Voorhees (2002), The
Philosophy of Information Retrieval Evaluation; Craswell (2009), Mean Reciprocal Rank.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

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


def as_counted(
    verdicts: Sequence[Relevance | None], *, cannot_tell: CannotTell
) -> tuple[Relevance | None, ...]:
    """The verdicts as a study counts them, for the figures of the method.

    Where `cannot_tell` is "not_relevant", such a result counts like a not relevant one, so that a
    precision is relevant / results, as in the method. Where it is "left_out", all stay as given.

    >>> precision_at(relevances(as_counted([Relevance.RELEVANT, Relevance.UNSURE],
    ...                                    cannot_tell="not_relevant")))
    0.5
    """
    if cannot_tell == "left_out":
        return tuple(verdicts)
    return tuple(Relevance.NOT_RELEVANT if v is Relevance.UNSURE else v for v in verdicts)


def relevances(verdicts: Sequence[Relevance | None]) -> list[bool | None]:
    """Whether the result at each rank is relevant, ``None`` where that is not decided."""
    return [None if v in {None, Relevance.UNSURE} else v is Relevance.RELEVANT for v in verdicts]


def precision_at(relevance: Sequence[bool | None], cutoff: int | None = None) -> float | None:
    """Share of relevant results among those of the first `cutoff` ranks, or of all ranks.

    ``P@k = R / D`` over ranks 1 to min(k, n): *k* the cutoff, *n* the length of the list, *R* the
    relevant results there and *D* all that are relevant or not (Manning et al. 2008, ch. 8). A list
    shorter than *k* is divided by its own length, unlike trec_eval's ``P.k``. A result that is
    ``None`` is left out of both. None relevant gives 0, nothing to divide by ``None``.

    >>> precision_at([True, True, False], 2), precision_at([True, False, None])
    (1.0, 0.5)
    """
    decided = [is_relevant for is_relevant in relevance[:cutoff] if is_relevant is not None]
    return sum(decided) / len(decided) if decided else None


def reciprocal_rank(relevance: Sequence[bool | None], cutoff: int | None = None) -> float:
    """One divided by the rank of the first relevant result, 0 where none is down to `cutoff`.

    ``RR = 1 / rank``: *rank* the 1-based position of the first relevant result as shown
    (Voorhees 1999; Craswell 2009). A result that is not decided takes up its rank without being
    relevant.

    >>> reciprocal_rank([None, True]), reciprocal_rank([None, True], 1)
    (0.5, 0.0)
    """
    top = relevance[:cutoff]
    return 1 / (top.index(True) + 1) if True in top else 0.0


def success(relevance: Sequence[bool | None], cutoff: int | None = None) -> float | None:
    """1 when at least one result is relevant, down to `cutoff`, else 0 (Voorhees 2002).

    With none relevant one that is not decided leaves it undefined (``None``): it might be the
    relevant one. An empty list is 0.

    >>> success([False, True]), success([False, True], 1), success([False, None])
    (1.0, 0.0, None)
    """
    top = relevance[:cutoff]
    if True in top:
        return 1.0
    return None if None in top else 0.0


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


TOP = 5
"""The cutoff of precision@5."""
MEANS = {
    "mean_precision_at_5": "precision_at_5",
    "mean_overall_precision": "overall_precision",
    "mrr": "reciprocal_rank",
    "mrr_answerable": "answerable_reciprocal_rank",
    "success_rate": "success",
    "mean_response_quality": "response_quality",
}
"""The figures of the method that are means over queries, in order, and what files call one value.

A query has them under the names of the means, beside the ranking figures of ``graded``.
"""
_WITHOUT_RESULTS: Mapping[QueryState | EmptyOutcome | None, tuple[float | None, float | None]] = {
    QueryState.FAILED: (None, 0.0),
    EmptyOutcome.CORRECT_EMPTY: (None, 1.0),
    EmptyOutcome.FALSE_NEGATIVE: (0.0, 0.0),
}
"""The answerable reciprocal rank and the success of a query without results, if it has any."""
_WORST = (Relevance.NOT_RELEVANT, EmptyOutcome.FALSE_NEGATIVE)
_BEST = (Relevance.RELEVANT, EmptyOutcome.CORRECT_EMPTY)
QUALITY = "mean_response_quality"
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

    @property
    def final(self) -> float | None:
        """The value, ``None`` while open judgments can still change it."""
        is_open = self.lower != self.upper and None not in (self.lower, self.upper)
        return None if is_open else self.value


UNRATED = Span(None, 0.0, float(BEST_QUALITY))
"""The response quality of an answer until it is rated."""


class QuerySummary(NamedTuple):
    """One query's counts and figures under one rule.

    ``judged_count`` includes "cannot tell". ``first_relevant_rank`` is among what is judged so
    far. ``complete``: every result is judged or the emptiness classified; a failed call always
    is, an unreadable answer never. ``figures`` has those of the method by the names in ``MEANS``,
    then ranking figures (``graded``) by theirs: "mrr" is of queries with results only,
    "mrr_answerable" also 0 for a false negative, "success_rate" 0 for a failed call.
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
    figures: Mapping[str, Span]
    asks_quality: bool = True

    @property
    def decided_count(self) -> int:
        return self.relevant_count + self.not_relevant_count

    @property
    def is_unrated(self) -> bool:
        is_asked = self.asks_quality and self.state is not QueryState.UNREADABLE
        return is_asked and self.quality is None

    @property
    def ranking(self) -> dict[str, Span]:
        """The ranking figures by name."""
        return {name: span for name, span in self.figures.items() if name not in MEANS}

    def with_figures(self, figures: Mapping[str, Span]) -> QuerySummary:
        """The same with `figures` put beside its own, or in their place."""
        return self._replace(figures={**self.figures, **figures})


def summarise(judgments: QueryJudgments, *, cannot_tell: CannotTell) -> QuerySummary:
    """The counts and the method's figures of one query.

    `cannot_tell` says what such a result is in the figures; the counts keep the kinds of verdict
    apart in any case.
    """
    state, quality = judgments.state, judgments.quality
    summary = _unrated(state, judgments.verdicts, judgments.empty_outcome, cannot_tell)
    if not judgments.asks_quality and quality is None:
        summary = summary._replace(asks_quality=False)
        return summary.with_figures({QUALITY: Span.settled(None)})
    if quality is None or state is QueryState.UNREADABLE:
        return summary._replace(quality=quality)
    rated = Span.settled(float(quality))
    return summary._replace(quality=quality).with_figures({QUALITY: rated})


@lru_cache(maxsize=4096)
def _unrated(
    state: QueryState,
    verdicts: tuple[Relevance | None, ...],
    outcome: EmptyOutcome | None,
    cannot_tell: CannotTell,
) -> QuerySummary:
    """The same without a quality, cached: thousands of queries have the same few verdicts."""
    complete = {
        QueryState.RESULTS: None not in verdicts,
        QueryState.EMPTY: outcome is not None,
        QueryState.FAILED: True,
        QueryState.UNREADABLE: False,
    }[state]
    in_figures = as_counted(verdicts, cannot_tell=cannot_tell)
    if complete:
        spans = [Span.settled(value) for value in _values(state, in_figures, outcome)]
    else:
        # Every open judgment at its worst, then at its best.
        worst, best = (
            _values(state, [verdict if v is None else v for v in in_figures], outcome or of_empty)
            for verdict, of_empty in (_WORST, _BEST)
        )
        spans = [Span(None, lower, upper) for lower, upper in zip(worst, best, strict=True)]
    quality = Span.settled(None) if state is QueryState.UNREADABLE else UNRATED
    first = verdicts.index(Relevance.RELEVANT) + 1 if Relevance.RELEVANT in verdicts else None
    return QuerySummary(
        state=state,
        results_count=len(verdicts),
        judged_count=len(verdicts) - verdicts.count(None),
        relevant_count=verdicts.count(Relevance.RELEVANT),
        not_relevant_count=verdicts.count(Relevance.NOT_RELEVANT),
        unsure_count=verdicts.count(Relevance.UNSURE),
        first_relevant_rank=first,
        complete=complete,
        empty_outcome=outcome if state is QueryState.EMPTY else None,
        quality=None,
        figures=dict(zip(MEANS, (*spans, quality), strict=True)),
    )


def why_undefined(summary: QuerySummary, figure: str) -> Undefined | None:
    """The reason why one of ``figures`` has no value, ``None`` when it has one."""
    if summary.figures[figure].value is not None:
        return None
    if summary.state is QueryState.UNREADABLE:
        return Undefined.UNREADABLE
    if figure == QUALITY:
        return Undefined.UNRATED
    of_list = summary.state is QueryState.RESULTS
    return _why_of_results(summary, figure) if of_list else _why_without(summary, figure)


def _why_without(summary: QuerySummary, figure: str) -> Undefined:
    if summary.state is QueryState.FAILED and figure in MEANS:
        return Undefined.FAILED
    if figure not in {"mrr_answerable", "success_rate"}:
        return Undefined.NO_RESULTS
    return Undefined.CORRECT_EMPTY if summary.empty_outcome else Undefined.UNCLASSIFIED


def _why_of_results(summary: QuerySummary, figure: str) -> Undefined:
    if figure not in MEANS:
        return Undefined.NONE_RELEVANT
    if not summary.complete:
        return Undefined.INCOMPLETE
    if summary.figures[figure] != Span.settled(None):
        return Undefined.LEFT_OPEN
    return Undefined.CANNOT_TELL if figure == "success_rate" else Undefined.NOTHING_DECIDED


def _values(
    state: QueryState, verdicts: Sequence[Relevance | None], outcome: EmptyOutcome | None
) -> list[float | None]:
    """The values of all ``MEANS`` but the quality, in order; ``None`` where undefined."""
    if state is QueryState.RESULTS and verdicts:
        listed = relevances(verdicts)
        rank = reciprocal_rank(listed)
        # Twice: a question with results has an answer in any case.
        return [precision_at(listed, TOP), precision_at(listed), rank, rank, success(listed)]
    of_list = outcome if state is QueryState.EMPTY else state
    return [None, None, None, *_WITHOUT_RESULTS.get(of_list, (None, None))]
