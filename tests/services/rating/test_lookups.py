"""A rater looks something up: which searches are stored, how one begins, when it is refused."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.db.tables.catalogue import Search
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query
from relevansi.db.tables.study import Study
from relevansi.services.catalogue.filters import Filters
from relevansi.services.people import raters
from relevansi.services.rating import lookups, pool
from relevansi.services.rating.lookups import LookupOff, Place, TooManySearches
from tests.conftest import NOW
from tests.services.catalogue.pinned import new_listing
from tests.services.gold.gold_files import stored_run, take_gold
from tests.services.rating.blind_raters import set_study, stored
from tests.services.runs.runs import query


def test_letters_typed_one_after_the_other_are_one_search(
    session: Session, rater: Rater, place: Place
) -> None:
    new_listing(session, "a")
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
    new_listing(session, "garden a")
    text = "Carikan a house with a garden beside the beach in Medan near Kualanamu under 1 billion"
    run_id = stored(session, study, "hybrid", query(1, text=text))
    place = lookups.of_answer(session, rater, run_id, 1)
    opening = lookups.opening_page(session, rater, place)
    assert opening.filters == Filters(type="house", place="Medan", price_to=10**9)
    assert (opening.words, opening.absent, opening.matches.count) == ("garden", "Kualanamu", 1)
    assert session.scalars(select(Search)).all() == []
    lookups.search(session, rater, place, "medan", Filters(price_to=9), NOW)
    opening = lookups.opening_page(session, rater, place)
    assert (opening.words, opening.filters) == ("medan", Filters(price_to=9))


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
        opening = (
            lookups.opening_page(session, rater, place),
            lookups.opening_page(session, ani, blind_place),
        )
        return [opening.filters.price_to for opening in opening]

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


def test_more_searches_than_a_minute_has_room_for_are_refused(
    session: Session, rater: Rater, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lookups, "SEARCHES_A_MINUTE", 2)
    for number in range(2):
        lookups.search(session, rater, place, f"{number} x", Filters(), NOW)
    with pytest.raises(TooManySearches):
        lookups.search(session, rater, place, "one more", Filters(), NOW)
    lookups.search(session, rater, place, "one more", Filters(), NOW + timedelta(minutes=2))
