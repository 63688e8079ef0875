"""Summary rows follow every click, and equal what the judgments say."""

from __future__ import annotations

from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.judging.rater_rows import summary
from tests.services.runs.runs import NO, YES, card, click, query, run
from webapp.db.tables.people import Rater
from webapp.db.tables.study import Study
from webapp.metrics.judging.queries import Span
from webapp.records import QueryState
from webapp.services.judging import events, live_metrics
from webapp.services.runs import imports
from webapp.services.runs.imports import Labels


def test_a_listing_shown_twice_is_judged_once_and_counts_at_both_ranks(
    session: Session, rater: Rater, run_id: str
) -> None:
    events.judge(session, rater, run_id, 1, 3, YES, click("e1"))

    row = summary(session, rater, run_id, 1)
    assert (row.judged_count, row.relevant_count, row.open_judgments) == (2, 2, 1)
    assert row.first_relevant_rank == 1


def test_ranks_of_a_long_list_count_by_their_number(
    session: Session, study: Study, rater: Rater
) -> None:
    """The tenth comes after the second, however the database tells them."""
    read = run(query(1, *(card(f"c{rank}") for rank in range(1, 13))))
    run_id = imports.store(session, study, read, Labels(), NOW).id
    for rank in (12, 10, 11):
        events.judge(session, rater, run_id, 1, rank, YES, click(f"e{rank}", minute=rank))
    events.judge(session, rater, run_id, 1, 2, NO, click("e2", minute=20))

    row = summary(session, rater, run_id, 1)
    assert (row.first_relevant_rank, row.judged_count, row.open_judgments) == (10, 4, 8)
    assert live_metrics.summary(row).reciprocal_rank == Span(None, 0.1, 1.0)
    assert live_metrics.check(session) == []


def test_a_failed_call_asks_nothing_and_an_unreadable_answer_counts_nowhere(
    session: Session, study: Study, rater: Rater
) -> None:
    read = run(query(1, state=QueryState.FAILED), query(2, state=QueryState.UNREADABLE))
    run_id = imports.store(session, study, read, Labels(), NOW).id

    failed, lost = (summary(session, rater, run_id, query_id) for query_id in (1, 2))
    assert (failed.complete, failed.open_judgments) == (True, 0)
    assert live_metrics.summary(failed).success.value == 0
    assert (lost.complete, lost.open_judgments) == (False, 0)
    assert live_metrics.summary(lost).success.value is None


def test_check_finds_a_summary_that_was_tampered_with(
    session: Session, rater: Rater, run_id: str
) -> None:
    events.judge(session, rater, run_id, 1, 1, YES, click("e1"))
    assert live_metrics.check(session) == []
    summary(session, rater, run_id, 1).relevant_count = 1
    session.flush()

    (found,) = live_metrics.check(session)
    assert (found.run_id, found.query_id, found.column) == (run_id, 1, "relevant_count")
    assert (found.stored, found.computed) == (1, 2)
