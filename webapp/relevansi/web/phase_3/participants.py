"""The pages on which participants of phase 3 join: the link, the consent text, the way back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from flask import Blueprint, Response, make_response, render_template, request, url_for
from flask import session as cookie
from msgspec.structs import asdict
from sqlalchemy.orm import Session
from wtforms import Form

from relevansi.db.tables.phase_3 import ConsentText, Participant
from relevansi.db.tables.study import Study
from relevansi.i18n import DEFAULT_LANGUAGE, language
from relevansi.records import LARGEST_INTEGER
from relevansi.services.phase_3 import participants, user_studies
from relevansi.services.phase_3.participants import LONGEST_PSEUDONYM, PhaseClosed, PseudonymTaken
from relevansi.services.study import studies
from relevansi.web.frame import access, forms, origins, session_cookie
from relevansi.web.frame.forms import LONGEST_LABEL, ChoiceField, LineField, NameField, WholeField
from relevansi.web.frame.htmx import see_other
from relevansi.web.people import raters

blueprint = Blueprint("participants", __name__, url_prefix="/take-part")


@contextmanager
def reading() -> Iterator[tuple[Session, Participant]]:
    """Yield a session for reading and the participant who asks."""
    with access.database().reading() as session:
        yield session, _current_participant(session)


@contextmanager
def writing() -> Iterator[tuple[Session, Participant]]:
    """Yield a session for writing, committed at the end, and the participant who asks."""
    origins.need_our_page()
    with access.database().writing() as session:
        yield session, _current_participant(session)
        session.commit()


def _current_participant(session: Session) -> Participant:
    guest_id = access.current_user().guest_id
    participant = None if guest_id is None else session.get(Participant, guest_id)
    if participant is None:
        raise access.NotTakingPart
    return participant


class PseudonymForm(Form):
    pseudonym = NameField(LONGEST_PSEUDONYM)


class DecisionOnConsentForm(PseudonymForm):
    """A decision on the consent text; ``personal`` is the token of the link, given on agreeing."""

    decision = ChoiceField({"yes": True, "no": False}, default=True)
    consent = WholeField(0, LARGEST_INTEGER)
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
    form = forms.validated_form(PseudonymForm)
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
        offered = (
            participant.pseudonym if participant else participants.free_pseudonym(session, study)
        )
        return render_template(
            "phase_3/participants/consent.html",
            study=studies.shown_name(study),
            token=token,
            text=text,
            personal=form.personal.data or participants.new_token(),
            pseudonym=form.pseudonym.data if form.pseudonym.raw_data else offered,
            offered=offered,
            is_open=phase is not None and phase.is_open,
            earlier_name=participant.pseudonym if participant and participant.agreed_at else "",
            present=access.current_user().guest_name,
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
            source=origins.origin(),
        )
        session.commit()
    session_cookie.set_guest(asdict(carried))
    if not is_known:
        cookie["personal"] = token if is_own else personal
    return session_cookie.redirect_signed_in(url_for("own_questions.index"))


def _text(session: Session, study: Study) -> ConsentText:
    consent = user_studies.consent(session, study)
    if not consent:
        raise PhaseClosed
    return consent.get(language()) or consent[DEFAULT_LANGUAGE]
