"""Two or more runs on one question set, compared question by question.

A figure of a run is over the questions that have a value in that run; a difference is over the
questions that have one in both, so it need not be the difference of the figures: both are given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from itertools import combinations
from typing import Any

from msgspec import Struct

from relevansi.metrics.agreement.agreement import Coefficient
from relevansi.metrics.comparisons.differences import (
    ComparedQuery,
    ComparedRun,
    Difference,
    PairedValues,
    averaged_value,
    deciding,
    headline_difference,
    highest_value,
    leading,
    paired,
    paired_differences,
    paired_values,
    ranked,
    value_of,
)
from relevansi.metrics.comparisons.stability import Stability
from relevansi.metrics.intervals import NO_INTERVAL, Interval, mean_interval
from relevansi.metrics.judging.empty_answers import EmptyAnswer
from relevansi.metrics.judging.figures import HEADLINES, Figure, Totals, figures
from relevansi.metrics.judging.graded import with_judged
from relevansi.metrics.judging.queries import QuerySummary
from relevansi.records import BINARY, Blindness, CannotTell, QueryState, Scale, State


class FigureEstimate(Struct, frozen=True):
    figure: Figure
    interval: Interval


class MissingQuestions(Struct, frozen=True):
    """The questions that one run lacks, by position: never asked, waiting for verdicts, unreadable.

    ``failed`` are not missing, only counted: the call to the chatbot gave no answer.
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


class Contender(Struct, frozen=True):
    """One run in a comparison: its figures with intervals, per category too."""

    run: ComparedRun
    totals: Totals
    estimates: Mapping[str, FigureEstimate]
    categories: Mapping[str, Mapping[str, Figure]]
    missing: MissingQuestions

    @property
    def rated(self) -> bool:
        """Whether any judgment counts: a run without judgments loses to no other run.

        A ranking figure has its value from the first judgment on, others from complete questions.
        """
        rankings = [each for name, each in self.estimates.items() if name not in HEADLINES]
        has_ranking = any(each.figure.value for each in rankings)
        return self.totals.n_complete > self.totals.n_failed or has_ranking


class ComparedQuestionLine(Struct, frozen=True):
    """One question in every run: ``None`` where a run was not asked it.

    ``spread`` is the largest minus the smallest value of the leading figure (P@5, a false
    negative at 0) among the runs that have one; ``None`` where fewer than two do.
    """

    position: int
    question: str
    category: str
    answers: tuple[ComparedQuery | None, ...]
    spread: float | None


class Comparison(Struct, frozen=True, kw_only=True):
    """Runs compared under one rule; contenders in the order given, questions in set order.

    The ``differences`` of one figure follow each other, each of two contenders in their order.
    ``rule`` is "rater NAME", "majority" or "adjudicated". ``unasked`` are the positions of the
    questions that the study does not ask: they are in no figure, and missing in no run.
    ``headline`` names the figures, ``scale`` is the study's.
    """

    rule: str
    contenders: tuple[Contender, ...]
    differences: tuple[Difference, ...]
    categories: tuple[str, ...]
    questions: tuple[ComparedQuestionLine, ...]
    unasked: tuple[int, ...] = ()
    headline: tuple[str, ...] = HEADLINES
    scale: Scale = BINARY

    @property
    def names(self) -> dict[str, str]:
        """The names of the runs by their ids."""
        return {contender.run.run: contender.run.name for contender in self.contenders}

    @property
    def deciding(self) -> tuple[str, ...]:
        """The figures that decide which run is better."""
        return deciding(self.headline)

    @property
    def tests(self) -> list[Difference]:
        """The differences on the figures that decide, of runs that share a question."""
        figures = self.deciding
        tested = [each for each in self.differences if each.is_of_headline]
        return [each for each in tested if each.figure in figures and each.mean is not None]

    @property
    def lead(self) -> str:
        """The figure by which questions are ordered and spread."""
        return _lead(self.headline)

    def order(self, figure: str) -> tuple[tuple[str, ...], ...]:
        """Return run ids from the highest to the lowest value of `figure`, equal ones together."""
        return ranked({c.run.run: c.estimates[figure].figure.value for c in self.contenders})


def compare(
    runs: Sequence[ComparedRun],
    *,
    rule: str,
    unasked: Sequence[int] = (),
    headline: Sequence[str] = HEADLINES,
    scale: Scale = BINARY,
) -> Comparison:
    """Return the comparison of `runs`, which share a question set.

    Raises ``ValueError`` for fewer than two runs, or for one run twice.
    """
    if len(runs) < 2 or len({run.run for run in runs}) < len(runs):
        raise ValueError("a comparison takes two runs or more, each once")
    names = with_judged(headline)
    questions = _questions(runs, _lead(headline))
    contenders = []
    for run in runs:
        totals = Totals.of(query.summary for query in run.queries)
        members: dict[str, list[QuerySummary]] = {}
        for query in run.queries:
            members.setdefault(query.category, []).append(query.summary)
        categories = {
            name: figures(Totals.of(summaries), names) for name, summaries in members.items()
        }
        missing = _missing(run, [line.position for line in questions])
        contenders.append(Contender(run, totals, estimates(run, names), categories, missing))
    return Comparison(
        rule=rule,
        contenders=tuple(contenders),
        differences=_differences(contenders, headline, scale),
        categories=tuple(dict.fromkeys(line.category for line in questions)),
        questions=questions,
        unasked=tuple(unasked),
        headline=tuple(headline),
        scale=scale,
    )


def _differences(
    contenders: Sequence[Contender], headline: Sequence[str], scale: Scale
) -> tuple[Difference, ...]:
    """Return the difference of every two runs in every ``paired`` figure of a `headline`."""
    pairs = []
    for figure, at_zero in paired(headline):
        for first, second in combinations(contenders, 2):
            apart = None
            if not at_zero or figure == "mrr_answerable":
                first_value = first.estimates[figure].figure.value
                apart = headline_difference(first_value, second.estimates[figure].figure.value)
            values = paired_values(figure, first.run, second.run, at_zero=at_zero)
            pairs.append(
                PairedValues(
                    figure=figure,
                    first=first.run.run,
                    second=second.run.run,
                    values=tuple(values.values()),
                    headline=apart,
                    false_negatives_at_zero=at_zero,
                    binary=figure.startswith("success"),
                    scale=scale,
                    names=(first.run.name, second.run.name),
                    is_partial=first.missing.partial or second.missing.partial,
                )
            )
    return paired_differences(pairs)


def _lead(headline: Sequence[str]) -> str:
    figures = leading(headline)
    return figures[0] if figures else HEADLINES[0]


def _questions(runs: Sequence[ComparedRun], lead: str) -> tuple[ComparedQuestionLine, ...]:
    """Return every question of any run in set order, with the spread of the `lead` figure."""
    by_position = [{query.position: query for query in run.queries} for run in runs]
    queries = {query.position: query for run in reversed(runs) for query in run.queries}
    lines = []
    for position in sorted(queries):
        answers = tuple(of_run.get(position) for of_run in by_position)
        present = [query for query in answers if query is not None]
        values = [value_of(q, lead, false_negatives_at_zero=lead in HEADLINES) for q in present]
        defined = [value for value in values if value is not None]
        spread = max(defined) - min(defined) if len(defined) > 1 else None
        question, category = queries[position].question, queries[position].category
        lines.append(ComparedQuestionLine(position, question, category, answers, spread))
    return tuple(lines)


def _missing(run: ComparedRun, positions: Sequence[int]) -> MissingQuestions:
    def where(condition: Callable[[QuerySummary], bool]) -> tuple[int, ...]:
        return tuple(query.position for query in run.queries if condition(query.summary))

    own_positions = {query.position for query in run.queries}
    return MissingQuestions(
        not_run=tuple(position for position in positions if position not in own_positions),
        incomplete=tuple(query.position for query in run.queries if query.waits),
        unreadable=where(lambda s: s.state is QueryState.UNREADABLE),
        failed=where(lambda s: s.state is QueryState.FAILED),
        unrated_quality=where(lambda s: s.is_unrated),
    )


def estimates(run: ComparedRun, names: Sequence[str]) -> dict[str, FigureEstimate]:
    """Return the figures of a run by `names`, with the intervals of chance.

    The composite has none: it is a sum of means over different questions, and decides nothing.
    """
    values = figures(Totals.of(query.summary for query in run.queries), names)
    return {name: FigureEstimate(values[name], _interval(run, name)) for name in names}


def _interval(run: ComparedRun, figure: str) -> Interval:
    if figure == "composite":
        return NO_INTERVAL
    values = [averaged_value(query, figure) for query in run.queries]
    defined = [value for value in values if value is not None]
    return mean_interval(defined, highest=highest_value(figure))


PARTS = ("constraints", "settled", "sample", "machine_help", "reasons")
"""The features' own comparisons of the same runs, by their names in files."""


class ComparisonReport(Struct, frozen=True):
    """All that the pages, reports and files of one comparison print.

    ``phase`` is 1, 2 or ``None``. ``raters`` have the number of their verdicts, the last of which
    was given at ``judged_until``. ``badged`` is when blind raters began to see the outcomes of
    constraints on the cards, ``record_shown`` when raters began to see the facts that only a
    listing's record has, ``suggested`` when blind raters began to be offered a grade;
    ``wordings_opened`` how often blind raters opened answers as written, and how many did.
    ``files`` are the rated CSVs that were compared, which do not name study, raters or blindness.
    ``cannot_tell`` is what such a card is in the precisions, ``None`` where the files do not say.
    ``parts`` are those of ``PARTS`` that there are. ``state`` is how far the runs are together.
    ``alpha`` is the raters' agreement on cards, where it was asked for.
    ``marks`` number the shapes of the runs by their ids, the same in the whole study.
    ``empty_answers`` has what raters' own searches found for empty lists, by run and position;
    it has nothing of rated files.
    """

    study: str
    phase: int | None
    comparison: Comparison
    stability: Stability
    raters: tuple[tuple[str, int], ...]
    judged_until: datetime | None
    blindness: Blindness
    version: str
    badged: tuple[datetime, ...] = ()
    files: tuple[str, ...] = ()
    record_shown: tuple[datetime, ...] = ()
    suggested: tuple[datetime, ...] = ()
    wordings_opened: tuple[int, int] = (0, 0)
    parts: Mapping[str, Any] = {}
    cannot_tell: CannotTell | None = None
    state: State | None = None
    marks: Mapping[str, int] = {}
    alpha: Coefficient | None = None
    empty_answers: Mapping[str, Mapping[int, EmptyAnswer]] = {}
