"""Two or more runs on one question set, compared question by question.

A figure of a run is over the questions that have a value in that run; a difference is over the
questions that have one in both, so it need not be the difference of the figures: both are given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from msgspec import Struct

from webapp.metrics.comparisons.differences import (
    ComparedQuery,
    ComparedRun,
    RunDifferences,
    counted,
    differences,
    ranked,
    value_of,
)
from webapp.metrics.comparisons.significance import (
    KEPT,
    NO_INTERVAL,
    Interval,
    Resampling,
    mean_intervals,
    weighted_mean_intervals,
)
from webapp.metrics.comparisons.stability import Stability
from webapp.metrics.judging.figures import COMPOSITE_WEIGHTS, HEADLINES, Figure, Totals, figures
from webapp.metrics.judging.queries import QuerySummary
from webapp.records import Blindness, CannotTell, QueryState


class FigureEstimate(Struct, frozen=True):
    figure: Figure
    interval: Interval


class MissingQuestions(Struct, frozen=True):
    """The questions that one run lacks, by position: never asked, waiting for verdicts, unreadable.

    ``failed`` are not missing, only counted: their call brought nothing.
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
        """Whether any question is complete: a run without judgments loses to no other run."""
        return self.totals.n_complete > self.totals.n_failed


class ComparedQuestionLine(Struct, frozen=True):
    """One question in every run: ``None`` where a run was not asked it.

    ``spread`` is the largest minus the smallest P@5 among the runs that have one, a false
    negative at 0; ``None`` where fewer than two do.
    """

    position: int
    question: str
    category: str
    answers: tuple[ComparedQuery | None, ...]
    spread: float | None


class Comparison(RunDifferences, frozen=True, kw_only=True):
    """Runs compared under one rule; contenders in the order given, questions in set order.

    ``rule`` is "rater NAME", "majority" or "adjudicated". ``unasked`` are the positions of the
    questions that the study does not ask: they are in no figure, and missing in no run.
    """

    rule: str
    contenders: tuple[Contender, ...]
    categories: tuple[str, ...]
    questions: tuple[ComparedQuestionLine, ...]
    unasked: tuple[int, ...] = ()

    def order(self, figure: str) -> tuple[tuple[str, ...], ...]:
        """Run ids from the highest to the lowest value of `figure`, equal ones together."""
        return ranked({c.run.run: c.estimates[figure].figure.value for c in self.contenders})


def compare(
    runs: Sequence[ComparedRun],
    *,
    rule: str,
    settings: Resampling | None = None,
    unasked: Sequence[int] = (),
) -> Comparison:
    """The comparison of `runs`, which share a question set; fewer than two raise ValueError."""
    if len(runs) < 2 or len({run.run for run in runs}) < len(runs):
        raise ValueError("a comparison takes two runs or more, each once")
    settings = settings or Resampling()
    questions = _questions(runs)
    contenders = []
    for run, estimates in zip(runs, _estimates(runs, settings), strict=True):
        totals = Totals.of(query.summary for query in run.queries)
        members: dict[str, list[QuerySummary]] = {}
        for query in run.queries:
            members.setdefault(query.category, []).append(query.summary)
        categories = {name: figures(Totals.of(found)) for name, found in members.items()}
        missing = _missing(run, [line.position for line in questions])
        contenders.append(Contender(run, totals, estimates, categories, missing))
    headlines = {
        contender.run.run: {name: e.figure.value for name, e in contender.estimates.items()}
        for contender in contenders
    }
    return Comparison(
        rule=rule,
        settings=settings,
        contenders=tuple(contenders),
        differences=differences(runs, headlines, settings),
        names={run.run: run.name for run in runs},
        partial=frozenset(c.run.run for c in contenders if c.missing.partial),
        categories=tuple(dict.fromkeys(line.category for line in questions)),
        questions=questions,
        unasked=tuple(unasked),
    )


def _questions(runs: Sequence[ComparedRun]) -> tuple[ComparedQuestionLine, ...]:
    by_position = [{query.position: query for query in run.queries} for run in runs]
    asked = {query.position: query for run in reversed(runs) for query in run.queries}
    found = []
    for position in sorted(asked):
        answers = tuple(of_run.get(position) for of_run in by_position)
        values = [
            value_of(query, "mean_precision_at_5", false_negatives_at_zero=True)
            for query in answers
            if query is not None
        ]
        known = [value for value in values if value is not None]
        spread = max(known) - min(known) if len(known) > 1 else None
        question, category = asked[position].question, asked[position].category
        found.append(ComparedQuestionLine(position, question, category, answers, spread))
    return tuple(found)


def _missing(run: ComparedRun, positions: Sequence[int]) -> MissingQuestions:
    def where(condition: Callable[[QuerySummary], bool]) -> tuple[int, ...]:
        return tuple(query.position for query in run.queries if condition(query.summary))

    asked = {query.position for query in run.queries}
    return MissingQuestions(
        not_run=tuple(position for position in positions if position not in asked),
        incomplete=where(lambda s: not s.complete and s.state is not QueryState.UNREADABLE),
        unreadable=where(lambda s: s.state is QueryState.UNREADABLE),
        failed=where(lambda s: s.state is QueryState.FAILED),
        unrated_quality=where(lambda s: s.is_unrated),
    )


def _estimates(
    runs: Sequence[ComparedRun], settings: Resampling
) -> list[dict[str, FigureEstimate]]:
    columns = tuple(
        tuple(tuple(counted(query, name) for query in run.queries) for name in HEADLINES)
        for run in runs
    )
    means, composites = map(iter, _intervals(columns, settings))
    found = []
    for run in runs:
        values = figures(Totals.of(query.summary for query in run.queries))
        intervals = {name: next(means) for name in HEADLINES} | {"composite": next(composites)}
        if values["composite"].value is None:
            intervals["composite"] = NO_INTERVAL
        found.append({name: FigureEstimate(values[name], one) for name, one in intervals.items()})
    return found


@lru_cache(maxsize=KEPT)
def _intervals(
    runs: tuple[tuple[tuple[float | None, ...], ...], ...], settings: Resampling
) -> tuple[tuple[Interval, ...], tuple[Interval, ...]]:
    """The interval of each headline figure, run by run, and of each run's composite."""
    samples = [[one for one in values if one is not None] for run in runs for values in run]
    parts = [HEADLINES.index(name) for name in COMPOSITE_WEIGHTS]
    composites = [[run[part] for part in parts] for run in runs]
    weights = [*COMPOSITE_WEIGHTS.values()]
    return (
        mean_intervals(samples, settings),
        weighted_mean_intervals(weights, composites, settings),
    )


PARTS = ("constraints", "settled", "sample", "machine_help")
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
    ``parts`` are those of ``PARTS`` that there are.
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
