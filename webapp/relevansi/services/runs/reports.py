"""The rules for merging raters, and a run under one of them: its rows, state and blindness.

Here the metrics command and every export begin.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import starmap
from statistics import median

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from relevansi import failures, labels
from relevansi.db.tables.judging import Event, StoredSummary
from relevansi.db.tables.machine_judges import MachineJudge
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query, Run
from relevansi.db.tables.study import Question, Study
from relevansi.failures import Conflict, Missing, Refused
from relevansi.i18n import mark
from relevansi.kinds import KINDS
from relevansi.metrics.judging.empty_answers import EmptyAnswer, Evidence
from relevansi.metrics.judging.figures import QueryRow, RunReport
from relevansi.metrics.judging.graded import headline_of, ranking_names
from relevansi.metrics.judging.pace import GivenVerdict, seconds_before
from relevansi.records import Blindness, QueryState, Scale, State
from relevansi.services.catalogue import evidence
from relevansi.services.judging import stored_summaries, verdicts
from relevansi.services.judging.verdicts import Scope, Verdicts
from relevansi.services.rating import workloads
from relevansi.services.runs import runs
from relevansi.services.study import studies
from relevansi.services.study.question_sets import is_put_to_raters

MAJORITY = "majority"
ADJUDICATED = "adjudicated"
_RELEASED = select(MachineJudge.rater_id).where(MachineJudge.released_at.is_not(None))


class UnknownRater(Missing):
    message = mark("This study has no rater called %(name)s")
    remedy = failures.SEE_RUNS
    program_remedy = mark("GET /api/v1/judgments names those who judged.")
    command_remedy = mark("`relevansi raters` lists them.")


class UnknownRule(Refused, ValueError):
    """Not one of: rater NAME, machine NAME, majority, adjudicated."""

    message = mark('"%(name)s" is not a rule for merging raters')
    remedy = mark('The rules are "majority", "adjudicated", and "rater" with the name of a rater.')
    command_remedy = mark("Say majority or adjudicated.")


class MachineNotReleased(Conflict):
    """The figures of this machine may not be chosen; its name is the argument."""

    message = mark("The figures of the machine %(name)s are not in use")
    remedy = mark(
        "Its page of agreement with people, under Study in the app, is where they are put in use."
    )


class Rule(Struct, frozen=True):
    """How several raters' verdicts become one: a rater's own, or merged by name."""

    name: str
    rater: Rater | None = None


def rule_of(session: Session, study: Study, name: str | None = None) -> Rule:
    """Return the rule called `name`; unnamed, the only rater's own verdicts, else majority."""
    if name is None:
        everybody = studies.raters(session, study)
        active = _active(session, study)
        rated = [rater for rater in everybody if rater.id in active]
        return Rule(MAJORITY) if len(rated) > 1 else of_rater((rated or everybody)[0])
    if name in {MAJORITY, ADJUDICATED}:
        return Rule(name)
    kind, _, rater_name = name.partition(" ")
    if kind not in {"rater", "machine"}:
        raise UnknownRule(name)
    by_name = select(Rater).where(Rater.study_id == study.id, Rater.name == rater_name)
    rater = session.scalar(by_name)
    if rater is None or (kind == "machine" and not rater.is_machine):
        raise UnknownRater(rater_name)
    if rater.is_machine and rater.id not in set(session.scalars(_RELEASED)):
        raise MachineNotReleased(rater.name)
    return of_rater(rater)


def final_rule(session: Session, study: Study) -> Rule:
    """Return the rule under which a study can become complete: that which heeds decisions.

    The only rater's own verdicts, where there is one.
    """
    people = studies.present(session, study)
    chosen = rule_of(session, study)
    return chosen if chosen.rater is not None and len(people) < 2 else Rule(ADJUDICATED)


def of_rater(rater: Rater) -> Rule:
    """Return the rule that one rater's own verdicts count; a machine's is named as such."""
    return Rule(f"{'machine' if rater.is_machine else 'rater'} {rater.name}", rater)


def raters_of(session: Session, study: Study, rule: Rule) -> list[Rater]:
    """Return the raters whose verdicts count under a rule: the one it names, else all people."""
    return [rule.rater] if rule.rater is not None else studies.raters(session, study)


def rules(session: Session, study: Study) -> tuple[Rule, ...]:
    """Return every rule that may be chosen: each person, released machines, both merged ones."""
    raters, released = studies.people_and_machines(session, study), set(session.scalars(_RELEASED))
    alone = (rater for rater in raters if not rater.is_machine or rater.id in released)
    return (*map(of_rater, alone), Rule(MAJORITY), Rule(ADJUDICATED))


def report(
    session: Session,
    study: Study,
    run_id: str,
    rule: Rule,
    *,
    with_unasked: bool = False,
    figures: Sequence[str] = (),
) -> RunReport:
    """Return each query of a run under `rule`, those put to nobody too if `with_unasked`.

    `figures` are the names of others than the headline of the study.
    """
    run = runs.find(session, study, run_id)
    left_out = () if with_unasked else unasked(session, run.id)
    scope = asked_of(run.id) if left_out else Query.run_id == run.id
    headline = tuple(figures) or headline_of(study)
    ranking = ranking_names(headline)
    merged = verdicts_under(session, study, scope, rule, pooled=bool(ranking))
    texts = select(Query.id, Question.text, Question.category, Question.external_id)
    texts = texts.join_from(Query, Question).where(scope)
    questions = {row.id: row for row in session.execute(texts)}
    empty = empty_answers(session, study, scope, rule)
    rows = tuple(
        QueryRow(
            query_id=query.query_id,
            question=questions[query.key].text,
            category=questions[query.key].category,
            notes=merged.notes.get(query.key, ""),
            summary=merged.summary(query, cannot_tell=study.cannot_tell, ranking=ranking),
            verdicts=merged.relevances(query.item_ids),
            external_id=questions[query.key].external_id,
            empty_answer=empty.get(query.key),
        )
        for query in verdicts.asked_queries(session, scope, pooled=bool(ranking))
    )
    return RunReport(
        run=run.id,
        rule=rule.name,
        rows=rows,
        search_method=run.search_method,
        llm=run.llm,
        unasked=left_out,
        cannot_tell=study.cannot_tell,
        headline=headline,
        scale=Scale.stored(study.scale),
        is_original=not KINDS[study.kind].headlines,
        asks_quality=study.asks_quality,
        merging=Scale.stored(study.scale).merging(study.merging),
        knows_searches=True,
    )


def report_in_words(
    session: Session, study: Study, run_id: str, rule: Rule, *, figures: Sequence[str] = ()
) -> RunReport:
    """Return ``report`` with how far it is and how blind, for a page or a report in words."""
    run_report = report(session, study, run_id, rule, figures=figures)
    scope = Query.run_id == run_id
    return replace(
        run_report,
        state=state(session, study, scope, rule),
        blindness=blindness(session, study, scope, rule),
        seconds={} if run_report.is_original else paces(session, study, scope),
    )


def empty_answers(
    session: Session, study: Study, scope: Scope, rule: Rule
) -> dict[int, EmptyAnswer]:
    """Return what looking gave for the empty queries in `scope` under `rule`, by key."""
    empty = scope & (Query.state == QueryState.EMPTY)
    items = select(Query.emptiness_id).where(empty)
    answers = empty_answers_of_items(session, study, items, rule)
    keys = session.execute(select(Query.id, Query.emptiness_id).where(empty))
    return {key: answers[item_id] for key, item_id in keys if item_id in answers}


def empty_answers_of_items(
    session: Session, study: Study, emptiness: Select[int | None], rule: Rule
) -> dict[int, EmptyAnswer]:
    """Return what looking gave for judged items of `emptiness` under `rule`, by their ids."""
    raters = raters_of(session, study, rule)
    adjudicated = rule.name == ADJUDICATED
    return evidence.empty_answers(session, study, emptiness, raters, adjudicated=adjudicated)


def evidence_on(
    session: Session, study: Study, question_id: int, rule: Rule
) -> tuple[Evidence, ...]:
    """Return the items that were looked up and fit a question under `rule`."""
    raters = raters_of(session, study, rule)
    question = select(Question.id).where(Question.id == question_id)
    adjudicated = rule.name == ADJUDICATED
    items = evidence.of_questions(session, study, question, raters, adjudicated=adjudicated)
    return items.get(question_id, ())


def blindness(session: Session, study: Study, scope: Scope, rule: Rule) -> Blindness:
    """Return how blind the verdicts behind `rule` on the queries in `scope` are."""
    rater_ids = [rater.id for rater in raters_of(session, study, rule)]
    return verdicts.blindness(session, scope, rater_ids)


def seconds(
    session: Session, scope: Scope, raters: Sequence[Rater]
) -> dict[tuple[int, int], float]:
    """Return the seconds from the verdict before, by rater and judged item."""
    return seconds_before(timed_clicks(session, scope, [rater.id for rater in raters]))


def timed_clicks(
    session: Session, scope: Scope, rater_ids: Sequence[int]
) -> Iterator[GivenVerdict]:
    """Return the clicks of known time on what was judged for the questions in `scope`."""
    clicks = select(Event.judged_item_id, Event.rater_id, Event.device, Event.client_time).where(
        Event.rater_id.in_(rater_ids),
        Event.field == "verdict",
        Event.cause == "click",
        Event.client_time.is_not(None),
        Event.judged_item_id.in_(verdicts.pool_of(scope)),
    )
    return starmap(GivenVerdict, session.execute(clicks))


def paces(session: Session, study: Study, scope: Scope) -> dict[str, tuple[float, int]]:
    """Return the median seconds per verdict of each rater by name, and of how many verdicts."""
    raters = studies.raters(session, study)
    by_rater: dict[int, list[float]] = {}
    for (rater, _), gap in seconds(session, scope, raters).items():
        by_rater.setdefault(rater, []).append(gap)
    timed = ((rater.name, by_rater.get(rater.id)) for rater in raters)
    return {name: (median(gaps), len(gaps)) for name, gaps in timed if gaps}


def asked_of(run_id: str) -> Scope:
    """Return the condition on ``Query`` that it is of a run, and that raters are asked it."""
    return (Query.run_id == run_id) & is_put_to_raters(Query.question_id)


def unasked(session: Session, run_id: str) -> tuple[int, ...]:
    """Return the query ids of a run whose questions the study puts to nobody."""
    rows = select(Query.query_id).where(
        Query.run_id == run_id, ~is_put_to_raters(Query.question_id)
    )
    return tuple(session.scalars(rows.order_by(Query.id)))


def states(session: Session, study: Study, rule: Rule) -> dict[str, State]:
    """Return how far each run of the study is under `rule`, by its id."""
    listed = session.scalars(select(Run.id).where(Run.study_id == study.id)).all()
    return {key: state(session, study, Query.run_id == key, rule) for key in listed}


def state(session: Session, study: Study, scope: Scope, rule: Rule) -> State:
    """Return how far the questions put to raters in `scope` are rated under `rule`."""
    scope = scope & is_put_to_raters(Query.question_id)
    raters = raters_of(session, study, rule)
    by_rater = verdicts.by_rater(session, scope, [rater.id for rater in raters])
    decided: Mapping[int, str] = {}
    if rule.rater is not None:
        merged = by_rater[rule.rater.id]
    else:
        decided = verdicts.adjudications(session, scope)
        by_name = [(rater.name, by_rater[rater.id]) for rater in raters]
        merged = verdicts.merged(by_name, verdicts.merging_of(study))
        if rule.name == ADJUDICATED:
            merged = verdicts.overruled(merged, decided)
    queries = verdicts.asked_queries(session, scope)
    readable = [query for query in queries if query.state is not QueryState.UNREADABLE]
    questions = dict(session.execute(select(Query.id, Query.question_id).where(scope)).all())
    open_by_query = {query.key: merged.open_items(query) for query in readable}
    open_items = set[int]().union(*open_by_query.values())
    open_questions = {questions[key] for key, items in open_by_query.items() if items}
    voted = {item for verdicts_of_rater in by_rater.values() for item in verdicts_of_rater.by_item}
    unvoted, ties = open_items - voted, open_items & voted
    lists = unvoted & {query.emptiness for query in readable}
    n_questions = len({questions[query.key] for query in readable})
    return State(
        questions=n_questions,
        complete=n_questions - len(open_questions),
        cards=len(unvoted - lists),
        lists=len(lists),
        ties=len(ties - decided.keys()),
        decided=len(ties & decided.keys()),
        answers=sum(query.asks_quality and query.key not in merged.quality for query in readable),
        behind={} if rule.rater is not None else _behind(session, study, scope),
    )


def _behind(session: Session, study: Study, scope: Scope) -> dict[str, int]:
    """Return how many questions in `scope` each awaited person has still to finish, by name."""
    is_blind = studies.is_blind(session, study)
    behind = {}
    for rater in awaited(session, study):
        waits = select(Query.question_id).join(StoredSummary, StoredSummary.query_key == Query.id)
        waits = waits.where(scope, StoredSummary.rater_id == rater.id, stored_summaries.is_open())
        questions = set(session.scalars(waits))
        if is_blind:
            workload = workloads.of_rater(session, rater)
            units = (*(task.unit for task in workload.first_time), *workload.free)
            questions &= {unit.question_id for unit in units}
        if questions:
            behind[labels.owner(rater.name)] = len(questions)
    return behind


def awaited(session: Session, study: Study) -> list[Rater]:
    """Return the people whose verdicts the study waits for.

    An owner who judges nothing while others do only organises it.
    """
    active = _active(session, study)
    return [
        rater
        for rater in studies.present(session, study)
        if rater.id in active or not (active and rater.is_owner)
    ]


def _active(session: Session, study: Study) -> set[int]:
    # Participants of phase 3 are of another study, which shares no rater with this one.
    judging = select(Event.rater_id).join(Rater).where(Rater.study_id == study.id)
    return set(session.scalars(judging.distinct()))


def verdicts_under(
    session: Session, study: Study, scope: Scope, rule: Rule, *, pooled: bool = False
) -> Verdicts:
    """Return the verdicts in `scope` under `rule`; "adjudicated" is else the majority.

    `pooled`: those on all items of the questions in `scope`, as ranking figures need them.
    """
    if rule.rater is not None:
        return verdicts.of_rater(session, scope, rule.rater.id, pooled=pooled)
    merged = verdicts.adjudicated if rule.name == ADJUDICATED else verdicts.majority
    return merged(session, scope, studies.raters(session, study), pooled=pooled)


def in_study(study: Study) -> Scope:
    """Return the condition on ``Query`` that it belongs to a run of the study."""
    return Query.run_id.in_(select(Run.id).where(Run.study_id == study.id))
