"""The progress of a study: the saving by pooling, the verdicts by rater, and the time left."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from msgspec import Struct
from sqlalchemy import and_, func, select
from sqlalchemy.orm import Session

from relevansi.db.tables.judging import Event, JudgedItem, Judgment, StoredSummary, Task
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query, Result, Run
from relevansi.db.tables.study import Question, Study
from relevansi.services.rating import pool, workloads
from relevansi.services.rating.workloads import Progress
from relevansi.services.runs import reports
from relevansi.services.study import assignments, studies
from relevansi.services.study.question_sets import is_put_to_raters

LONGEST_PAUSE = timedelta(minutes=2)
"""A longer time between two clicks was a break, not thinking."""

RECENT = 200
"""Clicks from which a rater's pace is taken."""

MOST_ROWS = 40
"""A map of more questions than this has a row for each ten of them."""
BLOCK = 10


class Saving(Struct, frozen=True):
    """The saving by pooling: verdicts to give against cards shown, and items left out by depth.

    ``cards`` counts the cards of all runs, ``distinct`` the judged items of the pool,
    ``beyond`` the items that only lie deeper.
    """

    cards: int
    distinct: int
    beyond: int

    @property
    def saved(self) -> int:
        return self.cards - self.distinct - self.beyond


class RaterProgress(Struct, frozen=True):
    """How far a rater is: ``judged`` verdicts, the last click, and the seconds per click."""

    name: str
    progress: Progress
    judged: int
    last_at: datetime | None
    pace: float | None

    @property
    def clicks_left(self) -> int:
        return self.progress.open_judgments + self.progress.unrated

    @property
    def seconds_left(self) -> float | None:
        """Estimated time until everything is rated; ``None`` before there is a pace."""
        return None if self.pace is None else self.pace * self.clicks_left


class QuestionProgress(Struct, frozen=True):
    """One question: its judged items, the raters given it, and the verdicts left.

    ``planned_for`` may still be given it, as far as the overlap allows. ``reach`` counts those
    whom the owner's assignments let judge it and all who were given it, removed raters too: as
    many judge it in the end, or the overlap if less. ``judged`` has a number of verdicts for
    everybody who has it or judged in it; ``verdicts_left`` is the work of all who have it or will
    get it.
    """

    id: int
    position: int
    text: str
    category: str
    judged_items: int
    given_to: list[str]
    planned_for: list[str]
    reach: int
    judged: dict[str, int]
    verdicts_left: int

    def is_for(self, rater: str, *, is_blind: bool) -> bool:
        """Whether a rater has the question or may be given it; whoever sees the runs has all."""
        return not is_blind or rater in self.judged or rater in self.planned_for

    def cards_left(self, rater: str) -> int:
        return self.judged_items - self.judged.get(rater, 0)


class MapCell(NamedTuple):
    """The cards of one rater in one row of the map, and where the cell leads to.

    That is the first of the row's questions with cards left, or the first of all.
    """

    cards: int
    cards_left: int
    leads_to: QuestionProgress
    may_be_given: bool

    @property
    def judged(self) -> int:
        return self.cards - self.cards_left


class MapRow(NamedTuple):
    """A question, or up to ten of one set, with a cell for each rater; none where not theirs."""

    questions: Sequence[QuestionProgress]
    cells: Sequence[MapCell | None]

    @property
    def verdicts_left(self) -> int:
        return sum(question.verdicts_left for question in self.questions)


def map_rows(
    questions: Sequence[QuestionProgress], raters: Sequence[str], *, is_blind: bool
) -> list[MapRow]:
    """Return the map of raters by questions, which are in the order of their sets."""
    return [map_row(block, raters, is_blind=is_blind) for block in _blocks(questions)]


def map_row(
    questions: Sequence[QuestionProgress], raters: Sequence[str], *, is_blind: bool
) -> MapRow:
    """Return one row of the map; of all questions, it is the sum of the others."""
    return MapRow(questions, [_cell(questions, name, is_blind=is_blind) for name in raters])


def _blocks(questions: Sequence[QuestionProgress]) -> list[Sequence[QuestionProgress]]:
    if len(questions) <= MOST_ROWS:
        return [[question] for question in questions]
    # Positions begin anew with each set, and "41 to 5" would name nothing.
    neighbours = enumerate(pairwise(questions), start=1)
    starts = [at for at, (before, here) in neighbours if here.position <= before.position]
    bounds = pairwise([0, *starts, len(questions)])
    sets = [questions[first:last] for first, last in bounds]
    return [of[at : at + BLOCK] for of in sets for at in range(0, len(of), BLOCK)]


def _cell(block: Sequence[QuestionProgress], rater: str, *, is_blind: bool) -> MapCell | None:
    theirs = [question for question in block if question.is_for(rater, is_blind=is_blind)]
    if not theirs:
        return None
    unfinished = (question for question in theirs if question.cards_left(rater))
    return MapCell(
        cards=sum(question.judged_items for question in theirs),
        cards_left=sum(question.cards_left(rater) for question in theirs),
        leads_to=next(unfinished, theirs[0]),
        may_be_given=any(rater in question.planned_for for question in theirs),
    )


class StudyMap(NamedTuple):
    """Raters by questions, ``rows`` and their ``total``, and the questions that too few will judge.

    These are in words: those that ``nobody`` will judge, and those with fewer raters than wanted.
    """

    questions: Sequence[QuestionProgress]
    raters: Sequence[RaterProgress]
    rows: Sequence[MapRow]
    total: MapRow
    nobody: str
    too_few: str


def study_map(session: Session, study: Study) -> StudyMap:
    """Return how far everybody whose verdicts are awaited is with each question."""
    questions, is_blind = question_progress(session, study), studies.is_blind(session, study)
    raters = [rater_progress(session, rater) for rater in reports.awaited(session, study)]
    names, sets = [line.name for line in raters], assignments.numbered(session, study)
    rows = map_rows(questions, names, is_blind=is_blind)
    total = map_row(questions, names, is_blind=is_blind)
    unreached = [line.id for line in questions if not line.reach]
    short = [line.id for line in questions if 0 < line.reach < (study.overlap or 1)]
    in_words = (assignments.written(ids, sets) for ids in (unreached, short))
    return StudyMap(questions, raters, rows, total, *in_words)


def progress_of_raters(session: Session, study: Study) -> tuple[RaterProgress, ...]:
    """Return the progress of everybody who can still judge."""
    return tuple(rater_progress(session, rater) for rater in studies.present(session, study))


def pace(moments: Iterable[datetime]) -> float | None:
    """Return the median seconds between clicks, breaks left out; ``None`` for too few.

    >>> from datetime import UTC
    >>> at = [datetime(2026, 1, 1, 9, 0, second, tzinfo=UTC) for second in (0, 4, 10)]
    >>> pace(at), pace(at[:1])
    (5.0, None)
    """
    ordered = sorted(moments)
    gaps = [
        (later - earlier).total_seconds()
        for earlier, later in pairwise(ordered)
        if later - earlier <= LONGEST_PAUSE
    ]
    return median(gaps) if gaps else None


def saving(session: Session, study: Study) -> Saving:
    """Return what judging each distinct item once saves in the study as it is now."""
    in_study = and_(Run.study_id == study.id, is_put_to_raters(Query.question_id))
    results = select(func.count()).select_from(Result).join(Query).join(Run).where(in_study)
    items = select(func.count(Result.judged_item_id.distinct()))
    at_any_rank = items.join(Query).join(Run).where(in_study)
    in_pool = at_any_rank
    if study.pool_depth is not None:
        in_pool = at_any_rank.where(Result.rank <= study.pool_depth)
    everything, pooled = session.scalar(at_any_rank) or 0, session.scalar(in_pool) or 0
    return Saving(session.scalar(results) or 0, pooled, everything - pooled)


def rater_progress(session: Session, rater: Rater) -> RaterProgress:
    """Return how far one rater is, and how fast."""
    own_verdicts = Judgment.rater_id == rater.id, Judgment.verdict.is_not(None)
    judged = session.scalar(select(func.count()).where(*own_verdicts)) or 0
    moments, progress = recent_clicks(session, rater), workloads.progress(session, rater)
    last_at = max(moments, default=None)
    return RaterProgress(rater.name, progress, judged, last_at, pace(moments))


class OwnQuestion(NamedTuple):
    """A question of a rater's workload: "done", "begun" or "open", and where it can be rated.

    That is `task_id`, or for an owner who sees the methods the run and the query ID of `query`, an
    open one if there is any; neither where it is not given to the rater yet.
    """

    text: str
    progress: str
    task_id: str | None
    query: tuple[str, int] | None


def own_questions(session: Session, rater: Rater) -> list[OwnQuestion]:
    """Return the questions of the rater's workload in the order of their sets."""
    workload = workloads.of_rater(session, rater)
    units_asked = {*workload.units}
    is_blind = studies.is_blind(session, rater.study)
    if is_blind:
        units_asked &= {*(task.unit for task in workload.first_time), *workload.free}
    by_question: dict[int, list[workloads.UnitProgress]] = defaultdict(list)
    for unit in units_asked:
        by_question[unit.question_id].append(workload.units[unit])
    places = select(Question.id, Question.text).where(Question.id.in_(by_question))
    in_order = session.execute(places.order_by(Question.question_set_id, Question.position))
    queries = {} if is_blind or not rater.is_owner else _own_queries(session, rater)
    tasks = {
        task.unit.question_id: task.task_id
        for task in sorted(workload.first_time, key=lambda task: workload.units[task.unit].is_open)
    }
    questions = []
    for question, text in in_order:
        units = by_question[question]
        has_begun = any(u.open_judgments < u.judgments or u.unrated < u.answers for u in units)
        is_open = any(unit.is_open for unit in units)
        progress = "done"
        if is_open:
            progress = "begun" if has_begun else "open"
        query = queries.get(question)
        task_id = None if query else tasks.get(question)
        questions.append(OwnQuestion(text, progress, task_id, query))
    return questions


def _own_queries(session: Session, rater: Rater) -> dict[int, tuple[str, int]]:
    """Return a query of each question by its id, the first that the rater has not finished."""
    rows = select(Query.question_id, Query.run_id, Query.query_id)
    rows = rows.join(StoredSummary, StoredSummary.query_key == Query.id)
    rows = rows.where(StoredSummary.rater_id == rater.id)
    in_order = session.execute(rows.order_by(StoredSummary.complete.desc(), Query.id.desc()))
    return {question_id: (run_id, query_id) for question_id, run_id, query_id in in_order}


def recent_clicks(session: Session, rater: Rater) -> Sequence[datetime]:
    """Return when the rater clicked last, for their pace."""
    moments = select(Event.received_at).where(Event.rater_id == rater.id)
    return session.scalars(moments.order_by(Event.id.desc()).limit(RECENT)).all()


def runs_by_question(session: Session, study: Study) -> dict[int, list[str]]:
    """Return the ids of the runs that were asked each question, by its id."""
    run_ids: dict[int, list[str]] = defaultdict(list)
    rows = select(Query.question_id, Query.run_id).join(Run).where(Run.study_id == study.id)
    for question_id, run_id in session.execute(rows):
        run_ids[question_id].append(run_id)
    return run_ids


def question_progress(session: Session, study: Study) -> list[QuestionProgress]:
    """Return how far each question is, of the people whose verdicts the study waits for."""
    present = {rater.id for rater in studies.present(session, study)}
    names = {rater.id: rater.name for rater in reports.awaited(session, study)}
    raters_given: dict[int, set[int]] = defaultdict(set)
    for question_id, rater_id in session.execute(select(Task.question_id, Task.rater_id)):
        raters_given[question_id].add(rater_id)
    is_blind = studies.is_blind(session, study)
    assigned = assignments.by_rater(session, study) if is_blind else {}
    is_shown = pool.is_shown(study.id, study.pool_depth, is_blind=is_blind)
    judged: dict[int, dict[str, int]] = defaultdict(dict)
    by_rater = JudgedItem.question_id, Judgment.rater_id
    counts = select(*by_rater, func.count()).join(Judgment).group_by(*by_rater)
    counts = counts.where(Judgment.verdict.is_not(None), is_shown).order_by(Judgment.rater_id)
    for question_id, rater_id, count in session.execute(counts):
        if rater_id in names:
            judged[question_id][names[rater_id]] = count
    columns = Question.id, Question.position, Question.text, Question.category
    rows = session.execute(
        select(*columns, func.count())
        .join(JudgedItem, JudgedItem.question_id == Question.id)
        .where(is_shown, is_put_to_raters(Question.id))
        .group_by(*columns)
        .order_by(Question.question_set_id, Question.position)
    )
    questions = []
    for key, position, text, category, n_items in rows:
        # A rater whom no question is assigned gets all of them.
        eligible = {id_: name for id_, name in names.items() if key in assigned.get(id_, {key})}
        is_free = study.overlap is None or len(raters_given[key]) < study.overlap
        # A removed rater is in no list of names.
        given_to = sorted(names[rater] for rater in raters_given[key] if rater in names)
        planned_for = [name for rater, name in eligible.items() if rater not in raters_given[key]]
        by_name = {name: judged[key].get(name, 0) for name in sorted({*given_to, *judged[key]})}
        raters = len({*by_name, *eligible.values()})
        n_needed = raters if study.overlap is None else min(study.overlap, raters)
        left_of_begun = sum(n_items - count for count in by_name.values())
        allowed = {rater for rater in present if key in assigned.get(rater, {key})}
        questions.append(
            QuestionProgress(
                id=key,
                position=position,
                text=text,
                category=category,
                judged_items=n_items,
                given_to=given_to,
                planned_for=planned_for if is_free else [],
                reach=len(allowed | raters_given[key]),
                judged=by_name,
                verdicts_left=left_of_begun + n_items * max(0, n_needed - len(by_name)),
            )
        )
    return questions
