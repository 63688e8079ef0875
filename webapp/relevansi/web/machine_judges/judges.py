"""Machine judges: their versions, the cost of starting one, and their sessions."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from flask import Blueprint, Response, current_app, render_template, request, url_for
from wtforms import Form

from relevansi import notation
from relevansi.chatbot.client import public_address
from relevansi.config import JudgeEndpoint
from relevansi.db.tables.machine_judges import MachineJudge, MachineSession
from relevansi.exporters.agreement import report as words
from relevansi.exporters.frame.json_files import fields
from relevansi.i18n import gettext, mark
from relevansi.metrics.agreement.report import COEFFICIENTS
from relevansi.records import Scale
from relevansi.services.machine_judges import calls, judges, token_estimates
from relevansi.services.machine_judges.judges import MIN_SHARED, NotConfigured, UnusableEndpoint
from relevansi.services.machine_judges.prompts import MAX_PROMPT, UnfitPrompt
from relevansi.services.people.raters import LONGEST_NAME, NameTaken
from relevansi.services.study import studies
from relevansi.web.agreement.agreement import about_coefficients
from relevansi.web.frame import access, forms, htmx
from relevansi.web.frame.htmx import see_other
from relevansi.web.frame.workers import workers

NO_PRICE = mark("Please write a price in digits, for example 0.15.")
HIGHEST_PRICE = 10**9
MOST_CALLS = 1_000_000
LONGEST_CURRENCY = 8
USUAL_AT_ONCE = 2


class NewJudgeForm(Form):
    name = forms.NameField(LONGEST_NAME)
    prompt = forms.LineField(MAX_PROMPT, required=True)


class TermsForm(Form):
    """The owner's prices for a million tokens, and the limits at which the judge stops."""

    prompt_price = forms.DecimalField(0, HIGHEST_PRICE, wrong=NO_PRICE)
    completion_price = forms.DecimalField(0, HIGHEST_PRICE, wrong=NO_PRICE)
    currency = forms.LineField(LONGEST_CURRENCY)
    most_calls = forms.WholeField(1, MOST_CALLS)
    at_once = forms.WholeField(1, calls.MAX_AT_ONCE, default=USUAL_AT_ONCE)

    def terms(self) -> calls.Terms:
        prompt, completion = self.prompt_price.data, self.completion_price.data
        return calls.Terms(
            prompt_price=None if prompt is None else float(prompt),
            completion_price=None if completion is None else float(completion),
            currency=self.currency.data,
            most_calls=self.most_calls.data,
            at_once=self.at_once.data or USUAL_AT_ONCE,
        )


blueprint = Blueprint("machine_judges", __name__, url_prefix="/study/machine-judges")


@blueprint.get("/")
def index() -> str:
    """List the machine judges, or explain how an endpoint is configured."""
    with access.reading() as (session, rater):
        lines = judges.of_study(session, rater.study)
    return render_template("machine_judges/page.html", **_configured(), judges=lines)


@blueprint.get("/new")
def new() -> str:
    """Show the form for a new judge with our own prompt."""
    with access.reading() as (_, rater):
        prompt = judges.usual_prompt(rater.study)
    return _new_page(request.args.get("name", "")[:LONGEST_NAME], prompt, {})


@blueprint.post("/")
def make() -> Response:
    """Make a judge with the configured model, or show what is wrong with its form."""
    endpoint = _endpoint()
    if endpoint is None:
        raise NotConfigured
    form = forms.form_from_request(NewJudgeForm)
    errors = {} if form.validate() else forms.messages(form)
    name, prompt = form.name.data, form.prompt.data
    if not errors:
        try:
            with access.writing() as (session, owner):
                judge = judges.make(session, owner.study, name, endpoint, prompt, access.now())
                return _redirect_to_judge(judge.rater_id)
        except NameTaken as taken:
            errors = {"name": f"{taken.sentence()}."}
        except UnfitPrompt as unfit:
            errors = {"prompt": str(unfit)}
    return Response(_new_page(name, prompt, errors), 422)


@blueprint.get("/<int:judge_id>")
def show(judge_id: int) -> Response:
    """Show a judge, with the cost of starting it once prices and caps were entered."""
    form = TermsForm(request.args)
    errors = {} if form.validate() else forms.messages(form)
    if htmx.wants_part():
        with access.reading() as (session, owner):
            judge = judges.find(session, owner.study, judge_id)
            work = calls.progress(session, judge, access.now())
        if work.current is None:
            return htmx.reload()  # it has ended: more than this part is another
        return htmx.part("machine_judges/_work.html", judge_id=judge_id, work=work, cost=_cost)
    return Response(_page(judge_id, form, errors, has_terms="most_calls" in request.args))


@blueprint.post("/<int:judge_id>/start")
def start(judge_id: int) -> Response:
    """Start a judge on the terms that the page has shown with their cost."""
    form = forms.form_from_request(TermsForm)
    if not form.validate():
        return Response(_page(judge_id, form, forms.messages(form), has_terms=False), 422)
    try:
        with access.writing() as (session, owner):
            judge = judges.find(session, owner.study, judge_id)
            terms = form.terms()
            at_once = calls.start(session, judge, _endpoint(), terms, access.now()).at_once
        _wake(judge_id, at_once)
    except (calls.AlreadyRunning, calls.NothingToJudge):
        pass  # the page says so
    return _redirect_to_judge(judge_id)


@blueprint.post("/<int:judge_id>/stop")
def stop(judge_id: int) -> Response:
    with access.writing() as (session, owner):
        judge = judges.find(session, owner.study, judge_id)
        calls.stop(session, judge, access.now())
    return _redirect_to_judge(judge_id)


@blueprint.post("/<int:judge_id>/resume")
def resume(judge_id: int) -> Response:
    """Go on with a session on which nobody works any more."""
    with access.writing() as (session, owner):
        judge = judges.find(session, owner.study, judge_id)
        running = calls.running(session, judge.rater_id)
        at_once = running.at_once if running is not None else 0
    if at_once:
        _wake(judge_id, at_once)
    return _redirect_to_judge(judge_id)


@blueprint.get("/<int:judge_id>/resume")
@blueprint.get("/<int:judge_id>/stop")
@blueprint.get("/<int:judge_id>/start")
def after_refusal(judge_id: int) -> Response:
    """Go to the judge's page: a reload or a change of language comes here after a refusal."""
    return _redirect_to_judge(judge_id)


def _wake(judge_id: int, at_once: int) -> None:
    workers().wake(calls.JudgeWork(judge_id, _endpoint()), at_once, most=at_once)


def _redirect_to_judge(judge_id: int) -> Response:
    return see_other(url_for("machine_judges.show", judge_id=judge_id))


def _endpoint() -> JudgeEndpoint | None:
    endpoint: JudgeEndpoint | None = current_app.config["JUDGE"]
    return endpoint


def _configured() -> dict[str, Any]:
    """The configured endpoint, and its address without secrets, "" where it is unusable."""
    endpoint, address = _endpoint(), ""
    if endpoint is not None:
        with suppress(UnusableEndpoint):  # it may hold a password, and is not repeated
            address = public_address(judges.address(endpoint))
    return {"endpoint": endpoint, "address": address}


def _new_page(name: str, prompt: str, errors: dict[str, str]) -> str:
    configured = _configured()
    if not configured["address"]:
        raise NotConfigured
    values = {"name": name, "prompt": prompt, "errors": errors}
    return render_template("machine_judges/new.html", **configured, **values)


def _page(judge_id: int, form: TermsForm, errors: dict[str, str], *, has_terms: bool) -> str:
    with access.reading() as (session, owner):
        judge = judges.find(session, owner.study, judge_id)
        work = calls.progress(session, judge, access.now())
        why_not = _why_not(judge, work)
        if work.earlier and not any(field.raw_data for field in form):
            last = work.earlier[0].line
            form = TermsForm(**fields(last, "prompt_price", "completion_price", "currency"))
        estimate = expected = None
        if not (why_not or errors or work.current):
            terms = form.terms()
            estimate = token_estimates.estimate(
                session, judge, terms.most_calls if has_terms else None
            )
            expected = _cost(estimate.prompt_tokens, estimate.completion_tokens, terms)
        guidelines = studies.guidelines(owner.study, judge.language).strip()
        return render_template(
            "machine_judges/judge.html",
            judge=judge,
            judge_id=judge_id,
            work=work,
            cost=_cost,
            sentences=calls.SENTENCES,
            estimate=estimate,
            expected=expected,
            form=form,
            errors=errors,
            agreed=forms.typed(form) if has_terms and estimate else {},
            why_not=why_not,
            has_current_guidelines=guidelines in judge.prompt,
            most_at_once=calls.MAX_AT_ONCE,
            most_failures=calls.MAX_FAILURES,
        )


def _why_not(judge: MachineJudge, work: calls.JudgeProgress) -> str:
    """Return why a judge cannot go on, empty where it can."""
    configured = _configured()
    endpoint, address = configured["endpoint"], configured["address"]
    if endpoint is None:
        return gettext("No endpoint is configured, so it cannot go on.")
    if judge.rater.removed_at is not None:
        return gettext("It was removed, so it no longer judges.")
    if (address, endpoint.model) != (judge.endpoint, judge.model):
        return gettext(
            "%(model)s at %(address)s is configured, which is not this judge. Make a new one.",
            model=endpoint.model,
            address=address or "-",
        )
    if judge.language != judges.LANGUAGE:
        asked_otherwise = judges.OtherLanguage(judge.rater.name)
        return f"{asked_otherwise.sentence()}. {gettext(judges.OtherLanguage.remedy)}"
    if not work.n_open:
        return gettext("It has judged every card of the study.")
    return ""


def _cost(prompt: int, completion: int, terms: calls.Terms | MachineSession) -> dict[str, str]:
    money = token_estimates.cost(prompt, completion, terms.prompt_price, terms.completion_price)
    return {
        "prompt_tokens": notation.number(prompt),
        "completion_tokens": notation.number(completion),
        "money": "" if money is None else f"{notation.money(money)} {terms.currency}".strip(),
    }


PAIR_COEFFICIENTS = tuple(name for name in COEFFICIENTS if name != "fleiss_kappa")
"""The coefficients of a machine beside people; Fleiss' is for more than two."""
FIRST_SHOWN, MOST_SHOWN = 10, 200


@blueprint.get("/<int:judge_id>/agreement")
def show_beside(judge_id: int) -> str:
    """Show how far a judge agrees with people, and the cards on which they differ."""
    with access.reading() as (session, owner):
        judge = judges.find(session, owner.study, judge_id)
        comparison = judges.beside_people(session, owner.study, judge)
        scale = Scale.stored(owner.study.scale)
        merging = scale.merging(owner.study.merging)
    *grades, cannot_tell = scale.verdicts
    verdicts = (*reversed(grades), cannot_tell)
    apart = tuple(card for card in comparison.cards if card.is_apart)
    others = tuple(card for card in comparison.cards if not card.is_apart)
    table = comparison.table
    rows = [(row, [table.get((row, column), 0) for column in verdicts]) for row in verdicts]
    title, note = gettext("Beside each person"), gettext("n counts the items that both decided.")
    each = (((name,), person) for name, person in comparison.people)
    return render_template(
        "machine_judges/agreement.html",
        judge=judge,
        judge_id=judge_id,
        comparison=comparison,
        fewest=MIN_SHARED,
        merging=merging,
        verdicts=verdicts,
        rows=rows,
        overall=words.overall(
            "overall", gettext("Agreement"), comparison.agreement, PAIR_COEFFICIENTS
        ),
        people=words.by_group("people", title, (gettext("Rater"),), each, note, PAIR_COEFFICIENTS),
        intervals=words.intervals(),
        apart=apart[:FIRST_SHOWN],
        apart_too=apart[FIRST_SHOWN:],
        others=others[:MOST_SHOWN],
        hidden=max(0, len(others) - MOST_SHOWN),
        **about_coefficients(PAIR_COEFFICIENTS),
    )


_DECISIONS = "/<int:judge_id>/<any(release, withdraw):decision>"


@blueprint.post(_DECISIONS)
def decide(judge_id: int, decision: str) -> Response:
    with access.writing() as (session, owner):
        judge = judges.find(session, owner.study, judge_id)
        is_released = decision == "release"
        judges.release(session, judge, access.now(), is_released=is_released)
    return after_decision(judge_id, decision)


@blueprint.get(_DECISIONS)
def after_decision(judge_id: int, decision: str) -> Response:  # noqa: ARG001 (the address has it)
    """Go to the page: a reload or a change of language comes here after a refusal."""
    return see_other(url_for("machine_judges.show_beside", judge_id=judge_id))
