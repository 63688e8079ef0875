"""Runs can be relabelled, completed by hand and deleted, and every change is logged."""

from __future__ import annotations

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.runs.runs import card, click, count, query, run
from webapp.db.tables.judging import Event, JudgedThing, Judgment
from webapp.db.tables.people import LogEntry, Rater
from webapp.db.tables.runs import Query, Run
from webapp.db.tables.study import Study
from webapp.records import QueryState, Relevance
from webapp.services.judging import events, live_metrics
from webapp.services.judging.events import AnswerRating
from webapp.services.runs import imports, runs
from webapp.services.runs.imports import Labels
from webapp.services.runs.runs import NotUnreadable, UnknownRun

YES = Relevance.RELEVANT
CARDS = (
    "1. **[Rumah A](https://x.example/properti/rumah-a)**\n   💰 Rp 500.000.000\n2. **Rumah B**\n"
)


@pytest.fixture(name="run_id")
def _run_id(session: Session, study: Study) -> str:
    read = run(
        query(1, card("a")),
        query(2, card("b"), context_dependent=True),
        query(3, state=QueryState.UNREADABLE),
    )
    return imports.store(session, study, read, Labels(), NOW).id


def test_a_run_can_be_relabelled_and_the_change_is_logged(
    session: Session, study: Study, run_id: str
) -> None:
    runs.relabel(session, study, run_id, "vector_only", "gpt-4o-mini", NOW)
    session.flush()

    row = session.get_one(Run, run_id)
    assert (row.search_method, row.llm) == ("vector_only", "gpt-4o-mini")
    assert row.stated_search_method == "hybrid"
    logged = session.execute(
        select(LogEntry.action, LogEntry.old, LogEntry.new).order_by(LogEntry.id)
    )
    assert list(logged) == [
        ("relabel method", "hybrid", "vector_only"),
        ("relabel llm", None, "gpt-4o-mini"),
    ]


def test_deleting_a_run_says_what_goes_and_keeps_pooled_judgments(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
    events.judge(session, rater, run_id, 1, 1, YES, click("e1"))
    events.judge(session, rater, run_id, 2, 1, YES, click("e2"))
    events.rate(session, rater, run_id, 1, AnswerRating(quality=5), click("e3"))

    cost = runs.deletion_cost(session, study, run_id)
    assert (cost.judgments_lost, cost.ratings_lost, cost.judgments_kept) == (1, 1, 1)
    runs.delete_run(session, study, run_id, NOW)
    assert (count(session, Run), count(session, Query), count(session, Judgment)) == (0, 0, 1)
    assert count(session, Event) == 3
    assert live_metrics.check(session) == []


def test_a_deleted_run_can_be_imported_again_and_finds_its_pooled_judgments(
    session: Session, study: Study, rater: Rater
) -> None:
    read = run(query(1, card("a")))
    first = imports.store(session, study, read, Labels(), NOW).id
    events.judge(session, rater, first, 1, 1, YES, click("e1"))
    runs.delete_run(session, study, first, NOW)
    again = imports.store(session, study, read, Labels(), NOW)

    assert again.id != first
    standing = live_metrics.by_category(session, rater.id, again.id)["location"]
    assert standing.totals.n_relevant == 1


def test_a_deleted_run_s_kept_things_no_longer_point_to_it(
    session: Session, study: Study, run_id: str
) -> None:
    runs.delete_run(session, study, run_id, NOW)

    assert set(session.scalars(select(JudgedThing.run_id))) == {None}


def test_cards_added_by_hand_make_an_unreadable_answer_ratable(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
    assert runs.add_cards(session, study, run_id, 3, "no card in here", NOW) == 0
    assert runs.add_cards(session, study, run_id, 3, CARDS, NOW) == 2

    events.judge(session, rater, run_id, 3, 2, YES, click("e1"))
    totals = live_metrics.by_category(session, rater.id, run_id)["location"].totals
    assert (totals.n_unreadable, totals.n_with_results, totals.n_results) == (0, 3, 4)
    with pytest.raises(NotUnreadable):
        runs.add_cards(session, study, run_id, 3, CARDS, NOW)


def test_questions_of_the_set_that_a_run_did_not_ask_are_named(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
    read = run(query(1, card("z")), query(3, card("y")), method="b")
    part = imports.store(session, study, read, Labels(), NOW).id

    assert runs.run_page(session, rater, part).missing_questions == ((2, "Question 2"),)
    assert runs.run_page(session, rater, run_id).missing_questions == ()


def test_an_unknown_run_is_not_found(session: Session, study: Study) -> None:
    with pytest.raises(UnknownRun):
        runs.find(session, study, "nothing")
