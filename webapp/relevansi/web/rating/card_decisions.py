"""Decisions by hand on the constraints of cards, made while rating."""

from __future__ import annotations

from functools import partial
from typing import Any

from flask import Blueprint, Response, url_for

from relevansi.services.gold import marks
from relevansi.services.rating import blind_pages, open_pages
from relevansi.web.frame import access, htmx
from relevansi.web.frame.forms import validated_form
from relevansi.web.frame.htmx import see_other
from relevansi.web.gold import card_marks
from relevansi.web.gold.card_marks import DecisionForm
from relevansi.web.rating import judgments, rate

blueprint = Blueprint("card_decisions", __name__)


@blueprint.post("/runs/<run_id>/queries/<int:query_id>/results/<int:rank>/decision")
def decide(run_id: str, query_id: int, rank: int) -> Response:
    form = validated_form(DecisionForm)
    with access.writing() as (session, rater):
        decided = partial(marks.decide_on_answer, session, rater, run_id, query_id, rank)
        mistake = card_marks.store_decision(form, session, decided)
    if mistake is None and not htmx.wants_part():
        return _back("judgments.show", rank, run_id=run_id, query_id=query_id)
    with access.reading() as (session, rater):
        page = open_pages.rating_page(session, rater, run_id, query_id)
        moved: dict[str, Any] = {"clicked": rank, "mistake": mistake}
        constraint_marks = card_marks.of_answer(session, rater.study, page, **moved)
    assert constraint_marks is not None  # else there was no card to decide on
    if htmx.wants_part():
        return card_marks.decision_response(constraint_marks)
    return judgments.with_parts(page, constraint_marks, 422)


@blueprint.post("/rate/<task_id>/decision")
def decide_blind(task_id: str) -> Response:
    form = validated_form(DecisionForm)
    card = form.card.data
    with access.writing() as (session, rater):
        decided = partial(marks.decide_in_task, session, rater, task_id, card)
        mistake = card_marks.store_decision(form, session, decided)
    with access.reading() as (session, rater):
        page = blind_pages.blind_page(session, rater, task_id)
        constraint_marks = card_marks.of_task(session, rater, page, clicked=card, mistake=mistake)
    assert constraint_marks is not None  # else the decision would have been refused
    if htmx.wants_part():
        return card_marks.decision_response(constraint_marks)
    if mistake is None:
        return _back("rate.show", constraint_marks.changed[0], task_id=task_id)
    return rate.with_parts(page, constraint_marks, 422)


def _back(endpoint: str, number: int, **where: str | int) -> Response:
    return see_other(url_for(endpoint, _anchor=f"badges-{number}", **where))  # type: ignore[arg-type]
