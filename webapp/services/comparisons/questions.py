"""One question of a comparison: every run's list side by side, with the verdicts under one rule."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from sqlalchemy import select
from sqlalchemy.orm import Session

from webapp.db.tables.runs import Query, Result
from webapp.db.tables.study import Question, Study
from webapp.metrics.comparisons.compared_runs import ComparedQuery
from webapp.metrics.judging.queries import summarise
from webapp.records import Card, Relevance
from webapp.services.comparisons import chosen_runs
from webapp.services.judging import verdicts
from webapp.services.judging.events import UnknownQuery
from webapp.services.judging.judged_things import from_row
from webapp.services.judging.verdicts import Verdicts
from webapp.services.runs import reports, runs
from webapp.services.runs.reports import Rule
from webapp.services.study.unasked import is_put_to_raters


class ShownResult(Struct, frozen=True):
    """One card of a list with its verdict; ``elsewhere`` are its ranks in the other lists.

    By the name of the run; the same judged thing, so the verdict is the same one.
    """

    rank: int
    card: Card
    relevance: Relevance | None
    elsewhere: tuple[tuple[str, int], ...]


class Side(Struct, frozen=True):
    """One run's answer to the question; ``answer`` is ``None`` where it was not run."""

    run: str
    name: str
    answer: ComparedQuery | None
    response: str
    notes: str
    results: tuple[ShownResult, ...]


class ComparedQuestion(Struct, frozen=True):
    """A question at its position in the set, with one side per run and its neighbours.

    The neighbours are asked of raters; ``is_asked`` says whether it is too.
    """

    position: int
    question: str
    category: str
    sides: tuple[Side, ...]
    previous: int | None
    next: int | None
    is_asked: bool = True


def find(
    session: Session, study: Study, run_ids: Sequence[str], position: int, rule: Rule
) -> ComparedQuestion:
    """Return one question as every run of a comparison answered it.

    Raises ``UnknownRun``; ``UnknownQuery`` where none of the runs has a question there.
    """
    compared = [runs.find(session, study, run_id) for run_id in dict.fromkeys(run_ids)]
    names = chosen_runs.names_of(compared)
    positions = _positions(session, list(names))
    if position not in positions:
        raise UnknownQuery(" ".join(names), position)
    asked = [place for place, is_asked in positions.items() if is_asked]
    at = Question.position == position
    scope = Query.run_id.in_(list(names)) & Query.question_id.in_(select(Question.id).where(at))
    said = reports.verdicts_under(session, study, scope, rule)
    queries = session.scalars(select(Query).where(scope)).all()
    by_run = {query.run_id: query for query in queries}
    sides = _sides(session, study, scope, names, by_run, said)
    question = queries[0].question
    return ComparedQuestion(
        position=position,
        question=question.text,
        category=question.category,
        sides=sides,
        previous=max((place for place in asked if place < position), default=None),
        next=min((place for place in asked if place > position), default=None),
        is_asked=positions[position],
    )


def _positions(session: Session, run_ids: Sequence[str]) -> dict[int, bool]:
    """Return the positions of the runs' questions, with whether raters are asked them."""
    rows = (
        select(Question.position, is_put_to_raters(Question.id))
        .join(Query)
        .where(Query.run_id.in_(run_ids))
        .distinct()
    )
    return {position: bool(is_asked) for position, is_asked in session.execute(rows)}


def _sides(
    session: Session,
    study: Study,
    scope: verdicts.Scope,
    names: dict[str, str],
    by_run: dict[str, Query],
    said: Verdicts,
) -> tuple[Side, ...]:
    ranks: dict[int, list[tuple[str, int]]] = {}
    shown: dict[str, list[Result]] = {run: [] for run in names}
    found = select(Result, Query.run_id).join(Query).where(scope).order_by(Result.rank)
    for result, run in session.execute(found):
        ranks.setdefault(result.judged_thing_id, []).append((names[run], result.rank))
        shown[run].append(result)
    answers = {
        asked.run_id: ComparedQuery(
            position=by_run[asked.run_id].question.position,
            query_id=asked.query_id,
            question=by_run[asked.run_id].question.text,
            category=by_run[asked.run_id].question.category,
            summary=summarise(said.judgments(asked), cannot_tell=study.cannot_tell),
        )
        for asked in verdicts.asked_queries(session, scope)
    }
    return tuple(
        Side(
            run=run,
            name=name,
            answer=answers.get(run),
            response=by_run[run].response if run in by_run else "",
            notes=said.notes.get(by_run[run].id, "") if run in by_run else "",
            results=tuple(
                ShownResult(
                    rank=result.rank,
                    card=from_row(result.card),
                    relevance=said.relevance(result.judged_thing_id),
                    elsewhere=tuple(e for e in ranks[result.judged_thing_id] if e[0] != name),
                )
                for result in shown[run]
            ),
        )
        for run, name in names.items()
    )
