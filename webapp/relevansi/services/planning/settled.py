"""Which orders of runs no judgment can change any more, and what could still change the others.

A verdict of several raters counts as given once the raters who still have to judge the item cannot
change it any more; until then the item is open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from sqlalchemy import String, cast, func, select
from sqlalchemy.orm import Session

from relevansi.db.engine import tables
from relevansi.db.tables.judging import Adjudication, Judgment
from relevansi.db.tables.runs import Query, Result, Run
from relevansi.db.tables.study import Question, Study
from relevansi.metrics.planning import settled as metrics
from relevansi.metrics.planning.settled import (
    ABSENT,
    CANNOT_TELL,
    CUTOFF,
    NOT_RELEVANT,
    OPEN,
    RELEVANT,
    PooledLists,
    SettledOrders,
)
from relevansi.records import EmptyOutcome, QueryState, Relevance, Scale
from relevansi.services.judging import verdicts
from relevansi.services.runs.reports import ADJUDICATED, Rule
from relevansi.services.study import assignments, studies
from relevansi.services.study.question_sets import unasked

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from relevansi.metrics.planning.settled import Codes

NOTHING = -1
"""In the place of a verdict: the rater gave none."""
_STATES: Mapping[Relevance | None, int] = {
    Relevance.NOT_RELEVANT: NOT_RELEVANT,
    Relevance.RELEVANT: RELEVANT,
    Relevance.UNSURE: CANNOT_TELL,
}


def states(study: Study) -> Mapping[str, int]:
    """Return the state that each verdict gives to its item, grades read at the threshold."""
    scale = Scale.stored(study.scale)
    return {verdict: _STATES[scale.relevances[verdict]] for verdict in scale.verdicts} | {
        EmptyOutcome.FALSE_NEGATIVE: NOT_RELEVANT,
        EmptyOutcome.CORRECT_EMPTY: RELEVANT,
    }


def settled_orders(
    session: Session, study: Study, runs: Sequence[Run], names: Mapping[str, str], rule: Rule
) -> SettledOrders:
    """Return the orders of `runs`, which share a question set, under `rule`."""
    import numpy as np  # noqa: PLC0415 - a tenth of a second

    pooled = _pooled(session, [run.id for run in runs], unasked(session, study.id))
    by_rater = _verdict_codes(session, study, pooled)
    if rule.rater is not None:
        codes = by_rater.get(rule.rater.id, np.full(pooled.pristine.size, NOTHING, dtype=np.int8))
        state_of = np.array([*states(study).values()], dtype=np.int8)
        item_states = np.where(codes == NOTHING, pooled.pristine, state_of[codes])
    else:
        is_adjudicated = rule.name == ADJUDICATED
        item_states = _merged(session, study, pooled, by_rater, is_adjudicated=is_adjudicated)
    if study.cannot_tell != "left_out":
        item_states[item_states == CANNOT_TELL] = NOT_RELEVANT
    return metrics.settled_orders(
        pooled.lists,
        item_states.reshape(pooled.lists.top.shape[::2]),
        names=names,
        positions=pooled.positions,
    )


class _Pooled(Struct, frozen=True, eq=False):
    """The lists of some runs of one question set, with the ids and positions of its questions.

    ``places`` has the place of a judged item in the flat array of questions x items by its id, -1
    for others. ``pristine`` is the state of everything before the first verdict, flat.
    """

    runs: tuple[str, ...]
    questions: tuple[int, ...]
    positions: tuple[int, ...]
    lists: PooledLists
    places: NDArray[np.int64]
    pristine: Codes


def _pooled(session: Session, run_ids: Sequence[str], left_out: frozenset[int]) -> _Pooled:
    import numpy as np  # noqa: PLC0415 - a tenth of a second

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
    answers = [row for row in every if row.question_id not in left_out]
    results = connection.execute(
        select(Result.query_key, Result.rank, func.coalesce(Result.judged_item_id, verdicts.HOLE))
        .join(Query, Query.id == Result.query_key)
        .where(Query.run_id.in_(run_ids))
    ).all()
    positions = dict.fromkeys((row.question_id, row.position) for row in answers)
    question_places = {question: place for place, (question, _) in enumerate(positions)}
    run_places = {run: place for place, run in enumerate(run_ids)}
    cells = {row.id: (question_places[row.question_id], run_places[row.run_id]) for row in answers}
    # Each listed item at its rank, and the emptiness of each empty list at rank 0.
    listings = [(*cells[key], item_id, rank) for key, rank, item_id in results if key in cells]
    listings += [
        (*cells[row.id], row.emptiness_id, 0) for row in answers if row.emptiness_id is not None
    ]
    questions, of_run, item_ids, ranks = np.array(listings, dtype=np.int64).reshape(-1, 4).T
    pairs, firsts, at_pair = np.unique(
        np.stack([questions, item_ids]), axis=1, return_index=True, return_inverse=True
    )
    # The items of each question get columns in the order in which they were listed.
    columns = np.empty_like(firsts)
    columns[np.lexsort((firsts, pairs[0]))] = np.arange(firsts.size) - np.searchsorted(
        *pairs[[0, 0]]
    )
    width = int(columns.max(initial=-1)) + 1
    shape = len(positions), len(run_ids), width
    top, below = np.zeros(shape, dtype=np.int16), np.zeros(shape, dtype=np.int16)
    reciprocal, succeeds = np.zeros(shape), np.zeros(shape, dtype=bool)
    at = np.stack([questions, of_run, columns[at_pair]])
    succeeds[tuple(at)] = True
    listed, ranks = tuple(at[:, ranks > 0]), ranks[ranks > 0]
    np.add.at(top, listed, ranks <= CUTOFF)
    np.add.at(below, listed, 1)
    np.maximum.at(reciprocal, listed, 1 / ranks)
    has_results = np.zeros(shape[:2], dtype=bool)
    has_success = np.zeros(shape[:2], dtype=bool)
    for row in answers:
        has_results[cells[row.id]] = row.state == QueryState.RESULTS
        has_success[cells[row.id]] = row.state != QueryState.UNREADABLE
    places = np.full(1 + int(item_ids.max(initial=0)), -1)
    own_places, is_hole = pairs[0] * width + columns, pairs[1] == verdicts.HOLE
    places[pairs[1][~is_hole]] = own_places[~is_hole]
    pristine = np.full(len(positions) * width, ABSENT, dtype=np.int8)
    pristine[own_places] = OPEN
    pristine[own_places[is_hole]] = NOT_RELEVANT
    return _Pooled(
        runs=tuple(run_ids),
        questions=tuple(question for question, _ in positions),
        positions=tuple(position for _, position in positions),
        lists=PooledLists(top, below, reciprocal, succeeds, has_results, has_success),
        places=places,
        pristine=pristine,
    )


def _merged(
    session: Session,
    study: Study,
    pooled: _Pooled,
    by_rater: Mapping[int, Codes],
    *,
    is_adjudicated: bool,
) -> Codes:
    import numpy as np  # noqa: PLC0415 - a tenth of a second

    people = {rater.id for rater in studies.raters(session, study)} & by_rater.keys()
    state_of = states(study)
    codes = np.array([*state_of.values()], dtype=np.int8)
    no_votes = np.zeros(pooled.pristine.size, np.int16)
    votes = np.stack(
        [
            np.sum([by_rater[rater] == number for rater in people] or [no_votes], axis=0)
            for number in range(len(codes))
        ]
    )
    unsure, decided = votes[codes == CANNOT_TELL].sum(axis=0), votes[codes != CANNOT_TELL]
    awaited = _awaited(session, study, pooled, people)
    to_come = np.repeat(awaited, pooled.lists.top.shape[-1]) - unsure - decided.sum(axis=0)
    to_come = np.maximum(to_come, 0)
    item_states = pooled.pristine.copy()
    item_states[(unsure > 0) & (decided.sum(axis=0) + to_come == 0)] = CANNOT_TELL
    if verdicts.merging_of(study) is verdicts.lower_median:  # of two middle grades the lower
        yes, no = (votes[codes == code].sum(axis=0) for code in (RELEVANT, NOT_RELEVANT))
        item_states[yes - no > to_come] = RELEVANT
        item_states[no - yes > to_come] = NOT_RELEVANT
        is_card = pooled.lists.every_rank.any(axis=1).ravel()
        # A tie goes to the lower grade, so votes that can only tie settle a card.
        item_states[is_card & (yes + no > 0) & (no - yes == to_come)] = NOT_RELEVANT
    else:  # each grade has votes of its own
        second, first = np.sort(decided, axis=0)[-2:]
        leads = codes[codes != CANNOT_TELL][decided.argmax(axis=0)]
        item_states = np.where(first - second > to_come, leads, item_states)
    if is_adjudicated:
        decisions = select(Adjudication.judged_item_id, Adjudication.verdict)
        for item_id, verdict in session.execute(decisions):
            if item_id < pooled.places.size and pooled.places[item_id] >= 0:
                item_states[pooled.places[item_id]] = state_of[verdict]
    return item_states


def _verdict_codes(session: Session, study: Study, pooled: _Pooled) -> dict[int, Codes]:
    """Return the verdicts of each rater who gave any, as places in ``states``, else ``NOTHING``.

    They come in one row for each rater and kind of verdict.
    """
    import numpy as np  # noqa: PLC0415 - a tenth of a second

    item_ids = func.aggregate_strings(cast(Judgment.judged_item_id, String), " ")
    rows = tables(session).execute(
        select(Judgment.rater_id, Judgment.verdict, item_ids)
        .where(Judgment.verdict.is_not(None))
        .group_by(Judgment.rater_id, Judgment.verdict)
    )
    by_rater: dict[int, Codes] = {}
    numbers = {verdict: number for number, verdict in enumerate(states(study))}
    for rater_id, verdict, listed in rows:
        assert verdict is not None
        judged = np.fromstring(listed, dtype=np.int64, sep=" ")
        places = pooled.places[judged[judged < pooled.places.size]]
        places = places[places >= 0]
        if places.size:
            nothing = np.full(pooled.pristine.size, NOTHING, dtype=np.int8)
            by_rater.setdefault(rater_id, nothing)[places] = numbers[verdict]
    return by_rater


def _awaited(
    session: Session, study: Study, pooled: _Pooled, judging: set[int]
) -> NDArray[np.int64]:
    """Return how many raters each question is to have, of those who judged any of the set."""
    import numpy as np  # noqa: PLC0415 - a tenth of a second

    present = {rater.id for rater in studies.present(session, study)}
    assigned = assignments.by_rater(session, study)
    counts = np.zeros(len(pooled.questions), dtype=np.int64)
    for rater_id in judging & present:
        if rater_id not in assigned:
            counts += 1
        else:
            counts += np.isin(pooled.questions, list(assigned[rater_id]))
    return np.minimum(counts, study.overlap or counts)
