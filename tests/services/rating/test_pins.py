"""A rater pins what fits: what is stored, counted, asked of others and taken back."""

from __future__ import annotations

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.db.tables.catalogue import Search
from relevansi.db.tables.judging import Event, JudgedItem, Judgment, StoredSummary
from relevansi.db.tables.people import Rater
from relevansi.db.tables.study import Study
from relevansi.records import EmptyOutcome, Scale
from relevansi.services.catalogue.filters import Filters
from relevansi.services.judging import answer_ratings, judgments, stored_summaries, undoing
from relevansi.services.judging.answer_ratings import AnswerRating
from relevansi.services.people import raters
from relevansi.services.rating import blind_pages, lookups, pool, task_judgments, workloads
from relevansi.services.rating.lookups import Place
from tests.conftest import NOW
from tests.services.catalogue.pinned import new_listing
from tests.services.rating.blind_raters import Robot, current_page, set_study, stored
from tests.services.runs.runs import NO, YES, card, click, query

FALSE_NEGATIVE = EmptyOutcome.FALSE_NEGATIVE


def outcome(session: Session, rater: Rater, place: Place) -> str | None:
    verdict = select(Judgment.verdict).filter_by(judged_item_id=place.emptiness_id)
    return session.scalar(verdict.filter_by(rater_id=rater.id))


def names(session: Session, rater: Rater, place: Place) -> list[str]:
    return [item.card.title for item in lookups.evidence(session, rater, place)]


def choose(session: Session, rater: Rater, place: Place, value: EmptyOutcome, name: str) -> None:
    about = answer_ratings.Answer(place.query_key, place.emptiness_id)
    rating = AnswerRating(empty_outcome=value)
    answer_ratings.rate_answer(session, rater, about, rating, click(name))


def test_a_pin_is_a_relevant_verdict_and_the_outcome_at_once(
    session: Session, rater: Rater, place: Place
) -> None:
    lookups.pin(session, rater, place, new_listing(session, "a"), click("p"))
    assert names(session, rater, place) == ["House a"]
    assert outcome(session, rater, place) == FALSE_NEGATIVE
    events = session.execute(select(Event.event_id, Event.field, Event.new).order_by(Event.id))
    assert {tuple(row) for row in events} == {
        ("p", "evidence", "1"),
        ("p", "verdict", "1"),
        ("p:outcome", "verdict", "false_negative"),
    }
    assert stored_summaries.check(session) == []


def test_the_same_pin_twice_changes_nothing(session: Session, rater: Rater, place: Place) -> None:
    key = new_listing(session, "a")
    lookups.pin(session, rater, place, key, click("p"))
    choose(session, rater, place, EmptyOutcome.CORRECT_EMPTY, "c")
    lookups.pin(session, rater, place, key, click("p"))
    assert outcome(session, rater, place) == EmptyOutcome.CORRECT_EMPTY
    assert len(session.scalars(select(Event)).all()) == 4


def test_undo_takes_back_the_whole_pin(session: Session, rater: Rater, place: Place) -> None:
    lookups.pin(session, rater, place, new_listing(session, "a"), click("p"))
    of_questions = Event.query_key.is_not(None)
    for _ in range(2):  # the same undo twice changes nothing
        undoing.undo_last(session, rater, click("u", minute=1), of_questions)
    assert names(session, rater, place) == []
    assert outcome(session, rater, place) is None
    assert session.scalars(select(Judgment.verdict)).all() == [None, None]
    assert undoing.undo_last(session, rater, click("v", minute=2), of_questions) is None


def test_an_outcome_stays_while_other_evidence_holds_it(
    session: Session, rater: Rater, place: Place
) -> None:
    first, second = new_listing(session, "a"), new_listing(session, "b")
    lookups.pin(session, rater, place, first, click("p"))
    lookups.pin(session, rater, place, second, click("q", minute=1))
    items = {item.card.title: item.item_id for item in lookups.evidence(session, rater, place)}
    lookups.unpin(session, rater, place, items["House a"], click("r", minute=2))
    assert outcome(session, rater, place) == FALSE_NEGATIVE
    lookups.unpin(session, rater, place, items["House b"], click("s", minute=3))
    assert outcome(session, rater, place) is None
    undoing.undo_last(session, rater, click("t", minute=4), Event.query_key.is_not(None))
    assert names(session, rater, place) == ["House b"]
    assert outcome(session, rater, place) == FALSE_NEGATIVE


def test_an_outcome_that_the_rater_chose_stays(
    session: Session, rater: Rater, place: Place
) -> None:
    choose(session, rater, place, FALSE_NEGATIVE, "c")
    lookups.pin(session, rater, place, new_listing(session, "a"), click("p", minute=1))
    (item,) = lookups.evidence(session, rater, place)
    lookups.unpin(session, rater, place, item.item_id, click("q", minute=2))
    assert outcome(session, rater, place) == FALSE_NEGATIVE


def test_taking_a_pin_back_restores_an_earlier_verdict_and_keeps_a_later_one(
    session: Session, study: Study, rater: Rater
) -> None:
    run_id = stored(session, study, "hybrid", query(1, card("a", price=1), card("b", price=1)))
    place = lookups.of_answer(session, rater, run_id, 1)
    keys = [new_listing(session, "a"), new_listing(session, "b")]
    judgments.judge(session, rater, run_id, 1, 1, NO, click("j"))
    for number, key in enumerate(keys, start=1):
        lookups.pin(session, rater, place, key, click(f"p{number}", minute=number))
    judgments.judge(session, rater, run_id, 1, 2, NO, click("k", minute=3))
    for number, item in enumerate(session.scalars(select(JudgedItem.id)).all(), start=4):
        lookups.unpin(session, rater, place, item, click(f"r{number}", minute=number))
    assert session.scalars(select(Judgment.verdict)).all() == [NO, NO]


def test_of_two_devices_the_later_one_counts_in_whatever_order_they_arrive(
    session: Session, rater: Rater, place: Place
) -> None:
    key = new_listing(session, "a")
    lookups.pin(session, rater, place, key, click("p", device="phone", sequence=1))
    (item,) = lookups.evidence(session, rater, place)
    later = click("r", minute=9, device="desk", sequence=1)
    lookups.unpin(session, rater, place, item.item_id, later)
    lookups.pin(session, rater, place, key, click("q", minute=5, device="phone", sequence=2))
    assert names(session, rater, place) == []  # pinned before it was taken back
    lookups.pin(session, rater, place, key, click("s", minute=10, device="phone", sequence=3))
    assert names(session, rater, place) == ["House a"]
    assert stored_summaries.check(session) == []


def test_on_a_scale_of_grades_a_pin_is_the_lowest_relevant_grade(
    session: Session, study: Study, rater: Rater, place: Place
) -> None:
    study.scale = Scale(top=3, relevant_from=2).to_store()
    session.flush()
    lookups.pin(session, rater, place, new_listing(session, "a"), click("p"))
    (item,) = lookups.evidence(session, rater, place)
    assert session.scalar(select(Judgment.verdict).filter_by(judged_item_id=item.item_id)) == "2"


def test_a_pin_is_in_no_figure_of_a_list_and_among_the_relevant_items_of_recall(
    session: Session, study: Study, rater: Rater
) -> None:
    study.measures = ["P@5", "recall@10"]
    run_id = stored(session, study, "hybrid", query(1, card("x")))
    judgments.judge(session, rater, run_id, 1, 1, YES, click("j"))
    place = lookups.of_answer(session, rater, run_id, 1)
    lookups.pin(session, rater, place, new_listing(session, "a"), click("p", minute=1))
    row = session.scalars(select(StoredSummary)).one()
    assert (row.results_count, row.relevant_count, row.open_judgments) == (1, 1, 0)
    assert row.figures["recall@10"][0] == 0.5  # 1 of the 2 relevant ones is listed
    assert stored_summaries.check(session) == []


@pytest.mark.usefixtures("runs")
def test_other_blind_raters_are_asked_about_what_one_pinned(session: Session, study: Study) -> None:
    set_study(session, study, blind=True, repeat_percent=0)
    first, second = (raters.add(session, study, name, NOW) for name in ("Ani", "Budi"))
    Robot(session, second).rate_all()
    assert workloads.progress(session, second).turns_left == 0
    page = current_page(session, first)
    place = lookups.of_task(session, first, page.task_id)
    before = pool.sizes(session, study.id, study.revision)
    lookups.pin(session, first, place, new_listing(session, "new"), click("p"))
    session.refresh(study)
    unit = pool.Unit(place.question.id, place.run_id)
    assert pool.sizes(session, study.id, study.revision)[unit] == before[unit] + 1
    workload = workloads.of_rater(session, second)
    assert workload.units[unit].open_judgments == 1
    again = current_page(session, second)
    (pinned,) = [card for card in again.cards if card.relevance is None]
    assert pinned.card.title == "House new"
    first_page = blind_pages.blind_page(session, first, page.task_id)
    assert [card.relevance for card in first_page.cards if card.card.title == "House new"] == [YES]
    task_judgments.judge(session, second, again.task_id, pinned.key, NO, click("n"))
    assert workloads.of_rater(session, second).units[unit].open_judgments == 0
    assert stored_summaries.check(session) == []
    task_judgments.undo(session, first, click("u", minute=1))
    assert len(blind_pages.blind_page(session, first, page.task_id).cards) == len(page.cards)


def test_a_pin_in_a_repeat_sets_the_outcome_of_the_repeat_alone(
    session: Session, study: Study
) -> None:
    stored(session, study, "hybrid", query(1), query(2, card("x")))
    set_study(session, study, blind=True, repeat_percent=0)
    ani = raters.add(session, study, "Ani", NOW)
    Robot(session, ani).rate_all()
    workload = workloads.of_rater(session, ani)
    empty = next(unit for unit, of_unit in workload.units.items() if of_unit.lists)
    task = workloads._make_repeat(session, ani, empty, NOW)
    place = lookups.of_task(session, ani, task.id)
    lookups.pin(session, ani, place, new_listing(session, "a"), click("p", minute=60))
    page = blind_pages.blind_page(session, ani, task.id)
    assert page.empty_outcome == FALSE_NEGATIVE
    assert names(session, ani, place) == ["House a"]
    task_judgments.undo(session, ani, click("u", minute=61))
    assert blind_pages.blind_page(session, ani, task.id).empty_outcome is None
    assert outcome(session, ani, place) == FALSE_NEGATIVE  # of the first time


def test_a_deleted_rater_takes_searches_and_evidence_along(session: Session, study: Study) -> None:
    stored(session, study, "hybrid", query(1), query(2, card("x")))
    set_study(session, study, blind=True, repeat_percent=0)
    ani, budi = (raters.add(session, study, name, NOW) for name in ("Ani", "Budi"))
    place = lookups.of_task(session, ani, current_page(session, ani).task_id)
    lookups.search(session, ani, place, "house", Filters(), NOW)
    lookups.pin(session, ani, place, new_listing(session, "a"), click("p"))
    of_budi = current_page(session, budi)
    assert [card.card.title for card in of_budi.cards] == ["House a"]
    raters.delete_rater(session, ani, NOW)
    assert session.scalars(select(Search)).all() == []
    assert blind_pages.blind_page(session, budi, of_budi.task_id).cards == ()
