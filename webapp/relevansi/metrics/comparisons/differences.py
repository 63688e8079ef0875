"""The paired differences of two runs: mean over questions, interval and tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from statistics import fmean, stdev
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import asdict, replace

from relevansi.metrics.comparisons.significance import holm, randomisation_test
from relevansi.metrics.intervals import LEVEL, Interval, difference_interval
from relevansi.metrics.judging.figures import HEADLINES
from relevansi.metrics.judging.queries import BEST_QUALITY, QUALITY, QuerySummary
from relevansi.metrics.judging.registry import Measure
from relevansi.records import BINARY, EmptyOutcome, QueryState, Relevance, Scale


class ComparedQuery(Struct, frozen=True):
    """One question of the set as one run answered it, judged under one rule.

    ``position`` is the question's in the set (from 1) and pairs the runs; ``query_id`` is
    the run's own number for it. ``verdicts`` are those of its results in rank order, as the
    study counts them (``ranking.counted``). ``conversation`` is the position of the standalone
    question that it follows up, ``None`` where it is its own. ``is_open`` says whether an item of
    the study's pool has no label, ``None`` where no study says. ``n_holes`` of its results could
    not be read: they are decided without gain, and nobody judged them.
    """

    position: int
    query_id: int
    question: str
    category: str
    summary: QuerySummary
    verdicts: tuple[Relevance | None, ...] = ()
    conversation: int | None = None
    is_open: bool | None = None
    n_holes: int = 0

    @property
    def waits(self) -> bool:
        """Whether verdicts are still to come: below the depth of the pool none are."""
        if self.summary.state is QueryState.UNREADABLE:
            return False
        return not self.summary.complete if self.is_open is None else self.is_open


class ComparedRun(Struct, frozen=True):
    """A run to compare: its id, a name that no other of the comparison has, its questions."""

    run: str
    name: str
    search_method: str | None
    llm: str | None
    queries: tuple[ComparedQuery, ...]

    @property
    def is_judged(self) -> bool:
        """Whether any of its results is judged."""
        return any(query.summary.judged_count for query in self.queries)


def conversations(is_follow_up: Mapping[int, bool]) -> dict[int, int]:
    """Return by the position of each follow-up that of the question its conversation begins with.

    A follow-up that no standalone question precedes is not in it.

    >>> conversations({1: False, 2: True, 3: True, 4: False})
    {2: 1, 3: 1}
    """
    starts: dict[int, int] = {}
    start = None
    for position in sorted(is_follow_up):
        if not is_follow_up[position]:
            start = position
        elif start is not None:
            starts[position] = start
    return starts


def averaged_value(query: ComparedQuery, headline: str) -> float | None:
    """Return a question's value, of which a headline figure is the mean; ``None`` without one.

    Coverage averages 1 for a question with results and 0 for one without.
    """
    if headline in query.summary.figures:
        return query.summary.figures[headline].value
    if headline == "coverage" and query.summary.state is not QueryState.UNREADABLE:
        return float(query.summary.state is QueryState.RESULTS)
    return None


def ranked(values: Mapping[str, float | None]) -> tuple[tuple[str, ...], ...]:
    """Return the keys from the largest value to the smallest, equal ones together in given order.

    Values that differ in the 10th decimal only are equal; ``None`` has no place.

    >>> ranked({"a": 0.5, "b": 0.75, "c": None, "d": 0.5})
    (('b',), ('a', 'd'))
    """
    places: dict[float, list[str]] = {}
    for key, value in values.items():
        if value is not None:
            places.setdefault(round(value, 9), []).append(key)
    return tuple(tuple(places[value]) for value in sorted(places, reverse=True))


def value_of(query: ComparedQuery, figure: str, *, false_negatives_at_zero: bool) -> float | None:
    """Return the value of a headline figure for one question; ``None`` where it has none yet.

    An empty list that should have had results has no precision; `false_negatives_at_zero` counts
    it as 0 instead.
    """
    is_false_negative = query.summary.empty_outcome is EmptyOutcome.FALSE_NEGATIVE
    if false_negatives_at_zero and is_false_negative:
        return 0.0
    return query.summary.figures[figure].value


class SignedRank(Struct, frozen=True):
    """The two-sided test over ``n`` differences that are not 0.

    ``positive`` and ``negative`` are the sums of the ranks of differences above and below 0,
    ``zeros`` counts the differences that were left out. ``error`` is the standard error of p.
    """

    n: int
    zeros: int
    positive: float
    negative: float
    p: float
    error: float = 0.0

    @property
    def exact(self) -> bool:
        return not self.error


def signed_rank(differences: Iterable[float], *, pairs: int = 1) -> SignedRank | None:
    """Return the signed-rank test of paired `differences`; ``None`` without any.

    Differences of 0 are left out, as Wilcoxon did (Pratt ranks them and leaves them out then). The
    others are ranked by their size, equal sizes by the mean of their ranks. The signed ranks have
    the test of ``randomisation_test``: ties are exact too, which scipy's ``wilcoxon`` approximates.
    Reference: Wilcoxon (1945), Individual comparisons by ranking methods. Biometrics
    Bulletin 1(6), 80-83.

    >>> test = signed_rank([0.25, 0.5, 0.75, 0.0])  # ranks 1, 2, 3; all + and all - of 8 signs
    >>> test.n, test.zeros, test.positive, test.negative, test.p
    (3, 1, 6.0, 0.0, 0.25)
    """
    import numpy as np  # noqa: PLC0415 - a tenth of a second

    rounded = np.round(list(differences), 9)
    if not len(rounded):
        return None
    nonzero = rounded[rounded != 0]
    _, size_of, counts = np.unique(np.abs(nonzero), return_inverse=True, return_counts=True)
    # Of sizes that are equal each has the mean of the ranks that they take up together.
    mean_ranks = np.cumsum(counts) - (counts - 1) / 2
    ranks = mean_ranks[size_of] * np.sign(nonzero)
    test = randomisation_test(ranks.tolist(), pairs=pairs)
    return SignedRank(
        n=len(nonzero),
        zeros=len(rounded) - len(nonzero),
        positive=float(ranks[ranks > 0].sum()),
        negative=abs(float(ranks[ranks < 0].sum())),
        p=test.p,
        error=test.error,
    )


SMALL = 50
"""Below so many pairs a comparison calls itself small: only large differences can show."""

RANDOMISATION = "randomisation"
MCNEMAR = "McNemar"

PAIRED = (
    ("mean_precision_at_5", False),
    ("mean_precision_at_5", True),
    ("mean_overall_precision", False),
    ("mean_overall_precision", True),
    ("mrr", False),
    ("mrr_answerable", True),
    ("success_rate", False),
    (QUALITY, False),
)
"""The figures paired by question: a headline figure, and whether false negatives count as 0."""


def paired(headline: Sequence[str]) -> tuple[tuple[str, bool], ...]:
    """Return the figures among `headline` that are paired by question, as in ``PAIRED``.

    How much is judged is no figure of a run: its differences are not tested.

    >>> paired(("nDCG@10", "mrr_answerable", "Judged@10"))
    (('nDCG@10', False), ('mrr_answerable', True))
    """
    pairs: list[tuple[str, bool]] = []
    for name in headline:
        if name in HEADLINES:
            pairs += [pair for pair in PAIRED if pair[0] == name]
        elif not name.startswith("Judged"):
            pairs.append((name, False))
    return tuple(pairs)


def leading(headline: Sequence[str]) -> tuple[str, ...]:
    """Return the figures that decide which run is better, three at most.

    Of the usual headline they are P@5, MRR and success rate, else the first that are paired; none
    where the headline only says how much is judged.
    """
    if tuple(headline) == HEADLINES:
        return ("mean_precision_at_5", "mrr", "success_rate")
    return tuple(dict.fromkeys(figure for figure, _ in paired(headline)))[:3]


def deciding(headline: Sequence[str]) -> tuple[str, ...]:
    """Return the figures that decide: those that lead, and the quality where it is asked.

    >>> deciding(("mean_response_quality", "nDCG@10"))
    ('nDCG@10', 'mean_response_quality')
    """
    names = (name for name in leading(headline) if name != QUALITY)
    return (*names, *(name for name in headline if name == QUALITY))


def highest_value(figure: str) -> float:
    """Return the largest value that one question can have in a figure; the smallest is 0.

    >>> highest_value("mean_response_quality"), highest_value("relevant@10"), highest_value("AP")
    (5.0, 10.0, 1.0)
    """
    if figure == QUALITY:
        return float(BEST_QUALITY)
    if figure.startswith("relevant@"):
        return float(figure.removeprefix("relevant@"))
    return 1.0


class PairedValues(Struct, frozen=True):
    """The values of one figure in two runs, question by question; runs by their ids.

    ``headline`` is the difference of the two runs' figures, ``None`` where no figure counts false
    negatives that way; ``binary`` values are 0 or 1. ``false_negatives_at_zero`` is as in
    ``value_of``. ``measure`` explains a figure that is none of the headline figures, ``scale`` is
    the study's. ``names`` are those of the two runs; of ``is_partial`` ones figures can still move.
    """

    figure: str
    first: str
    second: str
    values: tuple[tuple[float, float], ...]
    headline: float | None
    false_negatives_at_zero: bool = False
    binary: bool = False
    measure: Measure | None = None
    scale: Scale = BINARY
    names: tuple[str, str] = ("", "")
    is_partial: bool = False

    @property
    def differences(self) -> list[float]:
        return [first_value - second_value for first_value, second_value in self.values]


class RunMean(NamedTuple):
    """One run of a pair, and its mean over the questions of the pair."""

    run: str
    name: str
    value: float | None


class Difference(PairedValues, frozen=True, kw_only=True):
    """One figure of two runs, first minus second, over the `n` questions both have a value for.

    ``p_holm`` and ``signed_rank_p_holm`` are corrected over the ``pairs`` of runs of this figure;
    ``p_error`` is the standard error of a p that was drawn, else 0. ``signed_rank`` is Wilcoxon's
    test, ``None`` for successes. ``d_z`` is Cohen's, the mean by the standard deviation of the
    differences, ``None`` where these are equal. Wins are questions where the first run's value is
    larger. Without values all but the counts is ``None``.
    """

    interval: Interval
    test: str
    exact: bool
    p: float | None
    p_error: float | None
    p_holm: float | None
    pairs: int
    signed_rank: SignedRank | None
    signed_rank_p_holm: float | None
    n: int
    mean: float | None
    first_value: float | None
    second_value: float | None
    deviation: float | None
    d_z: float | None
    wins: int
    ties: int
    losses: int

    @property
    def in_order(self) -> tuple[RunMean, RunMean]:
        """The two runs, that with the higher mean first."""
        first = RunMean(self.first, self.names[0], self.first_value)
        second = RunMean(self.second, self.names[1], self.second_value)
        return (second, first) if (self.mean or 0) < 0 else (first, second)

    @property
    def interval_in_order(self) -> Interval:
        """The interval of the higher run minus the lower."""
        lower, upper = self.interval.lower, self.interval.upper
        if (self.mean or 0) >= 0 or lower is None or upper is None:
            return self.interval
        return Interval(-upper, -lower)

    @property
    def is_of_headline(self) -> bool:
        """Whether false negatives count as the headline figure has them.

        Figures come once more with false negatives at 0; the answerable MRR is always so.
        """
        at_zero = self.false_negatives_at_zero and self.figure != "mrr_answerable"
        return self.measure is None and not at_zero

    @property
    def reverses_headline(self) -> bool:
        """Whether the run that is higher over the pairs has the lower headline figure."""
        return round(self.mean or 0, 9) * round(self.headline or 0, 9) < 0

    @property
    def significant(self) -> bool:
        """Whether the corrected p-value is at most the level."""
        # Float error: a p times the number of pairs can lie just above the level that it equals.
        return self.p_holm is not None and self.p_holm <= LEVEL + 1e-12

    @property
    def small(self) -> bool:
        """Whether the pairs are so few that only large differences could show."""
        return self.n < SMALL


def paired_differences(
    pairs: Sequence[PairedValues], *, together: int = 1
) -> tuple[Difference, ...]:
    """Return the difference of each pair of runs, p-values by Holm over the pairs of one figure.

    The pairs of one figure follow each other. Successes are compared by the exact McNemar test,
    which is the test of signs of their differences. A caller that corrects over other tests says
    how many go `together`.
    """
    corrected: list[Difference] = []
    by_figure = groupby(pairs, key=lambda pair: (pair.figure, pair.false_negatives_at_zero))
    for _, group in by_figure:
        of_figure = list(group)
        tested = [_test(pair, max(together, len(of_figure))) for pair in of_figure]
        p_values = holm([difference.p for difference in tested])
        ranked_p_values = holm([d.signed_rank.p if d.signed_rank else None for d in tested])
        for difference, p, ranked_p in zip(tested, p_values, ranked_p_values, strict=True):
            corrected.append(replace(difference, p_holm=p, signed_rank_p_holm=ranked_p))
    return tuple(corrected)


def _test(pair: PairedValues, pairs: int) -> Difference:
    """Return the difference of a pair of runs; its p-values are not corrected."""
    sample = pair.differences
    rounded = [round(difference, 9) for difference in sample]
    wins = sum(difference > 0 for difference in rounded)
    losses = sum(difference < 0 for difference in rounded)
    test = randomisation_test(sample, pairs=pairs)
    mean = fmean(sample) if sample else None
    deviation = stdev(sample) if len(sample) > 1 else None
    return Difference(
        **asdict(pair),
        interval=difference_interval(sample, highest=highest_value(pair.figure)),
        test=MCNEMAR if pair.binary else RANDOMISATION,
        exact=bool(sample) and not test.error,
        p=test.p if sample else None,
        p_error=test.error if sample else None,
        p_holm=None,
        pairs=pairs,
        signed_rank=None if pair.binary else signed_rank(sample, pairs=pairs),
        signed_rank_p_holm=None,
        n=len(sample),
        mean=mean,
        first_value=fmean(value for value, _ in pair.values) if sample else None,
        second_value=fmean(value for _, value in pair.values) if sample else None,
        deviation=deviation,
        d_z=mean / deviation if mean is not None and deviation and deviation > 1e-9 else None,
        wins=wins,
        ties=len(sample) - wins - losses,
        losses=losses,
    )


def paired_values(
    figure: str, first: ComparedRun, second: ComparedRun, *, at_zero: bool = False
) -> dict[int, tuple[float, float]]:
    """Return the two values of each question that has one in both runs, by its position."""
    second_values = {
        query.position: value_of(query, figure, false_negatives_at_zero=at_zero)
        for query in second.queries
    }
    values = {}
    for query in first.queries:
        first_value = value_of(query, figure, false_negatives_at_zero=at_zero)
        second_value = second_values.get(query.position)
        if first_value is not None and second_value is not None:
            values[query.position] = first_value, second_value
    return values


def headline_difference(first: float | None, second: float | None) -> float | None:
    """Return `first` - `second`, ``None`` where either is missing."""
    return None if first is None or second is None else first - second
