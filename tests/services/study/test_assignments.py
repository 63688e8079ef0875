"""The owner names who judges what; the rest of the blind study goes by it."""

from __future__ import annotations

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.db.tables.judging import Task
from relevansi.db.tables.people import LogEntry, Rater
from relevansi.db.tables.study import Question, Study
from relevansi.services.people import raters
from relevansi.services.rating import tasks, workloads
from relevansi.services.study import assignments, studies
from relevansi.services.study.assignments import NotQuestions, NumberedSet, Why
from relevansi.services.study.progress import question_progress
from tests.conftest import NOW
from tests.services.rating.blind_raters import Robot, current_page, set_study, stored
from tests.services.runs.runs import card, query

ONE = (
    NumberedSet(
        "A",
        {number: 100 + number for number in range(1, 31)},
        {number: "location" if number < 11 else "context_followup" for number in range(1, 31)},
    ),
)
TWO = (*ONE, NumberedSet("B", {1: 201, 2: 202}, {1: "location", 2: "price"}))


def numbers(text: str) -> list[int]:
    """Return the numbers in the first set that `text` names."""
    return sorted(question - 100 for question in assignments.read(text, ONE))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("14", [14]),
        ("1-3, 14, 29-30", [1, 2, 3, 14, 29, 30]),
        ("3-3", [3]),
        (" 2 - 4 ;7\n9 ", [2, 3, 4, 7, 9]),
        ("1–3", [1, 2, 3]),
        ("5, 4-6, 5", [4, 5, 6]),
        ("Location", list(range(1, 11))),
        ("context followup, 1", [1, *range(11, 31)]),
        ("A2-3", [2, 3]),
        ("", []),
        (" , ,", []),
        ("all", []),
        ("ALL, 3", []),
    ],
)
def test_questions_are_named_as_people_write_them(text: str, expected: list[int]) -> None:
    """Nothing and "all" name none: then a rater gets all."""
    assert numbers(text) == expected


@pytest.mark.parametrize(
    ("text", "item", "why"),
    [
        ("1, 31", "31", Why.OUTSIDE),
        ("0-3", "0-3", Why.OUTSIDE),
        ("1-999999999", "1-999999999", Why.OUTSIDE),
        ("10-1", "10-1", Why.BACKWARDS),
        ("1 2", "1 2", Why.UNKNOWN),
        ("1-2-3", "1-2-3", Why.UNKNOWN),
        ("-1", "-1", Why.UNKNOWN),
        ("1.5", "1.5", Why.UNKNOWN),
        ("٣", "٣", Why.UNKNOWN),
        ("locations", "locations", Why.UNKNOWN),
        ("B1", "B1", Why.UNKNOWN),
        ("<b>", "<b>", Why.UNKNOWN),
    ],
)
def test_what_names_no_question_is_told_with_its_reason(text: str, item: str, why: Why) -> None:
    with pytest.raises(NotQuestions) as caught:
        assignments.read(text, ONE)

    assert (caught.value.item, caught.value.why) == (item, why)


def test_of_several_question_sets_the_letter_tells_which() -> None:
    assert assignments.read("A1-2, b2, B1", TWO) == {101, 102, 201, 202}
    assert assignments.read("B", TWO) == {201, 202}
    assert assignments.read("A1-a2", TWO) == {101, 102}
    assert assignments.read("price", TWO) == {202}
    assert len(assignments.read("location", TWO)) == 11
    assert assignments.written({101, 102, 104, 201}, TWO) == "A1-2, A4, B1"
    assert assignments.read("A1-2, A4, B1", TWO) == {101, 102, 104, 201}
    for text, why in (("1", Why.WHICH_SET), ("C1", Why.UNKNOWN), ("A1-B2", Why.UNKNOWN)):
        with pytest.raises(NotQuestions) as caught:
            assignments.read(text, TWO)
        assert caught.value.why is why


@pytest.fixture(name="budi")
def _budi(session: Session, study: Study) -> Rater:
    """Another rater beside the owner of a blind study of four questions, two runs, no repeats."""
    for method, slug in (("hybrid", "a"), ("api_only", "b")):
        stored(session, study, method, *(query(number, card(slug)) for number in range(1, 5)))
    set_study(session, study, repeat_percent=0)
    return studies.add_rater(session, study, "Budi", NOW)


def assign(session: Session, rater: Rater, text: str) -> None:
    sets = assignments.numbered(session, rater.study)
    assignments.assign(session, rater, assignments.read(text, sets), NOW)
    session.flush()


def positions(session: Session, rater: Rater) -> list[int]:
    """Return the questions that the rater was given, by position."""
    tasks_given = select(Question.position).join(Task).where(Task.rater_id == rater.id)
    return list(session.scalars(tasks_given.order_by(Question.position)))


def test_a_rater_gets_what_is_named_else_all(session: Session, rater: Rater, budi: Rater) -> None:
    assign(session, budi, "2, 4")

    assert (workloads.progress(session, budi).of, workloads.progress(session, rater).of) == (2, 4)
    assert workloads.progress(session, budi).open_judgments == 4  # two cards each
    for somebody in (rater, budi):
        Robot(session, somebody).rate_all()
    assert positions(session, rater) == [1, 2, 3, 4]
    assert positions(session, budi) == [2, 4]
    assert tasks.next_task(session, budi, NOW) is None


def test_what_was_begun_stays_with_its_rater(session: Session, budi: Rater) -> None:
    task = tasks.next_task(session, budi, NOW)
    assert task is not None
    assign(session, budi, "3")

    assert tasks.next_task(session, budi, NOW) is task
    Robot(session, budi).rate_all()
    assert positions(session, budi) == [1, 3]
    after = workloads.progress(session, budi)
    assert (after.finished, after.of) == (2, 2)


def test_the_overlap_is_the_cap(session: Session, study: Study, rater: Rater, budi: Rater) -> None:
    set_study(session, study, overlap=1)
    assign(session, budi, "1-2")
    Robot(session, rater).rate(current_page(session, rater))
    Robot(session, budi).rate_all()

    assert positions(session, rater) == [1]
    assert positions(session, budi) == [2]


def test_only_a_change_is_stored_and_logged(session: Session, study: Study, budi: Rater) -> None:
    for text in ("2-3, 1", "1-3", "location", "all", ""):
        assign(session, budi, text)

    entries = session.execute(
        select(LogEntry.subject, LogEntry.old, LogEntry.new)
        .where(LogEntry.action == "assign")
        .order_by(LogEntry.id)
    )
    subject = studies.rater_subject(budi)
    assert [tuple(entry) for entry in entries] == [
        (subject, "all", "1-3"),
        (subject, "1-3", "1-4"),
        (subject, "1-4", "all"),
    ]
    assert assignments.assigned(session, budi) is None
    assert assignments.by_rater(session, study) == {}


def test_an_assignment_follows_its_question(session: Session, study: Study, budi: Rater) -> None:
    assign(session, budi, "1, 4")
    grown = [query(0, card("z"), text="A new first question")]
    grown += [query(number, card("a")) for number in range(1, 5)]
    stored(session, study, "vector_only", *grown)
    session.expire_all()

    sets = assignments.numbered(session, study)
    assert assignments.written(assignments.assigned(session, budi) or (), sets) == "2, 5"


def test_who_was_given_a_question_reaches_it(session: Session, study: Study, budi: Rater) -> None:
    Robot(session, budi).rate(current_page(session, budi))
    raters.remove(session, budi, NOW)
    session.flush()

    line = question_progress(session, study)[0]
    assert (line.given_to, line.reach) == ([], 2)
