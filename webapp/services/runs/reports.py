"""A run under a named rule, row by row: the start of the metrics command and every export."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import select
from sqlalchemy.orm import Session

from webapp import failures
from webapp.db.tables.judging import Event
from webapp.db.tables.machine_judges import MachineJudge
from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Query
from webapp.db.tables.study import Question, Study
from webapp.failures import Conflict, Missing, Refused
from webapp.i18n import mark
from webapp.metrics.judging.figures import QueryRow, RunReport, Totals
from webapp.metrics.judging.queries import summarise
from webapp.records import Blindness
from webapp.services.judging import verdicts
from webapp.services.judging.live_metrics import Standing
from webapp.services.judging.verdicts import Scope, Verdicts
from webapp.services.runs import runs
from webapp.services.study import studies
from webapp.services.study.unasked import is_put_to_raters

MAJORITY = "majority"
ADJUDICATED = "adjudicated"


class UnknownRater(Missing):
    """The study has no rater of that name."""

    message = mark("This study has no rater called %(name)s")
    remedy = failures.SEE_RUNS
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
    """Return the rule called `name`; unnamed, the only rater's own verdicts, else majority.

    A machine counts alone or not at all. Raises ``UnknownRater``, ``UnknownRule`` and
    ``MachineNotReleased``.
    """
    if name is None:
        return _default(session, study)
    if name in {MAJORITY, ADJUDICATED}:
        return Rule(name)
    kind, _, rater_name = name.partition(" ")
    if kind not in {"rater", "machine"}:
        raise UnknownRule(name)
    wanted = select(Rater).where(Rater.study_id == study.id, Rater.name == rater_name)
    rater = session.scalar(wanted)
    if rater is None or (kind == "machine" and not rater.is_machine):
        raise UnknownRater(rater_name)
    if rater.is_machine and not _is_released(session, rater):
        raise MachineNotReleased(rater.name)
    return of_rater(rater)


def of_rater(rater: Rater) -> Rule:
    """Return the rule that one rater's own verdicts count; a machine's is named as such."""
    return Rule(f"{'machine' if rater.is_machine else 'rater'} {rater.name}", rater)


def rules(session: Session, study: Study) -> tuple[Rule, ...]:
    """Return every rule that may be chosen: each person, released machines, both merged ones."""
    raters = studies.people_and_machines(session, study)
    alone = (rater for rater in raters if not rater.is_machine or _is_released(session, rater))
    return (*map(of_rater, alone), Rule(MAJORITY), Rule(ADJUDICATED))


def report(
    session: Session, study: Study, run_id: str, rule: Rule, *, whole: bool = False
) -> RunReport:
    """Return each query of a run with its summary under `rule`.

    Questions that the study puts to nobody have no row, unless the `whole` run is wanted. Raises
    ``UnknownRun``.
    """
    run = runs.find(session, study, run_id)
    left_out = () if whole else unasked(session, run.id)
    scope = asked_of(run.id) if left_out else Query.run_id == run.id
    said = verdicts_under(session, study, scope, rule)
    questions = {
        key: (text, category)
        for key, text, category in session.execute(
            select(Query.id, Question.text, Question.category)
            .join_from(Query, Question)
            .where(scope)
        )
    }
    rows = tuple(
        QueryRow(
            query_id=asked.query_id,
            question=questions[asked.key][0],
            category=questions[asked.key][1],
            notes=said.notes.get(asked.key, ""),
            summary=summarise(said.judgments(asked), cannot_tell=study.cannot_tell),
            verdicts=tuple(said.relevance(thing) for thing in asked.things),
        )
        for asked in verdicts.asked_queries(session, scope)
    )
    return RunReport(
        run=run.id,
        rule=rule.name,
        rows=rows,
        search_method=run.search_method,
        llm=run.llm,
        unasked=left_out,
        cannot_tell=study.cannot_tell,
    )


def in_words(session: Session, study: Study, run_id: str, rule: Rule) -> RunReport:
    """Return ``report`` with how blind its verdicts are, for a page or a report in words."""
    found = report(session, study, run_id, rule)
    return replace(found, blindness=blindness(session, study, Query.run_id == run_id, rule))


def blindness(session: Session, study: Study, scope: Scope, rule: Rule) -> Blindness:
    """Return how blind the verdicts behind `rule` on the queries in `scope` are."""
    raters = [rule.rater] if rule.rater is not None else studies.raters(session, study)
    return verdicts.counts(session, scope, [rater.id for rater in raters])


def asked_of(run_id: str) -> Scope:
    """Return the condition on ``Query`` that it is of a run, and that raters are asked it."""
    return (Query.run_id == run_id) & is_put_to_raters(Query.question_id)


def unasked(session: Session, run_id: str) -> tuple[int, ...]:
    """Return the query ids of a run whose questions the study puts to nobody."""
    rows = select(Query.query_id).where(
        Query.run_id == run_id, ~is_put_to_raters(Query.question_id)
    )
    return tuple(session.scalars(rows.order_by(Query.id)))


def standing(session: Session, study: Study, run_id: str, rule: Rule) -> Standing:
    """Return a run's progress under `rule`: the sums, and the work left."""
    scope = asked_of(run_id)
    said = verdicts_under(session, study, scope, rule)
    asked = verdicts.asked_queries(session, scope)
    summaries = [summarise(said.judgments(query), cannot_tell=study.cannot_tell) for query in asked]
    unsaid = [said.unsaid(query) for query in asked]
    return Standing(
        totals=Totals.of(summaries),
        open_judgments=sum(unsaid),
        open_queries=sum(
            left > 0 or one.is_unrated for left, one in zip(unsaid, summaries, strict=True)
        ),
    )


def verdicts_under(session: Session, study: Study, scope: Scope, rule: Rule) -> Verdicts:
    """Return the verdicts on the queries in `scope` under `rule`.

    "adjudicated" is the majority wherever adjudication is silent.
    """
    if rule.rater is not None:
        return verdicts.of_rater(session, scope, rule.rater.id)
    merged = verdicts.adjudicated if rule.name == ADJUDICATED else verdicts.majority
    return merged(session, scope, studies.raters(session, study))


def _is_released(session: Session, rater: Rater) -> bool:
    """Whether a rater is a machine judge whose figures may be chosen."""
    judge = session.get(MachineJudge, rater.id)
    return judge is not None and judge.released_at is not None


def _default(session: Session, study: Study) -> Rule:
    everybody = studies.raters(session, study)
    active = set(session.scalars(select(Event.rater_id).distinct()))
    rated = [rater for rater in everybody if rater.id in active]
    if len(rated) > 1:
        return Rule(MAJORITY)
    return of_rater((rated or everybody)[0])
