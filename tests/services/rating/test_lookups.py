"""A rater looks something up and pins what fits: what is stored, counted, asked and taken back."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.db.tables.catalogue import Search
from relevansi.db.tables.judging import Event, JudgedItem, Judgment, StoredSummary
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query
from relevansi.db.tables.study import Study
from relevansi.kinds.property import Card
from relevansi.records import EmptyOutcome, Scale
from relevansi.services.catalogue import catalogue
from relevansi.services.catalogue.filters import Filters
from relevansi.services.judging import answer_ratings, judgments, stored_summaries, undoing
from relevansi.services.judging.answer_ratings import AnswerRating
from relevansi.services.people import raters
from relevansi.services.rating import blind_pages, lookups, pool, task_judgments, workloads
from relevansi.services.rating.lookups import LookupOff, Place, TooManySearches
from tests.conftest import NOW
from tests.services.gold.gold_files import stored_run, take_gold
from tests.services.rating.blind_raters import Robot, set_study, stored
from tests.services.runs.runs import NO, YES, card, click, query

FALSE_NEGATIVE = EmptyOutcome.FALSE_NEGATIVE


def listed(session: Session, name: str, price: int = 1) -> int:
    """Return the id of a listing put into the catalogue."""
    item = Card(title=f"House {name}", slug=name, price=price, location="Medan")
    written = catalogue.write(session, [catalogue.entry(item)], is_imported=True)
    return written.ids.pop()


@pytest.fixture(name="place")
def _place(session: Session, study: Study, rater: Rater) -> Place:
    """An empty answer of an open study, beside a question with one result."""
    run_id = stored(session, study, "hybrid", query(1), query(2, card("x")))
    return lookups.of_answer(session, rater, run_id, 1)


def outcome(session: Session, rater: Rater, place: Place) -> str | None:
    return session.scalar(
        select(Judgment.verdict).where(
            Judgment.rater_id == rater.id, Judgment.judged_item_id == place.emptiness_id
        )
    )


def names(session: Session, rater: Rater, place: Place) -> list[str]:
    return [item.card.title for item in lookups.evidence(session, rater, place)]


def choose(session: Session, rater: Rater, place: Place, value: EmptyOutcome, name: str) -> None:
    about = answer_ratings.Answer(place.query_key, place.emptiness_id)
    answer_ratings.rate_answer(
        session, rater, about, AnswerRating(empty_outcome=value), click(name)
    )


def test_a_pin_is_a_relevant_verdict_and_the_outcome_at_once(
    session: Session, rater: Rater, place: Place
) -> None:
    lookups.pin(session, rater, place, listed(session, "a"), click("p"))
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
    key = listed(session, "a")
    lookups.pin(session, rater, place, key, click("p"))
    choose(session, rater, place, EmptyOutcome.CORRECT_EMPTY, "c")
    lookups.pin(session, rater, place, key, click("p"))
    assert outcome(session, rater, place) == EmptyOutcome.CORRECT_EMPTY
    assert len(session.scalars(select(Event)).all()) == 4


def test_undo_takes_back_the_whole_pin(session: Session, rater: Rater, place: Place) -> None:
    lookups.pin(session, rater, place, listed(session, "a"), click("p"))
    for _ in range(2):  # the same undo twice changes nothing
        undoing.undo_last(session, rater, click("u", minute=1), Event.query_key.is_not(None))
    assert names(session, rater, place) == []
    assert outcome(session, rater, place) is None
    assert session.scalars(select(Judgment.verdict)).all() == [None, None]
    assert (
        undoing.undo_last(session, rater, click("v", minute=2), Event.query_key.is_not(None))
        is None
    )


@pytest.mark.parametrize("is_undone", [True, False])
def test_an_outcome_stays_while_other_evidence_holds_it(
    session: Session, rater: Rater, place: Place, is_undone: bool
) -> None:
    first, second = listed(session, "a"), listed(session, "b")
    lookups.pin(session, rater, place, first, click("p"))
    lookups.pin(session, rater, place, second, click("q", minute=1))
    items = {item.card.title: item.item_id for item in lookups.evidence(session, rater, place)}
    lookups.unpin(session, rater, place, items["House a"], click("r", minute=2))
    assert outcome(session, rater, place) == FALSE_NEGATIVE
    lookups.unpin(session, rater, place, items["House b"], click("s", minute=3))
    assert outcome(session, rater, place) is None
    if is_undone:
        undoing.undo_last(session, rater, click("t", minute=4), Event.query_key.is_not(None))
        assert names(session, rater, place) == ["House b"]
        assert outcome(session, rater, place) == FALSE_NEGATIVE


def test_an_outcome_that_the_rater_chose_stays(
    session: Session, rater: Rater, place: Place
) -> None:
    choose(session, rater, place, FALSE_NEGATIVE, "c")
    lookups.pin(session, rater, place, listed(session, "a"), click("p", minute=1))
    (item,) = lookups.evidence(session, rater, place)
    lookups.unpin(session, rater, place, item.item_id, click("q", minute=2))
    assert outcome(session, rater, place) == FALSE_NEGATIVE


def test_taking_a_pin_back_restores_an_earlier_verdict_and_keeps_a_later_one(
    session: Session, study: Study, rater: Rater
) -> None:
    run_id = stored(session, study, "hybrid", query(1, card("a", price=1), card("b", price=1)))
    place = lookups.of_answer(session, rater, run_id, 1)
    keys = [listed(session, "a"), listed(session, "b")]
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
    key = listed(session, "a")
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
    lookups.pin(session, rater, place, listed(session, "a"), click("p"))
    (item,) = lookups.evidence(session, rater, place)
    assert session.scalar(select(Judgment.verdict).filter_by(judged_item_id=item.item_id)) == "2"


def test_a_pin_is_in_no_figure_of_a_list_and_among_the_relevant_items_of_recall(
    session: Session, study: Study, rater: Rater
) -> None:
    study.measures = ["P@5", "recall@10"]
    run_id = stored(session, study, "hybrid", query(1, card("x")))
    judgments.judge(session, rater, run_id, 1, 1, YES, click("j"))
    place = lookups.of_answer(session, rater, run_id, 1)
    lookups.pin(session, rater, place, listed(session, "a"), click("p", minute=1))
    row = session.scalars(select(StoredSummary)).one()
    assert (row.results_count, row.relevant_count, row.open_judgments) == (1, 1, 0)
    assert row.figures["recall@10"][0] == 0.5  # 1 of the 2 relevant ones is listed
    assert stored_summaries.check(session) == []


def test_letters_typed_one_after_the_other_are_one_search(
    session: Session, rater: Rater, place: Place
) -> None:
    listed(session, "a")
    for second, words in enumerate(["ho", "hou", "house"]):
        lookups.search(session, rater, place, words, Filters(), NOW + timedelta(seconds=second))
    lookups.search(session, rater, place, "house", Filters(), NOW, start=20)  # the next page
    narrowed = Filters(price_to=5)
    lookups.search(session, rater, place, "house", narrowed, NOW + timedelta(seconds=4))
    lookups.search(session, rater, place, "houses", narrowed, NOW + timedelta(minutes=5))
    rows = session.execute(select(Search.words, Search.filters, Search.item_count, Search.at))
    assert [tuple(row) for row in rows] == [
        ("house", {}, 1, NOW),
        ("house", {"price_to": 5}, 1, NOW + timedelta(seconds=4)),
        ("houses", {"price_to": 5}, 0, NOW + timedelta(minutes=5)),
    ]


def test_what_the_field_opens_with_is_no_search_and_has_results_where_there_are_some(
    session: Session, study: Study, rater: Rater
) -> None:
    """The question's type, price and place become filters, without a place that nothing names."""
    listed(session, "garden a")
    text = "Carikan a house with a garden beside the beach in Medan near Kualanamu under 1 billion"
    run_id = stored(session, study, "hybrid", query(1, text=text))
    place = lookups.of_answer(session, rater, run_id, 1)
    begun = lookups.opening_page(session, rater, place)
    assert begun.filters == Filters(type="house", place="Medan", price_to=10**9)
    assert (begun.words, begun.absent, begun.matches.count) == ("garden", "Kualanamu", 1)
    assert session.scalars(select(Search)).all() == []
    lookups.search(session, rater, place, "medan", Filters(price_to=9), NOW)
    begun = lookups.opening_page(session, rater, place)
    assert (begun.words, begun.filters) == ("medan", Filters(price_to=9))


def test_gold_constraints_begin_a_search_on_no_blind_page_unless_the_owner_allows_it(
    session: Session, study: Study, rater: Rater
) -> None:
    """The question says "di bawah 1M", its gold constraint 700 million."""
    set_study(session, study, blind=False)
    run = stored_run(session, study, rater, with_gold=False)
    take_gold(session, rater, constraints={"price": {"max": 700_000_000}})
    place = lookups.of_answer(session, rater, run.id, 1)
    ani = raters.add(session, study, "Ani", NOW)
    task = pool.make_task(session, ani, pool.Unit(place.question.id, None), pool.POOL, NOW)
    blind_place = lookups.of_task(session, ani, task.id)

    def highest() -> list[int | None]:
        begun = (
            lookups.opening_page(session, rater, place),
            lookups.opening_page(session, ani, blind_place),
        )
        return [look.filters.price_to for look in begun]

    assert highest() == [700_000_000, 1_000_000_000]
    set_study(session, study, looks_up_constraints=True)
    assert highest() == [700_000_000, 700_000_000]


def test_only_empty_answers_are_looked_up_unless_the_study_has_it_so(
    session: Session, study: Study, rater: Rater, place: Place
) -> None:
    study.looks_up = False
    run_id = session.get_one(Query, place.query_key).run_id
    assert lookups.of_answer(session, rater, run_id, 1).emptiness_id is not None
    with pytest.raises(LookupOff):
        lookups.of_answer(session, rater, run_id, 2)
    with pytest.raises(LookupOff):
        lookups.of_answer(session, rater, run_id, 1, is_allowed=False)


@pytest.mark.usefixtures("runs")
def test_other_blind_raters_are_asked_about_what_one_pinned(session: Session, study: Study) -> None:
    set_study(session, study, blind=True, repeat_percent=0)
    first, second = (raters.add(session, study, name, NOW) for name in ("Ani", "Budi"))
    Robot(session, second).rate_all()
    assert workloads.progress(session, second).turns_left == 0
    page = Robot(session, first).next_page()
    assert page is not None
    place = lookups.of_task(session, first, page.task_id)
    before = pool.sizes(session, study.id, study.revision)
    lookups.pin(session, first, place, listed(session, "new"), click("p"))
    session.refresh(study)
    unit = pool.Unit(place.question.id, place.run_id)
    assert pool.sizes(session, study.id, study.revision)[unit] == before[unit] + 1
    workload = workloads.of_rater(session, second)
    assert workload.units[unit].open_judgments == 1
    again = Robot(session, second).next_page()
    assert again is not None
    (pinned,) = [card for card in again.cards if card.relevance is None]
    assert pinned.card.title == "House new"
    of_first = blind_pages.blind_page(session, first, page.task_id)
    assert [card.relevance for card in of_first.cards if card.card.title == "House new"] == [YES]
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
    lookups.pin(session, ani, place, listed(session, "a"), click("p", minute=60))
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
    page = Robot(session, ani).next_page()
    assert page is not None
    place = lookups.of_task(session, ani, page.task_id)
    lookups.search(session, ani, place, "house", Filters(), NOW)
    lookups.pin(session, ani, place, listed(session, "a"), click("p"))
    of_budi = Robot(session, budi).next_page()
    assert of_budi is not None
    assert [card.card.title for card in of_budi.cards] == ["House a"]
    raters.delete_rater(session, ani, NOW)
    assert session.scalars(select(Search)).all() == []
    assert blind_pages.blind_page(session, budi, of_budi.task_id).cards == ()


def test_more_searches_than_a_minute_has_room_for_are_refused(
    session: Session, rater: Rater, place: Place
) -> None:
    for number in range(lookups.SEARCHES_A_MINUTE):
        lookups.search(session, rater, place, f"{number} x", Filters(), NOW)
    with pytest.raises(TooManySearches):
        lookups.search(session, rater, place, "one more", Filters(), NOW)
    lookups.search(session, rater, place, "one more", Filters(), NOW + timedelta(minutes=2))
