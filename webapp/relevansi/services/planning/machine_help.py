"""The figures of runs from people on a sample of the questions and a machine judge on all of them.

People's value is that of every report, under the rule for merging raters; the machine's is the same
figure from the machine's verdicts alone. Neither enters the other's figures (decision 0016).
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
from relevansi.metrics.comparisons.differences import headline_difference
from relevansi.metrics.judging.queries import QuerySummary
from relevansi.metrics.planning.assisted import HelpedFigure, MachineHelp, assisted_mean
from relevansi.records import QueryState
from relevansi.services.comparisons import chosen_runs
from relevansi.services.judging import verdicts
from relevansi.services.judging.verdicts import Verdicts
from relevansi.services.planning import samples
from relevansi.services.runs import reports
from relevansi.services.runs.reports import Rule
from relevansi.services.study import studies

WITH_RESULTS = frozenset({QueryState.RESULTS})
HELPED_FIGURES: Mapping[str, frozenset[QueryState]] = {
    "mean_precision_at_5": WITH_RESULTS,
    "mean_overall_precision": WITH_RESULTS,
    "mrr": WITH_RESULTS,
    "success_rate": WITH_RESULTS | {QueryState.EMPTY, QueryState.FAILED},
}
"""The figures a machine can help with, and the states of the queries over which each is a mean."""


def machines(session: Session, study: Study, compared: Sequence[Run]) -> list[Rater]:
    """Return the machine judges that judged cards of these runs, the one with most first."""
    judges = [rater for rater in studies.people_and_machines(session, study) if rater.is_machine]
    scope = Query.run_id.in_([run.id for run in compared])
    by_judge = verdicts.by_rater(session, scope, [judge.id for judge in judges])
    counts = {judge.id: len(by_judge[judge.id].by_item) for judge in judges}
    judges = [judge for judge in judges if counts[judge.id]]
    return sorted(judges, key=lambda judge: counts[judge.id], reverse=True)


def of_runs(
    session: Session,
    study: Study,
    compared: Sequence[Run],
    rule: Rule,
    machine: Rater | None,
    figures: Collection[str] = tuple(HELPED_FIGURES),
) -> MachineHelp:
    """Return the figures of `compared`, runs of one question set, and of every two of them.

    Without a `machine` they are those of people alone. Raises ``OtherQuestions``.
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
    sampling = samples.sampling_rule(session, compared[0].question_set_id)
    sample = None if sampling is None else frozenset(sampling.sample)
    by_machine_alone = [
        (position, summary)
        for of_run in judged.values()
        for position, (_, summary) in of_run.items()
    ]
    alone = [(run.id, None) for run in compared]
    pairs = [(first.id, second.id) for first, second in combinations(compared, 2)]
    helped = [_helped(name, *run_ids, judged, sample) for name in figures for run_ids in alone]
    helped += [_helped(name, *run_ids, judged, sample) for name in figures for run_ids in pairs]
    return MachineHelp(
        machine=machine.name if machine is not None else None,
        rule=rule.name,
        names=chosen_runs.names_of(compared),
        sampling=sampling,
        questions=len({position for position, _ in by_machine_alone}),
        machine_open=len({position for position, each in by_machine_alone if _is_open(each)}),
        figures=tuple(helped),
    )


def compared(session: Session, study: Study, runs: Sequence[Run], rule: Rule) -> MachineHelp | None:
    """Return `runs` with the help of the machine that judged most, as a part of their comparison.

    ``None`` without a sample, without a machine, or where the rule is the machine itself.
    """
    is_machine = rule.rater is not None and rule.rater.is_machine
    if is_machine or samples.sampling_rule(session, runs[0].question_set_id) is None:
        return None
    helping = machines(session, study, runs)
    return of_runs(session, study, runs, rule, helping[0]) if helping else None


class OtherQuestions(Refused):
    message = mark("These runs were asked different questions")
    remedy = mark("Choose two runs of one question set.")
    status = 422


_Judged = dict[int, tuple[QuerySummary, QuerySummary]]
"""A run as people and as the machine judged it, by the positions of its questions."""

_Values = dict[int, tuple[float | None, float | None]]
"""A figure's values by people and by the machine, by the positions of the questions."""


def _helped(
    figure: str,
    first: str,
    second: str | None,
    judged: Mapping[str, _Judged],
    sample: Collection[int] | None,
) -> HelpedFigure:
    """Return a figure of the run `first`, or its difference from `second`.

    Without a `sample` the questions that people have judged are taken for one.
    """
    values = _values(figure, judged[first])
    if second is not None:
        values = _differences(values, _values(figure, judged[second]))
    if sample is None:
        sample = {position for position, (people, _) in values.items() if people is not None}
    people_sampled, machine_sampled, machine_unsampled = [], [], []
    n_waiting = 0
    for position, (people, machine) in values.items():
        if position not in sample:
            machine_unsampled.append(machine)
            continue
        if people is not None:
            people_sampled.append(people)
            machine_sampled.append(machine)
        by_people = [judged[run][position][0] for run in (first, second) if run is not None]
        if not all(summary.complete for summary in by_people):
            n_waiting += 1
    mean = assisted_mean(
        people_sampled, machine_sampled, machine_unsampled, is_difference=second is not None
    )
    return HelpedFigure(figure, first, second, mean, n_waiting)


def _differences(first: _Values, second: _Values) -> _Values:
    return {
        position: (
            headline_difference(people, second[position][0]),
            headline_difference(machine, second[position][1]),
        )
        for position, (people, machine) in first.items()
        if position in second
    }


def _values(figure: str, judged: _Judged) -> _Values:
    """Return each question's value by people and by the machine, in order.

    People's is ``None`` where they have none, the machine's where it has cards left. Where the
    machine judged everything and yet has no value (an empty list, or only "cannot tell") it has the
    mean of its other values: the estimate stays valid, and the machine has no effect there.
    """
    queries = {
        position: summaries
        for position, summaries in sorted(judged.items())
        if summaries[1].state in HELPED_FIGURES[figure]
    }
    by_machine = {
        position: machine.figures[figure].value for position, (_, machine) in queries.items()
    }
    defined = [value for value in by_machine.values() if value is not None]
    mean = fmean(defined) if defined else 0.0
    values: _Values = {}
    for position, (people, machine) in queries.items():
        machine_value = by_machine[position]
        if machine_value is None and not _is_open(machine):
            machine_value = mean
        values[position] = people.figures[figure].value, machine_value
    return values


def _is_open(summary: QuerySummary) -> bool:
    """Whether a machine, which judges no empty lists, has cards of the list left."""
    return summary.state is QueryState.RESULTS and not summary.complete
