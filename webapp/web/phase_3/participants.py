"""Joining phase 3: the link, the consent, the pseudonym, the way back in."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager

from flask import Blueprint, Response, make_response, redirect, render_template, request, url_for
from flask import session as cookie
from markupsafe import Markup
from msgspec import Struct
from msgspec.structs import asdict
from sqlalchemy.orm import Session
from wtforms import BooleanField, Form

from webapp.db.tables.people import Rater
from webapp.db.tables.phase_3 import ConsentText, Participant
from webapp.db.tables.study import Study
from webapp.i18n import DEFAULT_LANGUAGE, gettext, language
from webapp.metrics.phase_3.user_study import ITEMS, LEAST, MOST
from webapp.records import COMMENTS, USABILITY_ITEMS, Click
from webapp.services.judging.events import MOST_NOTES
from webapp.services.phase_3 import links, own_questions, participants, user_studies
from webapp.services.phase_3.links import LONGEST_PSEUDONYM, PseudonymTaken
from webapp.services.phase_3.own_questions import State
from webapp.services.phase_3.participants import PhaseClosed, Questionnaire
from webapp.services.study import studies
from webapp.web.frame import access, forms, htmx, origins, session_cookie
from webapp.web.frame.access import NotTakingPart
from webapp.web.frame.forms import (
    LONGEST_LABEL,
    ChoiceField,
    LineField,
    NameField,
    WholeField,
    checked,
    named,
    valid,
)
from webapp.web.people.raters import qr_code
from webapp.web.rating import clicks


@contextmanager
def reading() -> Iterator[tuple[Session, Participant]]:
    """Yield a session for reading and the participant who asks."""
    with access.database().reading() as session:
        yield session, _asking(session)


@contextmanager
def writing() -> Iterator[tuple[Session, Participant]]:
    """Yield a session whose user commits, and the participant who asks."""
    access.need_our_page()
    with access.database().writing() as session:
        yield session, _asking(session)


def _asking(session: Session) -> Participant:
    """Return the participant who asks; raises ``NotTakingPart`` for everybody else."""
    known = access.current_user().guest_id
    found = None if known is None else session.get(Participant, known)
    if found is None:
        raise access.NotTakingPart
    return found


blueprint = Blueprint("participants", __name__, url_prefix="/take-part")

HIGHEST_ID = 2**31 - 1
DECLINED = "declined"
"""The cookie's key that records that somebody declined in this browser."""


class PersonalLink(Struct, frozen=True):
    """A participant's own link, shown this once, with its QR code as SVG."""

    address: str
    code: Markup
    is_local: bool


class TextChanged(Exception):
    """The consent text changed after the person had opened it."""


class PseudonymForm(Form):
    """The pseudonym that a participant wants."""

    pseudonym = NameField(LONGEST_PSEUDONYM)


class DecisionOnConsentForm(PseudonymForm):
    """The decision of a person on the consent text that they read, and the link they are given.

    ``offered`` is the pseudonym that the page offered, ``personal`` the token of the link.
    """

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
    """Make a person who agrees a participant; thank a person who declines."""
    form = forms.sent(DecisionOnConsentForm)
    if form.decision.data is False:
        return _decline(token, form.personal.data)
    if not form.validate():
        return make_response(_page(token, form, forms.messages(form)), 422)
    try:
        return _agree(token, form)
    except PseudonymTaken as taken:
        return make_response(_page(token, form, {"pseudonym": str(taken)}), 422)
    except TextChanged:
        return make_response(_page(token, form), 409)


@blueprint.get("/declined")
def declined() -> str:
    """Thank a person who does not take part."""
    with access.database().reading() as session:
        context = {"study": studies.shown_name(access.study(session))}
    return render_template("phase_3/participants/declined.html", **context)


@blueprint.post("/pseudonym")
def rename() -> Response:
    """Give the participant another pseudonym."""
    form = forms.checked(PseudonymForm)
    try:
        with writing() as (session, participant):
            participants.rename(session, participant, form.pseudonym.data)
            session.commit()
    except PseudonymTaken:
        return redirect(url_for("own_questions.index", taken=1), 303)  # type: ignore[return-value]
    return redirect(url_for("own_questions.index"), 303)  # type: ignore[return-value]


@blueprint.route("/link", methods=["GET", "POST"])
def link() -> Response:
    """Show one more personal link, for this or another device; a reload leads home."""
    if request.method != "POST":  # a reload or another language makes no further link
        return redirect(url_for("own_questions.index"), 303)  # type: ignore[return-value]
    with writing() as (session, participant):
        made = links.personal(session, participant, access.now())
        session.commit()
    context = {"link": shown(made.token)}
    return make_response(render_template("phase_3/participants/link.html", **context))


def address(token: str) -> str:
    """Return the whole address of a link into phase 3."""
    path = url_for("participants.consent", token=token)
    return f"{session_cookie.scheme()}://{request.host}{path}"


def shown(token: str) -> PersonalLink:
    """Return a participant's own link as the page shows it."""
    here = address(token)
    code = qr_code(here, gettext("QR code of the link"))
    return PersonalLink(here, code, origins.is_loopback(request.host))


def just_made() -> PersonalLink | None:
    """Return the personal link of a person who has just agreed, once."""
    token = cookie.pop("personal", None)
    return None if token is None else shown(token)


def _page(
    token: str, form: DecisionOnConsentForm | None = None, errors: dict[str, str] | None = None
) -> str:
    form = form or DecisionOnConsentForm()
    with access.database().reading() as session:
        study = access.study(session)
        link = links.accept(session, study, token, access.now())
        text = _text(session, study)
        phase = user_studies.find(session, study)
        participant = link.participant
        offered = participant.pseudonym if participant else links.offered(session, study)
        context = {
            "study": studies.shown_name(study),
            "token": token,
            "text": text.text,
            "consent_id": text.id,
            "version": text.number,
            "personal": form.personal.data or links.new_token(),
            "pseudonym": form.pseudonym.data if form.pseudonym.raw_data else offered,
            "offered": offered,
            "is_open": phase is not None and phase.is_open,
            "known": participant.pseudonym if participant and participant.agreed_at else "",
            "present": access.name_of_guest(),
            "renewed": form.consent.data not in {None, text.id},
            "errors": errors or {},
        }
    return render_template("phase_3/participants/consent.html", **context)


def _agree(token: str, form: DecisionOnConsentForm) -> Response:
    personal, pseudonym = form.personal.data, form.pseudonym.data
    with access.database().writing() as session:
        study, now = access.study(session), access.now()
        link = links.accept(session, study, token, now)
        is_known = link.participant is not None and link.participant.agreed_at is not None
        is_own = link.participant_id is not None
        text = _text(session, study)
        if not is_known and form.consent.data != text.id:
            raise TextChanged
        badge = participants.agree(
            session,
            link,
            text,
            pseudonym,
            personal,
            now,
            was_offered=form.offered.data == pseudonym,
            source=origins.origin(),
        )
        if cookie.get(DECLINED):
            participants.take_back_decline(session, study)
        session.commit()
    session_cookie.give_guest(asdict(badge))
    if not is_known:
        cookie["personal"] = token if is_own else personal
    return redirect(url_for("own_questions.index"), 303)  # type: ignore[return-value]


def _decline(token: str, page: str) -> Response:
    """Count a person who declines, once however often they say so in this browser."""
    if not cookie.get(DECLINED) and access.current_user().guest_id is None:
        _count_decline(token, page)
        cookie[DECLINED], cookie.permanent = True, True
    return redirect(url_for("participants.declined"), 303)  # type: ignore[return-value]


def _count_decline(token: str, page: str) -> None:
    with access.database().writing() as session:
        now = access.now()
        link = links.accept(session, access.study(session), token, now)
        participants.decline(session, link, now, page=page, source=origins.origin())
        session.commit()


def _text(session: Session, study: Study) -> ConsentText:
    """Return the consent text in the reader's language."""
    found = user_studies.consent(session, study)
    if not found:
        raise PhaseClosed
    return found.get(language()) or found[DEFAULT_LANGUAGE]


questionnaire_blueprint = Blueprint("questionnaires", __name__, url_prefix="/closing")

NAMES = {name: name.replace(" ", "-") for name in (*USABILITY_ITEMS, *COMMENTS)}
"""The field name of each item in the form."""


class AnswerForm(Form):
    """The answer to one item."""

    item = ChoiceField({short: name for name, short in NAMES.items()})
    said = LineField(MOST_NOTES)


class EndForm(Form):
    """Whether the questionnaire ends with items left out."""

    anyway = BooleanField()


@questionnaire_blueprint.get("/")
def show() -> str:
    """Show the questionnaire."""
    return _questionnaire_page(())


@questionnaire_blueprint.post("/answer")
def answer() -> Response:
    """Store the answer to one item."""
    form = checked(AnswerForm)
    with writing() as (session, participant):
        name, said = form.item.data, form.said.data or None
        participants.answer(session, _rater(participant), name, said, clicks.event())
        session.commit()
    if htmx.wants_part():
        part = "phase_3/questionnaires/_saved.html"
        return htmx.respond(part, part, {"item": form.item.typed})
    return redirect(url_for("questionnaires.show"), 303)  # type: ignore[return-value]


@questionnaire_blueprint.post("/")
def finish() -> Response:
    """Store the form and end; items without an answer are asked for once."""
    with writing() as (session, participant):
        rater = _rater(participant)
        said = _store(session, rater)
        ends = not said.unanswered or checked(EndForm).anyway.data
        if ends:
            participants.finish(participant, access.now())
        session.commit()
    if ends:
        return redirect(url_for("questionnaires.thanks"), 303)  # type: ignore[return-value]
    return make_response(_questionnaire_page(said.unanswered), 422)


@questionnaire_blueprint.get("/thanks")
def thanks() -> str | Response:
    """Say thank you, once the questionnaire was handed in."""
    with reading() as (session, participant):
        if participant.finished_at is None:
            return redirect(url_for("questionnaires.show"), 303)  # type: ignore[return-value]
        lines = own_questions.lines(session, participant, access.now())
        context = {
            "pseudonym": participant.pseudonym,
            "answered": sum(line.state is State.ANSWERED for line in lines),
        }
    return render_template("phase_3/questionnaires/thanks.html", **context)


def _questionnaire_page(left_out: tuple[int, ...]) -> str:
    with reading() as (session, participant):
        said = participants.of_rater(session, _rater(participant))
        lines = own_questions.lines(session, participant, access.now())
        context = {
            "items": tuple(
                (NAMES[name], statement, score)
                for name, statement, score in zip(
                    USABILITY_ITEMS, ITEMS, said.usability, strict=True
                )
            ),
            "scale": tuple(range(LEAST, MOST + 1)),
            "helped": said.helped,
            "missing": said.missing,
            "left_out": left_out,
            "longest": MOST_NOTES,
            "open_question": next((line.position for line in lines if line.is_open), None),
        }
    return render_template("phase_3/questionnaires/page.html", **context)


def _store(session: Session, rater: Rater) -> Questionnaire:
    """Record each answer of the form that differs from the stored one."""
    before = participants.of_rater(session, rater)
    texts = {"helped": before.helped, "missing": before.missing}
    stored = dict(zip(USABILITY_ITEMS, before.usability, strict=True)) | texts
    fields = {name: LineField(MOST_NOTES, name=short) for name, short in NAMES.items()}
    form = valid(named(fields))
    for name in NAMES:
        if form[name].raw_data and form[name].data != str(stored[name] or ""):
            click = Click(secrets.token_hex(16), access.now())
            participants.answer(session, rater, name, form[name].data or None, click)
    session.flush()
    return participants.of_rater(session, rater)


def _rater(participant: Participant) -> Rater:
    if participant.rater is None:
        raise NotTakingPart
    return participant.rater
