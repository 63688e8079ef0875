"""How far a blind rater is, what they have given, and the one figure they may see."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from webapp.db.models import JudgedThing, Judgment, QueryRating, Rater, Repeat, Task
from webapp.metrics.ranking import Undefined, precision
from webapp.records import Relevance
from webapp.services import studies, tasks
from webapp.services.tasks import Unit


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a rater is: questions done and given or still to be given, verdicts left."""

    done: int
    of: int
    open_judgments: int

    @property
    def left(self) -> int:
        """Number of questions with something left to do."""
        return self.of - self.done


@dataclass(frozen=True, slots=True)
class Done:
    """What a rater has given a study: verdicts on cards and empty lists, answers rated.

    A question counts once, whatever of it was asked again.
    """

    questions: int
    cards: int
    empty_lists: int
    answers: int


@dataclass(frozen=True, slots=True)
class PooledFigure:
    """The share of relevant cards among the decided ones, whichever run showed them."""

    relevant: int
    decided: int
    share: float | None


def progress(session: Session, rater: Rater) -> Progress:
    """Return how far the rater is in all that is theirs to judge, what is asked again included."""
    mine = session.scalars(select(Task).where(Task.rater_id == rater.id)).all()
    open_tasks = session.scalar(
        select(func.count())
        .select_from(Task)
        .where(Task.rater_id == rater.id, tasks.is_open(rater.study))
    )
    free = tasks.free_units(session, rater)
    wanted = {Unit(task.question_id, task.run_id) for task in mine} | set(free)
    return Progress(
        done=len(mine) - (open_tasks or 0),
        of=len(mine) + len(free),
        open_judgments=_open_judgments(session, rater, wanted) + _open_repeats(session, rater),
    )


def if_blind(session: Session, rater: Rater) -> Progress | None:
    """Return how far the rater is, where the study is rated blind; else ``None``."""
    return progress(session, rater) if studies.is_blind(session, rater.study) else None


def done(session: Session, rater: Rater) -> Done:
    """Return what the rater has given the study so far."""
    cards, empty_lists = session.execute(
        select(
            func.count(JudgedThing.property_id),
            func.count() - func.count(JudgedThing.property_id),
        )
        .join(Judgment, Judgment.judged_thing_id == JudgedThing.id)
        .where(Judgment.rater_id == rater.id, Judgment.verdict.is_not(None))
    ).one()
    answers = session.scalar(
        select(func.count()).where(
            QueryRating.rater_id == rater.id, QueryRating.quality.is_not(None)
        )
    )
    questions = session.scalar(
        select(func.count(Task.question_id.distinct())).where(Task.rater_id == rater.id)
    )
    return Done(questions or 0, cards, empty_lists, answers or 0)


def pooled_figure(session: Session, rater: Rater) -> PooledFigure:
    """Return the share of relevant cards in all that the rater has judged so far."""
    verdicts = session.scalars(
        select(Judgment.verdict)
        .join(JudgedThing, JudgedThing.id == Judgment.judged_thing_id)
        .where(
            Judgment.rater_id == rater.id,
            Judgment.verdict.is_not(None),
            JudgedThing.property_id.is_not(None),
        )
    )
    said = [Relevance(verdict) for verdict in verdicts if verdict]
    relevant = said.count(Relevance.RELEVANT)
    share = precision(said)
    return PooledFigure(
        relevant=relevant,
        decided=relevant + said.count(Relevance.NOT_RELEVANT),
        share=None if isinstance(share, Undefined) else share,
    )


def _open_repeats(session: Session, rater: Rater) -> int:
    rows = (
        select(func.count())
        .select_from(Repeat)
        .join(Task)
        .where(Task.rater_id == rater.id, Repeat.verdict.is_(None))
    )
    return session.scalar(rows) or 0


def _open_judgments(session: Session, rater: Rater, wanted: AbstractSet[Unit]) -> int:
    judged = select(Judgment.judged_thing_id).where(
        Judgment.rater_id == rater.id, Judgment.verdict.is_not(None)
    )
    rows = session.execute(
        select(JudgedThing.question_id, JudgedThing.run_id, func.count())
        .where(JudgedThing.id.in_(tasks.shown_things(rater.study)), JudgedThing.id.not_in(judged))
        .group_by(JudgedThing.question_id, JudgedThing.run_id)
    )
    left = {Unit(question_id, run_id): count for question_id, run_id, count in rows}
    return sum(left.get(unit, 0) for unit in wanted)
