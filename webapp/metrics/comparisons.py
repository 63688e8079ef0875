"""Two or more runs on one question set, compared question by question.

The records here are what the comparison page, every report of it and the proof pack print.
A figure of a run is over the questions that have a value in that run; a difference is over
the questions that have one in both, so the mean of the differences need not be the
difference of the means: both are given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

from webapp.metrics.figures import COMPOSITE_WEIGHTS, HEADLINES, MEANS, Figure, figures
from webapp.metrics.intervals import NO_INTERVAL, Interval
from webapp.metrics.queries import QuerySummary
from webapp.metrics.sign_test import sign_test
from webapp.metrics.significance import (
    Randomisation,
    Resampling,
    holm,
    mean_intervals,
    randomisation_tests,
    weighted_mean_interval,
)
from webapp.metrics.totals import Totals
from webapp.records import EmptyOutcome, QueryState, Relevance

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
    ("mean_response_quality", False),
)
"""What is paired by question: a headline figure, and whether false negatives count as 0."""


@dataclass(frozen=True, slots=True)
class ComparedQuery:
    """One question of the set as one run answered it, judged under one rule.

    ``position`` is the question's in the set (from 1) and pairs the runs; ``query_id`` is
    the run's own number for it. ``verdicts`` are those of its results in rank order.
    """

    position: int
    query_id: int
    question: str
    category: str
    summary: QuerySummary
    verdicts: tuple[Relevance | None, ...] = ()


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """A run to compare: its id, a name that no other of the comparison has, its questions."""

    run: str
    name: str
    search_method: str | None
    llm: str | None
    queries: tuple[ComparedQuery, ...]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure of one run with its 95 % interval over questions."""

    figure: Figure
    interval: Interval


@dataclass(frozen=True, slots=True)
class Missing:
    """What one run of a comparison lacks: positions of questions, in order.

    ``not_run`` were never asked of it, ``incomplete`` wait for verdicts, ``unreadable``
    cannot be judged; ``failed`` is no lack but counted: the call brought nothing.
    """

    not_run: tuple[int, ...]
    incomplete: tuple[int, ...]
    unreadable: tuple[int, ...]
    failed: tuple[int, ...]
    unrated_quality: tuple[int, ...]

    @property
    def partial(self) -> bool:
        """Whether another question's verdict could still move this run's figures."""
        return bool(self.not_run or self.incomplete or self.unreadable)


@dataclass(frozen=True, slots=True)
class Contender:
    """One run in a comparison: its figures with intervals, per category too."""

    run: ComparedRun
    totals: Totals
    estimates: Mapping[str, Estimate]
    categories: Mapping[str, Mapping[str, Figure]]
    missing: Missing

    @property
    def rated(self) -> bool:
        """Whether any question is complete: a run that nobody judged loses to none."""
        return self.totals.n_complete > self.totals.n_failed


@dataclass(frozen=True, slots=True)
class Difference:
    """One figure of two runs, first minus second, over the questions both have a value for.

    ``false_negatives_at_zero``: an empty list that should have had results counts as 0, as
    it has no precision. ``mean`` is over the `n` pairs, ``headline`` the difference of the
    two runs' headline figures (``None`` where no headline counts false negatives that way).
    ``p`` belongs to ``test``, ``p_holm`` is corrected over the run pairs of this figure. Wins
    are questions where the first run's value is larger.
    Without pairs everything but the counts is ``None``.
    """

    figure: str
    false_negatives_at_zero: bool
    first: str
    second: str
    n: int
    mean: float | None
    interval: Interval
    headline: float | None
    test: str
    exact: bool
    p: float | None
    p_holm: float | None
    wins: int
    ties: int
    losses: int

    @property
    def small(self) -> bool:
        """Whether the pairs are so few that only large differences could show."""
        return self.n < SMALL


@dataclass(frozen=True, slots=True)
class QuestionLine:
    """One question in every run: ``None`` where a run was not asked it.

    ``spread`` is the largest minus the smallest P@5 among the runs that have one, a false
    negative at 0; ``None`` where fewer than two do.
    """

    position: int
    question: str
    category: str
    answers: tuple[ComparedQuery | None, ...]
    spread: float | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Runs compared under one rule; contenders in the order given, questions in set order.

    ``settings`` say how often and from which seed was drawn. ``rule`` is "rater NAME",
    "majority" or "adjudicated".
    """

    rule: str
    settings: Resampling
    contenders: tuple[Contender, ...]
    differences: tuple[Difference, ...]
    categories: tuple[str, ...]
    questions: tuple[QuestionLine, ...]

    def name(self, run: str) -> str:
        """The name of a contender by its run's id; raises ``KeyError``."""
        return {contender.run.run: contender.run.name for contender in self.contenders}[run]

    def differences_of(self, figure: str) -> tuple[Difference, ...]:
        """The differences of one headline figure, with false negatives at 0 after those without."""
        return tuple(difference for difference in self.differences if difference.figure == figure)

    def order(self, figure: str) -> tuple[tuple[str, ...], ...]:
        """Run ids from the highest to the lowest value of `figure`; equal ones together.

        Runs without a value are in no place.
        """
        values = {c.run.run: c.estimates[figure].figure.value for c in self.contenders}
        return ranked(values)


def compare(
    runs: Sequence[ComparedRun], *, rule: str, settings: Resampling | None = None
) -> Comparison:
    """The comparison of `runs`, which share a question set; fewer than two raise ValueError."""
    if len(runs) < 2 or len({run.run for run in runs}) < len(runs):
        raise ValueError("a comparison takes two runs or more, each once")
    settings = settings or Resampling()
    questions = _questions(runs)
    contenders = tuple(
        Contender(
            run=run,
            totals=Totals.of(query.summary for query in run.queries),
            estimates=estimates,
            categories=_by_category(run),
            missing=_missing(run, [line.position for line in questions]),
        )
        for run, estimates in zip(runs, _estimates(runs, settings), strict=True)
    )
    return Comparison(
        rule=rule,
        settings=settings,
        contenders=contenders,
        differences=_differences(contenders, settings),
        categories=tuple(dict.fromkeys(line.category for line in questions)),
        questions=questions,
    )


def ranked(values: Mapping[str, float | None]) -> tuple[tuple[str, ...], ...]:
    """The keys from the largest value to the smallest, equal ones together in given order.

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
    """The value of a headline figure for one question; ``None`` where it has none yet."""
    summary = query.summary
    false_negative = summary.empty_outcome is EmptyOutcome.FALSE_NEGATIVE
    if false_negatives_at_zero and false_negative:
        return 0.0
    return summary.span(MEANS[figure]).value


def _questions(runs: Sequence[ComparedRun]) -> tuple[QuestionLine, ...]:
    answers = [{query.position: query for query in run.queries} for run in runs]
    asked = {query.position: query for run in reversed(runs) for query in run.queries}
    return tuple(
        QuestionLine(
            position=position,
            question=asked[position].question,
            category=asked[position].category,
            answers=tuple(of_run.get(position) for of_run in answers),
            spread=_spread([of_run.get(position) for of_run in answers]),
        )
        for position in sorted(asked)
    )


def _spread(answers: Sequence[ComparedQuery | None]) -> float | None:
    values = [
        value
        for query in answers
        if query is not None
        and (value := value_of(query, "mean_precision_at_5", false_negatives_at_zero=True))
        is not None
    ]
    return max(values) - min(values) if len(values) > 1 else None


def _missing(run: ComparedRun, positions: Sequence[int]) -> Missing:
    def where(condition: Callable[[QuerySummary], bool]) -> tuple[int, ...]:
        return tuple(query.position for query in run.queries if condition(query.summary))

    asked = {query.position for query in run.queries}
    return Missing(
        not_run=tuple(position for position in positions if position not in asked),
        incomplete=where(lambda s: not s.complete and s.state is not QueryState.UNREADABLE),
        unreadable=where(lambda s: s.state is QueryState.UNREADABLE),
        failed=where(lambda s: s.state is QueryState.FAILED),
        unrated_quality=where(lambda s: s.state is QueryState.RESULTS and s.quality is None),
    )


def _by_category(run: ComparedRun) -> dict[str, Mapping[str, Figure]]:
    members: dict[str, list[QuerySummary]] = {}
    for query in run.queries:
        members.setdefault(query.category, []).append(query.summary)
    return {category: figures(Totals.of(found)) for category, found in members.items()}


def _estimates(runs: Sequence[ComparedRun], settings: Resampling) -> list[dict[str, Estimate]]:
    samples = [
        [value for query in run.queries if (value := counted(query, name)) is not None]
        for run in runs
        for name in HEADLINES
    ]
    intervals = iter(mean_intervals(samples, settings))
    found = []
    for run in runs:
        values = figures(Totals.of(query.summary for query in run.queries))
        estimates = {name: Estimate(values[name], next(intervals)) for name in HEADLINES}
        composite = values["composite"]
        estimates["composite"] = Estimate(composite, _composite_interval(run, composite, settings))
        found.append(estimates)
    return found


def counted(query: ComparedQuery, headline: str) -> float | None:
    """The number of a question that a headline figure averages, ``None`` where it has none.

    Coverage averages 1 for a question with results and 0 for one without.
    """
    if headline in MEANS:
        return query.summary.span(MEANS[headline]).value
    if headline == "coverage" and query.summary.state is not QueryState.UNREADABLE:
        return float(query.summary.state is QueryState.RESULTS)
    return None


def _composite_interval(run: ComparedRun, composite: Figure, settings: Resampling) -> Interval:
    if composite.value is None:
        return NO_INTERVAL
    columns = [
        (weight, [counted(query, name) for query in run.queries])
        for name, weight in COMPOSITE_WEIGHTS.items()
    ]
    return weighted_mean_interval(columns, settings)


@dataclass(frozen=True, slots=True)
class _Pairs:
    """The values of one figure in two runs, question by question."""

    figure: str
    at_zero: bool
    first: Contender
    second: Contender
    values: tuple[tuple[float, float], ...]

    @property
    def differences(self) -> list[float]:
        return [one - other for one, other in self.values]


def _differences(contenders: Sequence[Contender], settings: Resampling) -> tuple[Difference, ...]:
    pairs = [
        _pairs(figure, at_zero, first, second)
        for figure, at_zero in PAIRED
        for first, second in combinations(contenders, 2)
    ]
    samples = [pair.differences for pair in pairs]
    intervals = mean_intervals(samples, settings)
    tests = [
        _test(pair, randomised)
        for pair, randomised in zip(pairs, randomisation_tests(samples, settings), strict=True)
    ]
    per_figure = len(contenders) * (len(contenders) - 1) // 2
    corrected: list[float | None] = []
    for start in range(0, len(pairs), per_figure):
        corrected += holm([test.p if test else None for test in tests[start : start + per_figure]])
    return tuple(
        _difference(pair, interval, test, p_holm)
        for pair, interval, test, p_holm in zip(pairs, intervals, tests, corrected, strict=True)
    )


def _pairs(figure: str, at_zero: bool, first: Contender, second: Contender) -> _Pairs:
    theirs = {query.position: query for query in second.run.queries}
    values = []
    for query in first.run.queries:
        other = theirs.get(query.position)
        if other is None:
            continue
        one = value_of(query, figure, false_negatives_at_zero=at_zero)
        two = value_of(other, figure, false_negatives_at_zero=at_zero)
        if one is not None and two is not None:
            values.append((one, two))
    return _Pairs(figure, at_zero, first, second, tuple(values))


def _test(pairs: _Pairs, randomised: Randomisation) -> Randomisation | None:
    """The p-value of `pairs`: exact McNemar for success, else the randomisation test's."""
    if not pairs.values:
        return None
    if pairs.figure != "success_rate":
        return randomised
    wins, _, losses = _counts(pairs)
    return Randomisation(sign_test(wins, losses), exact=True)


def _counts(pairs: _Pairs) -> tuple[int, int, int]:
    signs = [round(difference, 9) for difference in pairs.differences]
    wins, losses = sum(sign > 0 for sign in signs), sum(sign < 0 for sign in signs)
    return wins, len(signs) - wins - losses, losses


def _difference(
    pairs: _Pairs, interval: Interval, test: Randomisation | None, p_holm: float | None
) -> Difference:
    wins, ties, losses = _counts(pairs)
    one, other = (c.estimates[pairs.figure].figure.value for c in (pairs.first, pairs.second))
    without_headline = pairs.at_zero and pairs.figure != "mrr_answerable"
    return Difference(
        figure=pairs.figure,
        false_negatives_at_zero=pairs.at_zero,
        first=pairs.first.run.run,
        second=pairs.second.run.run,
        n=len(pairs.values),
        mean=fmean(pairs.differences) if pairs.values else None,
        interval=interval,
        headline=None if one is None or other is None or without_headline else one - other,
        test=MCNEMAR if pairs.figure == "success_rate" else RANDOMISATION,
        exact=test is not None and test.exact,
        p=test.p if test else None,
        p_holm=p_holm,
        wins=wins,
        ties=ties,
        losses=losses,
    )
