"""The meaning of every number of a rating plan, for pages, the command line and docs.

All texts but the citations are English message ids, as in ``metrics.judging.registry``.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from relevansi.i18n import mark
from relevansi.metrics.judging.registry import Measure, MeasureGroup

WITH_VALUE = mark("the questions drawn that have a value")
_MEASURES = (
    Measure(
        name="questions_needed",
        label=mark("Questions needed"),
        meaning=mark("How many questions show a difference of a given size."),
        unit="count",
        formula=mark(
            "the smallest n at which the test of the comparison, at its level after Holm, has the "
            "power asked"
        ),
        denominator=mark("questions for which both runs have a value"),
        edge_cases=(
            mark("Successes: exact, from the shares of questions that each run alone wins."),
            mark(
                "Other figures: simulated from a rated pair, more questions differing in favour of "
                "the higher run, by as much."
            ),
            mark("With a standard deviation alone: the paired t test, which is a lower limit."),
        ),
        reading=mark("Plan again once some questions are rated: the pair is a guess."),
        source=(
            "Connor, R. J. (1987). Biometrics 43, 207-211. Cohen, J. (1988). Statistical Power "
            "Analysis for the Behavioral Sciences. Chapter 2."
        ),
    ),
    Measure(
        name="settled_order",
        label=mark("Settled order"),
        meaning=mark("Whether open verdicts can still change the order of two runs."),
        unit="difference",
        formula=mark(
            "the smallest and the largest sum of differences over every way the open verdicts can "
            "turn out"
        ),
        denominator=mark("questions for which both runs can have a value"),
        edge_cases=(
            mark("A card that both runs list turns out the same in both."),
            mark(
                "A verdict “cannot tell” counts as not relevant, or is left out, as the study is "
                "set; left out, the bounds are worked out again."
            ),
        ),
        reading=mark(
            "Settled is the order only: the size of the difference still moves with the rest."
        ),
        source="Relevansi, docs/decisions/0030-settled-orders-and-rating-by-effect.md",
    ),
    Measure(
        name="sampled_interval",
        label=mark("Interval from a sample"),
        meaning=mark("Where the figure over all questions lies, from questions drawn at random."),
        unit="difference",
        formula=mark(
            "the interval of every figure, its half widths times √(1 − n/N), n of N drawn"
        ),
        denominator=WITH_VALUE,
        edge_cases=(mark("All questions drawn: a point. One question: no interval."),),
        reading=mark("It holds for the size that was fixed before the first verdict."),
        source="Cochran, W. G. (1977). Sampling Techniques, 3rd edition. Chapter 2.",
    ),
    Measure(
        name="machine_help",
        label=mark("People with a machine's help"),
        meaning=mark(
            "The figure over all questions from people's verdicts on a sample and a machine's on "
            "all."
        ),
        unit="difference",
        formula=mark(
            "mean of w f over the questions not sampled + mean of y − w f over those sampled (y "
            "people, f machine, w its weight); the interval of every figure from both variances"
        ),
        denominator=mark("the sampled questions that people have judged, and all others"),
        edge_cases=(
            mark("A weight near 0: the machine is worth nothing here, and people count alone."),
            mark("No value before the machine has judged every card."),
        ),
        reading=mark(
            "Valid whatever the machine is worth, if the sample was drawn before people judged. "
            "Never mixed with figures of people."
        ),
        source=(
            "Angelopoulos, A. N., Duchi, J. C., & Zrnic, T. (2023). PPI++: Efficient "
            "Prediction-Powered Inference. arXiv:2311.01453."
        ),
    ),
)

PLANNING_MEASURES: Mapping[str, Measure] = MappingProxyType({m.name: m for m in _MEASURES})
"""Every number of a rating plan by its name, in the order in which they are explained."""

GROUPS = (MeasureGroup("planning", mark("Rating plan"), PLANNING_MEASURES, place=5),)
