"""Blind answers show what their cards show; how they were worded is opened on the record."""

from __future__ import annotations

from msgspec.structs import replace
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.rating.blind_raters import YES, set_study, stored
from tests.services.runs.runs import click, query
from webapp.db.tables.people import Rater
from webapp.db.tables.study import Study
from webapp.importers.runs import property_cards
from webapp.records import ReadQuery
from webapp.services.judging.events import AnswerRating
from webapp.services.rating import blind_page, tasks
from webapp.services.rating.blind_page import BlindAnswer, BlindPage
from webapp.services.study import assignments, studies

ADDRESS = "https://rumah.example/properti/rumah-cemara-6f31"
LINKED = f"""Ada satu:

1. **[Rumah Cemara]({ADDRESS})**
   📍 Jl. Cemara No.2, Kec. Medan Timur
   💰 Rp 1.670.000.000
   🏠 4 Kamar Tidur, LT 80m²

Ada lagi? 😊"""
BULLETED = f"""Ada satu:

1. **Rumah Cemara**
   - 🔄 Resale
   - 📍 Kec. Medan Timur
   - 💰 Rp 1.670.000.000 (sale)
   - 🏠 4 Kamar Tidur, LT 80.0m²
   - 🔗 [Lihat Detail]({ADDRESS})

Ada lagi? 😊"""


def answered(number: int, response: str, **asked: object) -> ReadQuery:
    found = query(number, *property_cards.parse(response), text="Rumah dijual di Cemara")
    return replace(found, response=response, **asked)


def two_styles(session: Session, study: Study, **asked: object) -> list[str]:
    """Store two runs that list one property, each in its style; return their ids."""
    first = [answered(1, text, **asked) for text in (LINKED, BULLETED)]
    set_study(session, study, blind=True, repeat_percent=0)
    return [
        stored(session, study, method, listed)
        for method, listed in zip(("hybrid", "vector_only"), first, strict=True)
    ]


def rated(session: Session, rater: Rater) -> BlindPage:
    """Return the rater's page once all its cards are judged."""
    task = tasks.next_task(session, rater, NOW)
    assert task is not None
    for shown in blind_page.blind_page(session, rater, task.id).cards:
        tasks.judge(session, rater, task.id, shown.key, YES, click(shown.key))
    return blind_page.blind_page(session, rater, task.id)


def seen(answer: BlindAnswer) -> object:
    return answer.cards, answer.before, answer.after, answer.response


def test_two_styles_of_one_list_look_alike(session: Session, study: Study, rater: Rater) -> None:
    two_styles(session, study)

    page = rated(session, rater)

    first, second = page.answers
    assert seen(first) == seen(second)
    assert (first.before, first.after, first.response) == ("Ada satu:", "Ada lagi? ", None)
    (card,) = first.cards
    assert card == page.cards[0].card
    assert (card.location, card.land_area) == ("Jl. Cemara No.2, Kec. Medan Timur", 80)
    assert card.price_note is None  # the question asks for a sale


def test_a_house_for_rent_says_so_where_the_question_asks_for_a_sale(
    session: Session, study: Study, rater: Rater
) -> None:
    two_styles(session, study)
    other = answered(1, BULLETED.replace("(sale)", "(rent)").replace("6f31", "77aa"))
    stored(session, study, "other", other)

    assert sorted(str(shown.card.price_note) for shown in rated(session, rater).cards) == [
        "None",
        "rent",
    ]


def test_the_wording_is_shown_once_opened_and_counted_once_for_each_rater(
    session: Session, study: Study, rater: Rater
) -> None:
    run_ids = two_styles(session, study)
    other = studies.add_rater(session, study, "Budi", NOW)
    for somebody in (rater, other, other):
        page = rated(session, somebody) if somebody is rater else _page_of(session, somebody)
        tasks.open_wording(session, somebody, page.task_id, page.answers[0].key, NOW)
    page = blind_page.blind_page(session, rater, rated_id(session, rater))

    assert page.answers[0].response in {LINKED, BULLETED}
    assert page.answers[1].response is None
    assert assignments.wordings_opened(session, run_ids) == (2, 2)
    assert assignments.wordings_opened(session, []) == (0, 0)
    assert tasks.undo(session, rater, click("u")) == page.task_id  # the verdict, not the opening
    assert blind_page.blind_page(session, rater, page.task_id).cards[0].relevance is None


def _page_of(session: Session, rater: Rater) -> BlindPage:
    known = tasks.given_to(session, rater)
    return blind_page.blind_page(session, rater, known[0]) if known else rated(session, rater)


def rated_id(session: Session, rater: Rater) -> str:
    return tasks.given_to(session, rater)[0]


def test_an_earlier_answer_of_the_conversation_is_listed_in_one_style(
    session: Session, study: Study, rater: Rater
) -> None:
    two_styles(session, study)
    follow_up = query(2, *property_cards.parse(LINKED), context_dependent=True)
    stored(session, study, "third", answered(1, BULLETED), follow_up)
    stored(session, study, "fourth", answered(1, LINKED), follow_up)

    turns = set()
    for _ in range(3):
        page = rated(session, rater)
        turns |= {turn.response for turn in page.earlier_turns}
        for answer in page.answers:
            rating = AnswerRating(quality=4)
            tasks.rate(session, rater, page.task_id, answer.key, rating, click(answer.key))

    assert len({text.replace("Jl. Cemara No.2, ", "") for text in turns}) == 1
    assert not any(mark in text for text in turns for mark in ("🔄", "📍", "**", "80.0"))
