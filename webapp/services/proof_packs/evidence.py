"""The evidence behind the figures of some runs, from the database: lists, verdicts, events."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from sqlalchemy import ColumnElement, or_, select, true
from sqlalchemy.orm import Session

from webapp.db.tables.agreement import Adjudication
from webapp.db.tables.judging import Event, JudgedThing, Property, QueryRating
from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Query, Result, Run
from webapp.db.tables.study import Question, Study
from webapp.failures import Missing
from webapp.i18n import mark
from webapp.metrics.proof_packs.evidence import (
    GivenRating,
    GivenVerdict,
    LoggedEvent,
    PackedResult,
    SetQuestion,
    SettledThing,
    ShownQuery,
    ShownRun,
    Thing,
)
from webapp.records import QueryState
from webapp.services.judging import verdicts
from webapp.services.judging.verdicts import Scope
from webapp.services.study import studies


class NoRuns(Missing):
    """The study has no run yet, so there is nothing to show for it."""

    message = mark("This study has no run yet")
    remedy = mark("Import one first.")
    command_remedy = mark("`relevansi import` brings one.")


class Evidence:
    """The evidence behind the figures of `runs`, read from the database part by part.

    With ``whole`` the event log is the study's, including events on things deleted since.
    """

    def __init__(self, session: Session, study: Study, runs: Sequence[Run], *, whole: bool):
        self._session = session
        self._study = study
        self._runs = runs
        self._whole = whole
        self._scope: Scope = Query.run_id.in_([run.id for run in runs])
        self._things = {key: _thing(*rest) for key, *rest in session.execute(_all_things(study))}
        self._shown = set(session.scalars(verdicts.judged_things(self._scope)))
        self._raters = studies.raters(session, study)

    def lists(self, run: Run) -> ShownRun:
        """Return the lists that a run showed, in the order of the run and by rank."""
        results = self._results(run)
        rows = self._session.execute(
            select(Query, Question)
            .join(Question, Question.id == Query.question_id)
            .where(Query.run_id == run.id)
            .order_by(Query.id)
        )
        return ShownRun(
            run=run.id,
            question_set=str(run.question_set_id),
            queries=tuple(
                ShownQuery(
                    query_id=query.query_id,
                    position=question.position,
                    question=question.text,
                    category=question.category,
                    state=QueryState(query.state),
                    results=tuple(results[query.id]),
                    emptiness=self._things.get(query.emptiness_id or 0),
                )
                for query, question in rows
            ),
            search_method=run.search_method,
            llm=run.llm,
        )

    def questions(self) -> Mapping[str, tuple[SetQuestion, ...]]:
        """Return every question of the runs' question sets, by set and in order."""
        sets = {run.question_set_id for run in self._runs}
        found: dict[str, list[SetQuestion]] = {}
        for row in self._session.scalars(
            select(Question)
            .where(Question.question_set_id.in_(sets))
            .order_by(Question.question_set_id, Question.position)
        ):
            question = SetQuestion(row.position, row.text, row.category, row.context_dependent)
            found.setdefault(str(row.question_set_id), []).append(question)
        return {name: tuple(questions) for name, questions in found.items()}

    def given_verdicts(self) -> Iterator[GivenVerdict]:
        """Yield every rater's current verdict on what the runs show or left empty."""
        for rater, said in self._said():
            for thing, verdict in said.by_thing.items():
                yield GivenVerdict(rater.name, self._things[thing], verdict)

    def given_ratings(self) -> Iterator[GivenRating]:
        """Yield every rater's current quality and notes of the runs' answers."""
        rows = self._session.execute(
            select(Rater.name, Query.run_id, Query.query_id, QueryRating)
            .join_from(QueryRating, Query, Query.id == QueryRating.query_key)
            .join(Rater, Rater.id == QueryRating.rater_id)
            .where(self._scope, or_(QueryRating.quality.is_not(None), QueryRating.notes != ""))
        )
        for name, run, query_id, rating in rows:
            yield GivenRating(name, run, query_id, rating.quality, rating.notes)

    def settled(self) -> Iterator[SettledThing]:
        """Yield the adjudicated verdicts on what the runs show or left empty."""
        rows = self._session.execute(
            select(Adjudication, Rater.name).join(Rater, Rater.id == Adjudication.rater_id)
        )
        for row, name in rows:
            if row.judged_thing_id in self._shown:
                thing = self._things[row.judged_thing_id]
                yield SettledThing(thing, row.verdict, row.reason, name, row.at)

    def events(self) -> Iterator[LoggedEvent]:
        """Yield people's events about the runs, or with ``whole`` all of them, as received."""
        rows = self._session.execute(
            select(Event, Rater.name, Query.run_id, Query.query_id)
            .join(Rater, Rater.id == Event.rater_id)
            .outerjoin(Query, Query.id == Event.query_key)
            .where(
                Rater.study_id == self._study.id,
                Rater.is_machine.is_(False),
                self._about_runs(),
            )
            .order_by(Event.id)
        )
        for event, name, run, query_id in rows:
            yield LoggedEvent(
                id=event.id,
                event_id=event.event_id,
                rater=name,
                field=event.field,
                thing=self._things.get(event.judged_thing_id or 0),
                run=run,
                query_id=query_id,
                task=event.task_id,
                old=event.old,
                new=event.new,
                cause=event.cause,
                undoes=event.undoes_id,
                device=event.device,
                sequence=event.sequence,
                client_time=event.client_time,
                received_at=event.received_at,
            )

    def _results(self, run: Run) -> Mapping[int, list[PackedResult]]:
        found: dict[int, list[PackedResult]] = defaultdict(list)
        for result in self._session.scalars(
            select(Result)
            .join(Query)
            .where(Query.run_id == run.id)
            .order_by(Result.query_key, Result.rank)
        ):
            thing = self._things[result.judged_thing_id]
            found[result.query_key].append(
                PackedResult(result.rank, thing, str(result.card["title"]))
            )
        return found

    def _said(self) -> Iterable[tuple[Rater, verdicts.Verdicts]]:
        ids = [rater.id for rater in self._raters]
        said = verdicts.by_rater(self._session, self._scope, ids)
        return ((rater, said[rater.id]) for rater in self._raters)

    def _about_runs(self) -> ColumnElement[bool]:
        if self._whole:
            return true()
        about_things = Event.judged_thing_id.in_(verdicts.judged_things(self._scope))
        of_answers = Event.judged_thing_id.is_(None) & self._scope
        return or_(about_things, of_answers)


def _all_things(study: Study):  # type: ignore[no-untyped-def]
    """Return the statement over every judged thing of the study's question sets."""
    in_study = select(Run.question_set_id).where(Run.study_id == study.id)
    return (
        select(
            JudgedThing.id,
            Question.question_set_id,
            Question.position,
            Property.identity,
            JudgedThing.content,
            JudgedThing.run_id,
        )
        .join(Question, Question.id == JudgedThing.question_id)
        .outerjoin(Property, Property.id == JudgedThing.property_id)
        .where(Question.question_set_id.in_(in_study))
    )


def _thing(
    question_set: int, position: int, identity: str | None, content: int, run: str | None
) -> Thing:
    return Thing(str(question_set), position, identity, content, run)
