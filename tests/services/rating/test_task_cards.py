"""The names and the order of a task's cards tell nothing, and nobody reads another's task."""

from __future__ import annotations

import hmac
from hashlib import sha256

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.rating.blind_raters import YES, Robot
from tests.services.runs.runs import click
from webapp.db.tables.judging import Task
from webapp.db.tables.people import Rater
from webapp.db.tables.study import Study
from webapp.records import EmptyOutcome
from webapp.services.judging.events import AnswerRating, NotToJudge
from webapp.services.rating import blind_page, tasks
from webapp.services.rating.blind_page import BlindPage
from webapp.services.rating.tasks import UnknownTask
from webapp.services.study import studies


@pytest.mark.usefixtures("runs")
def test_names_and_order_of_blind_cards_follow_from_the_secret_alone(
    session: Session, study: Study, rater: Rater
) -> None:
    """A seed of 31 bits was found from one page's names, and named the run of every answer."""
    task = tasks.next_task(session, rater, NOW)
    assert task is not None
    shown = [(card.key, card.number) for card in page_of(session, rater, task).cards]

    study.order_seed += 1
    assert [(card.key, card.number) for card in page_of(session, rater, task).cards] == shown
    assert len(bytes.fromhex(study.order_secret)) * 8 >= 128
    study.order_secret = "5" * 64
    other = {card.key for card in page_of(session, rater, task).cards}
    assert other.isdisjoint(key for key, _ in shown)
    thing = tasks.things(session, task)[0]
    message = f"cards/{rater.id}/pool/{thing.id}".encode()
    assert tasks.key(task, thing.id) == hmac.new(b"5" * 64, message, "sha256").hexdigest()[:16]


@pytest.mark.usefixtures("runs")
def test_a_question_given_before_studies_had_a_secret_keeps_its_cards_where_they_are(
    session: Session, study: Study, rater: Rater
) -> None:
    study.order_seed = 7
    task = tasks.next_task(session, rater, NOW)
    assert task is not None
    task.keeps_seed_order = True
    page = page_of(session, rater, task)
    by_seed = sorted(
        sha256(f"7/{rater.id}/{thing.id}".encode()).hexdigest()[:16]
        for thing in tasks.things(session, task)
    )

    assert [card.key for card in page.cards] == by_seed
    assert tasks.judge(session, rater, task.id, by_seed[1], YES, click("first")) == YES
    shown = page_of(session, rater, task).cards
    assert [card.relevance for card in shown][:3] == [None, YES, None]
    Robot(session, rater).rate_all()
    kept = session.scalars(select(Task.id).where(Task.keeps_seed_order)).all()
    assert kept == [task.id]


def page_of(session: Session, rater: Rater, task: Task) -> BlindPage:
    session.flush()
    return blind_page.blind_page(session, rater, task.id)


def test_nobody_opens_a_task_of_somebody_else(
    session: Session,
    study: Study,
    rater: Rater,
    runs: list[str],  # noqa: ARG001
) -> None:
    task = tasks.next_task(session, rater, NOW)
    assert task is not None
    other = studies.add_rater(session, study, "Budi", NOW)

    with pytest.raises(UnknownTask):
        blind_page.blind_page(session, other, task.id)
    with pytest.raises(UnknownTask):
        tasks.judge(session, other, task.id, "x", YES, click("e1"))
    with pytest.raises(UnknownTask):
        tasks.judge(session, rater, task.id, "no such card", YES, click("e1"))
    said = AnswerRating(empty_outcome=EmptyOutcome.CORRECT_EMPTY)
    with pytest.raises(NotToJudge):
        tasks.rate(session, rater, task.id, None, said, click("e2"))
