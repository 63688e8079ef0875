"""The rating page says how far a rater is, and costs the same however long the run is."""

from __future__ import annotations

import pytest
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.rating.open_pages import page, stored
from tests.services.runs.runs import card, click, query
from tests.services.statements import counted
from webapp.db.engine import Database
from webapp.db.tables.people import Rater
from webapp.db.tables.study import Study
from webapp.records import EmptyOutcome, QueryState, Relevance
from webapp.services.judging import events
from webapp.services.judging.events import AnswerRating, UnknownQuery
from webapp.services.rating import pages
from webapp.services.rating.pool import QueryFilter
from webapp.services.study import studies

YES = Relevance.RELEVANT


def test_a_repeated_listing_names_its_other_ranks(
    session: Session, study: Study, rater: Rater
) -> None:
    run_id = stored(session, study, query(1, card("a"), card("b"), card("a")))

    shown = page(session, rater, run_id, 1).cards
    assert [entry.repeats for entry in shown] == [(3,), (), (1,)]


def test_what_is_left_counts_distinct_verdicts_and_unrated_answers(
    session: Session, study: Study, rater: Rater
) -> None:
    run_id = stored(session, study, query(1, card("a"), card("a")), query(2), query(3, card("b")))
    events.judge(session, rater, run_id, 3, 1, YES, click("e1"))

    whole = page(session, rater, run_id, 1).whole
    assert (whole.open_judgments, whole.open_queries) == (2, 3)


def test_next_open_goes_round_the_end_and_keeps_to_the_category(
    session: Session, study: Study, rater: Rater
) -> None:
    run_id = stored(
        session, study, query(1, category="x"), query(2, category="y"), query(3, category="x")
    )
    rated = AnswerRating(quality=0, empty_outcome=EmptyOutcome.CORRECT_EMPTY)

    assert page(session, rater, run_id, 3).place.next_open == 1
    assert page(session, rater, run_id, 1, QueryFilter(category="x")).place.next_open == 3
    assert page(session, rater, run_id, 1, QueryFilter(category="x")).place.next == 3
    events.rate(session, rater, run_id, 1, rated, click("e1"))
    events.rate(session, rater, run_id, 3, rated, click("e2"))
    assert page(session, rater, run_id, 3).place.next_open == 2
    assert page(session, rater, run_id, 1, QueryFilter(category="x")).place.next_open is None
    assert page(session, rater, run_id, 3, QueryFilter(only_open=True)).place.previous == 2


def test_an_answer_that_only_misses_its_quality_is_open_unless_it_is_unreadable(
    session: Session, study: Study, rater: Rater
) -> None:
    failed, unreadable = (
        query(number, state=state)
        for number, state in ((2, QueryState.FAILED), (4, QueryState.UNREADABLE))
    )
    run_id = stored(session, study, query(1), failed, query(3, card("a")), unreadable)
    events.judge(session, rater, run_id, 3, 1, YES, click("e1"))
    outcome = AnswerRating(empty_outcome=EmptyOutcome.CORRECT_EMPTY)
    events.rate(session, rater, run_id, 1, outcome, click("e2"))

    for query_id, left in ((1, 3), (2, 2), (3, 1)):
        whole = page(session, rater, run_id, 4).whole
        assert (whole.open_judgments, whole.open_queries, whole.totals.n_unrated) == (0, left, left)
        assert whole.totals.n_complete == whole.totals.n_counted == 3  # figures ask no quality
        assert page(session, rater, run_id, 4).place.next_open == query_id
        assert pages.first_open(session, rater, run_id) == query_id
        events.rate(
            session, rater, run_id, query_id, AnswerRating(quality=0), click(f"q{query_id}")
        )
    assert pages.first_open(session, rater, run_id) is None


def test_a_rater_goes_on_where_they_stopped(session: Session, study: Study, rater: Rater) -> None:
    run_id = stored(session, study, query(1), query(2, card("a"), card("b")), query(3))
    assert pages.first_open(session, rater, run_id) == 1
    events.judge(session, rater, run_id, 2, 1, YES, click("e1"))

    assert pages.first_open(session, rater, run_id) == 2
    events.judge(session, rater, run_id, 2, 2, YES, click("e2"))
    events.rate(session, rater, run_id, 2, AnswerRating(quality=5), click("e3"))
    assert pages.first_open(session, rater, run_id) == 3


def test_the_suggested_quality_is_offered_and_never_set(
    session: Session, study: Study, rater: Rater
) -> None:
    run_id = stored(session, study, query(1, card("a"), card("b")))
    events.judge(session, rater, run_id, 1, 1, YES, click("e1"))
    assert page(session, rater, run_id, 1).suggested_quality is None
    events.judge(session, rater, run_id, 1, 2, Relevance.NOT_RELEVANT, click("e2"))

    shown = page(session, rater, run_id, 1)
    assert (shown.suggested_quality, shown.quality) == (3, None)

    study.suggest_quality = False
    session.flush()
    assert page(session, rater, run_id, 1).suggested_quality is None


def test_correct_empty_is_doubted_where_another_run_found_something(
    session: Session, study: Study, rater: Rater
) -> None:
    empty = stored(session, study, query(1))
    found = stored(session, study, query(1, card("a")), method="b")
    assert not page(session, rater, empty, 1).found_elsewhere
    events.judge(session, rater, found, 1, 1, YES, click("e1"))

    assert page(session, rater, empty, 1).found_elsewhere


def test_a_query_of_another_study_is_not_found(session: Session, study: Study) -> None:
    other = Study(name="other", created_at=NOW)
    session.add(other)
    session.flush()
    stranger = studies.add_rater(session, other, "Stranger", NOW)
    run_id = stored(session, study, query(1))

    with pytest.raises(UnknownQuery):
        page(session, stranger, run_id, 1)


def _click_and_show(session: Session, rater: Rater, run_id: str, number: int) -> None:
    events.judge(session, rater, run_id, 1, 1, YES, click(f"e{number}", minute=number))
    session.commit()
    page(session, rater, run_id, 1)


def test_a_click_costs_the_same_statements_in_a_long_run_as_in_a_short_one(
    database: Database,
) -> None:
    costs = []
    for length in (4, 40):
        with database.writing() as session:
            study = studies.open_or_make(session, NOW)
            rater = studies.raters(session, study)[0]
            cards = [card(f"{length}-{number}") for number in range(5)]
            queries = [
                query(number, *cards, text=f"{length}/{number}") for number in range(1, length)
            ]
            run_id = stored(session, study, *queries, method=str(length))
            _click_and_show(session, rater, run_id, length)
            session.expire_all()
            with counted(database) as statements:
                _click_and_show(session, rater, run_id, length + 1)
            costs.append(len(statements))

    assert costs[0] == costs[1]
    assert costs[0] <= 32
