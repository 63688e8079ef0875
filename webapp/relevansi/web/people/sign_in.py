"""Signing in and out: the owner's password, a rater's link, the rater at work here."""

from __future__ import annotations

from flask import (
    Blueprint,
    Response,
    current_app,
    make_response,
    render_template,
    request,
    url_for,
)
from wtforms import BooleanField, Form, PasswordField
from wtforms.validators import EqualTo, Length

from relevansi.failures import Refused
from relevansi.i18n import mark
from relevansi.records import LARGEST_INTEGER
from relevansi.services.people import passwords, raters, sign_in, tokens, tries
from relevansi.services.people.passwords import LONGEST, SHORTEST, PasswordQueue, WrongPassword
from relevansi.services.study import studies
from relevansi.web.frame import access, forms, origins, session_cookie
from relevansi.web.frame.access import NotFromHere, NotYours
from relevansi.web.frame.forms import LineField, WholeField
from relevansi.web.frame.htmx import see_other

blueprint = Blueprint("sign_in", __name__)

UNFIT = mark("A password has 10 to 200 characters.")
DIFFERENT = mark("The two are not the same.")
LONGEST_ADDRESS = 2000
_QUEUES = {is_known: PasswordQueue() for is_known in (False, True)}
"""Known browsers have their own queue, so they do not wait for people who guess passwords."""


class NoCookie(Refused):
    message = mark("This browser keeps no cookie")
    remedy = mark(
        "One is needed to know who you are; it is for this address alone. Allow cookies for it in "
        "the browser's settings, or take another browser. Then open your link or sign in again."
    )
    status = 400


class PasswordForm(Form):
    password = PasswordField()
    next = LineField(LONGEST_ADDRESS)


class NewPasswordForm(Form):
    old = PasswordField()
    password = PasswordField(validators=[Length(SHORTEST, LONGEST, UNFIT)])
    again = PasswordField(validators=[EqualTo("password", DIFFERENT)])
    next = LineField(LONGEST_ADDRESS)
    ends_tokens = BooleanField()


class ChosenRaterForm(Form):
    rater = WholeField(0, LARGEST_INTEGER, default=0, required=True)


OF_COOKIES = {"sign_in.check_cookie", "sign_in.leave"}
"""What stays of these pages where the house signs people in: for participants."""


@blueprint.before_request
def leave_to_the_house() -> Response | None:
    """Answer in place of all pages here who is signed in by the house, and whom others ask."""
    if not current_app.config["AUTH_HEADER"] or request.endpoint in OF_COOKIES:
        return None
    user = access.current_user()
    if user.rater_id is not None:
        return see_other(url_for("home.show" if user.is_owner else "rate.next_one"))
    address, owners = access.address_of_person(), current_app.config["OWNERS"]
    page = render_template("people/sign_in/house.html", address=address, owners=owners)
    return make_response(page, 403 if address else 401)


@blueprint.before_request
def stay_shut() -> None:
    """Refuse other machines until somebody can sign in, except by the set-up link."""
    is_shut = access.current_user().is_shut_out and not _has_setup_key()
    if is_shut and request.endpoint != "sign_in.check_cookie":
        raise NotFromHere


@blueprint.get("/sign-in")
def show() -> str:
    return _page()


@blueprint.post("/sign-in")
def enter() -> Response:
    """Sign the owner in by the password, or show that it is wrong."""
    form = forms.validated_form(PasswordForm)
    try:
        cookie = _cookie_for_password(form.password.data or "")
    except WrongPassword as wrong:
        return make_response(_page({"password": f"{wrong.sentence()}."}), 422)
    _sign_in_browser(cookie)
    return _redirect_to(form.next.data)


@blueprint.post("/sign-in/first")
def set_first() -> Response:
    """Set the owner's first password and sign the owner in."""
    form = forms.form_from_request(NewPasswordForm)
    if not _may_set():
        raise NotYours
    if not form.validate():
        return make_response(_page(forms.messages(form)), 422)
    stored = passwords.hashed(form.password.data or "")
    with access.database().writing() as session:
        study = access.study(session)
        if study.password is not None:  # somebody else was quicker
            raise NotYours
        sign_in.set_password(session, study, stored, access.now())
        cookie = sign_in.owner_cookie(session, study)
        session.commit()
    _sign_in_browser(cookie)
    return _redirect_to(form.next.data)


@blueprint.post("/sign-in/as")
def choose() -> Response:
    """Put another rater of this machine to work, where nobody signs in."""
    if not access.current_user().is_local:
        raise NotYours
    form = forms.validated_form(ChosenRaterForm)
    with access.reading() as (session, rater):
        chosen = raters.find(session, rater.study, form.rater.data)
        session_cookie.set_rater(sign_in.SessionCookie(chosen.id))
    return session_cookie.redirect_signed_in(url_for("home.show"))


@blueprint.get("/sign-in/cookie")
def check_cookie() -> Response:
    """Go on to the page for which somebody came in, where their browser brought the cookie."""
    if not session_cookie.sign_in_id():
        raise NoCookie
    address = request.args.get("next", "")
    return see_other(address if is_ours(address) else url_for("home.show"))


@blueprint.post("/sign-out")
def leave() -> Response:
    if signed_in := session_cookie.sign_in_id():
        with access.database().writing() as session:
            sign_in.sign_out(session, signed_in, access.now())
            session.commit()
    session_cookie.clear()
    return see_other(url_for("sign_in.show"))


@blueprint.get("/join/<token>")
def greet(token: str) -> str:
    """Show the invitation; opening a link signs nobody in, pressing the button does."""
    with access.database().reading() as session:
        study = access.study(session)
        invitation = raters.accept(session, study, token, access.now())
        name, study_name = invitation.rater.name, studies.shown_name(study)
    return render_template("people/sign_in/join.html", study=study_name, name=name, token=token)


@blueprint.post("/join/<token>")
def join(token: str) -> Response:
    with access.database().reading() as session:
        study = access.study(session)
        cookie = sign_in.rater_cookie(raters.accept(session, study, token, access.now()))
    session_cookie.set_rater(cookie)
    return session_cookie.redirect_signed_in(url_for("rate.next_one"))


@blueprint.get("/password")
def ask_to_change() -> str:
    return _password_page({})


@blueprint.post("/password")
def change() -> Response:
    """Set another password; every other browser of the owner is signed out, programs if chosen."""
    form = forms.form_from_request(NewPasswordForm)
    errors = {} if form.validate() else forms.messages(form)
    with access.reading() as (_, rater):
        has_password = rater.study.password is not None
    try:
        if has_password:
            _cookie_for_password(form.old.data or "")
    except WrongPassword as wrong:
        errors["old"] = f"{wrong.sentence()}."
    if errors:
        return make_response(_password_page(errors), 422)
    stored = passwords.hashed(form.password.data or "")
    with access.writing() as (session, rater):
        sign_in.set_password(session, rater.study, stored, access.now())
        if form.ends_tokens.data:
            for token in tokens.open_ones(session, rater, access.now()):
                tokens.withdraw(session, rater, token.id, access.now())
        cookie = sign_in.owner_cookie(session, rater.study)
    _sign_in_browser(cookie)
    otherwise = "home.show" if current_app.config["FOLDER"] else "raters.index"
    return _redirect_to(form.next.data, otherwise)


def is_ours(path: str) -> bool:
    """Whether `path` leads to one of our pages and not away.

    >>> is_ours("/runs/?x=1"), is_ours("//evil.example"), is_ours("https://evil.example")
    (True, False, False)
    """
    plain = path.isprintable() and "\\" not in path
    return plain and path.startswith("/") and not path.startswith("//")


def _page(errors: dict[str, str] | None = None) -> str:
    with access.database().reading() as session:
        study = access.study(session)
        lines = raters.lines(session, study) if access.current_user().is_local else []
        return render_template(
            "people/sign_in/page.html",
            # Those of this machine, where nobody signs in.
            raters=[line for line in lines if line.removed_at is None and not line.is_machine],
            has_password=study.password is not None,
            may_set=_may_set(),
            setup=request.args.get("setup", ""),
            after=PasswordForm(request.values).next.data,
            errors=errors or {},
        )


def _may_set() -> bool:
    """Whether the first password may be set: from this machine, or by the set-up link."""
    with access.database().reading() as session:
        missing = access.study(session).password is None
    return missing and (origins.is_from_here() or _has_setup_key())


def _has_setup_key() -> bool:
    key, secret = request.args.get("setup", ""), str(current_app.secret_key)
    with access.database().reading() as session:
        return sign_in.is_setup_key(access.study(session), secret, key)


def _cookie_for_password(password: str) -> sign_in.SessionCookie:
    """Return the owner's session cookie for the right password.

    Raises ``WrongPassword``, ``TooManyTries`` and ``TooBusy``. For a browser in which the owner
    is, or was, signed in only its own tries count.
    """
    source, is_known = _source()
    with _QUEUES[is_known].turn():
        with access.database().writing() as session:  # counted before it is made
            study = access.study(session)
            tries.count_password_try(session, study, source, access.now(), is_known=is_known)
            session.commit()
        with access.database().reading() as session:
            stored = access.study(session).password
        passwords.check_password(stored, password)
    with access.database().writing() as session:
        study = access.study(session)
        if study.password != stored:  # changed meanwhile
            raise WrongPassword
        cookie = sign_in.owner_cookie(session, study)
        tries.forget_tries(session, study, source, is_known=is_known)
        session.commit()
    return cookie


def _source() -> tuple[str, bool]:
    """Return where tries of a password are counted, and whether the owner signed in there."""
    if access.current_user().is_owner:
        return "signed in", True
    browser = session_cookie.remembered_browser()
    return (f"browser {browser}", True) if browser else (origins.source(), False)


def _sign_in_browser(owner: sign_in.SessionCookie) -> None:
    session_cookie.set_rater(owner)
    session_cookie.remember_browser()


def _password_page(errors: dict[str, str]) -> str:
    with access.reading() as (session, rater):
        after = PasswordForm(request.values).next.data
        return render_template(
            "people/sign_in/password.html",
            has_password=rater.study.password is not None,
            after=after if is_ours(after) else "",
            n_tokens=len(tokens.open_ones(session, rater, access.now())),
            ends_tokens="ends_tokens" in request.form,
            errors=errors,
        )


def _redirect_to(address: str, otherwise: str = "home.show") -> Response:
    return session_cookie.redirect_signed_in(address if is_ours(address) else url_for(otherwise))
