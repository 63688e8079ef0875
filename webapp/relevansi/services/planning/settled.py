"""Settled orders of runs, which no judgment can change any more, from the database (decision 0030).

With several raters an item is open until those who still have to judge it cannot change its merged
verdict any more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from sqlalchemy import String, cast, func, select
from sqlalchemy.orm import Session

from relevansi.db.rows import core
from relevansi.db.tables.judging import Adjudication, Judgment
from relevansi.db.tables.runs import Query, Result, Run
from relevansi.db.tables.study import Question, Study
from relevansi.metrics.planning import settled as metrics
from relevansi.metrics.planning.settled import (
    ABSENT,
    CANNOT_TELL,
    NOT_RELEVANT,
    OPEN,
    RELEVANT,
    PooledLists,
    SettledOrders,
)
from relevansi.records import EmptyOutcome, QueryState, Relevance, Scale
from relevansi.services.comparisons.chosen_runs import names_of
from relevansi.services.judging import verdicts
from relevansi.services.runs.reports import ADJUDICATED, Rule
from relevansi.services.study import assignments, studies
from relevansi.services.study.question_sets import unasked

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from relevansi.metrics.planning.settled import Codes

NO_VERDICT = -1
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
    session: Session, study: Study, runs: Sequence[Run], rule: Rule
) -> SettledOrders:
    """Return the orders of `runs`, which share a question set, under `rule`."""
    import numpy as np  # noqa: PLC0415 - a tenth of a second

    pooled = _pooled(session, [run.id for run in runs], unasked(session, study.id))
    by_rater = _verdict_codes(session, study, pooled)
    if rule.rater is not None:
        no_verdicts = np.full(pooled.initial.size, NO_VERDICT, dtype=np.int8)
        codes = by_rater.get(rule.rater.id, no_verdicts)
        state_of = np.array([*states(study).values()], dtype=np.int8)
        item_states = np.where(codes == NO_VERDICT, pooled.initial, state_of[codes])
    else:
        item_states = _merged(session, study, pooled, by_rater, rule)
    if study.cannot_tell != "left_out":
        item_states[item_states == CANNOT_TELL] = NOT_RELEVANT
    return metrics.settled_orders(
        pooled.lists,
        item_states.reshape(pooled.lists.top.shape[::2]),
        names=names_of(runs),
        positions=pooled.positions,
    )


class _Pooled(Struct, frozen=True, eq=False):
    """The lists of some runs of one question set, with the ids and positions of its questions.

    ``places`` has by the id of a judged item its place in the flat array of questions x items, -1
    for ids of other items. ``initial`` are the states before the first verdict, flat.
    """

    questions: tuple[int, ...]
    positions: tuple[int, ...]
    lists: PooledLists
    places: NDArray[np.int64]
    initial: Codes


def _pooled(session: Session, run_ids: Sequence[str], left_out: frozenset[int]) -> _Pooled:
    import numpy as np  # noqa: PLC0415 - a tenth of a second

    connection = core(session)
    columns = (Query.id, Query.run_id, Query.state, Query.emptiness_id, Query.question_id)
    queries = select(*columns, Question.position).join(Question).where(Query.run_id.in_(run_ids))
    in_order = connection.execute(queries.order_by(Question.position, Question.id))
    answers = [row for row in in_order if row.question_id not in left_out]
    item_id = func.coalesce(Result.judged_item_id, verdicts.HOLE)
    results = select(Result.query_key, item_id, Result.rank).join(Query)
    listed = connection.execute(results.where(Query.run_id.in_(run_ids))).all()
    # An empty list has its emptiness at rank 0.
    empty = [(row.id, row.emptiness_id, 0) for row in answers if row.emptiness_id is not None]
    positions = {row.question_id: row.position for row in answers}
    question_places = {question: place for place, question in enumerate(positions)}
    run_places = {run: place for place, run in enumerate(run_ids)}
    cells = {row.id: (question_places[row.question_id], run_places[row.run_id]) for row in answers}
    # The items of each question have columns in the order in which they are listed.
    columns_of: list[dict[int, int]] = [{} for _ in positions]
    listings = []
    for key, item, rank in (*listed, *empty):
        if key in cells:
            items = columns_of[cells[key][0]]
            listings.append((*cells[key], items.setdefault(item, len(items)), rank))
    width = max(map(len, columns_of), default=0)
    has_results = np.zeros((len(positions), len(run_ids)), dtype=bool)
    has_success = has_results.copy()
    for row in answers:
        has_results[cells[row.id]] = row.state == QueryState.RESULTS
        has_success[cells[row.id]] = row.state != QueryState.UNREADABLE
    initial = np.full((len(positions), width), ABSENT, dtype=np.int8)
    place_of: dict[int, int] = {}
    for question, items in enumerate(columns_of):
        initial[question, : len(items)] = OPEN
        place_of |= {item: question * width + column for item, column in items.items()}
        if verdicts.HOLE in items:
            # A result that could not be read is decided without gain (decision 0044).
            initial[question, items[verdicts.HOLE]] = NOT_RELEVANT
    places = np.full(1 + max(place_of, default=0), -1)
    places[[*place_of]] = [*place_of.values()]
    return _Pooled(
        questions=tuple(positions),
        positions=tuple(positions.values()),
        lists=PooledLists.of(listings, width, has_results, has_success),
        places=places,
        initial=initial.ravel(),
    )


def _merged(
    session: Session, study: Study, pooled: _Pooled, by_rater: Mapping[int, Codes], rule: Rule
) -> Codes:
    import numpy as np  # noqa: PLC0415 - a tenth of a second

    people = {rater.id for rater in studies.raters(session, study)} & by_rater.keys()
    state_of = states(study)
    codes = np.array([*state_of.values()], dtype=np.int8)
    # How many raters gave each verdict on each item: verdicts x items.
    votes = np.zeros((len(codes), pooled.initial.size), np.int16)
    for rater in people:
        for number in range(len(codes)):
            votes[number] += by_rater[rater] == number
    unsure, decided = votes[codes == CANNOT_TELL].sum(axis=0), votes[codes != CANNOT_TELL]
    awaited = _awaited(session, study, pooled, people)
    to_come = np.repeat(awaited, pooled.lists.top.shape[-1]) - unsure - decided.sum(axis=0)
    to_come = np.maximum(to_come, 0)
    item_states = pooled.initial.copy()
    item_states[(unsure > 0) & (decided.sum(axis=0) + to_come == 0)] = CANNOT_TELL
    if verdicts.merging_of(study) is verdicts.lower_median:
        # The median grade lies on the side of the threshold that has most votes.
        yes, no = votes[codes == RELEVANT].sum(axis=0), votes[codes == NOT_RELEVANT].sum(axis=0)
        item_states[yes - no > to_come] = RELEVANT
        item_states[no - yes > to_come] = NOT_RELEVANT
        is_card = pooled.lists.every_rank.any(axis=1).ravel()
        # A tie goes to the lower grade, so votes that can only tie settle a card.
        item_states[is_card & (yes + no > 0) & (no - yes == to_come)] = NOT_RELEVANT
    else:
        # By majority each verdict competes by itself: the leading one must be out of reach.
        second, first = np.sort(decided, axis=0)[-2:]
        leads = codes[codes != CANNOT_TELL][decided.argmax(axis=0)]
        item_states = np.where(first - second > to_come, leads, item_states)
    if rule.name == ADJUDICATED:
        decisions = select(Adjudication.judged_item_id, Adjudication.verdict)
        for item_id, verdict in session.execute(decisions):
            if item_id < pooled.places.size and pooled.places[item_id] >= 0:
                item_states[pooled.places[item_id]] = state_of[verdict]
    return item_states


def _verdict_codes(session: Session, study: Study, pooled: _Pooled) -> dict[int, Codes]:
    """Return each rater's verdicts as places in ``states``, or ``NO_VERDICT``, by flat place.

    Only raters with a verdict on one of the items are in it.
    """
    import numpy as np  # noqa: PLC0415 - a tenth of a second

    # One row for each rater and verdict: a row for each judgment takes many times as long to read.
    item_ids = func.aggregate_strings(cast(Judgment.judged_item_id, String), " ")
    rows = core(session).execute(
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
            no_verdicts = np.full(pooled.initial.size, NO_VERDICT, dtype=np.int8)
            by_rater.setdefault(rater_id, no_verdicts)[places] = numbers[verdict]
    return by_rater


def _awaited(
    session: Session, study: Study, pooled: _Pooled, judging: set[int]
) -> NDArray[np.int64]:
    """Return how many raters are to judge each question, of those who judged any of the set."""
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
