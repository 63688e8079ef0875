"""The closing questionnaire of phase 3: the statements on usability, two open questions, thanks."""

from __future__ import annotations

from flask import Blueprint, Response, make_response, render_template, url_for
from sqlalchemy.orm import Session
from wtforms import BooleanField, Form

from relevansi.db.tables.people import Rater
from relevansi.metrics.phase_3.user_study import ITEMS, LEAST, MOST
from relevansi.records import COMMENTS, USABILITY_ITEMS
from relevansi.services.judging.answer_ratings import LONGEST_NOTES
from relevansi.services.phase_3 import own_questions, participants, questionnaires
from relevansi.services.phase_3.own_questions import QuestionState
from relevansi.web.frame import access, htmx
from relevansi.web.frame.forms import (
    ChoiceField,
    LineField,
    form_of_fields,
    validated,
    validated_form,
)
from relevansi.web.frame.htmx import see_other
from relevansi.web.phase_3.participants import reading, writing
from relevansi.web.rating import clicks

blueprint = Blueprint("questionnaires", __name__, url_prefix="/closing")

NAMES = {name: name.replace(" ", "-") for name in (*USABILITY_ITEMS, *COMMENTS)}
"""The field name of each item in the form."""


class AnswerForm(Form):
    item = ChoiceField({short: name for name, short in NAMES.items()})
    answer = LineField(LONGEST_NOTES, name="said")


class EndForm(Form):
    anyway = BooleanField()


@blueprint.get("/")
def show() -> str:
    return _questionnaire_page(())


@blueprint.post("/answer")
def answer() -> Response:
    form = validated_form(AnswerForm)
    with writing() as (session, participant):
        name, item_answer = form.item.data, form.answer.data or None
        rater = own_questions.rater(participant)
        questionnaires.answer(session, rater, name, item_answer, clicks.event())
    if htmx.wants_part():
        return htmx.part("phase_3/questionnaires/_saved.html", item=form.item.typed)
    return see_other(url_for("questionnaires.show"))


@blueprint.post("/")
def finish() -> Response:
    """Store the form and end; items without an answer are asked for once."""
    with writing() as (session, participant):
        rater = own_questions.rater(participant)
        questionnaire = _store(session, rater)
        ends = not questionnaire.unanswered or validated_form(EndForm).anyway.data
        if ends:
            participants.finish(participant, access.now())
    if ends:
        return see_other(url_for("questionnaires.thanks"))
    return make_response(_questionnaire_page(questionnaire.unanswered), 422)


@blueprint.get("/thanks")
def thanks() -> str | Response:
    with reading() as (session, participant):
        if participant.finished_at is None:
            return see_other(url_for("questionnaires.show"))
        lines = own_questions.lines(session, participant, access.now())
        answered = sum(line.state is QuestionState.ANSWERED for line in lines)
        name = participant.pseudonym
    return render_template("phase_3/questionnaires/thanks.html", pseudonym=name, answered=answered)


def _questionnaire_page(left_out: tuple[int, ...]) -> str:
    with reading() as (session, participant):
        questionnaire = questionnaires.of_rater(session, own_questions.rater(participant))
        lines = own_questions.lines(session, participant, access.now())
        scores = zip(USABILITY_ITEMS, ITEMS, questionnaire.usability, strict=True)
        return render_template(
            "phase_3/questionnaires/page.html",
            items=[(NAMES[name], statement, score) for name, statement, score in scores],
            scale=range(LEAST, MOST + 1),
            helped=questionnaire.helped,
            missing=questionnaire.missing,
            left_out=left_out,
            longest=LONGEST_NOTES,
            open_question=next((line.question.position for line in lines if line.is_open), None),
        )


def _store(session: Session, rater: Rater) -> questionnaires.Questionnaire:
    before = questionnaires.of_rater(session, rater)
    texts = {"helped": before.helped, "missing": before.missing}
    stored = dict(zip(USABILITY_ITEMS, before.usability, strict=True)) | texts
    fields = {name: LineField(LONGEST_NOTES, name=short) for name, short in NAMES.items()}
    form, click = validated(form_of_fields(fields)), clicks.event()
    for name in NAMES:
        if form[name].raw_data and form[name].data != str(stored[name] or ""):
            questionnaires.answer(session, rater, name, form[name].data or None, click)
    session.flush()
    return questionnaires.of_rater(session, rater)
