"""A blind page shows cards, then emptiness, then answers, and no trace of the runs."""

from __future__ import annotations

from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.rating.blind_raters import METHODS, NO
from tests.services.runs.runs import click
from webapp.db.tables.people import Rater
from webapp.services.rating import blind_page, tasks
from webapp.services.rating.blind_page import TaskStage


def test_a_page_names_no_run_no_method_and_no_rank(
    session: Session, rater: Rater, runs: list[str]
) -> None:
    task = tasks.next_task(session, rater, NOW)
    assert task is not None
    text = repr(blind_page.blind_page(session, rater, task.id))

    for word in (*runs, *METHODS, "rank", "test_results"):
        assert word not in text


def test_answers_are_asked_for_only_once_every_card_is_judged(
    session: Session,
    rater: Rater,
    runs: list[str],  # noqa: ARG001
) -> None:
    task = tasks.next_task(session, rater, NOW)
    assert task is not None
    page = blind_page.blind_page(session, rater, task.id)
    assert (page.stage, page.answers) == (TaskStage.CARDS, ())
    for shown in page.cards:
        tasks.judge(session, rater, task.id, shown.key, NO, click(shown.key))

    page = blind_page.blind_page(session, rater, task.id)
    assert page.stage is TaskStage.ANSWERS
    assert [answer.letter for answer in page.answers] == ["A", "B", "C"]
