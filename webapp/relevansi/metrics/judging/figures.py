"""The figures of a run, a category or any other set of queries, from its totals.

Every figure but coverage and the composite is a mean over queries, and three rules settle
all its corners:

- The value is the mean over the queries that have a value: complete, and defined. An
  unreadable answer never has one.
- The bounds are the means over all queries, each taken at its lower (upper) reading. A
  query that a reading leaves undefined is not in that reading's mean: an unclassified empty
  list is at 0 in the lower bound of the answerable MRR and absent from the upper one; a
  list of which one result cannot be told and another is open is absent from the lower
  bound of the success rate and at 1 in the upper one.
- Where one reading leaves no query with a value, the other one's mean is the only value
  the finished rating can reach, and is both bounds. Where both do, there is none.

So every finished rating, cannot tell included, lies within the bounds: a query that such a
verdict removes from a mean could have been at the bottom as well as at the top of the
scale, and leaving it out lies between the two.

Totals are made of queries' summaries or of one row of SQL sums; the same figures follow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from math import fsum
from typing import NamedTuple

from msgspec import Struct, field

from relevansi.metrics.judging.empty_answers import EmptyAnswer
from relevansi.metrics.judging.queries import (
    MEANS,
    QUALITY,
    QuerySummary,
    Undefined,
    why_undefined,
)
from relevansi.records import (
    BINARY,
    Blindness,
    CannotTell,
    EmptyOutcome,
    QueryState,
    Relevance,
    Scale,
    State,
)


class Sum(Struct, frozen=True):
    """The total of a number over the `n` queries that have it."""

    total: float = 0.0
    n: int = 0


class SpanSums(NamedTuple):
    """The sums of a figure's values so far and of its two bounds."""

    value: Sum = Sum()
    lower: Sum = Sum()
    upper: Sum = Sum()


class Totals(Struct, frozen=True):
    """Counts and sums over a set of queries.

    ``n_queries`` counts unreadable queries too. ``sums`` are of the figures of queries by name, of
    those in ``MEANS`` always.
    """

    n_queries: int = 0
    n_complete: int = 0
    n_with_results: int = 0
    n_empty: int = 0
    n_failed: int = 0
    n_unreadable: int = 0
    n_correct_empty: int = 0
    n_false_negative: int = 0
    n_results: int = 0
    n_judged: int = 0
    n_relevant: int = 0
    n_not_relevant: int = 0
    n_unsure: int = 0
    sums: Mapping[str, SpanSums] = field(default_factory=lambda: dict.fromkeys(MEANS, SpanSums()))

    @classmethod
    def of(cls, summaries: Iterable[QuerySummary]) -> Totals:
        """The totals of `summaries`, the same for any order of them."""
        listed = tuple(summaries)
        states = Counter(summary.state for summary in listed)
        outcomes = Counter(summary.empty_outcome for summary in listed)
        return cls(
            n_queries=len(listed),
            n_complete=sum(summary.complete for summary in listed),
            n_with_results=states[QueryState.RESULTS],
            n_empty=states[QueryState.EMPTY],
            n_failed=states[QueryState.FAILED],
            n_unreadable=states[QueryState.UNREADABLE],
            n_correct_empty=outcomes[EmptyOutcome.CORRECT_EMPTY],
            n_false_negative=outcomes[EmptyOutcome.FALSE_NEGATIVE],
            n_results=sum(summary.results_count for summary in listed),
            n_judged=sum(summary.judged_count for summary in listed),
            n_relevant=sum(summary.relevant_count for summary in listed),
            n_not_relevant=sum(summary.not_relevant_count for summary in listed),
            n_unsure=sum(summary.unsure_count for summary in listed),
            sums=sums_of([summary.figures for summary in listed]),
        )

    @classmethod
    def together(cls, disjoint: Iterable[Totals]) -> Totals:
        """The totals over several sets of queries that have none in common."""
        listed = tuple(disjoint)
        counts = {name: sum(getattr(part, name) for part in listed) for name in COUNTS}
        sums = dict.fromkeys(MEANS, SpanSums())
        for name in dict.fromkeys(chain.from_iterable(part.sums for part in listed)):
            spans = [part.sums[name] for part in listed if name in part.sums]
            sums[name] = SpanSums(*map(_together, zip(*spans, strict=True)))
        return cls(**counts, sums=sums)

    @property
    def n_counted(self) -> int:
        return self.n_queries - self.n_unreadable

    @property
    def n_unjudged(self) -> int:
        return self.n_results - self.n_judged

    @property
    def n_unrated(self) -> int:
        # A quality that is asked for is at least 0, so the lower bounds count the answers that are.
        return self.sums[QUALITY].lower.n - self.sums[QUALITY].value.n

    @property
    def n_unclassified(self) -> int:
        return self.n_empty - self.n_correct_empty - self.n_false_negative


def sums_of(queries: Sequence[Mapping[str, Sequence[float | None]]]) -> dict[str, SpanSums]:
    """The sums of the figures of `queries`, each with value, lower and upper bound by name."""
    sums = dict.fromkeys(MEANS, SpanSums())
    for name in dict.fromkeys(chain.from_iterable(queries)):
        spans = [figures[name] for figures in queries if name in figures]
        sums[name] = SpanSums(*map(_sum, zip(*spans, strict=True)))
    return sums


def _sum(numbers: Iterable[float | None]) -> Sum:
    present = [number for number in numbers if number is not None]
    return Sum(fsum(present), len(present))


def _together(disjoint: Sequence[Sum]) -> Sum:
    return Sum(fsum(part.total for part in disjoint), sum(part.n for part in disjoint))


COUNTS = tuple(name for name in Totals.__struct_fields__ if name != "sums")
"""The names of the counts of ``Totals``."""


COMPOSITE_WEIGHTS = {"mean_precision_at_5": 0.4, "mrr": 0.3, "success_rate": 0.2, "coverage": 0.1}
"""The parts of the original comparison's composite; the weights add up to 1."""

HEADLINES = (
    *("mean_precision_at_5", "mean_overall_precision", "mrr", "mrr_answerable"),
    *("success_rate", "coverage", "mean_response_quality", "composite"),
)
"""The headline figures in the order in which they are shown."""


class Figure(Struct, frozen=True):
    """A headline figure: its value so far over `n` queries, and its bounds over all.

    The value is over the complete queries and may lie outside the bounds, which are what the
    finished rating can still reach. ``None`` is undefined. ``of`` is for how many queries the
    finished rating has a value at most; ``why_open`` is why a figure with bounds has none.
    """

    value: float | None
    lower: float | None
    upper: float | None
    n: int
    why_open: Undefined = Undefined.INCOMPLETE
    of: int = 0

    @property
    def is_provisional(self) -> bool:
        """Whether open judgments can still change the figure: its bounds differ."""
        return round((self.upper or 0) - (self.lower or 0), 9) != 0

    @property
    def settled(self) -> float | None:
        """The value of the finished rating where nothing left open can change it, else ``None``.

        That of a figure without bounds is its value.
        """
        if self.lower is None:
            return self.value
        return None if self.is_provisional else self.lower

    @property
    def why_undefined(self) -> Undefined | None:
        if self.value is not None:
            return None
        return Undefined.NO_QUERY if self.lower is None else self.why_open


def figures(totals: Totals, names: Iterable[str] = HEADLINES) -> dict[str, Figure]:
    """The figures of `totals` by `names`, those of ``HEADLINES`` or of ranking figures, in order.

    Ratios are 0 to 1, the response quality 0 to 5. The module's docstring has the rules.
    """
    by_name = {name: _mean_of_queries(totals, name) for name in (*MEANS, *names)}
    # Queries with results over all that count: known from import, so nothing is open.
    of = totals.n_counted
    share = totals.n_with_results / of if of else None
    by_name["coverage"] = Figure(share, share, share, of, of=of)
    by_name["composite"] = _composite(by_name, totals)
    return {name: by_name[name] for name in names}


def _mean_of_queries(totals: Totals, name: str) -> Figure:
    """Return a figure that is a mean over queries, with its bounds."""
    value, low, high = totals.sums.get(name, SpanSums())
    lower, upper = _mean(low), _mean(high)
    of = max(value.n, low.n, high.n)
    # All queries are complete, and yet none has a value: the counts of a rated file leave it open.
    is_rated = totals.n_complete == totals.n_counted and name in MEANS and name != QUALITY
    left_open = is_rated and of and not value.n
    return Figure(
        value=_mean(value),
        lower=upper if lower is None else lower,
        upper=lower if upper is None else upper,
        n=value.n,
        why_open=Undefined.LEFT_OPEN if left_open else Undefined.INCOMPLETE,
        of=of,
    )


def _mean(numbers: Sum) -> float | None:
    return numbers.total / numbers.n if numbers.n else None


def _composite(by_name: Mapping[str, Figure], totals: Totals) -> Figure:
    """0.4 P@5 + 0.3 MRR + 0.2 success + 0.1 coverage, undefined as soon as a part is.

    Each bound is made of the parts' bounds. `n` is the number of complete queries: what
    the three judged parts rest on, each over those of them that have a value for it.
    """
    parts = [(by_name[name], weight) for name, weight in COMPOSITE_WEIGHTS.items()]
    value = _weighted([(part.value, weight) for part, weight in parts])
    open_parts = (part.why_open for part, _ in parts if part.value is None)
    return Figure(
        value=value,
        lower=_weighted([(part.lower, weight) for part, weight in parts]),
        upper=_weighted([(part.upper, weight) for part, weight in parts]),
        n=0 if value is None else totals.n_complete,
        of=totals.n_counted,
        why_open=next(open_parts, Undefined.INCOMPLETE),
    )


def _weighted(parts: Sequence[tuple[float | None, float]]) -> float | None:
    products = [weight * part for part, weight in parts if part is not None]
    return fsum(products) if len(products) == len(parts) else None


class QueryRow(Struct, frozen=True):
    """One query of a run with its question and the summary of its judgments.

    ``verdicts`` are those the summary was made of, in rank order. Only files that name single
    results need them (the rated CSV names each "cannot tell"); else they may be left out.
    ``external_id`` is the question's id in its owner's files. ``empty_answer`` has the searches and
    the evidence for a classified empty list; ``None`` in a rated file, which does not say.
    """

    query_id: int
    question: str
    category: str
    notes: str
    summary: QuerySummary
    verdicts: tuple[Relevance | None, ...] = ()
    external_id: str | None = None
    empty_answer: EmptyAnswer | None = None


class RunReport(Struct, frozen=True):
    """A run under one rule ("rater NAME", "majority", "adjudicated"), rows in run order.

    ``run`` is the run's id or a rated file's name. ``unasked`` are the query ids of questions
    that the study puts to nobody: they have no row. ``cannot_tell`` is what such a result is in
    the figures, ``None`` where a rated file does not say. ``headline`` names the figures to show.
    ``is_original``: its rated CSV has the columns of the original evaluation page. ``merging`` is
    how several raters' verdicts become one, "majority" or "median". ``seconds`` has the median time
    per verdict of each rater, where clicks tell it, and of how many verdicts. ``state`` is how far
    the run is, ``None`` of a rated file. ``knows_searches``: rows have the searches of the
    catalogue, which a rated file does not.
    """

    run: str
    rule: str
    rows: tuple[QueryRow, ...]
    search_method: str | None = None
    llm: str | None = None
    unasked: tuple[int, ...] = ()
    blindness: Blindness = Blindness()
    cannot_tell: CannotTell | None = None
    headline: tuple[str, ...] = HEADLINES
    scale: Scale = BINARY
    is_original: bool = True
    asks_quality: bool = True
    merging: str = "majority"
    seconds: Mapping[str, tuple[float, int]] = {}
    state: State | None = None
    knows_searches: bool = False


def totals(report: RunReport) -> Totals:
    """The totals of all rows of a report."""
    return Totals.of(row.summary for row in report.rows)


def undefined(report: RunReport) -> dict[tuple[str, Undefined], tuple[int, ...]]:
    """The query ids for which a figure of a query has no value, by what files call it and reason.

    A figure that is no mean over queries, as the composite, is not among them.
    """
    query_ids: dict[tuple[str, Undefined], list[int]] = {}
    for figure in averaged(report.headline):
        for row in report.rows:
            why = why_undefined(row.summary, figure)
            if why is not None:
                query_ids.setdefault((MEANS.get(figure, figure), why), []).append(row.query_id)
    return {key: tuple(ids) for key, ids in query_ids.items()}


def averaged(names: Iterable[str]) -> tuple[str, ...]:
    """The figures among `names` that are means over queries.

    >>> averaged(("mrr", "coverage", "nDCG@10"))
    ('mrr', 'nDCG@10')
    """
    return tuple(name for name in names if name in MEANS or name not in HEADLINES)


def category_totals(report: RunReport) -> dict[str, Totals]:
    """The totals of each category, in the order in which the run has them."""
    members: dict[str, list[QuerySummary]] = {}
    for row in report.rows:
        members.setdefault(row.category, []).append(row.summary)
    return {category: Totals.of(summaries) for category, summaries in members.items()}
