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
"""

from __future__ import annotations

from collections.abc import Mapping
from math import fsum

from msgspec import Struct

from webapp.metrics.judging.ranking import Undefined
from webapp.metrics.judging.totals import Sum, Totals

MEANS = {
    "mean_precision_at_5": "precision_at_5",
    "mean_overall_precision": "overall_precision",
    "mrr": "reciprocal_rank",
    "mrr_answerable": "answerable_reciprocal_rank",
    "success_rate": "success",
    "mean_response_quality": "response_quality",
}
"""The headline figures that are means, with the figure of a query that each averages."""

COMPOSITE_WEIGHTS = {"mean_precision_at_5": 0.4, "mrr": 0.3, "success_rate": 0.2, "coverage": 0.1}
"""The parts of the original comparison's composite; the weights add up to 1."""

HEADLINES = (
    "mean_precision_at_5",
    "mean_overall_precision",
    "mrr",
    "mrr_answerable",
    "success_rate",
    "coverage",
    "mean_response_quality",
    "composite",
)
"""The headline figures in the order in which they are shown."""


class Figure(Struct, frozen=True):
    """A headline figure: its value so far over `n` queries, and its bounds over all.

    The value is over the queries that are complete and may lie outside the bounds, which
    are what the finished rating can still reach; once the rating is complete, the three
    are equal. ``None`` is undefined, and `n` is 0 where the value is. ``of`` is the number of
    queries that the finished rating will have a value for, at most. ``why_open`` is the
    reason why a figure with bounds has no value.
    """

    value: float | None
    lower: float | None
    upper: float | None
    n: int
    why_open: Undefined = Undefined.INCOMPLETE
    of: int = 0

    @property
    def so_far(self) -> bool:
        """Whether the rating is unfinished: another verdict can still move the value."""
        return round((self.upper or 0) - (self.lower or 0), 9) != 0

    @property
    def why_undefined(self) -> Undefined | None:
        """The reason there is no value, ``None`` when there is one."""
        if self.value is not None:
            return None
        return Undefined.NO_QUERY if self.lower is None else self.why_open


def figures(totals: Totals) -> dict[str, Figure]:
    """The headline figures of `totals`, in the order of ``HEADLINES``.

    Ratios are 0 to 1, the response quality 0 to 5. The module's docstring has the rules.
    """
    found = {name: _mean_figure(totals, column) for name, column in MEANS.items()}
    found["coverage"] = _coverage(totals)
    found["composite"] = _composite(found, totals)
    return {name: found[name] for name in HEADLINES}


def _mean_figure(totals: Totals, column: str) -> Figure:
    so_far = totals.sums[column]
    lower = _mean(totals.sums[f"{column}_lower"])
    upper = _mean(totals.sums[f"{column}_upper"])
    return Figure(
        value=_mean(so_far),
        lower=upper if lower is None else lower,
        upper=lower if upper is None else upper,
        n=so_far.n,
        why_open=_why_open(totals, column),
        of=max(totals.sums[f"{column}_lower"].n, totals.sums[f"{column}_upper"].n),
    )


def _why_open(totals: Totals, column: str) -> Undefined:
    """Why a mean with bounds has no value: the rating goes on, or the counts leave it open."""
    bounds = totals.sums[f"{column}_lower"].n or totals.sums[f"{column}_upper"].n
    rated = totals.n_complete == totals.n_counted and column != "response_quality"
    without_value = bounds and not totals.sums[column].n
    return Undefined.LEFT_OPEN if rated and without_value else Undefined.INCOMPLETE


def _mean(column: Sum) -> float | None:
    return column.total / column.n if column.n else None


def _coverage(totals: Totals) -> Figure:
    """Queries with results over all that count: known from import, so nothing is open."""
    share = _mean(Sum(totals.n_with_results, totals.n_counted))
    return Figure(share, share, share, totals.n_counted, of=totals.n_counted)


def _composite(found: Mapping[str, Figure], totals: Totals) -> Figure:
    """0.4 P@5 + 0.3 MRR + 0.2 success + 0.1 coverage, undefined as soon as a part is.

    Each bound is made of the parts' bounds. `n` is the number of complete queries: what
    the three judged parts rest on, each over those of them that have a value for it.
    """
    parts = {name: found[name] for name in COMPOSITE_WEIGHTS}
    value = _weighted({name: part.value for name, part in parts.items()})
    return Figure(
        value=value,
        lower=_weighted({name: part.lower for name, part in parts.items()}),
        upper=_weighted({name: part.upper for name, part in parts.items()}),
        n=0 if value is None else totals.n_complete,
        of=totals.n_counted,
        why_open=next(
            (p.why_open for p in parts.values() if p.value is None), Undefined.INCOMPLETE
        ),
    )


def _weighted(parts: Mapping[str, float | None]) -> float | None:
    known = [COMPOSITE_WEIGHTS[name] * part for name, part in parts.items() if part is not None]
    return fsum(known) if len(known) == len(parts) else None


class Confusion(Struct, frozen=True):
    """The run's results and empty lists against the right ones, as in section 4 of the method.

    Results: relevant ones are true positives, not relevant ones false positives; "cannot
    tell" and unjudged results are neither. Queries: empty lists by their outcome, of which
    a correct empty is the true negative.
    """

    true_positives: int
    false_positives: int
    correct_empties: int
    false_negatives: int


def confusion(totals: Totals) -> Confusion:
    """The confusion view of `totals`: TP and FP in results, the rest in queries."""
    return Confusion(
        true_positives=totals.n_relevant,
        false_positives=totals.n_not_relevant,
        correct_empties=totals.n_correct_empty,
        false_negatives=totals.n_false_negative,
    )
