"""The lists of the runs of a question set and the verdicts on them, read into arrays at once.

The lists change only with the study's revision: they are read once and kept until then. Verdicts
change with it too, and by events: they are kept as well, and of new events only the things are read
again. So a set of thousands of questions costs little more than a small one.

A verdict of several raters counts as given once the raters who still have to judge the thing
cannot change it any more; until then the thing is open.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from msgspec import Struct
from sqlalchemy import Engine, Select, String, bindparam, cast, func, select
from sqlalchemy.orm import Session

from webapp.db.connection import tables
from webapp.db.tables.agreement import Adjudication
from webapp.db.tables.judging import Event, Judgment
from webapp.db.tables.rating import Task
from webapp.db.tables.runs import Query, Result, Run
from webapp.db.tables.study import Question, Study
from webapp.metrics.planning.bounds import (
    ABSENT,
    CANNOT_TELL,
    CUTOFF,
    NOT_RELEVANT,
    OPEN,
    RELEVANT,
    PooledLists,
)
from webapp.records import EmptyOutcome, QueryState, Relevance
from webapp.services.runs.reports import ADJUDICATED, Rule
from webapp.services.study import assignments, studies

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from webapp.metrics.planning.bounds import Codes

STATES: Mapping[str, int] = {
    Relevance.NOT_RELEVANT: NOT_RELEVANT,
    Relevance.RELEVANT: RELEVANT,
    Relevance.UNSURE: CANNOT_TELL,
    EmptyOutcome.FALSE_NEGATIVE: NOT_RELEVANT,
    EmptyOutcome.CORRECT_EMPTY: RELEVANT,
}
"""The state that a verdict gives to its thing."""
MOST_NEW = 500
"""So many changed things are read one by one; of more, everything is read."""
MOST_KEPT = 8
"""So many question sets are kept for each database."""


class PooledSet(Struct, frozen=True, eq=False, weakref=True):
    """The lists of some runs of one question set.

    ``questions`` are the ids of its questions, ``positions`` their places in the set.
    ``places`` has the place of a thing in the flat array of questions x things by its id, -1 for
    things of other questions. ``pristine`` is the state of everything before the first verdict.
    """

    study_id: int
    runs: tuple[str, ...]
    questions: tuple[int, ...]
    positions: tuple[int, ...]
    lists: PooledLists
    places: NDArray[np.int64]
    pristine: Codes


_kept: WeakKeyDictionary[Engine, dict[tuple[Any, ...], PooledSet]] = WeakKeyDictionary()
_said: WeakKeyDictionary[PooledSet, tuple[_Mark, Mapping[int, Codes]]] = WeakKeyDictionary()


def pooled_set(
    session: Session, study: Study, run_ids: Sequence[str], unasked: frozenset[int] = frozenset()
) -> PooledSet:
    """Return what these runs, all of one question set, list for its questions but the unasked."""
    connection = tables(session)
    key = study.id, _revision(session, study.id), tuple(run_ids), unasked
    kept = _kept.setdefault(connection.engine, {})
    found = kept.get(key)
    if found is None:
        found = _read(session, study.id, run_ids, unasked)
        while len(kept) >= MOST_KEPT:
            kept.pop(next(iter(kept)))
        kept[key] = found
    return found


def _revision(session: Session, study_id: int) -> str:
    """Return what changes once a run's lists, a question's place or what is asked does."""
    return tables(session).execute(_study(), {"id": study_id}).scalar_one()


@cache
def _study() -> Select[str]:
    return select(Study.revision).where(Study.id == bindparam("id"))


def _read(
    session: Session, study_id: int, run_ids: Sequence[str], unasked: frozenset[int]
) -> PooledSet:
    import numpy as np

    connection = tables(session)
    every = connection.execute(
        select(
            *(Query.id, Query.run_id, Query.state, Query.emptiness_id),
            *(Question.id.label("question_id"), Question.position),
        )
        .join(Question, Question.id == Query.question_id)
        .where(Query.run_id.in_(run_ids))
        .order_by(Question.position, Question.id)
    ).all()
    asked = [row for row in every if row.question_id not in unasked]
    results = connection.execute(
        select(Result.query_key, Result.rank, Result.judged_thing_id)
        .join(Query, Query.id == Result.query_key)
        .where(Query.run_id.in_(run_ids))
    ).all()
    positions = dict.fromkeys((row.question_id, row.position) for row in asked)
    question_places = {question: place for place, (question, _) in enumerate(positions)}
    run_places = {run: place for place, run in enumerate(run_ids)}
    cells = {row.id: (question_places[row.question_id], run_places[row.run_id]) for row in asked}
    listed = [(key, rank, thing) for key, rank, thing in results if key in cells]
    columns: dict[tuple[int, int], int] = {}
    widths = [0] * len(positions)
    empty = [(row.id, 0, row.emptiness_id) for row in asked if row.emptiness_id is not None]
    for key, _, thing in (*listed, *empty):
        question = cells[key][0]
        if (question, thing) not in columns:
            columns[question, thing] = widths[question]
            widths[question] += 1
    width = max(widths, default=0)
    shape = len(positions), len(run_ids), width
    top, whole = np.zeros(shape, dtype=np.int16), np.zeros(shape, dtype=np.int16)
    reciprocal, succeeds = np.zeros(shape), np.zeros(shape, dtype=bool)
    at = [(*cells[key], columns[cells[key][0], thing]) for key, _, thing in listed]
    places_of = tuple(np.array(at, dtype=np.intp).reshape(-1, 3).T)
    ranks = np.array([rank for _, rank, _ in listed], dtype=np.float64)
    np.add.at(top, places_of, ranks <= CUTOFF)
    np.add.at(whole, places_of, 1)
    np.maximum.at(reciprocal, places_of, 1 / ranks)
    succeeds[places_of] = True
    for key, _, thing in empty:
        question, run = cells[key]
        succeeds[question, run, columns[question, thing]] = True
    has_results = np.zeros(shape[:2], dtype=bool)
    has_success = np.zeros(shape[:2], dtype=bool)
    for row in asked:
        has_results[cells[row.id]] = row.state == QueryState.RESULTS
        has_success[cells[row.id]] = row.state != QueryState.UNREADABLE
    places = np.full(1 + max((thing for _, thing in columns), default=0), -1)
    pristine = np.full((len(positions), width), ABSENT, dtype=np.int8)
    for (question, thing), column in columns.items():
        places[thing] = question * width + column
        pristine[question, column] = OPEN
    return PooledSet(
        study_id=study_id,
        runs=tuple(run_ids),
        questions=tuple(question for question, _ in positions),
        positions=tuple(position for _, position in positions),
        lists=PooledLists(top, whole, reciprocal, succeeds, has_results, has_success),
        places=places,
        pristine=pristine,
    )


def states(session: Session, study: Study, pooled: PooledSet, rule: Rule) -> Codes:
    """Return the state of every thing under `rule`, as the study counts "cannot tell"."""
    import numpy as np

    if rule.rater is not None:
        found = _of_rater(session, pooled, rule.rater.id)
    else:
        found = _merged(session, study, pooled, is_adjudicated=rule.name == ADJUDICATED)
    if study.cannot_tell == "left_out":
        return found
    return np.where(found == CANNOT_TELL, NOT_RELEVANT, found).astype(found.dtype)


def _of_rater(session: Session, pooled: PooledSet, rater_id: int) -> Codes:
    import numpy as np

    said = given(session, pooled).get(rater_id)
    if said is None:
        return pooled.pristine
    return np.where(said == OPEN, pooled.pristine.reshape(-1), said).reshape(pooled.pristine.shape)


def _merged(session: Session, study: Study, pooled: PooledSet, *, is_adjudicated: bool) -> Codes:
    import numpy as np

    by_rater = given(session, pooled)
    people = [one.id for one in studies.raters(session, study) if one.id in by_rater]
    votes = {code: np.zeros(pooled.pristine.size, np.int16) for code in set(STATES.values())}
    for rater_id in people:
        for code in votes:
            votes[code] += by_rater[rater_id] == code
    yes, no, unsure = (votes[code] for code in (RELEVANT, NOT_RELEVANT, CANNOT_TELL))
    awaited = _awaited(session, study, pooled, set(people))
    left = np.maximum(np.repeat(awaited, pooled.pristine.shape[1]) - yes - no - unsure, 0)
    said = pooled.pristine.copy()
    flat = said.reshape(-1)
    flat[(unsure > 0) & (yes + no + left == 0)] = CANNOT_TELL
    flat[yes - no > left] = RELEVANT
    flat[no - yes > left] = NOT_RELEVANT
    if is_adjudicated:
        settled = select(Adjudication.judged_thing_id, Adjudication.verdict)
        for thing, verdict in session.execute(settled):
            if thing < pooled.places.size and pooled.places[thing] >= 0:
                flat[pooled.places[thing]] = STATES[verdict]
    return said


class _Mark(NamedTuple):
    """How far verdicts were read: the number of events, the last of them, the study's revision."""

    events: int
    last: int
    name: str | None
    revision: str


def given(session: Session, pooled: PooledSet) -> Mapping[int, Codes]:
    """Return each rater's verdicts on the set as states, flat; ``OPEN`` where none is given.

    Raters without any verdict are left out.
    """
    connection = tables(session)
    events, last, name = connection.execute(_last_event()).one()
    mark = _Mark(events, last, name, _revision(session, pooled.study_id))
    before, found = _said.get(pooled, (None, None))
    if before is None or found is None or before.revision != mark.revision:
        found = _all_given(session, pooled)
    elif before != mark:
        new = connection.execute(_newer(), {"last": before.last}).all()
        things = {thing for _, thing in new if thing is not None}
        if before.events + len(new) == mark.events and len(things) <= MOST_NEW:
            found = _given_anew(session, pooled, found, things)
        else:
            found = _all_given(session, pooled)
    _said[pooled] = mark, found
    return found


@cache
def _last_event() -> Select[*tuple[Any, ...]]:
    """Return the statement over the number of events, and the number and name of the last."""
    last = select(func.max(Event.id)).scalar_subquery()
    name = select(Event.event_id).where(Event.id == last).scalar_subquery()
    return select(func.count(Event.id), func.coalesce(last, 0), name)


@cache
def _newer() -> Select[*tuple[Any, ...]]:
    return select(Event.id, Event.judged_thing_id).where(Event.id > bindparam("last"))


def _all_given(session: Session, pooled: PooledSet) -> dict[int, Codes]:
    """Read every verdict, in one row for each rater and kind of verdict."""
    import numpy as np

    things = func.aggregate_strings(cast(Judgment.judged_thing_id, String), " ")
    rows = tables(session).execute(
        select(Judgment.rater_id, Judgment.verdict, things)
        .where(Judgment.verdict.is_not(None))
        .group_by(Judgment.rater_id, Judgment.verdict)
    )
    found: dict[int, Codes] = {}
    for rater_id, verdict, listed in rows:
        assert verdict is not None
        judged = np.fromstring(listed, dtype=np.int64, sep=" ")
        places = pooled.places[judged[judged < pooled.places.size]]
        places = places[places >= 0]
        if places.size:
            nothing = np.full(pooled.pristine.size, OPEN, dtype=np.int8)
            found.setdefault(rater_id, nothing)[places] = STATES[verdict]
    return found


def _given_anew(
    session: Session, pooled: PooledSet, before: Mapping[int, Codes], things: Collection[int]
) -> dict[int, Codes]:
    """Read the verdicts on `things` again, and leave the others as they were `before`."""
    import numpy as np

    own = [one for one in things if one < pooled.places.size and pooled.places[one] >= 0]
    if not own:
        return dict(before)
    places = pooled.places[own]
    found = {rater_id: said.copy() for rater_id, said in before.items()}
    for said in found.values():
        said[places] = OPEN
    rows = tables(session).execute(
        select(Judgment.rater_id, Judgment.judged_thing_id, Judgment.verdict).where(
            Judgment.judged_thing_id.in_(own), Judgment.verdict.is_not(None)
        )
    )
    for rater_id, thing, verdict in rows:
        assert verdict is not None
        nothing = np.full(pooled.pristine.size, OPEN, dtype=np.int8)
        found.setdefault(rater_id, nothing)[pooled.places[thing]] = STATES[verdict]
    return {rater_id: said for rater_id, said in found.items() if (said != OPEN).any()}


def _awaited(
    session: Session, study: Study, pooled: PooledSet, judging: set[int]
) -> NDArray[np.int64]:
    """Return how many raters each question is to have, of those who have begun with the set."""
    import numpy as np

    begun = select(Task.rater_id).distinct().where(Task.question_id.in_(_questions(pooled)))
    at_work = judging | set(session.scalars(begun))
    present = {one.id for one in studies.raters(session, study) if one.removed_at is None}
    own = assignments.by_rater(session, study)
    counts = np.zeros(len(pooled.questions), dtype=np.int64)
    for rater_id in at_work & present:
        if rater_id not in own:
            counts += 1
        else:
            counts += np.isin(pooled.questions, list(own[rater_id]))
    return np.minimum(counts, study.overlap or counts)


def _questions(pooled: PooledSet) -> Any:
    """Return the statement over the ids of the questions of the set's runs."""
    return select(Query.question_id).join(Run).where(Run.id.in_(pooled.runs))
