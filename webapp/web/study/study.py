"""The study: its settings, the guidelines of its raters, who judges what, and its progress."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from flask import Blueprint, Response, make_response, redirect, render_template, request, url_for
from msgspec import Struct
from msgspec.structs import asdict, replace
from sqlalchemy import select
from sqlalchemy.orm import Session
from werkzeug.exceptions import BadRequest
from wtforms import BooleanField, Form

from webapp import labels
from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Query, Run
from webapp.db.tables.study import Study
from webapp.exporters.exports.metrics_tables import said_blindness
from webapp.i18n import SOURCE_LANGUAGE, gettext, language, mark
from webapp.records import CannotTell
from webapp.services.rating import asked_again, pool
from webapp.services.runs import reports
from webapp.services.runs.reports import Rule
from webapp.services.study import assignments, standing, studies
from webapp.services.study.assignments import NotQuestions, Why
from webapp.services.study.studies import Switches
from webapp.web.frame import access, forms, htmx
from webapp.web.frame.forms import (
    LONGEST_ANSWER,
    LONGEST_LABEL,
    ChoiceField,
    LineField,
    TextField,
    WholeField,
)
from webapp.web.planning import planning

MOST_RATERS = 1000
DEEPEST = 10_000
LONGEST_ASSIGNMENT = 2000
SAID = {
    Why.UNKNOWN: mark(
        '"%(item)s" is not a number, a range such as 1-10 or a category of the list below. '
        "Put commas between several."
    ),
    Why.OUTSIDE: mark('"%(item)s" is not among the questions there are: %(extent)s.'),
    Why.BACKWARDS: mark('"%(item)s" runs backwards: write the smaller number first.'),
    Why.WHICH_SET: mark(
        '"%(item)s" could be of several question sets: write the letter of the set before it, '
        "as in A%(item)s."
    ),
}
"""The error of an item that names no questions, with its remedy."""


class StudyForm(Form):
    name = LineField(LONGEST_LABEL, required=True)
    guidelines = TextField(LONGEST_ANSWER)
    blind = ChoiceField({"auto": None, "yes": True, "no": False})
    shuffle_questions = ChoiceField({"given": False, "shuffled": True}, name="order", default=False)
    figures = ChoiceField(["progress", "all"], default="progress")
    overlap = WholeField(1, MOST_RATERS)
    pool_depth = WholeField(1, DEEPEST)
    cannot_tell = ChoiceField(get_args(CannotTell), default="not_relevant")
    repeat_percent = WholeField(0, 100, required=True)
    allow_bulk = BooleanField()
    show_pictures = BooleanField()
    badges_while_blind = BooleanField()
    show_record = BooleanField()
    suggest_quality = ChoiceField({"open": None, "yes": True, "no": False})

    @classmethod
    def showing(cls, switches: Switches) -> StudyForm:
        data = asdict(switches)
        if switches.starter_guidelines:
            texts = studies.starters()
            data["guidelines"] = texts.get(language(), texts[SOURCE_LANGUAGE])
        return cls(data=data)

    def switches(self, before: Switches) -> Switches:
        """Return the settings of a valid form; a starter text that was not edited stays one."""
        wanted = replace(before, **self.data)
        if not before.starter_guidelines:
            return wanted
        if self.guidelines.data.strip() in studies.starters().values():
            return replace(wanted, guidelines=before.guidelines)
        return replace(wanted, starter_guidelines=False)


blueprint = Blueprint("study", __name__, url_prefix="/study")


@blueprint.get("/")
def show() -> str:
    with access.reading() as (session, rater):
        shown = replace(studies.switches(rater.study), name=studies.shown_name(rater.study))
        page = _page(session, rater.study, StudyForm.showing(shown), saved="saved" in request.args)
    return render_template("study/page.html", **page)


@blueprint.post("/")
def save() -> Response:
    form = forms.sent(StudyForm)
    valid = form.validate()
    with access.writing() as (session, rater):
        study = rater.study
        if not valid:
            page = _page(session, study, form, errors=forms.messages(form))
            return make_response(render_template("study/page.html", **page), 422)
        wanted = form.switches(studies.switches(study))
        studies.set_switches(session, study, wanted, access.now())
        session.commit()
    return redirect(url_for("study.show", saved=1), 303)  # type: ignore[return-value]


@blueprint.post("/guidelines")
def preview() -> Response:
    """Show the guidelines as typed, with a starter text below them if asked; nothing is stored."""
    form = forms.sent(StudyForm)
    starter = request.args.get("starter")
    if starter is not None:
        text = studies.starters().get(starter)
        if text is None:
            raise BadRequest
        form.guidelines.data = "\n\n".join(filter(None, [form.guidelines.data, text]))
    with access.reading() as (session, rater):
        page = _page(session, rater.study, form)
    part = "study/_preview.html" if starter is None else "study/_guidelines.html"
    return htmx.respond("study/page.html", part, page)


@blueprint.get("/guidelines")
def guidelines() -> Response:
    """Go to the set-up: a reload or a change of language comes here after a preview."""
    return redirect(url_for("study.show", _anchor="guidelines-part"), 303)  # type: ignore[return-value]


@blueprint.get("/standing", endpoint="standing")
def show_standing() -> Response:
    with access.reading() as (session, rater):
        study = rater.study
        questions = standing.question_standings(session, study)
        is_blind = studies.is_blind(session, study)
        sets = assignments.numbered(session, study)
        short = [one for one in questions if one.reach < (study.overlap or 1)]
        in_study = Query.run_id.in_(select(Run.id).where(Run.study_id == study.id))
        blindness = reports.blindness(session, study, in_study, Rule(reports.MAJORITY))
        return htmx.respond(
            "study/standing.html",
            "study/_standing.html",
            at=access.now(),
            saving=standing.saving(session, study),
            pool_depth=study.pool_depth,
            overlap=study.overlap,
            is_blind=is_blind,
            raters=standing.rater_standings(session, study),
            questions=questions,
            blindness=said_blindness(blindness),
            askable=asked_again.askable(session, study),
            waiting=asked_again.waiting(session, study),
            nobody=assignments.written((one.id for one in short if not one.reach), sets),
            too_few=assignments.written((one.id for one in short if one.reach), sets),
            machines=sum(one.is_machine for one in studies.people_and_machines(session, study)),
            settled=planning.settled_part(session, study) if questions else None,
            styles=planning.STYLES,
        )


@blueprint.get("/more")
def more() -> str:
    return render_template("study/more.html")


@blueprint.get("/ask-again")
def ask_to_ask_again() -> str:
    with access.reading() as (session, rater):
        work = asked_again.askable(session, rater.study)
    return render_template("study/ask_again.html", work=work)


@blueprint.post("/ask-again")
def ask_again() -> Response:
    with access.writing() as (session, rater):
        asked_again.ask(session, rater.study, access.now())
        session.commit()
    return redirect(url_for("study.standing", _anchor="blindness"), 303)  # type: ignore[return-value]


def _page(
    session: Session,
    study: Study,
    form: StudyForm,
    *,
    errors: dict[str, str] | None = None,
    saved: bool = False,
) -> dict[str, Any]:
    return {
        "form": form,
        "errors": errors or {},
        "saved": saved,
        "is_blind": studies.is_blind(session, study),  # under the stored settings
        "commitment": pool.commitment(study.order_secret),
        "starters": tuple(studies.starters()),
        "shows_starter": study.starter_guidelines,
    }


assignments_blueprint = Blueprint("assignments", __name__, url_prefix="/study/assignments")


@assignments_blueprint.get("/", endpoint="show")
def show_assignments() -> str:
    with access.reading() as (session, rater):
        return _assignments(session, rater.study, {}, {})


@assignments_blueprint.post("/", endpoint="save")
def save_assignments() -> Response:
    with access.writing() as (session, rater):
        study = rater.study
        sets = assignments.numbered(session, study)
        people = {f"questions-{one.id}": one for one in _present(session, study)}
        form = forms.named({name: LineField(LONGEST_ASSIGNMENT) for name in people})
        form.validate()
        errors = forms.messages(form)
        typed = {field.name: field.data for field in form if field.raw_data}
        for name in typed.keys() - errors.keys():
            try:
                wanted = assignments.read(typed[name], sets)
                assignments.assign(session, people[name], wanted, access.now())
            except NotQuestions as error:
                everything = (key for one in sets for key in one.ids.values())
                extent = assignments.written(everything, sets)
                errors[name] = gettext(SAID[error.why], item=error.item, extent=extent)
        if not errors:
            session.commit()
            return redirect(url_for("assignments.show", saved=1), 303)  # type: ignore[return-value]
        session.rollback()
        return make_response(_assignments(session, study, typed, errors), 422)


def _present(session: Session, study: Study) -> list[Rater]:
    return [one for one in studies.raters(session, study) if one.removed_at is None]


def _assignments(
    session: Session, study: Study, typed: Mapping[str, str], errors: Mapping[str, str]
) -> str:
    sets = assignments.numbered(session, study)
    return render_template(
        "study/assignments/page.html",
        raters=_present(session, study),
        named=assignments.by_rater(session, study),
        sets=sets,
        written=assignments.written,
        typed=typed,
        errors=errors,
        overlap=study.overlap,
        is_blind=studies.is_blind(session, study),
        saved="saved" in request.args,
    )


class RuleChoice(Struct, frozen=True):
    """A rule by which several raters' verdicts become one: its name and its label."""

    name: str
    label: str


def wanted_rule() -> str | None:
    """Return the rule that the address names; ``None`` leaves the choice to the study."""
    return request.args.get("rule") or None


def rule_choices(session: Session, study: Study) -> tuple[RuleChoice, ...]:
    names = (rule.name for rule in reports.rules(session, study))
    return tuple(RuleChoice(name, labels.rule(name)) for name in names)
