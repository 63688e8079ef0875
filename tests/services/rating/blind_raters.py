"""Made-up raters who judge what a blind study asks of them."""

from __future__ import annotations

from datetime import datetime, timedelta

from msgspec.structs import replace
from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.db.tables.judging import Task
from relevansi.db.tables.people import Rater
from relevansi.db.tables.study import Study
from relevansi.records import Click, EmptyOutcome, ReadQuery, Relevance
from relevansi.services.judging.answer_ratings import AnswerRating
from relevansi.services.rating import blind_pages, task_judgments, tasks
from relevansi.services.rating.blind_pages import BlindPage
from relevansi.services.rating.pool import POOL, REPEAT
from relevansi.services.study import studies
from tests.conftest import NOW
from tests.services.runs.runs import YES, click, run, store

METHODS = ("hybrid", "api_only", "vector_only")


def stored(session: Session, study: Study, method: str, *queries: ReadQuery) -> str:
    return store(session, study, run(*queries, method=method)).id


def set_study(session: Session, study: Study, **switches: object) -> None:
    studies.set_switches(session, study, replace(studies.switches(study), **switches), NOW)
    session.flush()


def current_page(session: Session, rater: Rater, now: datetime = NOW) -> BlindPage:
    """The page of the question that a rater is asked now."""
    task = tasks.next_task(session, rater, now)
    assert task is not None
    return blind_pages.blind_page(session, rater, task.id)


class Robot:
    """A rater who calls everything relevant, each empty list a miss and each answer a 4."""

    def __init__(self, session: Session, rater: Rater) -> None:
        self.session, self.rater, self.clicks = session, rater, 0

    def rate_all(self, most: int = 100) -> None:
        for _ in range(most):
            page = self.next_page()
            if page is None:
                return
            self.rate(page)
        raise AssertionError("it never ends")

    def rate_until_a_repeat(self) -> BlindPage:
        """The page of the first question that comes again; those before it are rated."""
        while (page := self.next_page()) is not None:
            if self.session.get_one(Task, page.task_id).kind == REPEAT:
                return page
            self.rate(page)
        raise AssertionError("nothing was asked again")

    def first_time_of(self, repeat: BlindPage) -> BlindPage:
        """The page on which the rater was asked the question of a repeat before."""
        question_id = self.session.get_one(Task, repeat.task_id).question_id
        first = select(Task.id).where(Task.kind == POOL, Task.question_id == question_id)
        task_id = self.session.scalars(first.where(Task.rater_id == self.rater.id)).one()
        return blind_pages.blind_page(self.session, self.rater, task_id)

    def next_page(self) -> BlindPage | None:
        self.clicks += 1
        now = NOW + timedelta(minutes=self.clicks)
        task = tasks.next_task(self.session, self.rater, now)
        return blind_pages.blind_page(self.session, self.rater, task.id) if task else None

    def rate(self, page: BlindPage, relevance: Relevance = YES, quality: int = 4) -> None:
        session, rater, task = self.session, self.rater, page.task_id
        for card in page.cards:
            if card.relevance is None:
                task_judgments.judge(session, rater, task, card.key, relevance, self.click())
        if page.asks_emptiness and page.empty_outcome is None:
            rating = AnswerRating(empty_outcome=EmptyOutcome.FALSE_NEGATIVE)
            task_judgments.rate(session, rater, task, None, rating, self.click())
        rating = AnswerRating(quality=quality)
        for answer in blind_pages.blind_page(session, rater, task).answers:
            if answer.quality is None:
                task_judgments.rate(session, rater, task, answer.key, rating, self.click())

    def click(self) -> Click:
        self.clicks += 1
        return click(f"{self.rater.id}-{self.clicks}", minute=self.clicks)
