"""The figures of a gate: a new run held against floors and, question by question, a baseline.

Its rules differ from those of a run's figures, so that not answering never pays:

- A figure is over the questions of the baseline. An answer without results counts 0: an empty
  list, a failed call, an unreadable answer, a question that the run lacks. Where the question's
  outcome is correct empty, precisions and ranks leave it out, and successes count 1.
- A result that nobody judged counts as not relevant in the value and as relevant in ``upper``.
- A difference needs no judgment where both lists hold the same items in the same order, as deep
  as the figure looks; nor of an answer whose value can no longer change.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from math import inf
from statistics import fmean

from msgspec import Struct, convert
from msgspec.structs import replace

from relevansi.failures import Refused
from relevansi.i18n import mark
from relevansi.metrics.comparisons.differences import (
    Difference,
    PairedValues,
    highest_value,
    paired_differences,
)
from relevansi.metrics.comparisons.significance import holm, smallest_p
from relevansi.metrics.intervals import LEVEL, Interval, mean_interval
from relevansi.metrics.judging.figures import HEADLINES
from relevansi.metrics.judging.graded import ranking_figure
from relevansi.metrics.judging.queries import TOP, QuerySummary, Span
from relevansi.metrics.planning.power import Demand, DifferenceMixture, difference_shown, mixture
from relevansi.records import EmptyOutcome, QueryState

ALPHA = LEVEL
"""The corrected p-value at or below which a run is worse."""

DIGITS = 9
"""Values that differ only behind this decimal are equal: sums of floats depend on their order."""


class Outcome(StrEnum):
    """The outcome of a gate for one figure, and for a run: the worst of its figures."""

    # From the best to the worst: the order of these lines is read.
    PASSED = "passed"
    OPEN = "open"
    FAILED = "failed"


class UnfitLimit(Refused, ValueError):
    """The argument is a share that is not from 0 to 1, or a tolerance below 0."""

    message = mark("A gate cannot take the number %(name)s")
    remedy = mark("min-judged is a share from 0 to 1, tolerance a loss from 0 up.")


class GateRequest(Struct, frozen=True, kw_only=True):
    """What a gate is asked: the id of the run to compare with, and what the new one keeps to.

    ``figures`` decide: those of the study's headline that are judged deep enough, unless named.
    ``floors`` are the least that figures may be; if ``strict``, the lower ends of their intervals.
    ``min_judged``: the share of results to be judged where the lists differ. ``tolerance``: a loss
    above it has to be ruled out; ``None`` only asks that no loss shows. ``allow_missing`` leaves
    out the questions that the run lacks. ``method`` and ``llm`` are labels of a new run. ``rule``
    merges raters; ``None`` is the usual one. Raises ``UnfitLimit``.
    """

    baseline: str
    figures: tuple[str, ...] = ()
    floors: Mapping[str, float] = {}
    strict: bool = False
    min_judged: float = 1.0
    tolerance: float | None = None
    allow_missing: bool = False
    method: str = ""
    llm: str = ""
    rule: str | None = None

    def __post_init__(self) -> None:
        # Written so that NaN, which no comparison holds for, is refused too.
        if not 0 <= self.min_judged <= 1:
            raise UnfitLimit(self.min_judged)
        if self.tolerance is not None and not 0 <= self.tolerance < inf:
            raise UnfitLimit(self.tolerance)


class GatedAnswer(Struct, frozen=True):
    """One run's answer to a question: the summary of its judgments, and its list by rank.

    ``items`` are equal in two answers where these list the same item; ``judged`` says of each
    whether it has a verdict.
    """

    summary: QuerySummary
    items: tuple[int | str, ...] = ()
    judged: tuple[bool, ...] = ()


class GateDifference(Struct, frozen=True):
    """The paired difference of one figure, run minus baseline, over `n` questions with a value.

    ``p_holm`` is corrected over the figures that decide. ``n_apart`` are the questions whose lists
    differ; ``judged`` and ``baseline_judged`` the shares of their results that are judged, ``None``
    where there are none. ``smallest_p`` is the smallest corrected p that so many questions can
    give, ``smallest_loss`` the mean loss that they would show with a power of 80 %.
    """

    n: int
    mean: float | None
    interval: Interval
    test: str
    exact: bool
    p: float | None
    p_holm: float | None
    wins: int
    ties: int
    losses: int
    n_apart: int = 0
    judged: float | None = None
    baseline_judged: float | None = None
    smallest_p: float = 1.0
    smallest_loss: float | None = None
    outcome: Outcome = Outcome.PASSED


class GateFigure(Struct, frozen=True):
    """One figure of the run over `n` questions with a value, and what is decided by it.

    ``upper`` is its value if every unjudged result is relevant. It is ``None`` for a figure that
    depends on the pool, of which no bounds are claimed; then ``judged`` is the share of results
    down to its cutoff that is judged. ``interval`` is that of chance. Without ``difference`` the
    figure has a floor only.
    """

    figure: str
    value: float | None
    upper: float | None
    interval: Interval
    n: int
    judged: float | None
    baseline: float | None
    floor: float | None = None
    floor_outcome: Outcome | None = None
    difference: GateDifference | None = None


Pairs = Sequence[tuple[GatedAnswer, GatedAnswer]]
"""The answers of run and baseline to each question."""


def gate_figures(pairs: Pairs, deciding: Sequence[str], request: GateRequest) -> list[GateFigure]:
    """Return the figures that decide, with their differences, and those that have a floor only."""
    names = dict.fromkeys((*deciding, *request.floors))
    spans = {name: [(span(new, name), span(old, name)) for new, old in pairs] for name in names}
    differences = _differences(pairs, spans, deciding, request)
    return [_figure(name, pairs, spans[name], differences.get(name), request) for name in names]


def _figure(
    name: str,
    pairs: Pairs,
    spans: Sequence[tuple[Span, Span]],
    difference: GateDifference | None,
    request: GateRequest,
) -> GateFigure:
    """Return one figure of the gate with its bounds, floor and difference."""
    run_spans = [run_span for run_span, _ in spans]
    lows, highs = _defined(map(_low, run_spans)), _defined(map(_high, run_spans))
    has_bounds = name in HEADLINES or not ranking_figure(name).needs_pool
    judged = None
    if not has_bounds:
        answers = [answer for answer, _ in pairs]
        judged = judged_share(zip(answers, run_spans, strict=True), depth_of(name))
    return GateFigure(
        figure=name,
        value=_mean(lows),
        upper=_mean(highs) if has_bounds else None,
        interval=mean_interval(lows, highest=highest_value(name)),
        n=len(lows),
        judged=judged,
        baseline=_mean(_defined(_low(baseline_span) for _, baseline_span in spans)),
        floor=request.floors.get(name),
        floor_outcome=_floor_outcome(name, lows, highs, judged, request),
        difference=difference,
    )


def span(answer: GatedAnswer, figure: str) -> Span:
    """Return the value of a figure for one answer and its bounds, by the rules of a gate."""
    summary = answer.summary
    has_results = summary.state is QueryState.RESULTS
    if figure == "coverage":
        return Span.settled(float(has_results))
    if has_results:
        return summary.figures[figure]
    if summary.empty_outcome is EmptyOutcome.CORRECT_EMPTY:
        return Span.settled(1.0 if figure.startswith("success") else None)
    return Span.settled(0.0)


def judged_share(answers: Iterable[tuple[GatedAnswer, Span]], depth: int | None) -> float | None:
    """Return the share of the results down to `depth` that need no verdict any more.

    They are judged, or their answer's value can no longer change: its bounds are equal. ``None``
    without results.
    """
    n_results = n_waiting = 0
    for answer, bounds in answers:
        judged = answer.judged[:depth]
        n_results += len(judged)
        if bounds.lower is None or bounds.lower != bounds.upper:
            n_waiting += judged.count(False)
    return (n_results - n_waiting) / n_results if n_results else None


def _differences(
    pairs: Pairs,
    spans: Mapping[str, Sequence[tuple[Span, Span]]],
    deciding: Sequence[str],
    request: GateRequest,
) -> dict[str, GateDifference]:
    """Return the difference of each deciding figure, corrected over all of them."""
    paired_values = [_paired_values(name, pairs, spans[name]) for name in deciding]
    n_tested = sum(bool(paired.values) for paired in paired_values)
    # Each figure is a group of its own to Holm there; it is corrected over all of them here.
    differences = paired_differences(paired_values, together=n_tested)
    p_values = holm([difference.p for difference in differences])
    by_figure = {}
    for paired, p_holm in zip(differences, p_values, strict=True):
        depth = depth_of(paired.figure)
        run_answers, baseline_answers = [], []
        for (new, old), (new_span, old_span) in zip(pairs, spans[paired.figure], strict=True):
            if not _is_same(new, old, depth):
                run_answers.append((new, new_span))
                baseline_answers.append((old, old_span))
        difference = replace(
            convert(paired, GateDifference, from_attributes=True),
            p_holm=p_holm,
            n_apart=len(run_answers),
            judged=judged_share(run_answers, depth),
            baseline_judged=judged_share(baseline_answers, depth),
            smallest_p=min(1.0, n_tested * smallest_p(paired.n)),
            smallest_loss=_smallest_loss(paired),
        )
        outcome = _difference_outcome(difference, request) if pairs else Outcome.OPEN
        by_figure[paired.figure] = replace(difference, outcome=outcome)
    return by_figure


def _paired_values(name: str, pairs: Pairs, spans: Sequence[tuple[Span, Span]]) -> PairedValues:
    """Return the lower bounds of run and baseline; where both list the same they are equal."""
    depth, values = depth_of(name), []
    for (new, old), (new_span, old_span) in zip(pairs, spans, strict=True):
        old_value = _low(old_span)
        new_value = old_value if _is_same(new, old, depth) else _low(new_span)
        if new_value is not None and old_value is not None:
            values.append((new_value, old_value))
    is_binary = name.startswith("success")
    return PairedValues(name, "run", "baseline", tuple(values), None, binary=is_binary)


def _is_same(first: GatedAnswer, second: GatedAnswer, depth: int | None) -> bool:
    """Whether two answers list the same items in the same order down to `depth`."""
    is_same = first.items[:depth] == second.items[:depth]
    return is_same and first.summary.state is second.summary.state


def _difference_outcome(difference: GateDifference, request: GateRequest) -> Outcome:
    """Return whether a difference fails the gate, passes it, or is open."""
    if not difference.n_apart:
        return Outcome.PASSED
    shares = _defined((difference.judged, difference.baseline_judged))
    is_enough = all(share >= request.min_judged for share in shares)
    if difference.p_holm is None or difference.mean is None or not is_enough:
        return Outcome.OPEN
    if request.tolerance is not None:
        lower = difference.interval.lower
        is_ruled_out = lower is not None and round(lower + request.tolerance, DIGITS) > 0
        return Outcome.PASSED if is_ruled_out else Outcome.OPEN
    is_worse = round(difference.mean, DIGITS) < 0 and difference.p_holm <= ALPHA + 1e-12
    return Outcome.FAILED if is_worse else Outcome.PASSED


def _floor_outcome(
    name: str,
    lows: Sequence[float],
    highs: Sequence[float],
    judged: float | None,
    request: GateRequest,
) -> Outcome | None:
    """Return whether a floor is reached or missed whatever the open verdicts are, else "open".

    A figure without bounds is open where too little is `judged`. ``None`` without a floor.
    """
    floor, highest = request.floors.get(name), highest_value(name)
    if floor is None:
        return None
    if request.strict:
        low = mean_interval(lows, highest=highest).lower
        high = mean_interval(highs, highest=highest).lower
    else:
        low, high = _mean(lows), _mean(highs)
    is_enough = judged is None or judged >= request.min_judged
    if low is None or high is None or not is_enough:
        return Outcome.OPEN
    if round(high - floor, DIGITS) < 0:
        return Outcome.FAILED
    return Outcome.OPEN if round(low - floor, DIGITS) < 0 else Outcome.PASSED


def _smallest_loss(difference: Difference) -> float | None:
    """Return the smallest mean loss that so many questions would show, if they differ as these do.

    Where none differs each question that loses is taken to lose everything, which is the way to
    lose a given mean in the fewest questions.
    """
    n, highest = difference.n, highest_value(difference.figure)
    if not n:
        return None
    mixed = mixture(difference.differences) or DifferenceMixture(n, 0.0, (highest,), 0.0)
    return difference_shown(n, mixed, Demand(level=ALPHA / difference.pairs), highest=highest)


def _low(bounds: Span) -> float | None:
    return bounds.value if bounds.lower is None else bounds.lower


def _high(bounds: Span) -> float | None:
    return bounds.value if bounds.upper is None else bounds.upper


def _defined(values: Iterable[float | None]) -> tuple[float, ...]:
    return tuple(value for value in values if value is not None)


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


def depth_of(figure: str) -> int | None:
    """Return the rank down to which a figure counts results, ``None`` for the full list."""
    if figure in HEADLINES:
        return TOP if figure == "mean_precision_at_5" else None
    return ranking_figure(figure).cutoff
