"""Whether the order of compared runs survives another way of counting.

Each variation changes one thing of the comparison as made. The order survives it when no two runs
change places; runs that come level, or part, have not changed places.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
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

WATCHED = ("mean_precision_at_5", "mrr", "success_rate", "composite")
"""The figures of the method whose order is watched; of other headlines it is the first four."""

COMPOSITE = "composite"
CUTOFFS = (1, 3, 10)
"""The other K of precision@K; the comparison's own is 5."""

Order = tuple[tuple[str, ...], ...]
"""Run ids from best to worst, those that are level together."""


_Numbers = Sequence[float | None]
_Sums = list[tuple[float, int]]
"""The sums that the composite's parts are means of, and of how many numbers each is."""


class VariedPart(StrEnum):
    RATER = "rater left out"
    RULE = "rule"
    CUTOFF = "cutoff"
    CATEGORY = "category left out"
    QUESTION = "question left out"
    EMPTIES = "empty lists"
    CONVERSATION = "conversations"


class Variation(Struct, frozen=True):
    """One other way of counting, `what` it changes, and the orders of the figures it can touch."""

    change: VariedPart
    what: str
    orders: Mapping[str, Order]


class StabilityLine(Struct, frozen=True):
    """One kind of change and one figure: how many variations were tried, which moved the order.

    ``unseated`` are those of them in which another run comes first.
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
    """The base order by each figure, and how it fares under every kind of change tried."""

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
    """How the order of `runs` fares; the mappings hold the same runs judged otherwise, by name."""
    watched = WATCHED if tuple(headline) == HEADLINES else tuple(headline[: len(WATCHED)])
    base = orders(runs, watched)
    judged_otherwise = {VariedPart.RATER: without_rater or {}, VariedPart.RULE: other_rules or {}}
    variations = [
        *(
            Variation(change, what, orders(judged, watched))
            for change, others in judged_otherwise.items()
            for what, judged in others.items()
        ),
        *_other_cutoffs(runs),
        *_left_out(VariedPart.CATEGORY, runs, watched, lambda query: query.category),
        *_left_out(VariedPart.QUESTION, runs, watched, lambda query: str(query.position)),
        *_other_empties(runs),
        *_conversations(runs, watched),
    ]
    lines = tuple(
        line
        for change in VariedPart
        for figure in watched
        if (line := _line(change, figure, base[figure], variations)).tried
    )
    return Stability(base, lines)


def orders(runs: Sequence[ComparedRun], watched: Sequence[str] = WATCHED) -> dict[str, Order]:
    """The order of `runs` by each figure `watched`; a run without a value is in no place."""
    names = _averaged(watched)
    numbers = {run.run: [_numbers(query, names) for query in run.queries] for run in runs}
    return _orders({run: _sums(rows, names) for run, rows in numbers.items()}, watched)


def changes_places(base: Order, changed: Order) -> bool:
    """Whether any two runs have one order in `base` and the opposite order in `changed`.

    >>> changes_places((("a",), ("b",)), (("b",), ("a",)))
    True
    >>> changes_places((("a",), ("b",)), (("a", "b"),))  # level is not overtaken
    False
    """
    before, after = (
        {run: place for place, level in enumerate(order) for run in level}
        for order in (base, changed)
    )
    shared = [run for run in before if run in after]
    return any(
        (before[first] - before[second]) * (after[first] - after[second]) < 0
        for number, first in enumerate(shared)
        for second in shared[number + 1 :]
    )


def _line(
    change: VariedPart, figure: str, base: Order, variations: Sequence[Variation]
) -> StabilityLine:
    tried = [v for v in variations if v.change is change and figure in v.orders]
    moved = tuple(v for v in tried if changes_places(base, v.orders[figure]))
    unseated = tuple(v for v in moved if not set(base[0]) & set(v.orders[figure][0]))
    return StabilityLine(change, figure, len(tried), moved, unseated)


def _other_cutoffs(runs: Sequence[ComparedRun]) -> list[Variation]:
    """Another K, where the verdicts by rank are known: a rated file has counts only."""
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
    names = _averaged(watched)
    numbers = {run.run: [_numbers(query, names) for query in run.queries] for run in runs}
    totals = {run: _sums(rows, names) for run, rows in numbers.items()}
    parts: dict[str, dict[str, list[_Numbers]]] = {}
    for run in runs:
        for query, row in zip(run.queries, numbers[run.run], strict=True):
            parts.setdefault(group(query), {}).setdefault(run.run, []).append(row)
    if len(parts) < 2:
        return []
    variations = []
    for name, part in parts.items():
        remaining = {}
        for run_id, sums in totals.items():
            pairs = zip(sums, _sums(part.get(run_id, ()), names), strict=True)
            remaining[run_id] = [(total - out, n - n_out) for (total, n), (out, n_out) in pairs]
        variations.append(Variation(change, name, _orders(remaining, watched)))
    return variations


def _conversations(runs: Sequence[ComparedRun], watched: Sequence[str]) -> list[Variation]:
    """Each conversation counted as one: the means are over the means of conversations."""
    names, sums = _averaged(watched), {}
    if all(query.conversation is None for run in runs for query in run.queries):
        return []
    for run in runs:
        parts: dict[int, list[_Numbers]] = {}
        for query in run.queries:
            begun = query.conversation or query.position
            parts.setdefault(begun, []).append(_numbers(query, names))
        of_each = [_sums(rows, names) for rows in parts.values()]
        means = [[total / n if n else None for total, n in totals] for totals in of_each]
        sums[run.run] = _sums(means, names)
    return [Variation(VariedPart.CONVERSATION, "each once", _orders(sums, watched))]


def _averaged(watched: Sequence[str]) -> tuple[str, ...]:
    """The figures that are means of questions: those of the composite first."""
    names = dict.fromkeys((*COMPOSITE_WEIGHTS, *watched))
    return tuple(name for name in names if name != COMPOSITE)


def _numbers(query: ComparedQuery, names: Sequence[str]) -> _Numbers:
    return tuple(averaged_value(query, name) for name in names)


def _sums(rows: Iterable[_Numbers], names: Sequence[str]) -> _Sums:
    columns = zip(*rows, strict=True) if (rows := list(rows)) else [()] * len(names)
    defined = [[value for value in column if value is not None] for column in columns]
    return [(fsum(values), len(values)) for values in defined]


def _orders(sums: Mapping[str, _Sums], watched: Sequence[str]) -> dict[str, Order]:
    by_figure: dict[str, dict[str, float | None]] = {name: {} for name in watched}
    for run, parts in sums.items():
        means = [total / n if n else None for total, n in parts]
        defined = [mean for mean in means[: len(COMPOSITE_WEIGHTS)] if mean is not None]
        composite = None
        if len(defined) == len(COMPOSITE_WEIGHTS):
            composite = fsum(map(mul, COMPOSITE_WEIGHTS.values(), defined))
        values = {**dict(zip(_averaged(watched), means, strict=True)), COMPOSITE: composite}
        for name in watched:
            by_figure[name][run] = values[name]
    return {name: ranked(values) for name, values in by_figure.items()}


def _other_empties(runs: Sequence[ComparedRun]) -> list[Variation]:
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
