"""The figures of a gate: a new run held against floors and, question by question, a baseline.

Other rules hold here than for the figures of a run, so that nothing is won by not answering:

- A figure is over the questions of the baseline. An answer without results is 0 in it: an empty
  list, a failed call, an unreadable answer, a question that the run lacks. Where the question's
  outcome is correct empty it is no value of precisions and ranks, and 1 of successes.
- A result that nobody judged counts as not relevant in the value and as relevant in ``upper``.
- A difference needs no judgment where both lists hold the same items in the same order, as deep
  as the figure looks; nor of an answer whose value can no longer change.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
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
"""A run is worse where the corrected p-value is not above."""
DIGITS = 9
"""Sums that differ in a later decimal only are equal: floats add up in different orders."""


class Outcome(StrEnum):
    """What a gate says, of one figure and of the run: the worst of its figures."""

    PASSED = "passed"
    OPEN = "open"
    FAILED = "failed"


class UnfitLimit(Refused, ValueError):
    """A share that is not between 0 and 1, or a tolerance below 0; it is the argument."""

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
        for number, most in ((self.min_judged, 1.0), (self.tolerance or 0.0, sys.float_info.max)):
            if not 0 <= number <= most:  # nor is NaN
                raise UnfitLimit(number)


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
    give, ``smallest_loss`` the loss that they would have shown with a power of 80 %.
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

    ``upper`` is its value if all that is open is relevant, ``None`` where no bounds are claimed;
    then ``judged`` is the share of the results it looks at that is judged. ``interval`` is that of
    chance. Without ``difference`` the figure has a floor only.
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
    gated = []
    for name in names:
        ours, theirs = ([both[side] for both in spans[name]] for side in (0, 1))
        lows, highs = _defined(map(_low, ours)), _defined(map(_high, ours))
        has_bounds = not _of_pool(name)
        answers = [(new, own_span) for (new, _), own_span in zip(pairs, ours, strict=True)]
        judged = None if has_bounds else judged_share(answers, depth_of(name))
        floor, outcome = request.floors.get(name), None
        if floor is not None:
            is_enough = judged is None or judged >= request.min_judged
            outcome = _of_floor(
                *(floor, lows, highs),
                is_enough=is_enough,
                strict=request.strict,
                highest=highest_value(name),
            )
        gated.append(
            GateFigure(
                figure=name,
                value=_mean(lows),
                upper=_mean(highs) if has_bounds else None,
                interval=mean_interval(lows, highest=highest_value(name)),
                n=len(lows),
                judged=judged,
                baseline=_mean(_defined(map(_low, theirs))),
                floor=floor,
                floor_outcome=outcome,
                difference=differences.get(name),
            )
        )
    return gated


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

    They are judged, or the bounds of the figure are equal there. ``None`` without results.
    """
    ranks = waiting = 0
    for answer, span_of_answer in answers:
        judged = answer.judged[:depth]
        ranks += len(judged)
        if span_of_answer.lower is None or span_of_answer.lower != span_of_answer.upper:
            waiting += judged.count(False)
    return (ranks - waiting) / ranks if ranks else None


def _differences(
    pairs: Pairs,
    spans: Mapping[str, Sequence[tuple[Span, Span]]],
    deciding: Sequence[str],
    request: GateRequest,
) -> dict[str, GateDifference]:
    values, same = [], {name: [_is_same(*pair, depth_of(name)) for pair in pairs] for name in spans}
    for name in deciding:
        rows = zip(spans[name], same[name], strict=True)
        both = ((_low(old if is_same else new), _low(old)) for (new, old), is_same in rows)
        defined = tuple((x, y) for x, y in both if x is not None and y is not None)
        is_binary = name.startswith("success")
        values.append(PairedValues(name, "run", "baseline", defined, None, binary=is_binary))
    n_tested = sum(bool(paired.values) for paired in values)
    differences = paired_differences(values, together=n_tested)
    p_values = holm([difference.p for difference in differences])
    by_figure = {}
    for paired, p_holm in zip(differences, p_values, strict=True):
        depth = depth_of(paired.figure)
        of_figure = zip(pairs, spans[paired.figure], same[paired.figure], strict=True)
        apart = [(*answers, *both) for answers, both, is_same in of_figure if not is_same]
        difference = replace(
            convert(paired, GateDifference, from_attributes=True),
            p_holm=p_holm,
            n_apart=len(apart),
            judged=judged_share([(new, span) for new, _, span, _ in apart], depth),
            baseline_judged=judged_share([(old, span) for _, old, _, span in apart], depth),
            smallest_p=min(1.0, n_tested * smallest_p(paired.n)),
            smallest_loss=_smallest_loss(paired),
        )
        outcome = _of_difference(difference, request) if pairs else Outcome.OPEN
        by_figure[paired.figure] = replace(difference, outcome=outcome)
    return by_figure


def _is_same(first: GatedAnswer, second: GatedAnswer, depth: int | None) -> bool:
    """Whether two answers list the same items in the same order down to `depth`."""
    is_same = first.items[:depth] == second.items[:depth]
    return is_same and first.summary.state is second.summary.state


def _of_difference(difference: GateDifference, request: GateRequest) -> Outcome:
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


def _of_floor(
    floor: float,
    lows: Sequence[float],
    highs: Sequence[float],
    *,
    is_enough: bool,
    strict: bool,
    highest: float,
) -> Outcome:
    """Return whether a floor is reached however what is open is judged, or missed, or open.

    Without enough judged a figure without bounds says nothing.
    """
    least = (lambda values: mean_interval(values, highest=highest).lower) if strict else _mean
    low, high = least(lows), least(highs)
    if low is None or high is None or not is_enough:
        return Outcome.OPEN
    if round(high - floor, DIGITS) < 0:
        return Outcome.FAILED
    return Outcome.OPEN if round(low - floor, DIGITS) < 0 else Outcome.PASSED


def _smallest_loss(difference: Difference) -> float | None:
    """Return the smallest loss that so many questions show, as these differ.

    Where none differs the questions that lose are taken to lose everything: of all ways to lose so
    much in the mean, the one in which the fewest questions differ.
    """
    n, highest = difference.n, highest_value(difference.figure)
    if not n:
        return None
    mixed = mixture(difference.differences) or DifferenceMixture(n, 0.0, (highest,), 0.0)
    return difference_shown(n, mixed, Demand(level=ALPHA / difference.pairs), highest=highest)


def _low(reached: Span) -> float | None:
    return reached.value if reached.lower is None else reached.lower


def _high(reached: Span) -> float | None:
    return reached.value if reached.upper is None else reached.upper


def _defined(values: Iterable[float | None]) -> tuple[float, ...]:
    return tuple(value for value in values if value is not None)


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


def depth_of(figure: str) -> int | None:
    """Return the rank down to which a figure looks, ``None`` where at the whole list."""
    if figure in HEADLINES:
        return TOP if figure == "mean_precision_at_5" else None
    return ranking_figure(figure).cutoff


def _of_pool(figure: str) -> bool:
    return figure not in HEADLINES and ranking_figure(figure).needs_pool
