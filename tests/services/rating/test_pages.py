"""A page of an open study: where it leads on, what it shows of earlier turns and verdicts."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import asdict
from sqlalchemy.orm import Session

from relevansi.db.tables.judging import JudgedItem
from relevansi.db.tables.people import Rater
from relevansi.db.tables.study import Study
from relevansi.kinds import to_row
from relevansi.records import EmptyOutcome, Relevance
from relevansi.services.judging import judgments
from relevansi.services.judging.answer_ratings import AnswerRating
from relevansi.services.judging.judgments import UnknownQuery
from relevansi.services.rating import open_pages
from relevansi.services.rating.conversations import EarlierTurn
from relevansi.services.rating.earlier_verdicts import EarlierVerdict, earlier_verdicts_by_item
from relevansi.services.rating.open_pages import RatingPage
from relevansi.services.rating.pool import QueryFilter
from relevansi.services.study import studies
from tests.conftest import NOW
from tests.services.rating.blind_raters import stored
from tests.services.runs.runs import YES, card, click, query

ALL = QueryFilter()


def page(
    session: Session, rater: Rater, run_id: str, query_id: int, query_filter: QueryFilter = ALL
) -> RatingPage:
    return open_pages.rating_page(session, rater, run_id, query_id, query_filter)


def test_next_open_goes_round_in_its_category(session: Session, study: Study, rater: Rater) -> None:
    queries = [query(number, category=category) for number, category in enumerate("xyx", start=1)]
    run_id = stored(session, study, "hybrid", *queries)
    rated = AnswerRating(quality=0, empty_outcome=EmptyOutcome.CORRECT_EMPTY)

    assert page(session, rater, run_id, 3).place.next_open == 1
    assert page(session, rater, run_id, 1, QueryFilter(category="x")).place.next_open == 3
    assert page(session, rater, run_id, 1, QueryFilter(category="x")).place.next == 3
    judgments.rate(session, rater, run_id, 1, rated, click("e1"))
    judgments.rate(session, rater, run_id, 3, rated, click("e2"))
    assert page(session, rater, run_id, 3).place.next_open == 2
    assert page(session, rater, run_id, 1, QueryFilter(category="x")).place.next_open is None
    assert page(session, rater, run_id, 3, QueryFilter(only_open=True)).place.previous == 2


def test_a_rater_goes_on_where_they_stopped(session: Session, study: Study, rater: Rater) -> None:
    run_id = stored(session, study, "hybrid", query(1), query(2, card("a"), card("b")), query(3))
    assert open_pages.first_open(session, rater, run_id) == 1
    judgments.judge(session, rater, run_id, 2, 1, YES, click("e1"))

    assert open_pages.first_open(session, rater, run_id) == 2
    judgments.judge(session, rater, run_id, 2, 2, YES, click("e2"))
    judgments.rate(session, rater, run_id, 2, AnswerRating(quality=5), click("e3"))
    assert open_pages.first_open(session, rater, run_id) == 3


def test_the_suggested_quality_is_never_set(session: Session, study: Study, rater: Rater) -> None:
    run_id = stored(session, study, "hybrid", query(1, card("a"), card("b")))
    judgments.judge(session, rater, run_id, 1, 1, YES, click("e1"))
    assert page(session, rater, run_id, 1).suggested_quality is None
    judgments.judge(session, rater, run_id, 1, 2, Relevance.NOT_RELEVANT, click("e2"))

    rated_page = page(session, rater, run_id, 1)
    assert (rated_page.suggested_quality, rated_page.quality) == (3, None)

    study.suggest_quality = False
    session.flush()
    assert page(session, rater, run_id, 1).suggested_quality is None


def test_correct_empty_is_doubted_by_others(session: Session, study: Study, rater: Rater) -> None:
    empty = stored(session, study, "hybrid", query(1))
    filled = stored(session, study, "b", query(1, card("a"), card("b")))
    judgments.judge(session, rater, filled, 1, 1, YES, click("e1"))

    (answer,) = open_pages.other_answers(session, rater, page(session, rater, empty, 1))
    assert (answer.run_id, answer.relevant_count, answer.results_count) == (filled, 1, 2)


def test_a_query_of_another_study_is_not_found(session: Session, study: Study) -> None:
    second_study = Study(name="other", created_at=NOW)
    session.add(second_study)
    session.flush()
    stranger = studies.add_rater(session, second_study, "Stranger", NOW)
    run_id = stored(session, study, "hybrid", query(1))

    with pytest.raises(UnknownQuery):
        page(session, stranger, run_id, 1)


def test_a_follow_up_shows_its_conversation(session: Session, study: Study, rater: Rater) -> None:
    queries = [query(1, card("a")), query(2, card("b"))]
    queries += [query(n, card(slug), context_dependent=True) for n, slug in ((3, "c"), (4, "d"))]
    run_id = stored(session, study, "hybrid", *queries)

    turns = page(session, rater, run_id, 4).earlier_turns
    assert turns == (
        EarlierTurn("Question 2", "Answer 2: ['b']"),
        EarlierTurn("Question 3", "Answer 3: ['c']"),
    )
    assert page(session, rater, run_id, 2).earlier_turns == ()


MINUTE = timedelta(minutes=1)


def content(
    number: int, price: int, *, run_id: str | None = None, item_id: int | None = 1
) -> JudgedItem:
    row = to_row(card("a", price=price)) if item_id else None
    return JudgedItem(id=number, question_id=1, run_id=run_id, item_id=item_id, card=row)


def prices(earlier: dict[int, EarlierVerdict]) -> dict[int, tuple[str, int | None]]:
    return {
        item: (verdict.relevance, asdict(verdict.card)["price"])
        for item, verdict in earlier.items()
    }


def test_of_several_earlier_verdicts_the_latest_is_shown_with_what_differs() -> None:
    first, second, now = content(1, 10), content(2, 20), content(3, 30)
    verdicts = [(second, "0", NOW + MINUTE), (first, "1", NOW)]

    result = earlier_verdicts_by_item([now], verdicts)
    assert prices(result) == {3: ("0", 20)}
    assert (asdict(result[3].now)["price"], result[3].differing) == (30, ("price",))


def test_beside_a_verdict_of_its_own_only_what_came_before_it_is_shown() -> None:
    first, second, third = content(1, 10), content(2, 20), content(3, 30)
    verdicts = [(first, "1", NOW), (third, "1", NOW + MINUTE), (second, "0", NOW + 2 * MINUTE)]

    # Nothing was said before the first content's verdict; before the third's, only the first's.
    assert prices(earlier_verdicts_by_item([first, third], verdicts)) == {3: ("1", 10)}


def test_another_run_s_conversation_or_property_and_an_emptiness_are_no_content_before() -> None:
    elsewhere, other_property = content(1, 10, run_id="run"), content(2, 10, item_id=2)
    empty, now = content(3, 10, item_id=None), content(4, 30)

    assert (
        earlier_verdicts_by_item(
            [now], [(item, "1", NOW) for item in (elsewhere, other_property, empty)]
        )
        == {}
    )
