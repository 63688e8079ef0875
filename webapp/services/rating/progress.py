"""A blind rater's progress, the counts of their judgments, and the one figure they may see."""

from __future__ import annotations

from msgspec import Struct
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from webapp.db.tables.judging import JudgedThing, Judgment, QueryRating
from webapp.db.tables.people import Rater
from webapp.db.tables.rating import Repeat, RepeatRating, Task
from webapp.metrics.judging.ranking import Undefined, counted, precision
from webapp.records import Relevance
from webapp.services.rating import repeats, shares
from webapp.services.rating.shares import StudyShare
from webapp.services.study import studies


class Progress(Struct, frozen=True):
    """A rater's progress: turns done, turns given or still to be given, and work left.

    A turn is a question, once for each run where it depends on its conversation, and once more
    where it is asked again; ``questions`` counts each once. ``open_judgments`` are verdicts, of
    which ``open_lists`` are on empty lists, ``unrated`` answers that lack their quality.
    """

    done: int
    of: int
    open_judgments: int
    unrated: int
    open_lists: int = 0
    questions: int = 0

    @property
    def left(self) -> int:
        """Number of turns with something left to do."""
        return self.of - self.done

    @property
    def work_left(self) -> tuple[int, int, int, int]:
        """The cards, empty lists, turns and answers that wait, as ``labels.work_left`` has."""
        cards = self.open_judgments - self.open_lists
        return cards, self.open_lists, self.left, self.unrated


class Done(Struct, frozen=True):
    """The counts of a rater's judgments: verdicts on cards and empty lists, answers rated.

    They count as the rater's pages did: a question asked again counts again, and one
    that depends on its conversation counts for each.
    """

    questions: int
    cards: int
    empty_lists: int
    answers: int


class PooledFigure(Struct, frozen=True):
    """The share of relevant cards among those that the study counts, over all runs."""

    relevant: int
    counted: int
    share: float | None


def progress(session: Session, rater: Rater) -> Progress:
    """Return the rater's progress in their whole share; without blind rating, in every run.

    Repeats count from the beginning, so that no number grows when one is given.
    """
    share = shares.share(session, rater)
    if studies.is_blind(session, rater.study):
        return of_share(session, rater, share)
    units = share.units.values()
    return Progress(
        done=sum(not unit.is_open for unit in units),
        of=len(units),
        open_judgments=sum(unit.open_judgments for unit in units),
        unrated=sum(unit.unrated for unit in units),
        open_lists=sum(unit.open_lists for unit in units),
        questions=len({unit.question_id for unit in share.units}),
    )


def of_share(session: Session, rater: Rater, share: StudyShare) -> Progress:
    """Return how far the rater is in their share of the study.

    A question that they finished elsewhere is done, also before it is given to them.
    """
    units = share.units
    first_time = [units[unit] for unit in share.first_time if unit in units]
    free = [units[unit] for unit in share.free]
    wanted = [*first_time, *free]
    planned = [units[one.unit] for one in share.planned]
    again = repeats.left(session, rater) if share.again else repeats.Left()
    opened = sum(unit.is_open for unit in first_time)
    finished = sum(not unit.is_open for unit in free)
    return Progress(
        done=len(share.given) - opened - again.tasks + finished,
        of=len(share.given) + len(share.free) + len(planned),
        open_judgments=sum(unit.open_judgments for unit in wanted)
        + sum(unit.judgments for unit in planned)
        + again.judgments,
        unrated=sum(unit.unrated for unit in wanted)
        + sum(unit.answers for unit in planned)
        + again.unrated,
        open_lists=sum(unit.open_lists for unit in wanted)
        + sum(unit.lists for unit in planned)
        + again.lists,
        questions=len({unit.question_id for unit in (*share.first_time, *share.free)}),
    )


def if_blind(session: Session, rater: Rater) -> Progress | None:
    """Return how far the rater is, where the study is rated blind; else ``None``."""
    return progress(session, rater) if studies.is_blind(session, rater.study) else None


def done(session: Session, rater: Rater) -> Done:
    """Return the counts of the rater's judgments so far."""
    first = select(JudgedThing.property_id).join(Judgment)
    again = select(JudgedThing.property_id).join(Repeat).join(Task)
    said = first.where(Judgment.rater_id == rater.id, Judgment.verdict.is_not(None)).union_all(
        again.where(Task.rater_id == rater.id, Repeat.verdict.is_not(None))
    )
    things = said.subquery()
    counts = select(func.count(), func.count(things.c[0])).select_from(things)
    everything, cards = session.execute(counts).one()
    rated = select(QueryRating.quality).where(QueryRating.rater_id == rater.id)
    grades = rated.union_all(
        select(RepeatRating.quality).join(Task).where(Task.rater_id == rater.id)
    ).subquery()
    return Done(
        questions=session.scalar(select(func.count()).where(Task.rater_id == rater.id)) or 0,
        cards=cards,
        empty_lists=everything - cards,
        answers=session.scalar(select(func.count(grades.c[0]))) or 0,
    )


def hides_means(session: Session, rater: Rater) -> bool:
    """Whether the rater sees no running mean: their verdicts order the questions."""
    from webapp.services.planning import next_question

    return next_question.hides_means(session, rater)


def pooled_figure(session: Session, rater: Rater) -> PooledFigure:
    """Return the share of relevant cards among all the rater's verdicts so far.

    It also changes with the verdicts of a repeat: otherwise it would reveal the repeats.
    """
    first = select(Judgment.verdict).join(JudgedThing).where(Judgment.rater_id == rater.id)
    again = select(Repeat.verdict).join(JudgedThing).join(Task).where(Task.rater_id == rater.id)
    is_card = JudgedThing.property_id.is_not(None)
    verdicts = session.scalars(first.where(is_card).union_all(again.where(is_card)))
    said = [Relevance(verdict) for verdict in verdicts if verdict]
    relevant = said.count(Relevance.RELEVANT)
    shares = counted(said, cannot_tell=rater.study.cannot_tell)
    share = precision(shares)
    return PooledFigure(
        relevant=relevant,
        counted=relevant + shares.count(Relevance.NOT_RELEVANT),
        share=None if isinstance(share, Undefined) else share,
    )
