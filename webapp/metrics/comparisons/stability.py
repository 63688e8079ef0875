"""Whether the order of compared runs survives another way of counting.

The base order is that of the comparison as made. Each variation changes one thing: a rater
left out, another rule, another K, a category or a single question left out, empty lists
counted or not. The order survives a variation when no two runs change places; runs that
come level, or part, have not changed places.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from math import fsum
from statistics import fmean
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from webapp.metrics.comparisons.differences import ComparedQuery, ComparedRun, counted, ranked
from webapp.metrics.judging import queries
from webapp.metrics.judging.figures import COMPOSITE_WEIGHTS, Sum, Totals, figures
from webapp.records import QueryState

FIGURES = ("mean_precision_at_5", "mrr", "success_rate", "composite")
"""The headline figures whose order is watched."""

CUTOFFS = (1, 3, 10)
"""The other K of precision@K; the comparison's own is 5."""

Order = tuple[tuple[str, ...], ...]
"""Run ids from best to worst, those that are level together."""


_Numbers: TypeAlias = "tuple[float | None, ...]"


class VariedPart(StrEnum):
    """The part of the evaluation that a variation changes."""

    RATER = "rater left out"
    RULE = "rule"
    CUTOFF = "cutoff"
    CATEGORY = "category left out"
    QUESTION = "question left out"
    EMPTIES = "empty lists"


class Variation(Struct, frozen=True):
    """One other way of counting: `what` names the rater, rule, K, category or question.

    ``orders`` has the order by each of the figures it can touch.
    """

    change: VariedPart
    what: str
    orders: Mapping[str, Order]


class StabilityLine(Struct, frozen=True):
    """One kind of change and one figure: how many variations were tried, which moved the order.

    ``moved`` are the variations in which two runs change places, ``unseated`` those of them
    in which another run comes first.
    """

    change: VariedPart
    figure: str
    tried: int
    moved: tuple[Variation, ...]
    unseated: tuple[Variation, ...]

    @property
    def survives(self) -> bool:
        """Whether no variation changes the order."""
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
) -> Stability:
    """How the order of `runs` fares; the mappings hold the same runs judged otherwise.

    `without_rater` by the name of the rater left out, `other_rules` by the rule's name.
    """
    base = orders(runs)
    variations = [
        *_judged_otherwise(VariedPart.RATER, without_rater or {}),
        *_judged_otherwise(VariedPart.RULE, other_rules or {}),
        *_other_cutoffs(runs),
        *_left_out(VariedPart.CATEGORY, runs, lambda query: query.category),
        *_left_out(VariedPart.QUESTION, runs, lambda query: str(query.position)),
        *_other_empties(runs),
    ]
    lines = tuple(
        line
        for change in VariedPart
        for figure in FIGURES
        if (line := _line(change, figure, base[figure], variations)).tried
    )
    return Stability(base, lines)


def orders(runs: Sequence[ComparedRun]) -> dict[str, Order]:
    """The order of `runs` by each of ``FIGURES``; a run without a value is in no place."""
    return _orders({run.run: _sums(map(_numbers, run.queries)) for run in runs})


def changes_places(base: Order, other: Order) -> bool:
    """Whether any two runs have one order in `base` and the opposite order in `other`.

    >>> changes_places((("a",), ("b",)), (("b",), ("a",)))
    True
    >>> changes_places((("a",), ("b",)), (("a", "b"),))  # level is not overtaken
    False
    """
    before, after = _places(base), _places(other)
    shared = [run for run in before if run in after]
    return any(
        (before[one] - before[two]) * (after[one] - after[two]) < 0
        for number, one in enumerate(shared)
        for two in shared[number + 1 :]
    )


def _places(order: Order) -> dict[str, int]:
    return {run: place for place, level in enumerate(order) for run in level}


def _unseats(base: Order, other: Order) -> bool:
    return bool(base and other) and not set(base[0]) & set(other[0])


def _line(
    change: VariedPart, figure: str, base: Order, variations: Sequence[Variation]
) -> StabilityLine:
    tried = [v for v in variations if v.change is change and figure in v.orders]
    moved = tuple(v for v in tried if changes_places(base, v.orders[figure]))
    unseated = tuple(v for v in moved if _unseats(base, v.orders[figure]))
    return StabilityLine(change, figure, len(tried), moved, unseated)


def _judged_otherwise(
    change: VariedPart, judged: Mapping[str, Sequence[ComparedRun]]
) -> list[Variation]:
    return [Variation(change, what, orders(runs)) for what, runs in judged.items()]


def _other_cutoffs(runs: Sequence[ComparedRun]) -> list[Variation]:
    """Another K, where the verdicts by rank are known: a rated file has counts only."""
    if any(len(q.verdicts) != q.summary.results_count for run in runs for q in run.queries):
        return []
    return [
        Variation(
            VariedPart.CUTOFF,
            str(cutoff),
            {"mean_precision_at_5": ranked({r.run: _precision_at(r, cutoff) for r in runs})},
        )
        for cutoff in CUTOFFS
    ]


def _precision_at(run: ComparedRun, cutoff: int) -> float | None:
    found = [
        value
        for query in run.queries
        if query.summary.complete and query.summary.state is QueryState.RESULTS
        for value in [queries.precision_at(query.verdicts, cutoff=cutoff)]
        if isinstance(value, float)
    ]
    return fmean(found) if found else None


def _left_out(
    change: VariedPart, runs: Sequence[ComparedRun], group: Callable[[ComparedQuery], str]
) -> list[Variation]:
    """One variation per group of questions, each made by taking the group's part away."""
    numbers = {run.run: [_numbers(query) for query in run.queries] for run in runs}
    whole = {run: _sums(rows) for run, rows in numbers.items()}
    parts: dict[str, dict[str, list[_Numbers]]] = {}
    for run in runs:
        for query, row in zip(run.queries, numbers[run.run], strict=True):
            parts.setdefault(group(query), {}).setdefault(run.run, []).append(row)
    if len(parts) < 2:
        return []
    return [
        Variation(
            change,
            name,
            _orders({run: _less(whole[run], _sums(part.get(run, ()))) for run in whole}),
        )
        for name, part in parts.items()
    ]


def _numbers(query: ComparedQuery) -> _Numbers:
    """The number of a query in each of the composite's parts."""
    return tuple(counted(query, name) for name in COMPOSITE_WEIGHTS)


def _sums(rows: Iterable[_Numbers]) -> dict[str, Sum]:
    """The sums that the composite's parts are means of."""
    listed = list(rows)
    found = {}
    for place, name in enumerate(COMPOSITE_WEIGHTS):
        values = [value for row in listed if (value := row[place]) is not None]
        found[name] = Sum(fsum(values), len(values))
    return found


def _less(whole: Mapping[str, Sum], part: Mapping[str, Sum]) -> dict[str, Sum]:
    return {
        name: Sum(whole[name].total - part[name].total, whole[name].n - part[name].n)
        for name in whole
    }


def _orders(sums: Mapping[str, Mapping[str, Sum]]) -> dict[str, Order]:
    values = {run: _values(of_run) for run, of_run in sums.items()}
    return {name: ranked({run: found[name] for run, found in values.items()}) for name in FIGURES}


def _values(sums: Mapping[str, Sum]) -> dict[str, float | None]:
    means = {name: part.total / part.n if part.n else None for name, part in sums.items()}
    known = {name: mean for name, mean in means.items() if mean is not None}
    whole = len(known) == len(means)
    composite = fsum(COMPOSITE_WEIGHTS[name] * mean for name, mean in known.items())
    return {**means, "composite": composite if whole else None}


def _other_empties(runs: Sequence[ComparedRun]) -> list[Variation]:
    """False negatives at 0 in precision and MRR; empty lists left out of success."""
    with_results = [_keep(r, lambda q: q.summary.state is QueryState.RESULTS) for r in runs]
    at_zero = {run.run: _answerable(run) for run in runs}
    return [
        Variation(
            VariedPart.EMPTIES,
            "counted",
            {
                "mean_precision_at_5": ranked({run: found[0] for run, found in at_zero.items()}),
                "mrr": ranked({run: found[1] for run, found in at_zero.items()}),
            },
        ),
        Variation(
            VariedPart.EMPTIES, "left out", {"success_rate": orders(with_results)["success_rate"]}
        ),
    ]


def _answerable(run: ComparedRun) -> tuple[float | None, float | None]:
    totals = Totals.of(query.summary for query in run.queries)
    precision = totals.sums["precision_at_5"]
    counted = precision.n + totals.n_false_negative
    return precision.total / counted if counted else None, figures(totals)["mrr_answerable"].value


def _keep(run: ComparedRun, wanted: Callable[[ComparedQuery], bool]) -> ComparedRun:
    return replace(run, queries=tuple(query for query in run.queries if wanted(query)))
