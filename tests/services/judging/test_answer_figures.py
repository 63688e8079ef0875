"""The figures of answers A, B, C of one blind question move with the verdicts given in it."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.services.rating.blind_raters import NO, YES, Robot, set_study, stored
from tests.services.runs.runs import card, query
from webapp.db.tables.judging import Task
from webapp.db.tables.people import Rater
from webapp.db.tables.study import Study
from webapp.records import Relevance
from webapp.services.rating import pages, tasks
from webapp.services.rating.pages import BlindPage
from webapp.services.rating.pool import POOL, REPEAT


def of_slugs(page: BlindPage, *slugs: str) -> list[str]:
    named = {shown.card.slug: shown.key for shown in page.cards}
    return [named[slug] for slug in slugs]


def counts(page: BlindPage) -> list[tuple[int, int, int | None, float | None]]:
    return sorted(
        (
            (
                summary.relevant_count,
                summary.decided_count,
                summary.first_relevant_rank,
                summary.overall_precision.value,
            )
            for _, summary in page.figures
        ),
        key=str,
    )


def test_each_answer_has_its_own_figures(session: Session, study: Study, rater: Rater) -> None:
    """One lists a, b, the other b, c, d; b is second in one and first in the other."""
    stored(session, study, "hybrid", query(1, card("a"), card("b")))
    stored(session, study, "api_only", query(1, card("b"), card("c"), card("d")))
    set_study(session, study, figures="all", repeat_percent=0)
    robot = Robot(session, rater)
    page = robot.next_page()
    assert page is not None
    assert [letter for letter, _ in page.figures] == ["A", "B"]
    assert counts(page) == [(0, 0, None, None)] * 2

    a, b, c, d = of_slugs(page, "a", "b", "c", "d")
    tasks.judge(session, rater, page.task_id, b, YES, robot.click())
    session.expire_all()
    page = pages.blind_page(session, rater, page.task_id)
    assert counts(page) == [(1, 1, 1, None), (1, 1, 2, None)]
    spans = sorted(summary.precision_at_5[1:] for _, summary in page.figures)
    assert spans == [(1 / 3, 1.0), (1 / 2, 1.0)]

    for key, verdict in ((a, NO), (c, Relevance.UNSURE), (d, NO)):
        tasks.judge(session, rater, page.task_id, key, verdict, robot.click())
    session.expire_all()
    page = pages.blind_page(session, rater, page.task_id)
    # a, b: 1 of 2 at rank 2; b, c, d with c not relevant: 1 of 3 at rank 1.
    assert counts(page) == [(1, 2, 1, 1 / 3), (1, 2, 2, 0.5)]
    set_study(session, study, cannot_tell="left_out")
    session.expire_all()
    page = pages.blind_page(session, rater, page.task_id)
    assert counts(page) == [(1, 2, 1, 0.5), (1, 2, 2, 0.5)]
    assert [answer.letter for answer in page.answers] == ["A", "B"]


def test_a_repeat_s_figures_begin_at_nothing(session: Session, study: Study, rater: Rater) -> None:
    """Everything is relevant at first and not relevant again; an empty list is in it too."""
    lists = {"hybrid": ("a", "b"), "api_only": ("b", "c"), "vector_only": ()}
    for method, slugs in lists.items():
        queries = (query(number, *map(card, slugs)) for number in range(1, 7))
        stored(session, study, method, *queries)
    set_study(session, study, figures="all", repeat_percent=20)
    robot = Robot(session, rater)
    while (page := robot.next_page()) is not None:
        if session.get_one(Task, page.task_id).kind == REPEAT:
            break
        robot.rate(page)
    assert page is not None
    twin = session.scalar(
        select(Task.id).where(
            Task.kind == POOL, Task.question_id == session.get_one(Task, page.task_id).question_id
        )
    )
    assert twin is not None
    first = pages.blind_page(session, rater, twin)
    letters = [letter for letter, _ in page.figures]
    assert letters == [letter for letter, _ in first.figures]
    assert {summary.judged_count for _, summary in page.figures} == {0}
    assert not any(summary.complete for _, summary in page.figures)

    robot.rate(page, NO)
    session.expire_all()
    again = pages.blind_page(session, rater, page.task_id)
    listed = [summary for _, summary in again.figures if summary.results_count]
    assert [summary.precision_at_5.value for summary in listed] == [0.0, 0.0]
    assert [summary.success.value for summary in listed] == [0.0, 0.0]
    first = pages.blind_page(session, rater, twin)
    before = [summary for _, summary in first.figures if summary.results_count]
    assert [summary.precision_at_5.value for summary in before] == [1.0, 1.0]
