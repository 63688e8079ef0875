"""The meaning of every number of a comparison, in English message ids."""

from __future__ import annotations

from relevansi.i18n import mark
from relevansi.metrics.judging.registry import METHOD, MeasureGroup, by_name, explained

PAIRED_QUESTIONS = mark("questions for which both runs have a value")
NO_PAIRS = mark("No value without such a question.")
SAKAI = "Sakai, T. (2018). Laboratory Experiments in Information Retrieval. Springer. Chapter 2."
NEVER_EQUAL = mark("A large p does not show that two runs are equal.")

COMPARISON_MEASURES = by_name(
    explained(
        "paired_difference",
        mark("Difference by question"),
        mark("How far one run lies above another on the questions both can be judged by."),
        mark("mean over questions of the first run's value − the second's"),
        PAIRED_QUESTIONS,
        mark("It need not equal the difference of the two figures, which is given beside it."),
        mark(
            "For the precisions it is also given with an empty list that should have had "
            "results at 0."
        ),
        NO_PAIRS,
        source=SAKAI,
        unit="difference",
        reading=mark("Above 0 the first run is higher. Read it with its interval and its n."),
    ),
    explained(
        "interval",
        mark("Interval of a figure or difference"),
        mark("Which means over all questions of the kind the questions seen do not contradict."),
        mark(
            "Wilson's interval with n / f questions, f = (n × variance + 1/2) / (n m (1 − m) + "
            "1/2); of a difference Tango's of d / k, times k = (sum d² + 0.1) / (sum |d| + 0.1)"
        ),
        mark("questions with a value; for a difference those with one in both runs"),
        mark("Of 0 and 1 it is Wilson's and Tango's own interval."),
        mark("None for fewer than two questions; never a point."),
        mark("It is that of one figure or pair alone: no correction for several."),
        mark("In phase 3 it is over participants, not questions."),
        source=(
            "Wilson, E. B. (1927). JASA 22, 209-212. Tango, T. (1998). Statistics in Medicine 17, "
            "891-908. Relevansi, docs/coverage.md: how often it holds."
        ),
        unit="difference",
        reading=mark(
            "An interval of a difference that holds 0 leaves open which run is higher. Intervals "
            "of two runs may overlap although their difference is significant."
        ),
    ),
    explained(
        "cohens_d",
        mark("Cohen's d (paired)"),
        mark("How large a difference is beside how much it varies from question to question."),
        mark("mean of the paired differences / their standard deviation (by n − 1)"),
        PAIRED_QUESTIONS,
        mark("No value where all differences are equal."),
        source="Cohen, J. (1988). Statistical Power Analysis for the Behavioral Sciences. Ch. 2.",
        unit="coefficient",
    ),
    explained(
        "randomisation_p",
        mark("Randomisation test"),
        mark(
            "How often chance alone would set two runs as far apart, had each question's answers "
            "been swapped by a coin."
        ),
        mark("share of the 2^n signs of the n differences whose sum is at least as far from 0"),
        mark("questions on which the two runs differ"),
        mark("Two-sided, and exact: the sums are found by convolution."),
        mark("1 where no question differs."),
        mark(
            "Where there are more than 1,000,000 different sums, signs are drawn until p is told "
            "from its level by three standard errors; that error is given."
        ),
        source=(
            "Smucker, M. D., Allan, J., & Carterette, B. (2007). A comparison of statistical "
            "significance tests for information retrieval evaluation. CIKM, 623-632. Pagano, M., & "
            "Tritchler, D. (1983). JASA 78, 435-440."
        ),
        unit="probability",
        reading=NEVER_EQUAL,
    ),
    explained(
        "mcnemar_p",
        mark("McNemar's test"),
        mark("Whether two runs succeed on different questions more often than by chance."),
        mark(
            "min(1, 2 × (sum of C(n, i) for i from 0 to k) / 2^n): n the questions on which only "
            "one run succeeds, k the smaller side"
        ),
        mark("questions on which exactly one of two runs succeeds"),
        mark("Exact and two-sided, for the success rate."),
        mark("1 where no question is won by one run alone."),
        source=(
            "McNemar, Q. (1947). Note on the sampling error of the difference between correlated "
            "proportions or percentages. Psychometrika 12(2), 153-157."
        ),
        unit="probability",
        reading=NEVER_EQUAL,
    ),
    explained(
        "signed_rank_p",
        mark("Wilcoxon signed-rank test"),
        mark(
            "How often chance alone would give rank sums as unequal, had each difference's sign "
            "been a coin's."
        ),
        mark(
            "min(1, 2 × the share of all 2^n signs whose sum of ranks is at most the smaller of W+ "
            "and W−); ranks by the size of the difference"
        ),
        mark("questions on which the two runs differ"),
        mark("Differences of 0 are left out (Wilcoxon's convention, not Pratt's)."),
        mark("Equal differences get the mean of their ranks."),
        mark("Exact, ties too."),
        mark("1 where no question differs."),
        mark("Not given for successes, which McNemar's test compares."),
        source=(
            "Wilcoxon, F. (1945). Individual comparisons by ranking methods. Biometrics Bulletin "
            "1(6), 80-83."
        ),
        unit="probability",
        reading=mark(
            "It is given beside the randomisation test, not in its place: it tests ranks and not "
            "the mean difference that is shown."
        ),
    ),
    explained(
        "holm_p",
        mark("p after Holm"),
        mark("The p-value made larger, so that all pairs of runs may be read together."),
        mark(
            "the i-th smallest of m p-values becomes the largest of min(1, (m − j + 1) × p_j) for "
            "j up to i"
        ),
        mark("the pairs of runs within one figure"),
        mark("With two runs it is the p-value itself."),
        mark("A pair without a p-value is not counted."),
        mark("It does not correct for looking at several figures."),
        source=(
            "Holm, S. (1979). A simple sequentially rejective multiple test procedure. "
            "Scandinavian Journal of Statistics 6(2), 65-70."
        ),
        unit="probability",
        reading=mark("Significant at 5% where it is 0.05 or less."),
    ),
    explained(
        "win_tie_loss",
        mark("Wins, ties and losses"),
        mark("On how many questions the first run is higher, level or lower."),
        mark("questions where the first run's value is larger / equal / smaller"),
        PAIRED_QUESTIONS,
        mark("A hair's breadth counts like a wide gap."),
        source=SAKAI,
        unit="count",
        reading=mark(
            "Many wins with a small difference are many small gains; few with a large one rest on "
            "those few questions."
        ),
    ),
    explained(
        "stability",
        mark("Stability of the order"),
        mark("Whether the order of the runs survives another way of counting."),
        mark("variations in which two runs change places / variations tried"),
        mark(
            "one rater, category or question left out; another rule; K of 1, 3 and 10; empty lists "
            "counted another way; each conversation counted as one"
        ),
        mark("Runs that become equal, or stop being equal, have not changed places."),
        mark("A rater can be left out only where several are merged."),
        mark("A conversation is a standalone question with the follow-ups that depend on it."),
        source=(
            "Buckley, C., & Voorhees, E. M. (2000). Evaluating evaluation measure stability. "
            "SIGIR, 33-40."
        ),
        unit="count",
        reading=mark(
            "An order that one question or one rater overturns is not a finding, however small "
            "p is."
        ),
    ),
    explained(
        "original_composite",
        mark("Composite of the original comparison"),
        mark("The weighted score that older reports rank by; never a verdict."),
        mark("0.4 Precision@5 + 0.3 MRR + 0.2 success rate + 0.1 coverage"),
        mark("as in its four parts"),
        mark("No value as soon as one of its parts has none."),
        mark("No test and no interval goes with it: its weights are a convention."),
        source=METHOD,
        reading=mark("Read its four parts; equal composites can hide opposite strengths."),
    ),
)
"""Every number of a comparison by its name, in the order in which they are explained."""

GROUPS = (MeasureGroup("comparison", mark("Comparison"), COMPARISON_MEASURES, place=3),)
