"""The pages of a participant's own questions: asking one, waiting for its answer, rating it.

A question is stored by the request that brings it and asked beside the requests, so every page here
answers at once and can be left at any time.
"""

from __future__ import annotations

from functools import partial
from math import ceil
from typing import Any

from flask import Blueprint, Response, g, make_response, render_template, request, url_for
from flask import session as cookie
from msgspec.structs import replace
from sqlalchemy.orm import Session
from wtforms import BooleanField, Form

from relevansi.db.tables.people import Rater
from relevansi.db.tables.phase_3 import Participant
from relevansi.i18n import gettext, mark, ngettext
from relevansi.services.judging import judgments
from relevansi.services.people.raters import NewLink
from relevansi.services.phase_3 import own_questions
from relevansi.services.phase_3.asking import NOT_SET_UP, QuestionWork
from relevansi.services.phase_3.own_questions import (
    LONGEST,
    NOT_ASKED,
    OwnQuestionLine,
    QuestionState,
    UnknownQuestion,
)
from relevansi.services.phase_3.participants import PseudonymTaken
from relevansi.services.rating import lookups, open_pages, particulars
from relevansi.services.rating.lookups import Place
from relevansi.services.rating.pool import QueryFilter
from relevansi.web.frame import access, htmx
from relevansi.web.frame.forms import LineField, form_from_request, validated_form
from relevansi.web.frame.htmx import see_other
from relevansi.web.frame.workers import workers
from relevansi.web.people import raters
from relevansi.web.phase_3.participants import reading, writing
from relevansi.web.rating import clicks, lookup_views
from relevansi.web.rating.clicks import RatingForm, VerdictForm
from relevansi.web.rating.lookup_views import Lookup

blueprint = Blueprint("own_questions", __name__, url_prefix="/ask")

WRONGLY_SET_UP = mark(
    "The chatbot is not set up correctly. Please tell the person who sent the link."
)
WHY = {
    "not_reached": mark("The chatbot cannot be reached at the moment."),
    "no_answer_in_time": mark("The chatbot took too long and was not waited for any more."),
    "too_many_requests": mark("The chatbot is very busy at the moment."),
    "pause_too_long": mark("The chatbot is very busy at the moment."),
    "question_refused": mark("The chatbot does not take this question."),
    "nothing_there": WRONGLY_SET_UP,
    NOT_SET_UP: WRONGLY_SET_UP,
}
"""The sentence for a participant by kind of failure; any other kind gets ``NO_USE``."""
NO_USE = mark("The chatbot sent something, but not an answer that can be shown.")


class OwnQuestionForm(Form):
    question = LineField(LONGEST)
    new_conversation = BooleanField()


@blueprint.get("/")
def index() -> Response:
    return _home()


@blueprint.post("/")
def ask() -> Response:
    """Store a question, which is then asked; a refused one stays in the form as typed."""
    form = form_from_request(OwnQuestionForm)
    text, is_new = form.question.data, form.new_conversation.data
    try:
        with writing() as (session, participant):
            position = own_questions.ask(
                session, participant, text, access.now(), new_conversation=is_new
            )
    except NOT_ASKED as why:
        return _home(text, str(why), why.status)
    workers().wake(QuestionWork())
    return _to(position)


@blueprint.get("/<int:position>", endpoint="show")
def show_question(position: int) -> Response:
    with reading() as (session, participant):
        line = _line(session, participant, position)
    if line.state is QuestionState.WAITING:
        workers().wake(QuestionWork())
    if line.state is not QuestionState.ANSWERED:
        if htmx.wants_part() and line.state not in {QuestionState.WAITING, QuestionState.ASKING}:
            return htmx.reload()
        return _question_page(line)
    if htmx.wants_part() and "waiting" in request.args:
        return htmx.reload()
    page, part = "phase_3/own_questions/answer.html", "phase_3/own_questions/_shown.html"
    return htmx.respond(page, part, **_answer_parts(position))


@blueprint.post("/<int:position>/again")
def ask_again(position: int) -> Response:
    try:
        with writing() as (session, participant):
            own_questions.ask_again(session, participant, position, access.now())
    except NOT_ASKED as why:
        with reading() as (session, participant):
            line = _line(session, participant, position)
        return _question_page(line, str(why), why.status)
    workers().wake(QuestionWork())
    return _to(position)


@blueprint.get("/<int:position>/again")
def after_again(position: int) -> Response:
    """Go to the question: a reload or a change of language comes here."""
    return _to(position)


@blueprint.post("/<int:position>/give-up")
def give_up(position: int) -> Response:
    with writing() as (session, participant):
        own_questions.give_up(session, participant, position, access.now())
    return see_other(url_for("own_questions.index"))


@blueprint.post("/<int:position>/done", endpoint="done")
def close_question(position: int) -> Response:
    with writing() as (session, participant):
        own_questions.close(session, participant, position, access.now())
    return see_other(url_for("own_questions.index"))


@blueprint.post("/<int:position>/results/<int:rank>/judgment")
def judge(position: int, rank: int) -> Response:
    form = validated_form(VerdictForm)
    with writing() as (session, participant):
        rater, run_id = _rater(participant)
        judgments.judge(session, rater, run_id, position, rank, form.relevance.data, form.click)
    if not htmx.wants_part():
        return _to(position, f"rank-{rank}")
    return _clicked(position, rank)


@blueprint.post("/<int:position>/rating")
def rate(position: int) -> Response:
    form = validated_form(RatingForm)
    with writing() as (session, participant):
        rater, run_id = _rater(participant)
        judgments.rate(session, rater, run_id, position, form.rating, clicks.event())
    return _clicked(position, form=form) if htmx.wants_part() else _to(position, "rate")


@blueprint.get("/<int:position>/look")
def look(position: int) -> Response:
    """Search the catalogue where the owner lets participants."""
    with writing() as (session, participant):
        place = _place(session, participant, position)
        lookup = _lookup(session, participant, position)
        lookup = lookup_views.searched(session, own_questions.rater(participant), place, lookup)
    if htmx.wants_part():
        return lookup_views.part(lookup)
    page = "phase_3/own_questions/answer.html"
    return make_response(render_template(page, **{**_answer_parts(position), "lookup": lookup}))


@blueprint.post("/<int:position>/evidence")
def pin(position: int) -> Response:
    with writing() as (session, participant):
        place = _place(session, participant, position)
        lookup_views.pin(session, own_questions.rater(participant), place)
    if not htmx.wants_part():
        return see_other(url_for("own_questions.look", position=position, _anchor="look"))
    with reading() as (session, participant):
        lookup = _lookup(session, participant, position)
    return lookup_views.pinned(_clicked(position), lookup)


def _lookup(session: Session, participant: Participant, position: int) -> Lookup | None:
    find = partial(_place, session, participant, position)
    rater = own_questions.rater(participant)
    return lookup_views.look_up(session, rater, find, partial(_address, position))


def _place(session: Session, participant: Participant, position: int) -> Place:
    rater, run_id = _rater(participant)
    is_allowed = participant.study.looks_up_in_phase_3
    return lookups.of_answer(session, rater, run_id, position, is_allowed=is_allowed)


def _address(position: int, action: str, **values: Any) -> str:
    return url_for(f"own_questions.{action}", position=position, **values)


@blueprint.post("/undo")
def undo() -> Response:
    with writing() as (session, participant):
        rater, run_id = _rater(participant)
        position = judgments.undo(session, rater, run_id, clicks.event())
    if position is None:
        return clicks.nothing_to_undo(url_for("own_questions.index"))
    if htmx.wants_part():
        return htmx.part("phase_3/own_questions/_shown.html", **_answer_parts(position))
    return _to(position)


def _home(draft: str = "", problem: str = "", status: int = 200) -> Response:
    token = cookie.pop("personal", None)
    personal_link = NewLink(token, access.now()) if token else None
    with reading() as (session, participant):
        lines = own_questions.lines(session, participant, access.now())
        questions_left = own_questions.allowance(session, participant)
        page = render_template(
            "phase_3/own_questions/page.html",
            pseudonym=participant.pseudonym,
            lines=lines,
            current=next((line for line in lines if line.is_open and not line.is_rated), None),
            questions_left=questions_left or 0,
            is_open=questions_left is not None,
            finished=participant.finished_at is not None,
            draft=draft,
            problem=problem,
            longest=LONGEST,
            name_taken=str(PseudonymTaken()) if "taken" in request.args else "",
            link=raters.link_card("participants.consent", personal_link) if personal_link else None,
        )
    return make_response(page, status)


def _question_page(line: OwnQuestionLine, problem: str = "", status: int = 200) -> Response:
    return htmx.respond(
        "phase_3/own_questions/asked.html",
        "phase_3/own_questions/_asking.html",
        status=status,
        line=line,
        waited=max(0, ceil((access.now() - line.row.put_at).total_seconds())),
        why=gettext(WHY.get(line.row.error_code or "", NO_USE)),
        problem=problem,
    )


def _answer_parts(position: int) -> dict[str, Any]:
    """Return what the templates of an answer read: it, what is left, what is under its cards."""
    with reading() as (session, participant):
        line = _line(session, participant, position)
        rater, run_id = _rater(participant)
        page = open_pages.rating_page(session, rater, run_id, position, QueryFilter())
        if not participant.study.suggest_quality:
            page = replace(page, suggested_quality=None)
        background = particulars.of_answer(session, rater.study, run_id, position)
        questions_left = own_questions.allowance(session, participant)
        lookup = _lookup(session, participant, position)
    g.pictures = page.show_pictures
    open_parts = []
    if line.open_judgments and line.answer_state == "empty":
        open_parts.append(gettext("whether showing nothing is right"))
    elif line.open_judgments:
        open_parts.append(ngettext("%(n)s card", "%(n)s cards", line.open_judgments))
    if line.is_unrated:
        open_parts.append(gettext("the quality of the answer"))
    return {
        "page": page,
        "line": line,
        "open_parts": ", ".join(open_parts),
        "questions_left": questions_left,
        "longest": LONGEST,
        "is_whole": "whole" in request.args,
        "background": background,
        "lookup": lookup,
    }


def _clicked(position: int, rank: int | None = None, form: RatingForm | None = None) -> Response:
    """Return the parts that a click changed: every card of the same property at `rank`."""
    parts = _answer_parts(position)
    cards = parts["page"].cards
    names = {card.card.identity for card in cards if card.number == rank}
    changed = [card for card in cards if card.card.identity in names]
    both = form.both_notes(parts["page"].notes) if form else None
    template = "phase_3/own_questions/_clicked.html"
    return htmx.part(template, **parts, changed=changed, both_notes=both)


def _line(session: Session, participant: Participant, position: int) -> OwnQuestionLine:
    for line in own_questions.lines(session, participant, access.now()):
        if line.question.position == position:
            return line
    raise UnknownQuestion(position)


def _rater(participant: Participant) -> tuple[Rater, str]:
    if participant.rater is None or participant.run_id is None:
        raise UnknownQuestion
    return participant.rater, participant.run_id


def _to(position: int, anchor: str | None = None) -> Response:
    return see_other(url_for("own_questions.show", position=position, _anchor=anchor))
