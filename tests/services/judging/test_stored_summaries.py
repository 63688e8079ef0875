"""Summary rows follow every click, and equal what the judgments say."""

from __future__ import annotations

import statistics
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from relevansi.db import outages, patience
from relevansi.db.engine import Database
from relevansi.db.outages import Outage
from relevansi.db.tables.judging import Event
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query
from relevansi.db.tables.study import Study
from relevansi.metrics.judging.queries import Span
from relevansi.records import BlindCounts, Blindness, Click, EmptyOutcome, QueryState, Relevance
from relevansi.services.judging import changes, events, judgments, stored_summaries, verdicts
from relevansi.services.judging.answer_ratings import AnswerRating
from relevansi.services.judging.events import Target, TargetChange
from relevansi.services.judging.verdicts import Verdicts, blindness
from relevansi.services.rating import blind_pages, task_judgments
from relevansi.services.rating.blind_pages import BlindPage
from relevansi.services.runs import runs, stored_runs
from relevansi.services.runs.stored_runs import Labels
from relevansi.services.study import studies
from tests.conftest import NOW
from tests.services.judging.rater_rows import summary
from tests.services.rating.blind_raters import Robot, current_page, set_study, stored
from tests.services.runs.runs import NO, YES, card, click, query, run
from tests.stored_studies import open_study


def test_ranks_of_a_long_list_count_by_number(session: Session, study: Study, rater: Rater) -> None:
    """The tenth comes after the second, however the database tells them."""
    read = run(query(1, *(card(f"c{rank}") for rank in range(1, 13))))
    run_id = stored_runs.store(session, study, read, Labels(), NOW).id
    for rank in (12, 10, 11):
        judgments.judge(session, rater, run_id, 1, rank, YES, click(f"e{rank}", minute=rank))
    judgments.judge(session, rater, run_id, 1, 2, NO, click("e2", minute=20))

    row = summary(session, rater, run_id, 1)
    assert (row.first_relevant_rank, row.judged_count, row.open_judgments) == (10, 4, 8)
    assert stored_summaries.summary(row).figures["mrr"] == Span(None, 0.1, 1.0)
    assert stored_summaries.check(session) == []


def test_failed_and_unreadable_answers_count(session: Session, study: Study, rater: Rater) -> None:
    read = run(query(1, state=QueryState.FAILED), query(2, state=QueryState.UNREADABLE))
    run_id = stored_runs.store(session, study, read, Labels(), NOW).id

    failed, lost = (summary(session, rater, run_id, query_id) for query_id in (1, 2))
    assert (failed.complete, failed.open_judgments) == (True, 0)
    assert stored_summaries.summary(failed).figures["success_rate"].value == 0
    assert (lost.complete, lost.open_judgments) == (False, 0)
    assert stored_summaries.summary(lost).figures["success_rate"].value is None


def test_check_finds_a_tampered_summary(session: Session, rater: Rater, run_id: str) -> None:
    judgments.judge(session, rater, run_id, 1, 1, YES, click("e1"))
    assert stored_summaries.check(session) == []
    summary(session, rater, run_id, 1).relevant_count = 1
    session.flush()

    ((_, *difference),) = stored_summaries.check(session)
    assert difference == [run_id, 1, "relevant_count", 1, 2]


def store(session: Session, study: Study, method: str = "hybrid") -> str:
    queries = query(1, card("a"), category="near"), query(2, card("b"), category="far"), query(3)
    read = run(*queries, method=method)
    return stored_runs.store(session, study, read, Labels(), NOW).id


def test_what_an_owner_does_makes_all_new(session: Session, study: Study, rater: Rater) -> None:
    run_id = store(session, study)
    judgments.judge(session, rater, run_id, 1, 1, YES, click("e1"))
    before = changes.since(session, rater, None)
    second = store(session, study, "api_only")
    after_import = changes.since(session, rater, before)
    assert after_import.touched is None

    runs.delete_run(session, study, second, NOW)
    assert changes.since(session, rater, after_import).touched is None


@pytest.mark.parametrize(
    ("votes", "verdict"),
    [
        (["1", "1", "0"], "1"),
        (["1", "0"], None),
        (["1", "unsure"], "1"),
        (["unsure", "unsure"], "unsure"),
        (["1", "0", "unsure", "0"], "0"),
        ([], None),
        (["correct_empty", "false_negative", "false_negative"], "false_negative"),
    ],
)
def test_most_decided_votes_win_and_a_tie_stays_open(votes: list[str], verdict: str | None) -> None:
    assert verdicts.majority_verdict(tuple(votes)) == verdict


@given(st.lists(st.sampled_from([*"01234", "unsure"])))
def test_the_median_is_the_lower_middle_of_the_grades(votes: list[str]) -> None:
    grades = [int(vote) for vote in votes if vote != "unsure"]

    merged = verdicts.lower_median(tuple(votes))

    if grades:
        assert merged == str(statistics.median_low(grades))
    else:
        assert merged == ("unsure" if votes else None)
    both = [(name, Verdicts({7: grade})) for name, grade in (("Ani", "3"), ("Budi", "1"))]
    assert verdicts.merged(both, verdicts.majority_verdict).by_item == {}  # a tie stays open
    assert verdicts.merged(both, verdicts.lower_median).by_item == {7: "1"}


@pytest.fixture(name="blind_run")
def _blind_run(session: Session, study: Study) -> str:
    set_study(session, study, repeat_percent=0, blind=True)
    return stored(session, study, "hybrid", query(1, card("a"), card("b")), query(2))


def blindness_of(session: Session, rater: Rater, blind_run: str) -> Blindness:
    return blindness(session, Query.run_id == blind_run, [rater.id])


def test_verdicts_are_open_on_a_run_s_page_and_blind_in_a_task(
    session: Session, rater: Rater, blind_run: str
) -> None:
    judgments.judge(session, rater, blind_run, 1, 1, YES, click("a", minute=3))
    outcome = AnswerRating(quality=3, empty_outcome=EmptyOutcome.CORRECT_EMPTY)
    judgments.rate(session, rater, blind_run, 2, outcome, click("e", minute=5))

    assert blindness_of(session, rater, blind_run) == Blindness(
        BlindCounts(n=2, blind=0, open=2, last_open=NOW + timedelta(minutes=5)),
        BlindCounts(n=1, blind=0, open=1, last_open=NOW + timedelta(minutes=5)),
    )

    Robot(session, rater).rate_all()  # card b, and the quality of answer 1

    assert blindness_of(session, rater, blind_run) == Blindness(
        BlindCounts(n=3, blind=1, open=2, last_open=NOW + timedelta(minutes=5)),
        BlindCounts(n=2, blind=1, open=1, last_open=NOW + timedelta(minutes=5)),
    )


def test_a_later_click_decides_until_undone(session: Session, rater: Rater, blind_run: str) -> None:
    Robot(session, rater).rate_all()
    judgments.judge(session, rater, blind_run, 1, 1, NO, click("open", minute=100))
    assert blindness_of(session, rater, blind_run).verdicts == BlindCounts(
        3, 2, 1, NOW + timedelta(minutes=100)
    )

    judgments.undo(session, rater, blind_run, click("back", minute=101))

    assert blindness_of(session, rater, blind_run).verdicts == BlindCounts(3, 3, 0, None)


def test_an_earlier_click_that_arrives_late_decides_nothing(
    session: Session, rater: Rater, blind_run: str
) -> None:
    """The open click was made in minute 1 on another device, and is sent in minute 200."""
    Robot(session, rater).rate_all()
    late = Click("late", NOW + timedelta(minutes=200), NOW + timedelta(minutes=1), "phone", 1)
    judgments.judge(session, rater, blind_run, 1, 1, YES, late)

    assert blindness_of(session, rater, blind_run).verdicts == BlindCounts(3, 3, 0, None)


def test_verdicts_of_no_page_are_unknown(session: Session, rater: Rater, blind_run: str) -> None:
    answer = session.scalars(select(Query).where(Query.query_id == 2)).one()
    change = TargetChange(
        Target("verdict", answer.emptiness_id, answer.id), "correct_empty", click("f")
    )
    events.record_all(session, rater, [change], cause="import")
    judgments.judge(session, rater, blind_run, 1, 1, YES, click("a"))
    session.execute(delete(Event).where(Event.event_id == "a"))

    verdicts = blindness_of(session, rater, blind_run).verdicts
    assert verdicts == BlindCounts(n=2, blind=0, open=0, last_open=None)
    assert verdicts.unknown == 2


def of_slugs(page: BlindPage, *slugs: str) -> list[str]:
    keys = {card.card.identity[5:]: card.key for card in page.cards}
    return [keys[slug] for slug in slugs]


def counts(page: BlindPage) -> list[tuple[int, int, int | None, float | None]]:
    """Of each answer: relevant and decided cards, first relevant rank, overall precision."""
    summaries = [summary for _, summary in page.figures]
    rows = [
        (
            summary.relevant_count,
            summary.decided_count,
            summary.first_relevant_rank,
            summary.figures["mean_overall_precision"].value,
        )
        for summary in summaries
    ]
    return sorted(rows, key=str)


def test_each_answer_has_its_own_figures(session: Session, study: Study, rater: Rater) -> None:
    """One lists a, b, the other b, c, d; b is second in one and first in the other."""
    stored(session, study, "hybrid", query(1, card("a"), card("b")))
    stored(session, study, "api_only", query(1, card("b"), card("c"), card("d")))
    set_study(session, study, figures="all", repeat_percent=0)
    robot = Robot(session, rater)
    page = current_page(session, rater)
    assert [letter for letter, _ in page.figures] == ["A", "B"]
    assert counts(page) == [(0, 0, None, None)] * 2

    a, b, c, d = of_slugs(page, "a", "b", "c", "d")
    task_judgments.judge(session, rater, page.task_id, b, YES, robot.click())
    session.expire_all()
    page = blind_pages.blind_page(session, rater, page.task_id)
    assert counts(page) == [(1, 1, 1, None), (1, 1, 2, None)]
    spans = sorted(summary.figures["mean_precision_at_5"][1:] for _, summary in page.figures)
    assert spans == [(1 / 3, 1.0), (1 / 2, 1.0)]

    for key, verdict in ((a, NO), (c, Relevance.UNSURE), (d, NO)):
        task_judgments.judge(session, rater, page.task_id, key, verdict, robot.click())
    session.expire_all()
    page = blind_pages.blind_page(session, rater, page.task_id)
    # a, b: 1 of 2 at rank 2; b, c, d with c not relevant: 1 of 3 at rank 1.
    assert counts(page) == [(1, 2, 1, 1 / 3), (1, 2, 2, 0.5)]
    set_study(session, study, cannot_tell="left_out")
    session.expire_all()
    page = blind_pages.blind_page(session, rater, page.task_id)
    assert counts(page) == [(1, 2, 1, 0.5), (1, 2, 2, 0.5)]
    assert [answer.letter for answer in page.answers] == ["A", "B"]


def test_figures_written_anew_wait_for_a_click_on_its_way(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or an upgrade beside a running server would put figures of before the click into place."""
    with open_study(database) as (session, study):
        store(session, study)
    monkeypatch.setattr(patience, "PATIENCE_SECONDS", 0.2)
    monkeypatch.setattr(
        stored_summaries, "refresh", lambda *_: pytest.fail("read before the click")
    )
    with database.writing() as session:
        [owner] = studies.raters(session, studies.open_or_make(session, NOW))
        events.lock(session, owner)
        with pytest.raises(outages.OUTAGE_ERRORS) as refused:
            stored_summaries.recompute(database)

    assert outages.outage(refused.value) is Outage.BUSY
