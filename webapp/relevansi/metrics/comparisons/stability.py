"""Whether the order of compared runs survives another way of counting.

Each variation changes one thing of the comparison as made. The order survives it when no two runs
change places; runs that come level, or part, have not changed places.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from itertools import combinations
from math import fsum
from operator import mul
from statistics import fmean

from msgspec import Struct
from msgspec.structs import replace

from relevansi.metrics.comparisons.differences import (
    ComparedQuery,
    ComparedRun,
    averaged_value,
    ranked,
)
from relevansi.metrics.judging import queries
from relevansi.metrics.judging.figures import COMPOSITE_WEIGHTS, HEADLINES, Totals, figures
from relevansi.records import QueryState

COMPOSITE = "composite"
WATCHED = ("mean_precision_at_5", "mrr", "success_rate", COMPOSITE)
"""Figures whose order is compared for the usual headline; of another it is the first four."""

CUTOFFS = (1, 3, 10)
"""The other K of precision@K; that of the comparison is 5."""

Order = tuple[tuple[str, ...], ...]
"""Run ids from best to worst, those that are level together."""

_Values = Sequence[float | None]
"""The values of one question in the figures of ``_averaged``."""

_Sums = list[tuple[float, int]]
"""The sum over questions and their number, of each figure of ``_averaged``."""


class VariedPart(StrEnum):
    RATER = "rater left out"
    RULE = "rule"
    CUTOFF = "cutoff"
    CATEGORY = "category left out"
    QUESTION = "question left out"
    EMPTIES = "empty lists"
    CONVERSATION = "conversations"


class Variation(Struct, frozen=True):
    """One other way of counting: ``what`` it leaves out or sets, and the orders under it.

    ``orders`` has only the figures that the change can move.
    """

    change: VariedPart
    what: str
    orders: Mapping[str, Order]


class StabilityLine(Struct, frozen=True):
    """One kind of change and one figure: how many variations were tried, and which moved the order.

    ``unseated`` are those in which another run comes first.
    """

    change: VariedPart
    figure: str
    tried: int
    moved: tuple[Variation, ...]
    unseated: tuple[Variation, ...]

    @property
    def survives(self) -> bool:
        return not self.moved


class Stability(Struct, frozen=True):
    """The order of the runs by each figure, and how it fares under every kind of change."""

    orders: Mapping[str, Order]
    lines: tuple[StabilityLine, ...]

    @property
    def tried(self) -> int:
        """How many (variation, figure) were tried in all."""
        return sum(line.tried for line in self.lines)

    @property
    def moved(self) -> int:
        """In how many of them the order changes."""
        return sum(len(line.moved) for line in self.lines)

    @property
    def unseated(self) -> int:
        """In how many of them another run comes first."""
        return sum(len(line.unseated) for line in self.lines)


def stability(
    runs: Sequence[ComparedRun],
    *,
    without_rater: Mapping[str, Sequence[ComparedRun]] | None = None,
    other_rules: Mapping[str, Sequence[ComparedRun]] | None = None,
    headline: Sequence[str] = HEADLINES,
) -> Stability:
    """Return how the order of `runs` fares under every variation.

    The mappings hold the same runs judged otherwise, by the rater left out and by rule.
    """
    watched = WATCHED if tuple(headline) == HEADLINES else tuple(headline[: len(WATCHED)])
    base = orders(runs, watched)
    variations = []
    for name, judged in (without_rater or {}).items():
        variations.append(Variation(VariedPart.RATER, name, orders(judged, watched)))
    for name, judged in (other_rules or {}).items():
        variations.append(Variation(VariedPart.RULE, name, orders(judged, watched)))
    variations += _other_cutoffs(runs)
    variations += _left_out(VariedPart.CATEGORY, runs, watched, lambda query: query.category)
    variations += _left_out(VariedPart.QUESTION, runs, watched, lambda query: str(query.position))
    variations += _other_empties(runs)
    variations += _by_conversation(runs, watched)
    lines = [
        _line(change, figure, base[figure], variations)
        for change in VariedPart
        for figure in watched
    ]
    return Stability(base, tuple(line for line in lines if line.tried))


def orders(runs: Sequence[ComparedRun], watched: Sequence[str] = WATCHED) -> dict[str, Order]:
    """Return the order of `runs` by each figure `watched`; a run without a value is in no place."""
    names = _averaged(watched)
    sums = {run.run: _sums([_values(q, names) for q in run.queries], names) for run in runs}
    return _orders(sums, watched)


def changes_places(base: Order, changed: Order) -> bool:
    """Whether any two runs have one order in `base` and the opposite order in `changed`.

    >>> changes_places((("a",), ("b",)), (("b",), ("a",)))
    True
    >>> changes_places((("a",), ("b",)), (("a", "b"),))  # level is not overtaken
    False
    """
    before = {run: place for place, level in enumerate(base) for run in level}
    after = {run: place for place, level in enumerate(changed) for run in level}
    shared = [run for run in before if run in after]
    return any(
        (before[first] - before[second]) * (after[first] - after[second]) < 0
        for first, second in combinations(shared, 2)
    )


def _line(
    change: VariedPart, figure: str, base: Order, variations: Sequence[Variation]
) -> StabilityLine:
    tried = [v for v in variations if v.change is change and figure in v.orders]
    moved = tuple(v for v in tried if changes_places(base, v.orders[figure]))
    unseated = tuple(v for v in moved if not set(base[0]) & set(v.orders[figure][0]))
    return StabilityLine(change, figure, len(tried), moved, unseated)


def _other_cutoffs(runs: Sequence[ComparedRun]) -> list[Variation]:
    """Return variations of K, if the verdicts by rank are known: a rated CSV has counts only."""
    if any(len(q.verdicts) != q.summary.results_count for run in runs for q in run.queries):
        return []
    variations = []
    for cutoff in CUTOFFS:
        values = {}
        for run in runs:
            precisions = [
                queries.precision_at(queries.relevances(query.verdicts), cutoff)
                for query in run.queries
                if query.summary.complete and query.summary.state is QueryState.RESULTS
            ]
            defined = [value for value in precisions if isinstance(value, float)]
            values[run.run] = fmean(defined) if defined else None
        orders = {"mean_precision_at_5": ranked(values)}
        variations.append(Variation(VariedPart.CUTOFF, str(cutoff), orders))
    return variations


def _left_out(
    change: VariedPart,
    runs: Sequence[ComparedRun],
    watched: Sequence[str],
    group: Callable[[ComparedQuery], str],
) -> list[Variation]:
    """Return one variation for each group of questions, in which it is left out."""
    names = _averaged(watched)
    totals: dict[str, _Sums] = {}
    groups: dict[str, dict[str, list[_Values]]] = {}
    for run in runs:
        rows = [_values(query, names) for query in run.queries]
        totals[run.run] = _sums(rows, names)
        for query, row in zip(run.queries, rows, strict=True):
            groups.setdefault(group(query), {}).setdefault(run.run, []).append(row)
    if len(groups) < 2:
        return []
    variations = []
    for name, rows_of in groups.items():
        # Subtracted from the totals: adding up the rest anew would be quadratic in the questions.
        remaining = {}
        for run_id, sums in totals.items():
            pairs = zip(sums, _sums(rows_of.get(run_id, ()), names), strict=True)
            remaining[run_id] = [(total - out, n - n_out) for (total, n), (out, n_out) in pairs]
        variations.append(Variation(change, name, _orders(remaining, watched)))
    return variations


def _by_conversation(runs: Sequence[ComparedRun], watched: Sequence[str]) -> list[Variation]:
    """Return the variation that counts each conversation once, by the mean of its questions."""
    names, sums = _averaged(watched), {}
    if all(query.conversation is None for run in runs for query in run.queries):
        return []
    for run in runs:
        conversations: dict[int, list[_Values]] = {}
        for query in run.queries:
            start = query.conversation or query.position
            conversations.setdefault(start, []).append(_values(query, names))
        means = [_means(_sums(rows, names)) for rows in conversations.values()]
        sums[run.run] = _sums(means, names)
    return [Variation(VariedPart.CONVERSATION, "each once", _orders(sums, watched))]


def _averaged(watched: Sequence[str]) -> tuple[str, ...]:
    """Return the figures that are means over questions, those of the composite first."""
    names = dict.fromkeys((*COMPOSITE_WEIGHTS, *watched))
    return tuple(name for name in names if name != COMPOSITE)


def _values(query: ComparedQuery, names: Sequence[str]) -> _Values:
    return tuple(averaged_value(query, name) for name in names)


def _sums(rows: Sequence[_Values], names: Sequence[str]) -> _Sums:
    sums = []
    for column in range(len(names)):
        values = [value for row in rows if (value := row[column]) is not None]
        sums.append((fsum(values), len(values)))
    return sums


def _means(sums: _Sums) -> _Values:
    return [total / n if n else None for total, n in sums]


def _orders(sums: Mapping[str, _Sums], watched: Sequence[str]) -> dict[str, Order]:
    """Return the order of the runs by each figure, the composite made of its parts."""
    by_figure: dict[str, dict[str, float | None]] = {name: {} for name in watched}
    for run, sums_of_run in sums.items():
        means = _means(sums_of_run)
        parts = [mean for mean in means[: len(COMPOSITE_WEIGHTS)] if mean is not None]
        composite = None
        if len(parts) == len(COMPOSITE_WEIGHTS):
            composite = fsum(map(mul, COMPOSITE_WEIGHTS.values(), parts))
        values = {**dict(zip(_averaged(watched), means, strict=True)), COMPOSITE: composite}
        for name in watched:
            by_figure[name][run] = values[name]
    return {name: ranked(values) for name, values in by_figure.items()}


def _other_empties(runs: Sequence[ComparedRun]) -> list[Variation]:
    """Return two variations of empty lists.

    "counted": a false negative is 0 in precision@5, and ranks are over answerable questions.
    "left out": successes are over questions with results.
    """
    precisions, ranks, with_results = {}, {}, []
    for run in runs:
        totals = Totals.of(query.summary for query in run.queries)
        precision = totals.sums["mean_precision_at_5"].value
        n = precision.n + totals.n_false_negative
        precisions[run.run] = precision.total / n if n else None
        ranks[run.run] = figures(totals)["mrr_answerable"].value
        listed = (query for query in run.queries if query.summary.state is QueryState.RESULTS)
        with_results.append(replace(run, queries=tuple(listed)))
    at_zero = {"mean_precision_at_5": ranked(precisions), "mrr": ranked(ranks)}
    successes = orders(with_results, ["success_rate"])
    return [
        Variation(VariedPart.EMPTIES, "counted", at_zero),
        Variation(VariedPart.EMPTIES, "left out", successes),
    ]
