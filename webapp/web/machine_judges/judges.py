"""Machine judges: their versions, the cost of starting one, and their sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flask import (
    Blueprint,
    Response,
    current_app,
    make_response,
    redirect,
    render_template,
    request,
    url_for,
)
from msgspec import Struct
from wtforms import Form

from webapp import notation
from webapp.chatbot.client import public_address
from webapp.config import JudgeEndpoint
from webapp.i18n import gettext, language, mark
from webapp.metrics.agreement.registry import COEFFICIENTS
from webapp.records import Relevance
from webapp.services.machine_judges import calls, judges, prompts
from webapp.services.machine_judges import judges as machine_judges
from webapp.services.machine_judges.calls import (
    MOST_AT_ONCE,
    AlreadyRunning,
    JudgeWork,
    NothingToJudge,
    SessionLine,
    Terms,
    Work,
)
from webapp.services.machine_judges.judges import (
    FEWEST_SHARED,
    JudgeLine,
    NotConfigured,
)
from webapp.services.machine_judges.prompts import (
    LANGUAGES,
    LONGEST_PROMPT,
    TokenEstimate,
    UnfitPrompt,
)
from webapp.services.people.raters import LONGEST_NAME, NameTaken
from webapp.services.study import studies
from webapp.web.agreement.agreement import written_coefficients
from webapp.web.frame import access, forms, htmx
from webapp.web.frame.forms import (
    ChoiceField,
    DecimalField,
    LineField,
    NameField,
    WholeField,
    typed,
)
from webapp.web.frame.workers import workers

if TYPE_CHECKING:
    from webapp.db.tables.machine_judges import MachineJudge


NO_PRICE = mark("Please write a price in digits, for example 0.15.")
HIGHEST_PRICE = 10**9
MOST_CALLS, MOST_TOKENS = 1_000_000, 10**12
LONGEST_CURRENCY = 8
USUAL_AT_ONCE = 2


class NewJudgeForm(Form):
    """The name and the prompt of a new machine judge."""

    name = NameField(LONGEST_NAME)
    language = ChoiceField(LANGUAGES, default="id")
    prompt = LineField(LONGEST_PROMPT, required=True)


class TermsForm(Form):
    """The owner's prices for a million tokens, and the limits at which the judge stops."""

    prompt_price = DecimalField(0, HIGHEST_PRICE, wrong=NO_PRICE)
    completion_price = DecimalField(0, HIGHEST_PRICE, wrong=NO_PRICE)
    currency = LineField(LONGEST_CURRENCY)
    most_calls = WholeField(1, MOST_CALLS)
    most_tokens = WholeField(1, MOST_TOKENS)
    at_once = WholeField(1, MOST_AT_ONCE, default=USUAL_AT_ONCE)

    def terms(self) -> Terms:
        """Return the terms of a valid form."""
        prompt, completion = self.prompt_price.data, self.completion_price.data
        return Terms(
            prompt_price=None if prompt is None else float(prompt),
            completion_price=None if completion is None else float(completion),
            currency=self.currency.data,
            most_calls=self.most_calls.data,
            most_tokens=self.most_tokens.data,
            at_once=self.at_once.data or USUAL_AT_ONCE,
        )


def terms_of(line: SessionLine) -> TermsForm:
    """Return the form with the prices that a session was started with."""
    return TermsForm(
        prompt_price=line.prompt_price,
        completion_price=line.completion_price,
        currency=line.currency,
    )


blueprint = Blueprint("machine_judges", __name__, url_prefix="/study/machine-judges")


class Configured(Struct, frozen=True):
    """The configured endpoint without its secrets; ``wrong`` if it is unusable."""

    address: str
    model: str
    key_variable: str
    wrong: bool


@blueprint.get("/")
def index() -> str:
    """List the machine judges, or explain how an endpoint is configured."""
    with access.reading() as (session, rater):
        lines = machine_judges.lines(session, rater.study)
    return render_template("machine_judges/page.html", endpoint=_configured(), judges=lines)


@blueprint.get("/new")
def new() -> str:
    """Show the form for a new judge with our own prompt in the wanted language."""
    wanted = request.args.get("language", "")
    chosen = prompts.language_for(wanted or language())
    with access.reading() as (_, rater):
        prompt = prompts.default(chosen, studies.guidelines(rater.study, chosen))
    return _new(request.args.get("name", "")[:LONGEST_NAME], chosen, prompt, {})


@blueprint.post("/")
def make() -> Response:
    """Make a judge with the configured model and the prompt as typed."""
    endpoint = _endpoint()
    if endpoint is None:
        raise NotConfigured
    form = forms.sent(NewJudgeForm)
    if not form.validate():
        return _new_again(form, forms.messages(form))
    try:
        with access.writing() as (session, owner):
            made = machine_judges.make(
                session,
                owner.study,
                form.name.data,
                endpoint,
                form.language.data,
                form.prompt.data,
                access.now(),
            )
            session.commit()
            judge_id = made.id
    except NameTaken as taken:
        return _new_again(form, {"name": f"{taken.sentence()}."})
    except UnfitPrompt as unfit:
        return _new_again(form, {"prompt": str(unfit)})
    return redirect(url_for("machine_judges.show", judge_id=judge_id), 303)  # type: ignore[return-value]


@blueprint.get("/<int:judge_id>")
def show(judge_id: int) -> Response:
    """Show a judge, with the cost of starting it once prices and caps were entered."""
    form = TermsForm(request.args)
    errors = {} if form.validate() else forms.messages(form)
    if htmx.wants_part():
        return _work(judge_id)
    return make_response(_page(judge_id, form, errors, asked="most_calls" in request.args))


@blueprint.post("/<int:judge_id>/start")
def start(judge_id: int) -> Response:
    """Start a judge on the terms that the page has shown with their cost."""
    form = forms.sent(TermsForm)
    if not form.validate():
        page = _page(judge_id, form, forms.messages(form), asked=False)
        return make_response(page, 422)
    try:
        with access.writing() as (session, owner):
            judge = machine_judges.find(session, owner.study, judge_id)
            begun = calls.start(session, judge, _endpoint(), form.terms(), access.now())
            at_once = begun.at_once
            session.commit()
        _wake(judge_id, at_once)
    except (AlreadyRunning, NothingToJudge):
        pass  # the page says so
    return _back(judge_id)


@blueprint.post("/<int:judge_id>/stop")
def stop(judge_id: int) -> Response:
    """Stop a judge; the answers to calls on their way are still stored."""
    with access.writing() as (session, owner):
        judge = machine_judges.find(session, owner.study, judge_id)
        calls.stop(session, judge, access.now())
        session.commit()
    return _back(judge_id)


@blueprint.post("/<int:judge_id>/resume")
def resume(judge_id: int) -> Response:
    """Go on with a session on which nobody works any more."""
    with access.writing() as (session, owner):
        judge = machine_judges.find(session, owner.study, judge_id)
        found = calls.running(session, judge.rater_id)
    if found is not None:
        _wake(judge_id, found.at_once)
    return _back(judge_id)


@blueprint.get("/<int:judge_id>/resume")
@blueprint.get("/<int:judge_id>/stop")
@blueprint.get("/<int:judge_id>/start")
def after_refusal(judge_id: int) -> Response:
    """Go to the judge's page: a reload or a change of language comes here after a refusal."""
    return _back(judge_id)


def _wake(judge_id: int, at_once: int) -> None:
    workers().wake(JudgeWork(judge_id, _endpoint()), at_once, most=at_once)


def _back(judge_id: int) -> Response:
    return redirect(url_for("machine_judges.show", judge_id=judge_id), 303)  # type: ignore[return-value]


def _endpoint() -> JudgeEndpoint | None:
    found: JudgeEndpoint | None = current_app.config["JUDGE"]
    return found


def _configured() -> Configured | None:
    endpoint = _endpoint()
    if endpoint is None:
        return None
    try:
        address, wrong = public_address(machine_judges.address(endpoint)), False
    except machine_judges.UnusableEndpoint:
        address, wrong = "", True  # it may hold a password, and is not repeated
    return Configured(address, endpoint.model, endpoint.key_variable, wrong)


def _new(name: str, chosen: str, prompt: str, errors: dict[str, str]) -> str:
    endpoint = _configured()
    if endpoint is None or endpoint.wrong:
        raise NotConfigured
    return render_template(
        "machine_judges/new.html",
        endpoint=endpoint,
        name=name,
        language=chosen,
        languages=prompts.LANGUAGES,
        prompt=prompt,
        errors=errors,
    )


def _new_again(form: NewJudgeForm, errors: dict[str, str]) -> Response:
    said = (form.name.data, form.language.data or "id", form.prompt.data)
    return make_response(_new(*said, errors), 422)


def _work(judge_id: int) -> Response:
    with access.reading() as (session, owner):
        judge = machine_judges.find(session, owner.study, judge_id)
        lines = machine_judges.lines(session, owner.study)
        work = calls.work(session, judge, access.now())
    if work.current is None:
        return htmx.reload()
    return make_response(
        render_template(
            "machine_judges/_work.html",
            judge=_line(lines, judge_id),
            work=work,
            current=_shown(work.current),
        )
    )


def _page(judge_id: int, form: TermsForm, errors: dict[str, str], *, asked: bool) -> str:
    with access.reading() as (session, owner):
        judge = machine_judges.find(session, owner.study, judge_id)
        lines = machine_judges.lines(session, owner.study)
        work = calls.work(session, judge, access.now())
        why_not = _why_not(judge, work)
        if work.earlier and not any(field.raw_data for field in form):
            form = terms_of(work.earlier[0])
        estimate = None
        if not (why_not or errors or work.current):
            most = form.terms().most_calls if asked else None
            estimate = prompts.estimate(session, judge, most)
        guidelines = studies.guidelines(owner.study, judge.language).strip()
        return render_template(
            "machine_judges/judge.html",
            judge=_line(lines, judge_id),
            version=judge,
            work=work,
            current=_shown(work.current),
            earlier=tuple(shown for one in work.earlier if (shown := _shown(one))),
            failed=tuple((one, _why(one.code)) for one in work.failed),
            estimate=estimate,
            expected=_expected(estimate, form) if estimate else None,
            form=form,
            errors=errors,
            agreed=typed(form) if asked and estimate else {},
            why_not=why_not,
            has_current_guidelines=guidelines in judge.prompt,
            most_at_once=calls.MOST_AT_ONCE,
            most_failures=calls.MOST_FAILURES,
        )


def _line(lines: tuple[JudgeLine, ...], judge_id: int) -> JudgeLine:
    return next(one for one in lines if one.id == judge_id)


def _why_not(judge: MachineJudge, work: Work) -> str:
    endpoint = _configured()
    if endpoint is None:
        return gettext("No endpoint is configured, so it cannot go on.")
    if judge.rater.removed_at is not None:
        return gettext("It was removed, so it no longer judges.")
    if (endpoint.address, endpoint.model) != (judge.endpoint, judge.model):
        return gettext(
            "%(model)s at %(address)s is configured, which is not this judge. Make a new one.",
            model=endpoint.model,
            address=endpoint.address or "-",
        )
    if not work.left:
        return gettext("It has judged every card of the study.")
    return ""


def _expected(estimate: TokenEstimate, form: TermsForm) -> dict[str, Any]:
    terms = form.terms()
    return _cost(
        estimate.prompt_tokens,
        estimate.completion_tokens,
        (terms.prompt_price, terms.completion_price, terms.currency),
    )


def _shown(found: SessionLine | None) -> dict[str, Any] | None:
    if found is None:
        return None
    price = (found.prompt_price, found.completion_price, found.currency)
    return {
        "line": found,
        "estimated": _cost(found.estimated_prompt_tokens, found.estimated_completion_tokens, price),
        "used": _cost(found.prompt_tokens, found.completion_tokens, price),
        "why": _why(found.why or ""),
    }


def _why(code: str) -> str:
    return gettext(calls.SENTENCES[code]) if code else ""


def _cost(
    prompt: int, completion: int, price: tuple[float | None, float | None, str]
) -> dict[str, Any]:
    money = prompts.cost(prompt, completion, price[0], price[1])
    told = "" if money is None else f"{notation.money(money)} {price[2]}".strip()
    return {
        "prompt_tokens": notation.number(prompt),
        "completion_tokens": notation.number(completion),
        "money": told,
    }


WANTED = tuple(name for name in COEFFICIENTS if name != "fleiss_kappa")
"""The coefficients of a machine beside people; Fleiss' is for more than two."""
FIRST_SHOWN, MOST_SHOWN = 10, 200


@blueprint.get("/<int:judge_id>/agreement")
def show_beside(judge_id: int) -> str:
    """Show a machine's verdicts beside people's."""
    with access.reading() as (session, owner):
        judge = judges.find(session, owner.study, judge_id)
        found = judges.beside_people(session, owner.study, judge)
        lines = judges.lines(session, owner.study)
    apart = tuple(card for card in found.cards if card.is_apart)
    others = tuple(card for card in found.cards if not card.is_apart)
    return render_template(
        "machine_judges/agreement.html",
        judge=next(one for one in lines if one.id == judge_id),
        found=found,
        fewest=FEWEST_SHARED,
        verdicts=tuple(Relevance),
        rows=tuple(
            (said, tuple(found.table.get((said, people), 0) for people in Relevance))
            for said in Relevance
        ),
        people=[(one.name, "", one.agreement) for one in found.people],
        apart=apart[:FIRST_SHOWN],
        apart_too=apart[FIRST_SHOWN:],
        others=others[:MOST_SHOWN],
        hidden=max(0, len(others) - MOST_SHOWN),
        **written_coefficients(WANTED),
    )


@blueprint.post("/<int:judge_id>/release")
def release(judge_id: int) -> Response:
    """Let the judge's figures be chosen."""
    with access.writing() as (session, owner):
        judge = judges.find(session, owner.study, judge_id)
        judges.release(session, owner.study, judge, access.now())
        session.commit()
    return after_refusal_beside(judge_id)


@blueprint.post("/<int:judge_id>/withdraw")
def withdraw(judge_id: int) -> Response:
    """Let the judge's figures be chosen no more."""
    with access.writing() as (session, owner):
        judge = judges.find(session, owner.study, judge_id)
        judges.withdraw(session, owner.study, judge, access.now())
        session.commit()
    return after_refusal_beside(judge_id)


@blueprint.get("/<int:judge_id>/withdraw")
@blueprint.get("/<int:judge_id>/release")
def after_refusal_beside(judge_id: int) -> Response:
    """Go to the page: a reload or a change of language comes here after a refusal."""
    return redirect(url_for("machine_judges.show_beside", judge_id=judge_id), 303)  # type: ignore[return-value]
