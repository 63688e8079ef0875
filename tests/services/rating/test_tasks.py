"""Blind raters judge each distinct thing once, whichever runs showed it, and never too often."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from msgspec.structs import replace
from sqlalchemy.orm import Session

from relevansi.db.tables.judging import Task
from relevansi.db.tables.people import Rater
from relevansi.db.tables.study import Study
from relevansi.importers.runs import property_cards
from relevansi.kinds.property import Card
from relevansi.records import EmptyOutcome, QueryState, ReadQuery
from relevansi.services.judging import judgments
from relevansi.services.judging.answer_ratings import AnswerRating
from relevansi.services.rating import blind_pages, task_judgments, task_order, tasks, workloads
from relevansi.services.rating.blind_pages import BlindAnswer, BlindPage, TaskStage
from relevansi.services.rating.pool import QueryFilter
from relevansi.services.rating.tasks import UnknownTask
from relevansi.services.rating.workloads import Progress
from relevansi.services.study import assignments, studies
from tests.conftest import NOW
from tests.services.rating.blind_raters import Robot, current_page, set_study, stored
from tests.services.runs.runs import YES, card, click, query


def test_each_readable_answer_needs_quality(session: Session, study: Study, rater: Rater) -> None:
    """A list, two empty lists that say something different, a failed call, an unreadable one."""
    set_study(session, study, repeat_percent=0)
    states = {
        "hybrid": None, "api_only": QueryState.EMPTY, "vector_only": QueryState.EMPTY,
        "failing": QueryState.FAILED, "garbled": QueryState.UNREADABLE,
    }  # fmt: skip
    for method, state in states.items():
        cards = [card("a")] if state is None else []
        text = f"As {method} puts it"
        stored(session, study, method, replace(query(1, *cards, state=state), response=text))
    page = current_page(session, rater)
    task = session.get_one(Task, page.task_id)
    (blind_card,) = page.cards
    task_judgments.judge(session, rater, task.id, blind_card.key, YES, click("e1"))
    assert blind_pages.blind_page(session, rater, task.id).stage is TaskStage.EMPTINESS
    outcome = AnswerRating(empty_outcome=EmptyOutcome.FALSE_NEGATIVE)
    task_judgments.rate(session, rater, task.id, None, outcome, click("e2"))

    page = blind_pages.blind_page(session, rater, task.id)

    assert {answer.suggested for answer in page.answers} == {None}
    set_study(session, study, suggest_quality=True)
    page = blind_pages.blind_page(session, rater, task.id)
    assert page.stage is TaskStage.ANSWERS
    assert [answer.letter for answer in page.answers] == ["A", "B", "C", "D"]
    assert {(answer.before, answer.suggested) for answer in page.answers} == {
        ("As hybrid puts it", 5),
        ("As api_only puts it", 0),
        ("As vector_only puts it", 0),
        ("As failing puts it", 0),
    }
    for remaining, answer in zip((4, 3, 2, 1), page.answers, strict=True):
        assert not tasks.is_done(session, rater, task.id)
        assert tasks.prefetch(session, rater, NOW, 1) == [task]
        result = workloads.progress(session, rater)
        assert result == Progress(0, 1, 1, open_judgments=0, unrated=remaining, open_questions=1)
        task_judgments.rate(
            session, rater, task.id, answer.key, AnswerRating(quality=0), click(answer.key)
        )
    assert blind_pages.blind_page(session, rater, task.id).stage is TaskStage.DONE
    assert tasks.is_done(session, rater, task.id)
    assert tasks.next_task(session, rater, NOW) is None


def test_finished_on_a_run_s_page_is_done(session: Session, study: Study, rater: Rater) -> None:
    """As where a rated file is imported before the study is rated blind."""
    set_study(session, study, repeat_percent=0)
    run_id = stored(session, study, "hybrid", *(query(n, card(f"c{n}")) for n in (1, 2, 3)))
    for question in (1, 3):
        judgments.judge(session, rater, run_id, question, 1, YES, click(f"v{question}"))
    judgments.rate(session, rater, run_id, 1, AnswerRating(quality=4), click("q1"))
    before = workloads.progress(session, rater)
    assert before == Progress(1, 3, 3, open_judgments=1, unrated=2, open_questions=2)

    robot = Robot(session, rater)
    questions: list[str] = []
    while (page := robot.next_page()) is not None:
        assert page.progress == before or questions
        questions.append(page.question)
        robot.rate(page)

    assert sorted(questions) == ["Question 2", "Question 3"]
    expected = Progress(3, 3, open_judgments=0, unrated=0, questions=3)
    assert workloads.progress(session, rater) == expected
    assert len(tasks.ids_of_rater(session, rater)) == 3


def test_each_rater_has_a_lasting_order(session: Session, study: Study, rater: Rater) -> None:
    many = [card(f"c{number}") for number in range(12)]
    stored(session, study, "hybrid", query(1, *many))
    second_rater = studies.add_rater(session, study, "Budi", NOW)
    pages = [current_page(session, somebody) for somebody in (rater, second_rater)]
    orders = [[blind_card.card.identity[5:] for blind_card in page.cards] for page in pages]

    assert sorted(orders[0], key=str) == sorted(orders[1], key=str)
    assert orders[0] != orders[1]
    assert orders[0] != [blind_card.slug for blind_card in many]
    stored(session, study, "api_only", query(1, card("new"), *many))
    again = blind_pages.blind_page(session, rater, pages[0].task_id)
    assert [
        blind_card.card.identity[5:]
        for blind_card in again.cards
        if blind_card.card.identity[5:] != "new"
    ] == orders[0]


@pytest.mark.usefixtures("runs")
def test_the_next_questions_are_given_ahead(session: Session, study: Study, rater: Rater) -> None:
    """At most three open at once, in the order of giving, the same when asked for again."""
    set_study(session, study, repeat_percent=0)
    first = tasks.next_task(session, rater, NOW)
    ahead = tasks.prefetch(session, rater, NOW, 3)

    assert ahead[0] is first
    assert len(ahead) == 3
    assert tasks.prefetch(session, rater, NOW, 3) == ahead
    assert tasks.ids_of_rater(session, rater) == [task.id for task in ahead]


@pytest.mark.usefixtures("runs")
def test_nothing_of_others_is_taken_ahead(session: Session, study: Study, rater: Rater) -> None:
    set_study(session, study, overlap=1, repeat_percent=0)
    first = tasks.next_task(session, rater, NOW)

    assert tasks.prefetch(session, rater, NOW, 3) == [first]


@pytest.mark.usefixtures("runs")
def test_others_ratings_close_no_task(session: Session, study: Study, rater: Rater) -> None:
    """Neither a verdict nor a quality of somebody else closes a task."""
    set_study(session, study, repeat_percent=0)
    second_rater = studies.add_rater(session, study, "Budi", NOW)
    task = tasks.next_task(session, second_rater, NOW)
    assert task is not None
    Robot(session, rater).rate_all()

    assert not tasks.is_done(session, second_rater, task.id)
    page = cards_judged(session, second_rater)
    assert (page.stage, page.progress.finished) == (TaskStage.ANSWERS, 0)
    assert tasks.next_task(session, second_rater, NOW) is task
    Robot(session, second_rater).rate(page)
    assert tasks.is_done(session, second_rater, task.id)


CATEGORIES = ("area", "price", "area", "price", "area")


@pytest.fixture(name="study_of_five")
def _study_of_five(session: Session, study: Study) -> None:
    """Two runs of five questions, in order, of two categories by turns; nothing is asked again."""
    for method in ("hybrid", "api_only"):
        queries = (
            query(number, card(f"{method}{number}"), category=category)
            for number, category in enumerate(CATEGORIES, start=1)
        )
        stored(session, study, method, *queries)
    set_study(session, study, repeat_percent=0, shuffle_questions=False)


def at(minutes: int) -> datetime:
    return NOW + timedelta(hours=1, minutes=minutes)


def onward(
    session: Session,
    rater: Rater,
    minutes: int,
    after: BlindPage | None = None,
    query_filter: QueryFilter = task_order.EVERYTHING,
) -> BlindPage:
    task_id = after.task_id if after else None
    result = task_order.onward(session, rater, at(minutes), query_filter, task_id)
    assert result is not None
    return blind_pages.blind_page(session, rater, result, query_filter)


def number(page: BlindPage) -> int:
    return int(page.cards[0].card.identity[-1])


@pytest.mark.usefixtures("study_of_five")
def test_going_on_gives_new_questions_to_the_end(session: Session, rater: Rater) -> None:
    """Though nothing was said yet; then it leads to what is open."""
    pages = [onward(session, rater, 0)]
    while pages[-1].place.leads_further:
        assert pages[-1].place.next is None
        pages.append(onward(session, rater, len(pages), pages[-1]))

    assert [number(page) for page in pages] == [1, 2, 3, 4, 5]
    assert onward(session, rater, 9, pages[-1]).task_id == pages[0].task_id
    assert onward(session, rater, 9, pages[1]).task_id == pages[2].task_id
    again = blind_pages.blind_page(session, rater, pages[2].task_id).place
    assert (again.position, again.leads_further) == (3, False)
    assert (again.previous, again.next) == (pages[1].task_id, pages[3].task_id)


@pytest.mark.usefixtures("study_of_five")
def test_going_on_leaves_others_their_overlap(session: Session, study: Study, rater: Rater) -> None:
    set_study(session, study, overlap=1)
    second_rater = studies.add_rater(session, study, "Budi", NOW)
    page = onward(session, rater, 0)
    for minute in range(1, 4):
        page = onward(session, rater, minute, page)
    theirs = onward(session, second_rater, 5)

    assert (number(page), number(theirs)) == (4, 5)
    assert not theirs.place.leads_further
    assert onward(session, second_rater, 6, theirs).task_id == theirs.task_id
    assert not blind_pages.blind_page(session, rater, page.task_id).place.leads_further


@pytest.mark.usefixtures("study_of_five")
def test_a_question_put_off_comes_last(session: Session, study: Study, rater: Rater) -> None:
    """The first and the third are put off, the third last; another rater is given all five."""
    robot, order = Robot(session, rater), []
    first = onward(session, rater, 0)
    tasks.put_off(session, rater, first.task_id, at(1))
    while (page := robot.next_page()) is not None:
        if number(page) == 3 and not page.is_put_off:
            tasks.put_off(session, rater, page.task_id, at(2))
            continue
        order.append((number(page), page.is_put_off))
        robot.rate(page)

    assert order == [(2, False), (4, False), (5, False), (1, True), (3, True)]
    assert workloads.progress(session, rater).turns_left == 0
    assert not blind_pages.blind_page(session, rater, first.task_id).is_put_off
    second_rater = studies.add_rater(session, study, "Budi", NOW)
    assert not onward(session, second_rater, 9).is_put_off
    with pytest.raises(UnknownTask):
        tasks.put_off(session, second_rater, first.task_id, at(9))


@pytest.mark.usefixtures("study_of_five")
def test_a_filter_leads_through_category_and_open(session: Session, rater: Rater) -> None:
    """Questions 2 and 4 are about prices; 2 is rated, then 4 is all that is open there."""
    prices, remaining = QueryFilter(category="price"), QueryFilter(only_open=True)
    first = onward(session, rater, 0)
    assert first.categories == ("area", "price")
    second = onward(session, rater, 1, query_filter=prices)
    assert number(second) == 2
    assert (second.place.previous, second.place.leads_further) == (None, True)
    fourth = onward(session, rater, 2, second, prices)
    assert number(fourth) == 4
    assert (fourth.place.previous, fourth.place.leads_further) == (second.task_id, False)

    robot = Robot(session, rater)
    robot.rate(second)
    page = blind_pages.blind_page(session, rater, fourth.task_id, remaining)
    assert page.place.previous == first.task_id
    assert onward(session, rater, 3, query_filter=prices).task_id == fourth.task_id
    robot.rate(fourth)
    page = blind_pages.blind_page(session, rater, fourth.task_id, prices)
    assert not page.place.is_left
    assert onward(session, rater, 4, query_filter=prices).task_id == second.task_id
    assert task_order.onward(session, rater, at(5), QueryFilter(category="nowhere")) is None


@pytest.mark.usefixtures("runs")
def test_names_of_cards_follow_the_secret(session: Session, study: Study, rater: Rater) -> None:
    """A seed of 31 bits was found from one page's names, and named the run of every answer."""
    before = {card.key for card in current_page(session, rater).cards}
    assert len(bytes.fromhex(study.order_secret)) * 8 >= 128

    study.order_secret = "5" * 64
    session.flush()

    after = {card.key for card in current_page(session, rater).cards}
    assert after.isdisjoint(before)


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


def answered(number: int, response: str) -> ReadQuery:
    result = query(number, *property_cards.parse(response), text="Rumah dijual di Cemara")
    return replace(result, response=response)


def two_styles(session: Session, study: Study) -> list[str]:
    set_study(session, study, blind=True, repeat_percent=0)
    styles = {"hybrid": LINKED, "vector_only": BULLETED}
    return [stored(session, study, method, answered(1, text)) for method, text in styles.items()]


def cards_judged(session: Session, rater: Rater) -> BlindPage:
    page = current_page(session, rater)
    for blind_card in page.cards:
        task_judgments.judge(
            session, rater, page.task_id, blind_card.key, YES, click(blind_card.key)
        )
    return blind_pages.blind_page(session, rater, page.task_id)


def content(answer: BlindAnswer) -> object:
    return answer.cards, answer.before, answer.after, answer.response


def test_two_styles_of_one_list_look_alike(session: Session, study: Study, rater: Rater) -> None:
    two_styles(session, study)

    page = cards_judged(session, rater)

    first, second = page.answers
    assert content(first) == content(second)
    assert (first.before, first.after, first.response) == ("Ada satu:", "Ada lagi? ", None)
    (card,) = first.cards
    judged_card = page.cards[0].card
    assert isinstance(judged_card, Card)
    assert (judged_card.location, judged_card.land_area) == (
        "Jl. Cemara No.2, Kec. Medan Timur",
        80,
    )
    assert card == replace(judged_card, location="Jl. Cemara No.2")
    assert judged_card.price_note is None  # the question asks for a sale


def test_an_opened_wording_is_counted(session: Session, study: Study, rater: Rater) -> None:
    run_ids = two_styles(session, study)
    second_rater = studies.add_rater(session, study, "Budi", NOW)
    page, second_page = cards_judged(session, rater), cards_judged(session, second_rater)
    openings = [(rater, page), (second_rater, second_page), (second_rater, second_page)]
    for somebody, opened in openings:
        task_judgments.open_wording(session, somebody, opened.task_id, opened.answers[0].key, NOW)

    page = blind_pages.blind_page(session, rater, page.task_id)
    assert page.answers[0].response in {LINKED, BULLETED}
    assert page.answers[1].response is None
    assert assignments.wordings_opened(session, run_ids) == (2, 2)
    assert assignments.wordings_opened(session, []) == (0, 0)
    # The verdict is undone, not the opening.
    assert task_judgments.undo(session, rater, click("u")) == page.task_id
    assert blind_pages.blind_page(session, rater, page.task_id).cards[0].relevance is None


def test_an_earlier_answer_is_in_one_style(session: Session, study: Study, rater: Rater) -> None:
    two_styles(session, study)
    follow_up = query(2, *property_cards.parse(LINKED), context_dependent=True)
    stored(session, study, "third", answered(1, BULLETED), follow_up)
    stored(session, study, "fourth", answered(1, LINKED), follow_up)

    turns, robot = set(), Robot(session, rater)
    for _ in range(3):
        page = cards_judged(session, rater)
        turns |= {turn.response for turn in page.earlier_turns}
        robot.rate(page)

    assert len({text.replace("Jl. Cemara No.2, ", "") for text in turns}) == 1
    assert not any(mark in text for text in turns for mark in ("🔄", "📍", "**", "80.0"))
