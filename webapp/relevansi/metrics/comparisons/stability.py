"""Whether the order of compared runs survives another way of counting.

Each variation changes one thing of the comparison as made. The order survives it when no two runs
change places; runs that come level, or part, have not changed places.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from itertools import combinations
from math import fsum
from statistics import fmean
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

COMPOSITE = "composite"
WATCHED = ("mean_precision_at_5", "mrr", "success_rate", COMPOSITE)
"""Figures whose order is compared for the usual headline; of another it is the first four."""

CUTOFFS = (1, 3, 10)
"""The other K of precision@K; that of the comparison is 5."""

Order = tuple[tuple[str, ...], ...]
"""Run ids from best to worst, those that are level together."""


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
    return _orders({run.run: _table(run, watched).sum(axis=0) for run in runs}, watched)


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
    import numpy as np  # noqa: PLC0415 - a tenth of a second

    tables = {run.run: _table(run, watched) for run in runs}
    groups = {run.run: np.array([group(query) for query in run.queries]) for run in runs}
    names = dict.fromkeys(name for of_run in groups.values() for name in of_run.tolist())
    if len(names) < 2:
        return []
    variations = []
    for name in names:
        sums = {run: (groups[run] != name) @ table for run, table in tables.items()}
        variations.append(Variation(change, name, _orders(sums, watched)))
    return variations


def _by_conversation(runs: Sequence[ComparedRun], watched: Sequence[str]) -> list[Variation]:
    """Return the variation that counts each conversation once, by the mean of its questions."""
    import numpy as np  # noqa: PLC0415 - a tenth of a second

    if all(query.conversation is None for run in runs for query in run.queries):
        return []
    sums = {}
    for run in runs:
        starts = np.array([query.conversation or query.position for query in run.queries])
        table = _table(run, watched)
        of_each = [table[starts == start].sum(axis=0) for start in {*starts.tolist()}]
        sums[run.run] = np.sum([_row(_means(each)) for each in of_each], axis=0)
    return [Variation(VariedPart.CONVERSATION, "each once", _orders(sums, watched))]


def _averaged(watched: Sequence[str]) -> tuple[str, ...]:
    """Return the figures that are means over questions, those of the composite too."""
    names = dict.fromkeys((*COMPOSITE_WEIGHTS, *watched))
    return tuple(name for name in names if name != COMPOSITE)


def _table(run: ComparedRun, watched: Sequence[str]) -> Floats:
    """Return a row for each question, with its figures of ``_averaged``."""
    import numpy as np  # noqa: PLC0415 - a tenth of a second

    names = _averaged(watched)
    rows = [_row([averaged_value(query, name) for name in names]) for query in run.queries]
    return np.array(rows, dtype=np.float64).reshape(-1, 2 * len(names))


def _row(values: Sequence[float | None]) -> list[float]:
    """Return values, 0 where there is none, then 1 for each there is: rows can be added up."""
    return [*(value or 0.0 for value in values), *(value is not None for value in values)]


def _means(row: Floats) -> list[float | None]:
    """Return the mean of each figure in the sum of some rows."""
    numbers = row.tolist()
    middle = len(numbers) // 2
    pairs = zip(numbers[:middle], numbers[middle:], strict=True)
    return [total / n if n else None for total, n in pairs]


def _orders(sums: Mapping[str, Floats], watched: Sequence[str]) -> dict[str, Order]:
    """Return the order of the runs by each figure, from the sum of the rows of each run."""
    figures = {}
    for run, row in sums.items():
        means = dict(zip(_averaged(watched), _means(row), strict=True))
        parts = [(weight, means[name]) for name, weight in COMPOSITE_WEIGHTS.items()]
        terms = [weight * mean for weight, mean in parts if mean is not None]
        means[COMPOSITE] = fsum(terms) if len(terms) == len(parts) else None
        figures[run] = means
    return {name: ranked({run: of[name] for run, of in figures.items()}) for name in watched}


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
