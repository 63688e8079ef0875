"""The owner's set-up of phase 3: the chatbot, the limits, the consent text, the links."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, make_response, render_template, request, url_for
from msgspec.structs import asdict
from wtforms import BooleanField, Form

from relevansi.i18n import LANGUAGES, gettext, mark
from relevansi.services.phase_3 import asking, participants, user_studies
from relevansi.services.phase_3.own_questions import LONGEST
from relevansi.services.phase_3.participants import PseudonymTaken
from relevansi.services.phase_3.user_studies import APIS, CONTRACT, UnfitChatbot, UserStudySettings
from relevansi.web.frame import access, forms, htmx
from relevansi.web.frame.forms import (
    LONGEST_ANSWER,
    LONGEST_LABEL,
    ChoiceField,
    LineField,
    WholeField,
)
from relevansi.web.frame.htmx import see_other
from relevansi.web.people import raters
from relevansi.web.phase_3.participants import PseudonymForm

blueprint = Blueprint("user_studies", __name__, url_prefix="/study/users")

LONGEST_ADDRESS = 2000
LONGEST_MAPPING = 64 * 2**10
MOST_QUESTIONS, MOST_AT_ONCE, MOST_PAUSE, MOST_NEWCOMERS = 50, 32, 3600, 1000
NO_QUESTION = mark("Please type a question first.")
NO_ADDRESS = mark("Please give the address of the chatbot first.")
NEEDS_CHATBOT = mark("Before phase 3 can open, it needs a chatbot.")


class SettingsForm(Form):
    is_open = BooleanField()
    endpoint = LineField(LONGEST_ADDRESS)
    search_method = LineField(LONGEST_LABEL)
    llm = LineField(LONGEST_LABEL)
    api = ChoiceField(APIS, default=CONTRACT)
    model = LineField(LONGEST_LABEL)
    mapping = LineField(LONGEST_MAPPING)
    most_questions = WholeField(1, MOST_QUESTIONS, required=True)
    answer_seconds = WholeField(5, 600, required=True)
    tries = WholeField(1, 5, required=True)
    at_once = WholeField(1, MOST_AT_ONCE, required=True)
    pause_seconds = WholeField(0, MOST_PAUSE, required=True)
    most_newcomers = WholeField(
        1, MOST_NEWCOMERS, required=True, default=UserStudySettings().most_newcomers
    )

    def settings(self) -> UserStudySettings:
        return UserStudySettings(**self.data)


class TestForm(Form):
    test_question = LineField(LONGEST)


CONSENT = {
    code: LineField(LONGEST_ANSWER, required=True, name=f"consent_{code}") for code in LANGUAGES
}
"""The fields of the consent text, by language."""


@blueprint.get("/")
def show() -> Response:
    return _page(link=raters.shown_once("participants.consent"))


@blueprint.post("/")
def save() -> Response:
    form = forms.form_from_request(SettingsForm)
    if not form.validate():
        return _page(422, form=form, errors=forms.messages(form))
    try:
        with access.writing() as (session, owner):
            user_studies.set_settings(session, owner.study, form.settings(), access.now())
    except UnfitChatbot as unfit:
        errors = {unfit.field: gettext(unfit.why)}
        if form.is_open.data and not form.endpoint.data:
            errors["is_open"] = gettext(NEEDS_CHATBOT)
        return _page(422, form=form, errors=errors)
    return see_other(url_for("user_studies.show", saved=1))


@blueprint.post("/test")
def test() -> Response:
    """Ask the chatbot of the form a test question; nothing is stored."""
    form = forms.form_from_request(SettingsForm)
    text = forms.form_from_request(TestForm).test_question.data
    problem = "" if form.validate() else " ".join(forms.messages(form).values())
    if not text or not form.endpoint.data:
        problem = gettext(NO_ADDRESS if text else NO_QUESTION)
    tested = {"question": text, "problem": problem} if problem else _tested(form, text)
    page, part = "phase_3/user_studies/page.html", "phase_3/user_studies/_tested.html"
    return htmx.respond(page, part, _context(form=form, tested=tested))


@blueprint.post("/consent")
def write_consent() -> Response:
    form = forms.form_of_fields(CONSENT)
    texts: dict[str, str] = form.data
    if not form.validate():
        return _page(422, consents=texts, errors=forms.messages(form))
    with access.writing() as (session, owner):
        now = access.now()
        user_studies.open_or_make(session, owner.study, now)
        user_studies.write_consent(session, owner.study, texts, now)
    return see_other(url_for("user_studies.show", saved=1))


@blueprint.post("/links")
def make_link() -> Response:
    form = forms.form_from_request(PseudonymForm)
    is_for_one, pseudonym = bool(form.pseudonym.raw_data), form.pseudonym.data
    if is_for_one and not form.validate():
        return _page(422, errors=forms.messages(form), pseudonym=pseudonym)
    try:
        with access.writing() as (session, owner):
            raters.need_password(owner.study)
            now = access.now()
            user_studies.open_or_make(session, owner.study, now)
            if is_for_one:
                link = participants.invite(session, owner.study, pseudonym, now)
            else:
                link = participants.make_link(session, owner.study, now)
            raters.show_once("participants.consent", link)
    except PseudonymTaken as taken:
        return _page(422, errors={"pseudonym": str(taken)}, pseudonym=pseudonym)
    return see_other(url_for("user_studies.show", _anchor="link"))


@blueprint.get("/links")
@blueprint.get("/consent")
@blueprint.get("/test")
def after_refusal() -> Response:
    """Go to the page: a reload or a change of language comes here after a refusal."""
    return see_other(url_for("user_studies.show"))


@blueprint.post("/links/<int:link_id>/withdraw")
def withdraw_link(link_id: int) -> Response:
    with access.writing() as (session, owner):
        participants.withdraw_link(session, owner.study, link_id, access.now())
    return see_other(url_for("user_studies.show", _anchor="links"))


def _tested(form: SettingsForm, text: str) -> dict[str, str | int]:
    answer = asking.try_chatbot(form.settings(), text)
    if isinstance(answer, asking.FailedCall):
        return {"question": text, "problem": answer.error, "response": answer.excerpt}
    return {"question": text, "response": answer.response, "cards": len(answer.cards)}


def _page(status: int = 200, **values: Any) -> Response:
    page = render_template("phase_3/user_studies/page.html", **_context(**values))
    return make_response(page, status)


def _context(
    *,
    form: SettingsForm | None = None,
    errors: dict[str, str] | None = None,
    consents: Mapping[str, str] | None = None,
    link: dict[str, Any] | None = None,
    pseudonym: str = "",
    tested: dict[str, str | int] | None = None,
) -> dict[str, Any]:
    with access.reading() as (session, owner):
        study = owner.study
        phase = user_studies.find(session, study)
        stored = user_studies.consent(session, study)
        return {
            "form": form or SettingsForm(data=asdict(user_studies.settings(phase))),
            "errors": errors or {},
            "saved": "saved" in request.args,
            "consents": consents
            or user_studies.default_consent()
            | {code: consent.text for code, consent in stored.items()},
            "version": max((text.number for text in stored.values()), default=0),
            "has_password": access.has_sign_in(study),
            "link": link,
            "links": participants.listed_links(session, study, access.now()),
            "pseudonym": pseudonym or participants.free_pseudonym(session, study),
            "taking_part": sum(
                consent.agreed_at is not None for consent in participants.everybody(session, study)
            ),
            "withdrawn": phase.withdrawn if phase else 0,
            "tested": {"problem": "", "question": "", "response": "", **(tested or {})},
        }
