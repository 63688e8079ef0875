"""The pages of participants: joining phase 3, their own questions, the closing questionnaire.

A question is stored by the request that brings it and asked beside the requests, so every page here
answers at once and can be left at any time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from math import ceil
from typing import Any

from flask import Blueprint, Response, g, make_response, render_template, request, url_for
from flask import session as cookie
from msgspec.structs import asdict, replace
from sqlalchemy.orm import Session
from wtforms import BooleanField, Form

from relevansi.db.tables.people import Rater
from relevansi.db.tables.phase_3 import ConsentText, Participant
from relevansi.db.tables.study import Study
from relevansi.i18n import DEFAULT_LANGUAGE, gettext, language, mark, ngettext
from relevansi.metrics.phase_3.user_study import ITEMS, LEAST, MOST
from relevansi.records import COMMENTS, USABILITY_ITEMS
from relevansi.services.judging import events
from relevansi.services.judging.events import MOST_NOTES
from relevansi.services.people.raters import NewLink
from relevansi.services.phase_3 import own_questions, participants, user_studies
from relevansi.services.phase_3.own_questions import (
    LONGEST,
    NOT_ASKED,
    NOT_SET_UP,
    OwnQuestionLine,
    QuestionWork,
    State,
    UnknownQuestion,
)
from relevansi.services.phase_3.participants import LONGEST_PSEUDONYM, PhaseClosed, PseudonymTaken
from relevansi.services.rating import lookups, pages, particulars
from relevansi.services.rating.lookups import Place
from relevansi.services.rating.pool import QueryFilter
from relevansi.services.study import studies
from relevansi.web.frame import access, forms, htmx, session_cookie
from relevansi.web.frame.forms import (
    LONGEST_LABEL,
    ChoiceField,
    LineField,
    NameField,
    WholeField,
    checked,
    form_from_request,
    form_of_fields,
    valid,
)
from relevansi.web.frame.htmx import see_other
from relevansi.web.frame.workers import workers
from relevansi.web.people import raters
from relevansi.web.rating import clicks
from relevansi.web.rating import looking as lookup_views
from relevansi.web.rating.clicks import RatingForm, VerdictForm
from relevansi.web.rating.looking import LookUp


@contextmanager
def reading() -> Iterator[tuple[Session, Participant]]:
    with access.database().reading() as session:
        yield session, _current_participant(session)


@contextmanager
def writing() -> Iterator[tuple[Session, Participant]]:
    """Yield a session for writing, committed at the end, and the participant who asks."""
    access.need_our_page()
    with access.database().writing() as session:
        yield session, _current_participant(session)
        session.commit()


def _current_participant(session: Session) -> Participant:
    guest_id = access.current_user().guest_id
    participant = None if guest_id is None else session.get(Participant, guest_id)
    if participant is None:
        raise access.NotTakingPart
    return participant


blueprint = Blueprint("participants", __name__, url_prefix="/take-part")

HIGHEST_ID = 2**31 - 1


class PseudonymForm(Form):
    pseudonym = NameField(LONGEST_PSEUDONYM)


class DecisionOnConsentForm(PseudonymForm):
    """A decision on the consent text; ``personal`` is the token of the link, given on agreeing."""

    decision = ChoiceField({"yes": True, "no": False}, default=True)
    consent = WholeField(0, HIGHEST_ID)
    personal = LineField(LONGEST_LABEL)
    offered = LineField(LONGEST_LABEL)


@blueprint.get("/<token>")
def consent(token: str) -> str:
    """Show the consent text; opening a link makes nobody a participant."""
    return _page(token)


@blueprint.post("/<token>")
def decide(token: str) -> Response:
    form = forms.form_from_request(DecisionOnConsentForm)
    if form.decision.data is False:
        return see_other(url_for("participants.declined"))
    if not form.validate():
        return make_response(_page(token, form, forms.messages(form)), 422)
    try:
        return _agree(token, form)
    except PseudonymTaken as taken:
        return make_response(_page(token, form, {"pseudonym": str(taken)}), 422)


@blueprint.get("/declined")
def declined() -> str:
    with access.database().reading() as session:
        study = studies.shown_name(access.study(session))
    return render_template("phase_3/participants/declined.html", study=study)


@blueprint.post("/pseudonym")
def rename() -> Response:
    form = forms.checked(PseudonymForm)
    try:
        with writing() as (session, participant):
            participants.rename(session, participant, form.pseudonym.data)
    except PseudonymTaken:
        return see_other(url_for("own_questions.index", taken=1))
    return see_other(url_for("own_questions.index"))


@blueprint.route("/link", methods=["GET", "POST"])
def link() -> Response:
    """Show one more personal link, for this or another device; a reload leads home."""
    if request.method != "POST":  # a reload or another language makes no further link
        return see_other(url_for("own_questions.index"))
    with writing() as (session, participant):
        link = participants.personal_link(session, participant, access.now())
    shown_link = raters.link_card("participants.consent", link)
    return make_response(render_template("phase_3/participants/link.html", link=shown_link))


def _page(
    token: str, form: DecisionOnConsentForm | None = None, errors: dict[str, str] | None = None
) -> str:
    form = form or DecisionOnConsentForm()
    with access.database().reading() as session:
        study = access.study(session)
        link = participants.accept(session, study, token, access.now())
        text = _text(session, study)
        phase = user_studies.find(session, study)
        participant = link.participant
        offered = participant.pseudonym if participant else participants.offered(session, study)
        return render_template(
            "phase_3/participants/consent.html",
            study=studies.shown_name(study),
            token=token,
            text=text,
            personal=form.personal.data or participants.new_token(),
            pseudonym=form.pseudonym.data if form.pseudonym.raw_data else offered,
            offered=offered,
            is_open=phase is not None and phase.is_open,
            known=participant.pseudonym if participant and participant.agreed_at else "",
            present=access.name_of_guest(),
            renewed=form.consent.data not in {None, text.id},
            errors=errors or {},
        )


def _agree(token: str, form: DecisionOnConsentForm) -> Response:
    personal, pseudonym = form.personal.data, form.pseudonym.data
    with access.database().writing() as session:
        study, now = access.study(session), access.now()
        link = participants.accept(session, study, token, now)
        is_known = link.participant is not None and link.participant.agreed_at is not None
        is_own = link.participant_id is not None
        text = _text(session, study)
        if not is_known and form.consent.data != text.id:
            return make_response(_page(token, form), 409)  # it changed once the page was open
        carried = participants.agree(
            session,
            link,
            text,
            pseudonym,
            personal,
            now,
            was_offered=form.offered.data == pseudonym,
            source=access.origin(),
        )
        session.commit()
    session_cookie.give_guest(asdict(carried))
    if not is_known:
        cookie["personal"] = token if is_own else personal
    return session_cookie.checked(url_for("own_questions.index"))


def _text(session: Session, study: Study) -> ConsentText:
    consent = user_studies.consent(session, study)
    if not consent:
        raise PhaseClosed
    return consent.get(language()) or consent[DEFAULT_LANGUAGE]


questions_blueprint = Blueprint("own_questions", __name__, url_prefix="/ask")

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


@questions_blueprint.get("/")
def index() -> Response:
    return _home()


@questions_blueprint.post("/")
def ask() -> Response:
    """Store a question, which is then asked; a refused one stays in the form as typed."""
    form = form_from_request(OwnQuestionForm)
    text = form.question.data
    try:
        with writing() as (session, participant):
            position = own_questions.ask(
                session,
                participant,
                text,
                access.now(),
                new_conversation=form.new_conversation.data,
            )
    except NOT_ASKED as why:
        return _home(text, str(why), why.status)
    workers().wake(QuestionWork())
    return _to(position)


@questions_blueprint.get("/<int:position>", endpoint="show")
def show_question(position: int) -> Response:
    with reading() as (session, participant):
        line = _line(session, participant, position)
    if line.state is State.WAITING:
        workers().wake(QuestionWork())
    if line.state is not State.ANSWERED:
        if htmx.wants_part() and line.state not in {State.WAITING, State.ASKING}:
            return htmx.reload()
        return _question_page(line)
    if htmx.wants_part() and "waiting" in request.args:
        return htmx.reload()
    page, part = "phase_3/own_questions/answer.html", "phase_3/own_questions/_shown.html"
    return htmx.respond(page, part, **_rated(position))


@questions_blueprint.post("/<int:position>/again")
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


@questions_blueprint.get("/<int:position>/again")
def after_again(position: int) -> Response:
    """Go to the question: a reload or a change of language comes here."""
    return _to(position)


@questions_blueprint.post("/<int:position>/give-up")
def give_up(position: int) -> Response:
    with writing() as (session, participant):
        own_questions.give_up(session, participant, position, access.now())
    return see_other(url_for("own_questions.index"))


@questions_blueprint.post("/<int:position>/done", endpoint="done")
def close_question(position: int) -> Response:
    with writing() as (session, participant):
        own_questions.close(session, participant, position, access.now())
    return see_other(url_for("own_questions.index"))


@questions_blueprint.post("/<int:position>/results/<int:rank>/judgment")
def judge(position: int, rank: int) -> Response:
    form = checked(VerdictForm)
    with writing() as (session, participant):
        rater, run_id = _rater(participant)
        events.judge(session, rater, run_id, position, rank, form.relevance.data, form.click)
    if not htmx.wants_part():
        return _to(position, f"rank-{rank}")
    return _clicked(position, rank)


@questions_blueprint.post("/<int:position>/rating")
def rate(position: int) -> Response:
    form = checked(RatingForm)
    with writing() as (session, participant):
        rater, run_id = _rater(participant)
        events.rate(session, rater, run_id, position, form.rating, clicks.event())
    return _clicked(position, form=form) if htmx.wants_part() else _to(position, "rate")


@questions_blueprint.get("/<int:position>/look")
def look(position: int) -> Response:
    """Search the catalogue where the owner lets participants."""
    with writing() as (session, participant):
        place = _place(session, participant, position)
        looked = _looked(session, participant, position)
        looked = lookup_views.looked_up(session, own_questions.rater(participant), place, looked)
    if htmx.wants_part():
        return lookup_views.part(looked)
    page = "phase_3/own_questions/answer.html"
    return make_response(render_template(page, **{**_rated(position), "looked": looked}))


@questions_blueprint.post("/<int:position>/evidence")
def pin(position: int) -> Response:
    with writing() as (session, participant):
        place = _place(session, participant, position)
        lookup_views.pin(session, own_questions.rater(participant), place)
    if not htmx.wants_part():
        return see_other(url_for("own_questions.look", position=position, _anchor="look"))
    with reading() as (session, participant):
        looked = _looked(session, participant, position)
    return lookup_views.pinned(_clicked(position), looked)


def _looked(session: Session, participant: Participant, position: int) -> LookUp | None:
    find = partial(_place, session, participant, position)
    rater = own_questions.rater(participant)
    return lookup_views.look_up(session, rater, find, partial(_address, position))


def _place(session: Session, participant: Participant, position: int) -> Place:
    rater, run_id = _rater(participant)
    is_allowed = participant.study.looks_up_in_phase_3
    return lookups.of_answer(session, rater, run_id, position, is_allowed=is_allowed)


def _address(position: int, action: str, **values: Any) -> str:
    return url_for(f"own_questions.{action}", position=position, **values)


@questions_blueprint.post("/undo")
def undo() -> Response:
    with writing() as (session, participant):
        rater, run_id = _rater(participant)
        position = events.undo(session, rater, run_id, clicks.event())
    if position is None:
        return clicks.nothing_to_undo(url_for("own_questions.index"))
    if htmx.wants_part():
        return htmx.part("phase_3/own_questions/_shown.html", **_rated(position))
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
            left=questions_left or 0,
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


def _rated(position: int) -> dict[str, Any]:
    """Return what the templates of an answer read: it, what is left, what is under its cards."""
    with reading() as (session, participant):
        line = _line(session, participant, position)
        rater, run_id = _rater(participant)
        page = pages.rating_page(session, rater, run_id, position, QueryFilter())
        if not participant.study.suggest_quality:
            page = replace(page, suggested_quality=None)
        background = particulars.of_answer(session, rater.study, run_id, position)
        questions_left = own_questions.allowance(session, participant)
        looked = _looked(session, participant, position)
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
        "left": ", ".join(open_parts),
        "questions_left": questions_left,
        "longest": LONGEST,
        "whole": "whole" in request.args,
        "background": background,
        "looked": looked,
    }


def _clicked(position: int, rank: int | None = None, form: RatingForm | None = None) -> Response:
    """Return the parts that a click changed: every card of the same property at `rank`."""
    rated = _rated(position)
    cards = rated["page"].cards
    names = {card.card.identity for card in cards if card.number == rank}
    changed = [card for card in cards if card.card.identity in names]
    both = form.both_notes(rated["page"].notes) if form else None
    template = "phase_3/own_questions/_clicked.html"
    return htmx.part(template, **rated, changed=changed, both_notes=both)


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


questionnaire_blueprint = Blueprint("questionnaires", __name__, url_prefix="/closing")

NAMES = {name: name.replace(" ", "-") for name in (*USABILITY_ITEMS, *COMMENTS)}
"""The field name of each item in the form."""


class AnswerForm(Form):
    item = ChoiceField({short: name for name, short in NAMES.items()})
    answer = LineField(MOST_NOTES, name="said")


class EndForm(Form):
    anyway = BooleanField()


@questionnaire_blueprint.get("/")
def show() -> str:
    return _questionnaire_page(())


@questionnaire_blueprint.post("/answer")
def answer() -> Response:
    form = checked(AnswerForm)
    with writing() as (session, participant):
        name, item_answer = form.item.data, form.answer.data or None
        rater = own_questions.rater(participant)
        participants.answer(session, rater, name, item_answer, clicks.event())
    if htmx.wants_part():
        return htmx.part("phase_3/questionnaires/_saved.html", item=form.item.typed)
    return see_other(url_for("questionnaires.show"))


@questionnaire_blueprint.post("/")
def finish() -> Response:
    """Store the form and end; items without an answer are asked for once."""
    with writing() as (session, participant):
        rater = own_questions.rater(participant)
        questionnaire = _store(session, rater)
        ends = not questionnaire.unanswered or checked(EndForm).anyway.data
        if ends:
            participants.finish(participant, access.now())
    if ends:
        return see_other(url_for("questionnaires.thanks"))
    return make_response(_questionnaire_page(questionnaire.unanswered), 422)


@questionnaire_blueprint.get("/thanks")
def thanks() -> str | Response:
    with reading() as (session, participant):
        if participant.finished_at is None:
            return see_other(url_for("questionnaires.show"))
        lines = own_questions.lines(session, participant, access.now())
        answered = sum(line.state is State.ANSWERED for line in lines)
        name = participant.pseudonym
    return render_template("phase_3/questionnaires/thanks.html", pseudonym=name, answered=answered)


def _questionnaire_page(left_out: tuple[int, ...]) -> str:
    with reading() as (session, participant):
        questionnaire = participants.of_rater(session, own_questions.rater(participant))
        lines = own_questions.lines(session, participant, access.now())
        scores = zip(USABILITY_ITEMS, ITEMS, questionnaire.usability, strict=True)
        return render_template(
            "phase_3/questionnaires/page.html",
            items=[(NAMES[name], statement, score) for name, statement, score in scores],
            scale=range(LEAST, MOST + 1),
            helped=questionnaire.helped,
            missing=questionnaire.missing,
            left_out=left_out,
            longest=MOST_NOTES,
            open_question=next((line.question.position for line in lines if line.is_open), None),
        )


def _store(session: Session, rater: Rater) -> participants.Questionnaire:
    before = participants.of_rater(session, rater)
    texts = {"helped": before.helped, "missing": before.missing}
    stored = dict(zip(USABILITY_ITEMS, before.usability, strict=True)) | texts
    fields = {name: LineField(MOST_NOTES, name=short) for name, short in NAMES.items()}
    form, click = valid(form_of_fields(fields)), clicks.event()
    for name in NAMES:
        if form[name].raw_data and form[name].data != str(stored[name] or ""):
            participants.answer(session, rater, name, form[name].data or None, click)
    session.flush()
    return participants.of_rater(session, rater)
