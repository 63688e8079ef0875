"""The meaning of every number of a comparison: one place for page, command line, reports and docs.

All texts but the citations are English message ids, as in ``metrics.judging.registry``.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from webapp.i18n import mark
from webapp.metrics.judging.registry import METHOD, Measure, MeasureGroup

PAIRED_QUESTIONS = mark("questions for which both runs have a value")
NO_PAIRS = mark("No value without such a question.")
SAKAI = "Sakai, T. (2018). Laboratory Experiments in Information Retrieval. Springer. Chapter 2."
NEVER_EQUAL = mark("A large p does not show that two runs are equal.")

_MEASURES = (
    Measure(
        name="paired_difference",
        query_name=None,
        label=mark("Difference by question"),
        meaning=mark("How far one run lies above another on the questions both can be judged by."),
        unit="difference",
        formula=mark("mean over questions of the first run's value − the second's"),
        denominator=PAIRED_QUESTIONS,
        edge_cases=(
            mark("It need not equal the difference of the two figures, which is given beside it."),
            mark(
                "For the precisions it is also given with an empty list that should have had "
                "results at 0."
            ),
            NO_PAIRS,
        ),
        reading=mark("Above 0 the first run is higher. Read it with its interval and its n."),
        source=SAKAI,
    ),
    Measure(
        name="bootstrap_interval",
        query_name=None,
        label=mark("Interval of a figure or difference"),
        meaning=mark("How far a mean would move had other questions of the kind been asked."),
        unit="difference",
        formula=mark(
            "the 2.5% and 97.5% quantiles of the mean over questions drawn again with replacement"
        ),
        denominator=mark("the resamples"),
        edge_cases=(
            mark("None for fewer than two questions."),
            mark("The same seed, values and number of resamples give the same interval."),
            mark("In phase 3 participants are drawn again, not questions."),
        ),
        reading=mark(
            "An interval of a difference that holds 0 leaves open which run is higher. Intervals "
            "of two runs may overlap although their difference is significant."
        ),
        source="Efron, B., & Tibshirani, R. (1993). An Introduction to the Bootstrap. Chapter 13.",
    ),
    Measure(
        name="randomisation_p",
        query_name=None,
        label=mark("Randomisation test"),
        meaning=mark(
            "How often chance alone would set two runs as far apart, had each question's answers "
            "been swapped by a coin."
        ),
        unit="probability",
        formula=mark(
            "(hits + 1) / (permutations + 1); hits / 2^n where all 2^n signs of n differences can "
            "be tried"
        ),
        denominator=PAIRED_QUESTIONS,
        edge_cases=(
            mark("Two-sided."),
            mark("1 where no question differs."),
            mark("Exact where 2^n is at most the number of resamples, else never 0."),
        ),
        reading=NEVER_EQUAL,
        source=(
            "Smucker, M. D., Allan, J., & Carterette, B. (2007). A comparison of statistical "
            "significance tests for information retrieval evaluation. CIKM, 623-632."
        ),
    ),
    Measure(
        name="mcnemar_p",
        query_name=None,
        label=mark("McNemar's test"),
        meaning=mark("Whether two runs succeed on different questions more often than by chance."),
        unit="probability",
        formula=mark(
            "min(1, 2 × (sum of C(n, i) for i from 0 to k) / 2^n): n the questions on which only "
            "one run succeeds, k the smaller side"
        ),
        denominator=mark("questions on which exactly one of two runs succeeds"),
        edge_cases=(
            mark("Exact and two-sided, for the success rate."),
            mark("1 where no question is won by one run alone."),
        ),
        reading=NEVER_EQUAL,
        source=(
            "McNemar, Q. (1947). Note on the sampling error of the difference between correlated "
            "proportions or percentages. Psychometrika 12(2), 153-157."
        ),
    ),
    Measure(
        name="signed_rank_p",
        query_name=None,
        label=mark("Wilcoxon signed-rank test"),
        meaning=mark(
            "How often chance alone would give rank sums as unequal, had each difference's sign "
            "been a coin's."
        ),
        unit="probability",
        formula=mark(
            "min(1, 2 × the share of all 2^n signs whose sum of ranks is at most the smaller of W+ "
            "and W−); ranks by the size of the difference"
        ),
        denominator=mark("questions on which the two runs differ"),
        edge_cases=(
            mark("Differences of 0 are left out (Wilcoxon's convention, not Pratt's)."),
            mark("Equal differences get the mean of their ranks."),
            mark(
                "With more than 50 differences a normal approximation, corrected for ties and "
                "continuity."
            ),
            mark("1 where no question differs."),
            mark("Not given for successes, which McNemar's test compares."),
        ),
        reading=mark(
            "It is given beside the randomisation test, not in its place: it tests ranks and not "
            "the mean difference that is shown."
        ),
        source=(
            "Wilcoxon, F. (1945). Individual comparisons by ranking methods. Biometrics Bulletin "
            "1(6), 80-83."
        ),
    ),
    Measure(
        name="holm_p",
        query_name=None,
        label=mark("p after Holm"),
        meaning=mark("The p-value made larger, so that all pairs of runs may be read together."),
        unit="probability",
        formula=mark(
            "the i-th smallest of m p-values becomes the largest of min(1, (m − j + 1) × p_j) for "
            "j up to i"
        ),
        denominator=mark("the pairs of runs within one figure"),
        edge_cases=(
            mark("With two runs it is the p-value itself."),
            mark("A pair without a p-value is not counted."),
            mark("It does not correct for looking at several figures."),
        ),
        reading=mark("Significant at 5% where it is 0.05 or less."),
        source=(
            "Holm, S. (1979). A simple sequentially rejective multiple test procedure. "
            "Scandinavian Journal of Statistics 6(2), 65-70."
        ),
    ),
    Measure(
        name="win_tie_loss",
        query_name=None,
        label=mark("Wins, ties and losses"),
        meaning=mark("On how many questions the first run is higher, level or lower."),
        unit="count",
        formula=mark("questions where the first run's value is larger / equal / smaller"),
        denominator=PAIRED_QUESTIONS,
        edge_cases=(mark("A hair's breadth counts like a wide gap."),),
        reading=mark(
            "Many wins with a small difference are many small gains; few with a large one rest on "
            "those few questions."
        ),
        source=SAKAI,
    ),
    Measure(
        name="stability",
        query_name=None,
        label=mark("Stability of the order"),
        meaning=mark("Whether the order of the runs survives another way of counting."),
        unit="count",
        formula=mark("variations in which two runs change places / variations tried"),
        denominator=mark(
            "one rater, category or question left out; another rule; K of 1, 3 and 10; "
            "empty lists counted another way"
        ),
        edge_cases=(
            mark("Runs that become equal, or stop being equal, have not changed places."),
            mark("A rater can be left out only where several are merged."),
        ),
        reading=mark(
            "An order that one question or one rater overturns is not a finding, however small "
            "p is."
        ),
        source=(
            "Buckley, C., & Voorhees, E. M. (2000). Evaluating evaluation measure stability. "
            "SIGIR, 33-40."
        ),
    ),
    Measure(
        name="original_composite",
        query_name=None,
        label=mark("Composite of the original comparison"),
        meaning=mark("The weighted score that older reports rank by; never a verdict."),
        unit="ratio",
        formula=mark("0.4 Precision@5 + 0.3 MRR + 0.2 success rate + 0.1 coverage"),
        denominator=mark("as in its four parts"),
        edge_cases=(
            mark("No value as soon as one of its parts has none."),
            mark("No test goes with it: its weights are a convention."),
        ),
        reading=mark("Read its four parts; equal composites can hide opposite strengths."),
        source=METHOD,
    ),
)

COMPARISON_MEASURES: Mapping[str, Measure] = MappingProxyType({m.name: m for m in _MEASURES})
"""Every number of a comparison by its name, in the order in which they are explained."""

GROUPS = (MeasureGroup("comparison", mark("Comparison"), COMPARISON_MEASURES, place=3),)
