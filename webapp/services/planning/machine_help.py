"""The figures of runs from people on a sample of the questions and a machine judge on all of them.

A value of people counts as the core counts it under the rule for merging raters; a value of the
machine is the same figure made of the machine's verdicts alone. Neither enters the other's
figures.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from statistics import fmean

from msgspec import Struct
from sqlalchemy import select
from sqlalchemy.orm import Session

from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Query, Run
from webapp.db.tables.study import Question, Study
from webapp.failures import Refused
from webapp.i18n import mark
from webapp.metrics.comparisons.comparisons import ComparisonPart
from webapp.metrics.comparisons.significance import Resampling
from webapp.metrics.judging.figures import MEANS
from webapp.metrics.judging.queries import QuerySummary, summarise
from webapp.metrics.planning.assisted import PART, HelpedFigure, MachineHelp, assisted_mean
from webapp.metrics.planning.sampling import ValueRange
from webapp.records import QueryState
from webapp.services.comparisons import chosen_runs
from webapp.services.judging import verdicts
from webapp.services.judging.verdicts import AskedQuery, Verdicts
from webapp.services.people import raters
from webapp.services.planning import rules
from webapp.services.runs import reports
from webapp.services.runs.reports import Rule, UnknownRater
from webapp.services.study import studies

WITH_RESULTS = frozenset({QueryState.RESULTS})
READABLE = frozenset({QueryState.RESULTS, QueryState.EMPTY, QueryState.FAILED})

FIGURES: Mapping[str, frozenset[QueryState]] = {
    "mean_precision_at_5": WITH_RESULTS,
    "mean_overall_precision": WITH_RESULTS,
    "mrr": WITH_RESULTS,
    "success_rate": READABLE,
}
"""The figures a machine can help with, and the answers over which each is a mean."""


def machines(session: Session, study: Study, compared: Sequence[Run]) -> list[Rater]:
    """Return the machine judges that judged cards of these runs, the one with most first."""
    found = [rater for rater in studies.people_and_machines(session, study) if rater.is_machine]
    scope = Query.run_id.in_([run.id for run in compared])
    said = verdicts.by_rater(session, scope, [rater.id for rater in found])
    judged = {rater.id: len(said[rater.id].by_thing) for rater in found}
    return sorted((one for one in found if judged[one.id]), key=lambda one: -judged[one.id])


def machine_named(session: Session, study: Study, name: str) -> Rater:
    """Return the machine judge of that name; raises ``UnknownRater``."""
    rater = raters.named(session, study, name)
    if rater is None or not rater.is_machine:
        raise UnknownRater(name)
    return rater


def of_runs(
    session: Session,
    study: Study,
    compared: Sequence[Run],
    rule: Rule,
    machine: Rater | None,
    figures: Collection[str] = tuple(FIGURES),
) -> MachineHelp:
    """Return the figures of `compared`, runs of one question set, and of every two of them.

    Without a `machine` there are those of people alone. Raises ``OtherQuestions``.
    """
    if len({run.question_set_id for run in compared}) > 1:
        raise OtherQuestions
    judged = _BothJudged(session, study, compared, rule, machine)
    sampling = rules.sampling(session, compared[0].question_set_id)
    sample = None if sampling is None else frozenset(sampling.sample)
    alone = [(figure, run.id, None) for figure in figures for run in compared]
    pairs = [
        (figure, first.id, second.id)
        for figure in figures
        for first, second in combinations(compared, 2)
    ]
    return MachineHelp(
        machine=machine.name if machine is not None else None,
        rule=rule.name,
        names=chosen_runs.names_of(compared),
        sampling=sampling,
        questions=len(judged.positions),
        machine_open=len(judged.machine_open),
        figures=tuple(judged.helped(*place, sample) for place in (*alone, *pairs)),
    )


def compared(
    session: Session,
    study: Study,
    runs: Sequence[Run],
    _names: Mapping[str, str],
    *,
    rule: Rule,
    settings: Resampling | None = None,  # noqa: ARG001 (nothing is drawn)
) -> ComparisonPart | None:
    """Return `runs` with the help of the machine that judged most, as a part of their comparison.

    ``None`` without a sample, without a machine, or where the rule is the machine itself.
    """
    is_machine = rule.rater is not None and rule.rater.is_machine
    if is_machine or rules.sampling(session, runs[0].question_set_id) is None:
        return None
    helping = machines(session, study, runs)
    if not helping:
        return None
    return ComparisonPart(PART, of_runs(session, study, runs, rule, helping[0]))


class OtherQuestions(Refused):
    """The runs belong to different question sets, so their questions cannot be paired."""

    message = mark("These runs were asked different questions")
    remedy = mark("Choose two runs of one question set.")
    status = 422


class _JudgedTwice(Struct, frozen=True):
    """One question's value by people and by the machine.

    People's is ``None`` where they have none, as ``waiting`` says because they are not done.
    The machine's is ``None`` where it has cards left.
    """

    people: float | None
    machine: float | None
    waiting: bool = False

    def minus(self, other: _JudgedTwice) -> _JudgedTwice:
        return _JudgedTwice(
            _difference(self.people, other.people),
            _difference(self.machine, other.machine),
            self.waiting or other.waiting,
        )


class _BothJudged:
    """The runs as people judged them and as the machine did, from one reading of the database."""

    def __init__(
        self,
        session: Session,
        study: Study,
        compared: Sequence[Run],
        rule: Rule,
        machine: Rater | None,
    ) -> None:
        scope = Query.run_id.in_([run.id for run in compared])
        asked = verdicts.asked_queries(session, scope)
        places = select(Query.id, Question.position).join_from(Query, Question).where(scope)
        positions = dict(session.execute(places).all())
        said = reports.verdicts_under(session, study, scope, rule)
        by_machine = Verdicts()
        if machine is not None:
            by_machine = verdicts.of_rater(session, scope, machine.id)
        self._people = _summaries(study, asked, positions, said)
        self._machine = _summaries(study, asked, positions, by_machine)
        self.positions = set(positions.values())
        self.machine_open = {
            position
            for found in self._machine.values()
            for position, summary in found.items()
            if _is_open(summary)
        }

    def helped(
        self, figure: str, first: str, second: str | None, sample: Collection[int] | None
    ) -> HelpedFigure:
        """Return one figure of a run, or of two runs' difference."""
        values = self._values(figure, first)
        if second is not None:
            others = self._values(figure, second)
            shared = values.keys() & others.keys()
            values = {place: values[place].minus(others[place]) for place in sorted(shared)}
        if sample is None:
            sample = {place for place, one in values.items() if one.people is not None}
        sampled = [one for place, one in values.items() if place in sample]
        judged = [(one.people, one.machine) for one in sampled if one.people is not None]
        found = assisted_mean(
            [people for people, _ in judged],
            [machine for _, machine in judged],
            [one.machine for place, one in values.items() if place not in sample],
            bounds=ValueRange() if second is None else ValueRange(-1.0, 1.0),
        )
        return HelpedFigure(figure, first, second, found, sum(one.waiting for one in sampled))

    def _values(self, figure: str, run: str) -> dict[int, _JudgedTwice]:
        """Return each question's value by its position, in order.

        A list of which the machine has no value (an empty list, or only "cannot tell") has the
        mean of those of which it has one: the estimate stays valid, and is helped nothing there.
        """
        of_query = MEANS[figure]
        machine = {
            place: summary
            for place, summary in self._machine[run].items()
            if summary.state in FIGURES[figure]
        }
        own = {place: summary.span(of_query).value for place, summary in machine.items()}
        known = [value for value in own.values() if value is not None]
        middle = fmean(known) if known else 0.0
        found = {}
        for place in sorted(machine):
            people, value = self._people[run][place], own[place]
            if value is None and not _is_open(machine[place]):
                value = middle
            found[place] = _JudgedTwice(
                people.span(of_query).value, value, waiting=not people.complete
            )
        return found


def _summaries(
    study: Study, asked: Sequence[AskedQuery], positions: Mapping[int, int], said: Verdicts
) -> dict[str, dict[int, QuerySummary]]:
    found: dict[str, dict[int, QuerySummary]] = {}
    for query in asked:
        of_run = found.setdefault(query.run_id, {})
        summary = summarise(said.judgments(query), cannot_tell=study.cannot_tell)
        of_run[positions[query.key]] = summary
    return found


def _is_open(summary: QuerySummary) -> bool:
    """Whether a machine, which judges cards alone, has any of the list left."""
    return summary.state is QueryState.RESULTS and not summary.complete


def _difference(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other
