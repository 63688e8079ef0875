"""The figures of runs from people on a sample of the questions and a machine judge on all of them.

A value of people counts as the core counts it under the rule for merging raters; a value of the
machine is the same figure made of the machine's verdicts alone. Neither enters the other's
figures.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from statistics import fmean

from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query, Run
from relevansi.db.tables.study import Question, Study
from relevansi.failures import Refused
from relevansi.i18n import mark
from relevansi.metrics.comparisons.differences import headline_difference as apart
from relevansi.metrics.judging.queries import QuerySummary
from relevansi.metrics.planning.assisted import HelpedFigure, MachineHelp, assisted_mean
from relevansi.records import QueryState
from relevansi.services.comparisons import chosen_runs
from relevansi.services.judging import verdicts
from relevansi.services.judging.verdicts import Verdicts
from relevansi.services.people import raters
from relevansi.services.planning import samples
from relevansi.services.runs import reports
from relevansi.services.runs.reports import Rule, UnknownRater
from relevansi.services.study import studies

WITH_RESULTS = frozenset({QueryState.RESULTS})
HELPED_FIGURES: Mapping[str, frozenset[QueryState]] = {
    "mean_precision_at_5": WITH_RESULTS,
    "mean_overall_precision": WITH_RESULTS,
    "mrr": WITH_RESULTS,
    "success_rate": WITH_RESULTS | {QueryState.EMPTY, QueryState.FAILED},
}
"""The figures a machine can help with, and the answers over which each is a mean."""


def machines(session: Session, study: Study, compared: Sequence[Run]) -> list[Rater]:
    """Return the machine judges that judged cards of these runs, the one with most first."""
    judges = [rater for rater in studies.people_and_machines(session, study) if rater.is_machine]
    scope = Query.run_id.in_([run.id for run in compared])
    by_judge = verdicts.by_rater(session, scope, [judge.id for judge in judges])
    judged = {judge.id: len(by_judge[judge.id].by_item) for judge in judges}
    return sorted((judge for judge in judges if judged[judge.id]), key=lambda j: -judged[j.id])


def find_machine(session: Session, study: Study, name: str) -> Rater:
    """Return the machine judge of that name; raises ``UnknownRater``."""
    rater = raters.find_named(session, study, name)
    if rater is None or not rater.is_machine:
        raise UnknownRater(name)
    return rater


def of_runs(
    session: Session,
    study: Study,
    compared: Sequence[Run],
    rule: Rule,
    machine: Rater | None,
    figures: Collection[str] = tuple(HELPED_FIGURES),
) -> MachineHelp:
    """Return the figures of `compared`, runs of one question set, and of every two of them.

    Without a `machine` there are those of people alone. Raises ``OtherQuestions``.
    """
    if len({run.question_set_id for run in compared}) > 1:
        raise OtherQuestions
    scope = Query.run_id.in_([run.id for run in compared])
    places = select(Query.id, Question.position).join_from(Query, Question).where(scope)
    positions = dict(session.execute(places).all())
    by_people = reports.verdicts_under(session, study, scope, rule)
    by_machine = verdicts.of_rater(session, scope, machine.id) if machine else Verdicts()
    judged: dict[str, _Judged] = {run.id: {} for run in compared}
    for query in verdicts.asked_queries(session, scope):
        judged[query.run_id][positions[query.key]] = (
            by_people.summary(query, cannot_tell=study.cannot_tell),
            by_machine.summary(query, cannot_tell=study.cannot_tell),
        )
    sampling = samples.sampling(session, compared[0].question_set_id)
    sample = None if sampling is None else frozenset(sampling.sample)
    alone = [(run.id, None) for run in compared]
    pairs = [(first.id, second.id) for first, second in combinations(compared, 2)]
    summaries = [entry for of_run in judged.values() for entry in of_run.items()]
    return MachineHelp(
        machine=machine.name if machine is not None else None,
        rule=rule.name,
        names=chosen_runs.names_of(compared),
        sampling=sampling,
        questions=len({position for position, _ in summaries}),
        machine_open=len({position for position, pair in summaries if _is_open(pair[1])}),
        figures=tuple(
            _helped(figure, first, second, judged, sample)
            for listed in (alone, pairs)
            for figure in figures
            for first, second in listed
        ),
    )


def compared(session: Session, study: Study, runs: Sequence[Run], rule: Rule) -> MachineHelp | None:
    """Return `runs` with the help of the machine that judged most, as a part of their comparison.

    ``None`` without a sample, without a machine, or where the rule is the machine itself.
    """
    is_machine = rule.rater is not None and rule.rater.is_machine
    if is_machine or samples.sampling(session, runs[0].question_set_id) is None:
        return None
    helping = machines(session, study, runs)
    return of_runs(session, study, runs, rule, helping[0]) if helping else None


class OtherQuestions(Refused):
    message = mark("These runs were asked different questions")
    remedy = mark("Choose two runs of one question set.")
    status = 422


_Judged = dict[int, tuple[QuerySummary, QuerySummary]]
"""A run as people and as the machine judged it, by the positions of its questions."""


def _helped(
    figure: str,
    first: str,
    second: str | None,
    judged: Mapping[str, _Judged],
    sample: Collection[int] | None,
) -> HelpedFigure:
    values = _values(figure, judged[first])
    if second is not None:
        others = _values(figure, judged[second])
        values = {
            place: (apart(people, others[place][0]), apart(machine, others[place][1]))
            for place, (people, machine) in values.items()
            if place in others
        }
    if sample is None:
        sample = {place for place, (people, _) in values.items() if people is not None}
    sampled = [place for place in values if place in sample]
    rated = [values[place] for place in sampled if values[place][0] is not None]
    mean = assisted_mean(
        [people for people, _ in rated if people is not None],
        [machine for _, machine in rated],
        [machine for place, (_, machine) in values.items() if place not in sample],
        is_difference=second is not None,
    )
    runs = [judged[run] for run in (first, second) if run is not None]
    waiting = sum(not all(run[place][0].complete for run in runs) for place in sampled)
    return HelpedFigure(figure, first, second, mean, waiting)


def _values(figure: str, judged: _Judged) -> dict[int, tuple[float | None, float | None]]:
    """Return each question's value by people and by the machine, in order.

    People's is ``None`` where they have none, the machine's where it has cards left. A list of
    which the machine has no value (an empty list, or only "cannot tell") has the mean of those of
    which it has one: the estimate stays valid, and is helped nothing there.
    """
    listed = {
        place: (people.figures[figure].value, machine.figures[figure].value, _is_open(machine))
        for place, (people, machine) in sorted(judged.items())
        if machine.state in HELPED_FIGURES[figure]
    }
    machine_values = [machine for _, machine, _ in listed.values() if machine is not None]
    middle = fmean(machine_values) if machine_values else 0.0
    return {
        place: (people, middle if machine is None and not is_open else machine)
        for place, (people, machine, is_open) in listed.items()
    }


def _is_open(summary: QuerySummary) -> bool:
    """Whether a machine, which judges cards alone, has any of the list left."""
    return summary.state is QueryState.RESULTS and not summary.complete
