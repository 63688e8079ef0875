"""The closing questionnaire, item by item or sent as a whole, and the thank-you."""

from __future__ import annotations

import secrets

from flask import Blueprint, Response, make_response, redirect, render_template, url_for
from msgspec import Struct
from sqlalchemy.orm import Session
from wtforms import BooleanField, Form

from webapp.db.tables.people import Rater
from webapp.db.tables.phase_3 import Participant
from webapp.metrics.phase_3.usability import ITEMS, LEAST, MOST
from webapp.records import COMMENTS, USABILITY_ITEMS, Click
from webapp.services.judging.events import MOST_NOTES
from webapp.services.phase_3 import own_questions, participants, questionnaires
from webapp.services.phase_3.questionnaires import Questionnaire
from webapp.services.phase_3.turns import State
from webapp.web.frame import access, htmx
from webapp.web.frame.access import NotTakingPart
from webapp.web.frame.fields import ChoiceField, LineField
from webapp.web.frame.forms import checked, named, valid
from webapp.web.phase_3 import guests
from webapp.web.rating import clicks

blueprint = Blueprint("questionnaires", __name__, url_prefix="/closing")

NAMES = {name: name.replace(" ", "-") for name in (*USABILITY_ITEMS, *COMMENTS)}
"""The field name of each item in the form."""


class Closing(Struct, frozen=True):
    """The questionnaire as answered so far; ``left_out`` numbers the items without an answer.

    ``items`` are (name in the form, statement, answer); ``open_question`` is one that waits
    to be finished.
    """

    items: tuple[tuple[str, str, int | None], ...]
    scale: tuple[int, ...]
    helped: str
    missing: str
    left_out: tuple[int, ...]
    longest: int
    open_question: int | None


class Saved(Struct, frozen=True):
    """The item that was saved, by its name in the form."""

    item: str


class Thanks(Struct, frozen=True):
    """The end; the answers can still be changed."""

    pseudonym: str
    answered: int


class AnswerForm(Form):
    """The answer to one item."""

    item = ChoiceField({short: name for name, short in NAMES.items()})
    said = LineField(MOST_NOTES)


class EndForm(Form):
    """Whether the questionnaire ends with items left out."""

    anyway = BooleanField()


@blueprint.get("/")
def show() -> str:
    """Show the questionnaire."""
    return _page(())


@blueprint.post("/answer")
def answer() -> Response:
    """Store the answer to one item."""
    form = checked(AnswerForm)
    with guests.writing() as (session, participant):
        name, said = form.item.data, form.said.data or None
        questionnaires.answer(session, _rater(participant), name, said, clicks.event())
        session.commit()
    if htmx.wants_part():
        part = "phase_3/questionnaires/_saved.html"
        return htmx.respond(part, part, Saved(form.item.typed))
    return redirect(url_for("questionnaires.show"), 303)  # type: ignore[return-value]


@blueprint.post("/")
def finish() -> Response:
    """Store the form and end; items without an answer are asked for once."""
    with guests.writing() as (session, participant):
        rater = _rater(participant)
        said = _store(session, rater)
        ends = not said.unanswered or checked(EndForm).anyway.data
        if ends:
            participants.finish(participant, access.now())
        session.commit()
    if ends:
        return redirect(url_for("questionnaires.thanks"), 303)  # type: ignore[return-value]
    return make_response(_page(said.unanswered), 422)


@blueprint.get("/thanks")
def thanks() -> str | Response:
    """Say thank you, once the questionnaire was handed in."""
    with guests.reading() as (session, participant):
        if participant.finished_at is None:
            return redirect(url_for("questionnaires.show"), 303)  # type: ignore[return-value]
        lines = own_questions.lines(session, participant, access.now())
        context = Thanks(
            pseudonym=participant.pseudonym,
            answered=sum(line.state is State.ANSWERED for line in lines),
        )
    return render_template("phase_3/questionnaires/thanks.html", **htmx.names(context))


def _page(left_out: tuple[int, ...]) -> str:
    with guests.reading() as (session, participant):
        said = questionnaires.of_rater(session, _rater(participant))
        lines = own_questions.lines(session, participant, access.now())
        context = Closing(
            items=tuple(
                (NAMES[name], statement, score)
                for name, statement, score in zip(
                    USABILITY_ITEMS, ITEMS, said.usability, strict=True
                )
            ),
            scale=tuple(range(LEAST, MOST + 1)),
            helped=said.helped,
            missing=said.missing,
            left_out=left_out,
            longest=MOST_NOTES,
            open_question=next((line.position for line in lines if line.is_open), None),
        )
    return render_template("phase_3/questionnaires/page.html", **htmx.names(context))


def _store(session: Session, rater: Rater) -> Questionnaire:
    """Record each answer of the form that differs from the stored one."""
    before = questionnaires.of_rater(session, rater)
    texts = {"helped": before.helped, "missing": before.missing}
    stored = dict(zip(USABILITY_ITEMS, before.usability, strict=True)) | texts
    fields = {name: LineField(MOST_NOTES, name=short) for name, short in NAMES.items()}
    form = valid(named(fields))
    for name in NAMES:
        if form[name].raw_data and form[name].data != str(stored[name] or ""):
            click = Click(secrets.token_hex(16), access.now())
            questionnaires.answer(session, rater, name, form[name].data or None, click)
    session.flush()
    return questionnaires.of_rater(session, rater)


def _rater(participant: Participant) -> Rater:
    if participant.rater is None:
        raise NotTakingPart
    return participant.rater
