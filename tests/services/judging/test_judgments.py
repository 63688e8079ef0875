"""A click is stored once, in its place, and every query that shows the thing feels it."""

from __future__ import annotations

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.runs.runs import card, click, query, run
from webapp.db.tables.judging import Event, Judgment, StoredSummary
from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Query
from webapp.db.tables.study import Study
from webapp.metrics.judging.summaries import Span
from webapp.records import EmptyOutcome, QueryState, Relevance
from webapp.services.judging import judgments, live_metrics
from webapp.services.judging.events import EventIdTaken
from webapp.services.judging.judgments import AnswerRating, NotToJudge, UnknownQuery
from webapp.services.runs import imports
from webapp.services.runs.imports import Labels
from webapp.services.study import studies
from webapp.services.study.studies import Switches

YES, NO, UNSURE = Relevance.RELEVANT, Relevance.NOT_RELEVANT, Relevance.UNSURE


@pytest.fixture(name="run_id")
def _run_id(session: Session, study: Study) -> str:
    """Two listed answers, the first with a listing shown twice, and an empty one."""
    read = run(query(1, card("a"), card("b"), card("a")), query(2, card("c")), query(3))
    return imports.store(session, study, read, Labels(), NOW).id


def verdicts(session: Session, rater: Rater) -> list[str | None]:
    wanted = select(Judgment.verdict).where(Judgment.rater_id == rater.id)
    return list(session.scalars(wanted.order_by(Judgment.judged_thing_id)))


def summary(session: Session, rater: Rater, run_id: str, query_id: int) -> StoredSummary:
    wanted = select(StoredSummary).join(Query, Query.id == StoredSummary.query_key)
    return session.scalars(
        wanted.where(
            StoredSummary.rater_id == rater.id,
            Query.run_id == run_id,
            Query.query_id == query_id,
        ).execution_options(populate_existing=True)
    ).one()


def events(session: Session) -> int:
    return session.scalar(select(func.count()).select_from(Event)) or 0


def test_a_listing_shown_twice_is_judged_once_and_counts_at_both_ranks(
    session: Session, rater: Rater, run_id: str
) -> None:
    judgments.judge(session, rater, run_id, 1, 3, YES, click("e1"))

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
        judgments.judge(session, rater, run_id, 1, rank, YES, click(f"e{rank}", minute=rank))
    judgments.judge(session, rater, run_id, 1, 2, NO, click("e2", minute=20))

    row = summary(session, rater, run_id, 1)
    assert (row.first_relevant_rank, row.judged_count, row.open_judgments) == (10, 4, 8)
    assert live_metrics.summary(row).reciprocal_rank == Span(None, 0.1, 1.0)
    assert live_metrics.check(session) == []


def test_the_same_event_twice_changes_nothing(session: Session, rater: Rater, run_id: str) -> None:
    judgments.judge(session, rater, run_id, 1, 1, YES, click("e1"))
    judgments.judge(session, rater, run_id, 1, 1, NO, click("e2", minute=1))
    judgments.judge(session, rater, run_id, 1, 1, YES, click("e1", minute=2))

    assert verdicts(session, rater) == ["0"]
    assert events(session) == 2


def test_an_event_id_cannot_come_to_mean_something_else(
    session: Session, rater: Rater, run_id: str
) -> None:
    judgments.judge(session, rater, run_id, 1, 1, YES, click("e1"))
    with pytest.raises(EventIdTaken):
        judgments.judge(session, rater, run_id, 1, 1, NO, click("e1"))
    with pytest.raises(EventIdTaken):
        judgments.judge(session, rater, run_id, 2, 1, YES, click("e1"))


def test_a_late_click_of_an_earlier_moment_is_stored_and_does_not_stand(
    session: Session, rater: Rater, run_id: str
) -> None:
    later = click("laptop", minute=5, client_minute=5, device="laptop", sequence=1)
    held_back = click("phone", minute=9, client_minute=1, device="phone", sequence=1)
    judgments.judge(session, rater, run_id, 1, 1, YES, later)
    judgments.judge(session, rater, run_id, 1, 1, NO, held_back)

    assert verdicts(session, rater) == ["1"]
    assert events(session) == 2


def test_a_clock_running_ahead_does_not_shadow_later_clicks(
    session: Session, rater: Rater, run_id: str
) -> None:
    ahead = click("phone", minute=1, client_minute=500, device="phone", sequence=1)
    judgments.judge(session, rater, run_id, 1, 1, YES, ahead)
    judgments.judge(session, rater, run_id, 1, 1, NO, click("laptop", minute=2))

    assert verdicts(session, rater) == ["0"]


def test_a_verdict_can_be_cleared(session: Session, rater: Rater, run_id: str) -> None:
    judgments.judge(session, rater, run_id, 2, 1, YES, click("e1"))
    judgments.judge(session, rater, run_id, 2, 1, None, click("e2", minute=1))

    assert verdicts(session, rater) == [None]
    assert not summary(session, rater, run_id, 2).complete


def test_undo_goes_back_one_change_after_the_other(
    session: Session, rater: Rater, run_id: str
) -> None:
    judgments.judge(session, rater, run_id, 1, 1, YES, click("e1"))
    judgments.judge(session, rater, run_id, 2, 1, NO, click("e2", minute=1))
    judgments.rate(session, rater, run_id, 2, AnswerRating(quality=1), click("e3", minute=2))

    assert judgments.undo(session, rater, run_id, click("u1", minute=3)) == 2
    assert summary(session, rater, run_id, 2).quality is None
    assert judgments.undo(session, rater, run_id, click("u2", minute=4)) == 2
    assert judgments.undo(session, rater, run_id, click("u2", minute=4)) == 2  # sent again
    assert verdicts(session, rater) == ["1", None]
    assert judgments.undo(session, rater, run_id, click("u3", minute=5)) == 1
    assert judgments.undo(session, rater, run_id, click("u4", minute=6)) is None
    assert verdicts(session, rater) == [None, None]
    assert events(session) == 6


def test_undo_restores_the_verdict_that_stood_before(
    session: Session, rater: Rater, run_id: str
) -> None:
    judgments.judge(session, rater, run_id, 1, 1, UNSURE, click("e1"))
    judgments.judge(session, rater, run_id, 1, 1, YES, click("e2", minute=1))
    judgments.undo(session, rater, run_id, click("u1", minute=2))

    assert verdicts(session, rater) == ["unsure"]


def test_an_undo_is_later_than_what_it_undoes_whatever_the_clocks_say(
    session: Session, rater: Rater, run_id: str
) -> None:
    first = click("e1", minute=10, client_minute=9, device="a", sequence=1)
    judgments.judge(session, rater, run_id, 1, 1, YES, first)
    undo = click("u1", minute=10, client_minute=2, device="a", sequence=2)
    judgments.undo(session, rater, run_id, undo)

    assert verdicts(session, rater) == [None]


def test_a_rating_leaves_alone_what_it_does_not_name(
    session: Session, rater: Rater, run_id: str
) -> None:
    judgments.rate(session, rater, run_id, 1, AnswerRating(quality=4, notes="good"), click("e1"))
    judgments.rate(session, rater, run_id, 1, AnswerRating(quality=None), click("e2", minute=1))

    assert summary(session, rater, run_id, 1).quality is None
    again = judgments.lock_query(session, rater, run_id, 1)
    from webapp.db.tables.judging import QueryRating

    assert session.get_one(QueryRating, (rater.id, again.id)).notes == "good"


@pytest.mark.parametrize("quality", [-1, 6])
def test_a_quality_outside_the_scale_is_refused(
    session: Session, rater: Rater, run_id: str, quality: int
) -> None:
    with pytest.raises(ValueError, match="0 to 5"):
        judgments.rate(session, rater, run_id, 1, AnswerRating(quality=quality), click("e1"))


def test_emptiness_is_a_verdict_on_the_question_and_holds_for_every_empty_run(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
    read = run(query(1, card("z")), query(2, card("z")), query(3), method="api_only")
    other = imports.store(session, study, read, Labels(), NOW).id
    rating = AnswerRating(empty_outcome=EmptyOutcome.FALSE_NEGATIVE)
    judgments.rate(session, rater, run_id, 3, rating, click("e1"))

    for each in (run_id, other):
        row = summary(session, rater, each, 3)
        made = live_metrics.summary(row)
        assert (made.complete, made.success.value) == (True, 0)
        assert made.empty_outcome is EmptyOutcome.FALSE_NEGATIVE


def test_only_an_empty_list_has_an_empty_outcome(
    session: Session, rater: Rater, run_id: str
) -> None:
    rating = AnswerRating(empty_outcome=EmptyOutcome.CORRECT_EMPTY)
    with pytest.raises(NotToJudge):
        judgments.rate(session, rater, run_id, 1, rating, click("e1"))


def test_one_verdict_serves_every_run_of_a_standalone_question(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
    read = run(query(1, card("b"), card("a")), query(2), query(3), method="api_only")
    other = imports.store(session, study, read, Labels(), NOW).id
    judgments.judge(session, rater, run_id, 1, 1, YES, click("e1"))

    row = summary(session, rater, other, 1)
    assert (row.relevant_count, row.first_relevant_rank, row.open_judgments) == (1, 2, 1)
    assert live_metrics.check(session) == []


def test_a_context_dependent_question_keeps_its_verdicts_to_its_run(
    session: Session, study: Study, rater: Rater
) -> None:
    ids = [
        imports.store(
            session,
            study,
            run(query(1, card("a")), query(2, card("b"), context_dependent=True), method=method),
            Labels(),
            NOW,
        ).id
        for method in ("hybrid", "api_only")
    ]
    judgments.judge(session, rater, ids[0], 2, 1, YES, click("e1"))
    judgments.judge(session, rater, ids[0], 1, 1, YES, click("e2"))

    assert summary(session, rater, ids[1], 2).judged_count == 0
    assert summary(session, rater, ids[1], 1).judged_count == 1


def test_another_rater_is_not_touched(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
    other = studies.add_rater(session, study, "Budi", NOW)
    judgments.judge(session, rater, run_id, 1, 1, YES, click("e1"))

    assert verdicts(session, other) == []
    assert summary(session, other, run_id, 1).judged_count == 0
    judgments.judge(session, other, run_id, 1, 1, NO, click("e1"))
    assert verdicts(session, rater) == ["1"]


def test_marking_all_is_off_until_the_owner_allows_it_and_is_logged_as_bulk(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
    with pytest.raises(NotToJudge):
        judgments.judge_open(session, rater, run_id, 1, NO, click("e1"))
    studies.set_switches(session, study, Switches(study.name, True, False), NOW)
    judgments.judge(session, rater, run_id, 1, 1, YES, click("e2"))
    judgments.judge_open(session, rater, run_id, 1, NO, click("e3", minute=1))

    assert verdicts(session, rater) == ["1", "0"]
    causes = session.scalars(select(Event.cause).order_by(Event.id)).all()
    assert causes == ["click", "bulk"]


@pytest.mark.parametrize(("query_id", "rank"), [(9, 1), (1, 9), (3, 1)])
def test_what_is_not_there_cannot_be_judged(
    session: Session, rater: Rater, run_id: str, query_id: int, rank: int
) -> None:
    with pytest.raises(UnknownQuery):
        judgments.judge(session, rater, run_id, query_id, rank, YES, click("e1"))


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
    judgments.judge(session, rater, run_id, 1, 1, YES, click("e1"))
    assert live_metrics.check(session) == []
    summary(session, rater, run_id, 1).relevant_count = 1
    session.flush()

    (found,) = live_metrics.check(session)
    assert (found.run_id, found.query_id, found.column) == (run_id, 1, "relevant_count")
    assert (found.stored, found.computed) == (1, 2)
