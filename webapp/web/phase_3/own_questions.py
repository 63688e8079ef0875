"""A participant's own questions: asked, waited for, and their answers rated.

A question is stored by the request that brings it and asked beside the requests, so every page here
answers at once and can be left at any time.
"""

from __future__ import annotations

from math import ceil

from flask import Blueprint, Response, g, make_response, redirect, render_template, request, url_for
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy.orm import Session
from wtforms import BooleanField, Form

from webapp.db.tables.people import Rater
from webapp.db.tables.phase_3 import Participant
from webapp.i18n import gettext, mark, ngettext
from webapp.importers.runs.property_particulars import identity
from webapp.services.judging import events
from webapp.services.phase_3 import own_questions
from webapp.services.phase_3.links import PseudonymTaken
from webapp.services.phase_3.own_questions import (
    LONGEST,
    NOT_ASKED,
    NOT_SET_UP,
    OwnQuestionLine,
    QuestionWork,
    State,
    UnknownQuestion,
)
from webapp.services.rating import pages, particulars
from webapp.services.rating.pages import JudgedCard, RatingPage
from webapp.services.rating.particulars import Background
from webapp.services.rating.pool import QueryFilter
from webapp.web.frame import access, htmx
from webapp.web.frame.forms import LineField, checked, sent
from webapp.web.frame.workers import workers
from webapp.web.phase_3 import participants
from webapp.web.rating import clicks
from webapp.web.rating.clicks import RatingForm, VerdictForm

blueprint = Blueprint("own_questions", __name__, url_prefix="/ask")

USUAL_SECONDS = 60
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


class OwnAnswerContext(Struct, frozen=True):
    """An answer to rate; ``changed`` are the cards a click changed, ``left`` what is unrated.

    ``background`` is shown under the cards.
    """

    page: RatingPage
    line: OwnQuestionLine
    left: str
    whole: bool
    background: Background[int]
    changed: tuple[JudgedCard, ...] = ()


class OwnQuestionForm(Form):
    """The form of a participant's question."""

    question = LineField(LONGEST)
    new_conversation = BooleanField()


@blueprint.get("/")
def index() -> Response:
    """Show the participant's progress, and ask for the next question."""
    return _home()


@blueprint.post("/")
def ask() -> Response:
    """Store a question, which is then asked; a refused one stays in the form as typed."""
    form = sent(OwnQuestionForm)
    text = form.question.data
    try:
        with participants.writing() as (session, participant):
            position = own_questions.ask(
                session,
                participant,
                text,
                access.now(),
                new_conversation=form.new_conversation.data,
            )
            session.commit()
    except NOT_ASKED as why:
        return _home(text, str(why), why.status)
    workers().wake(QuestionWork())
    return _to(position)


@blueprint.get("/<int:position>")
def show(position: int) -> Response:
    """Show a question: on its way, without an answer, or with one to rate."""
    with participants.reading() as (session, participant):
        line = _line(session, participant, position)
    if line.state is State.WAITING:
        workers().wake(QuestionWork())
    if line.state is not State.ANSWERED:
        if htmx.wants_part() and line.state not in {State.WAITING, State.ASKING}:
            return htmx.reload()
        return _asked(line)
    if htmx.wants_part() and "waiting" in request.args:
        return htmx.reload()
    page, part = "phase_3/own_questions/answer.html", "phase_3/own_questions/_shown.html"
    return htmx.respond(page, part, _rated(position))


@blueprint.post("/<int:position>/again")
def ask_again(position: int) -> Response:
    """Put a question that got no answer to the chatbot again."""
    try:
        with participants.writing() as (session, participant):
            own_questions.ask_again(session, participant, position, access.now())
            session.commit()
    except NOT_ASKED as why:
        with participants.reading() as (session, participant):
            line = _line(session, participant, position)
        return _asked(line, str(why), why.status)
    workers().wake(QuestionWork())
    return _to(position)


@blueprint.get("/<int:position>/again")
def after_again(position: int) -> Response:
    """Go to the question: a reload or a change of language comes here."""
    return _to(position)


@blueprint.post("/<int:position>/give-up")
def give_up(position: int) -> Response:
    """Leave a question that got no answer, and go on."""
    with participants.writing() as (session, participant):
        own_questions.give_up(session, participant, position, access.now())
        session.commit()
    return redirect(url_for("own_questions.index"), 303)  # type: ignore[return-value]


@blueprint.post("/<int:position>/done")
def done(position: int) -> Response:
    """Go on to the next question."""
    with participants.writing() as (session, participant):
        own_questions.done(session, participant, position, access.now())
        session.commit()
    return redirect(url_for("own_questions.index"), 303)  # type: ignore[return-value]


@blueprint.post("/<int:position>/results/<int:rank>/judgment")
def judge(position: int, rank: int) -> Response:
    """Store a verdict on one card."""
    form = checked(VerdictForm)
    with participants.writing() as (session, participant):
        rater, run_id = _rater(participant)
        events.judge(session, rater, run_id, position, rank, form.relevance.data, form.click)
        session.commit()
    if not htmx.wants_part():
        return _to(position, f"rank-{rank}")
    rated = _rated(position)
    name = identity(next(card for card in rated.page.cards if card.number == rank).card)
    same = tuple(card for card in rated.page.cards if identity(card.card) == name)
    return _clicked(rated, same)


@blueprint.post("/<int:position>/rating")
def rate(position: int) -> Response:
    """Store the rating of the whole answer."""
    form = checked(RatingForm)
    with participants.writing() as (session, participant):
        rater, run_id = _rater(participant)
        events.rate(session, rater, run_id, position, form.rating, clicks.event())
        session.commit()
    return _clicked(_rated(position)) if htmx.wants_part() else _to(position, "rate")


@blueprint.post("/undo")
def undo() -> Response:
    """Take back the participant's latest verdict, grade or note, and show where it was."""
    with participants.writing() as (session, participant):
        rater, run_id = _rater(participant)
        position = events.undo(session, rater, run_id, clicks.event())
        session.commit()
    if position is None:
        return clicks.nothing_to_undo(url_for("own_questions.index"))
    if htmx.wants_part():
        part = "phase_3/own_questions/_shown.html"
        return htmx.respond(part, part, _rated(position))
    return _to(position)


def _home(draft: str = "", problem: str = "", status: int = 200) -> Response:
    with participants.reading() as (session, participant):
        lines = own_questions.lines(session, participant, access.now())
        standing = own_questions.allowance(session, participant)
        context = {
            "pseudonym": participant.pseudonym,
            "lines": lines,
            "current": next((line for line in lines if line.is_open and not line.is_rated), None),
            "left": standing.left,
            "most": standing.most,
            "is_open": standing.is_open,
            "finished": participant.finished_at is not None,
            "draft": draft,
            "problem": problem,
            "longest": LONGEST,
            "name_taken": str(PseudonymTaken()) if "taken" in request.args else "",
            "link": participants.just_made(),
        }
    return make_response(render_template("phase_3/own_questions/page.html", **context), status)


def _asked(line: OwnQuestionLine, problem: str = "", status: int = 200) -> Response:
    context = {
        "line": line,
        "waited": max(0, ceil((access.now() - line.put_at).total_seconds())),
        "usual": USUAL_SECONDS,
        "why": gettext(WHY.get(line.error_code or "", NO_USE)),
        "problem": problem,
    }
    return htmx.respond(
        "phase_3/own_questions/asked.html", "phase_3/own_questions/_asking.html", context, status
    )


def _rated(position: int) -> OwnAnswerContext:
    with participants.reading() as (session, participant):
        line = _line(session, participant, position)
        rater, run_id = _rater(participant)
        page = pages.rating_page(session, rater, run_id, position, QueryFilter())
        if not participant.study.suggest_quality:
            page = replace(page, suggested_quality=None, suggests=False)
        background = particulars.of_answer(session, rater.study, run_id, position)
    g.pictures = page.show_pictures
    return OwnAnswerContext(page, line, _left(line), "whole" in request.args, background)


def _clicked(rated: OwnAnswerContext, changed: tuple[JudgedCard, ...] = ()) -> Response:
    part = "phase_3/own_questions/_clicked.html"
    return htmx.respond(part, part, replace(rated, changed=changed))


def _left(line: OwnQuestionLine) -> str:
    """Return in words what is left to rate of an answer; empty once all is rated."""
    missing = []
    if line.open_judgments and line.answer_state == "empty":
        missing.append(gettext("whether showing nothing is right"))
    elif line.open_judgments:
        missing.append(ngettext("%(n)s card", "%(n)s cards", line.open_judgments))
    if line.is_unrated:
        missing.append(gettext("the quality of the answer"))
    return ", ".join(missing)


def _line(session: Session, participant: Participant, position: int) -> OwnQuestionLine:
    for line in own_questions.lines(session, participant, access.now()):
        if line.position == position:
            return line
    raise UnknownQuestion(position)


def _rater(participant: Participant) -> tuple[Rater, str]:
    """Return the participant as a rater, and the run that holds their answers."""
    if participant.rater is None or participant.run_id is None:
        raise UnknownQuestion
    return participant.rater, participant.run_id


def _to(position: int, anchor: str | None = None) -> Response:
    address = url_for("own_questions.show", position=position, _anchor=anchor)
    return redirect(address, 303)  # type: ignore[return-value]
