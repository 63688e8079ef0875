"""The study: its settings, the guidelines of its raters, and its progress."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import get_args

from flask import Blueprint, Response, make_response, redirect, render_template, request, url_for
from msgspec import Struct
from msgspec.structs import asdict, replace
from sqlalchemy import select
from sqlalchemy.orm import Session
from werkzeug.exceptions import BadRequest
from wtforms import BooleanField, Form

from webapp import labels
from webapp.db.tables.runs import Query, Run
from webapp.db.tables.study import Study
from webapp.exporters.exports.metrics_tables import said_blindness
from webapp.i18n import SOURCE_LANGUAGE, language
from webapp.records import Blindness, CannotTell
from webapp.services.rating import asked_again, pool
from webapp.services.rating.asked_again import OpenWork
from webapp.services.runs import reports
from webapp.services.runs.reports import Rule
from webapp.services.study import assignments, studies
from webapp.services.study.assignments import Numbered
from webapp.services.study.standing import (
    QuestionStanding,
    RaterStanding,
    Saving,
    StudyStanding,
    study_standing,
)
from webapp.services.study.studies import Switches
from webapp.web.features import ShownPart
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


class StudyForm(Form):
    """The owner's settings of a study; an empty number means all."""

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
        """Return the form filled with a study's settings, the starter guidelines if they show."""
        data = asdict(switches)
        if switches.starter_guidelines:
            texts = studies.starters()
            data["guidelines"] = texts.get(language(), texts[SOURCE_LANGUAGE])
        return cls(data=data)

    def switches(self, before: Switches) -> Switches:
        """Return the settings of a valid form; those without a field stay as in `before`.

        A starter text that was not edited stays the starter, which each reader has in their
        language.
        """
        wanted = replace(before, **self.data)
        if not before.starter_guidelines:
            return wanted
        if self.guidelines.data.strip() in studies.starters().values():
            return replace(wanted, guidelines=before.guidelines)
        return replace(wanted, starter_guidelines=False)


blueprint = Blueprint("study", __name__, url_prefix="/study")


class StudyPage(Struct, frozen=True):
    """The settings of the study, the errors in the user's input, and whether it was stored.

    ``is_blind`` is whether raters rate blind under the stored settings; ``commitment`` is the
    SHA-256 of the secret that shuffles their orders. ``starters`` are the languages of the texts
    to begin the guidelines with; ``shows_starter`` is whether raters see them as they are.
    """

    form: StudyForm
    errors: dict[str, str]
    saved: bool
    is_blind: bool
    commitment: str
    starters: tuple[str, ...]
    shows_starter: bool


class StandingQuestionLine(Struct, frozen=True):
    """One question; ``judged`` has a count for everybody who has it or judged in it."""

    position: int
    text: str
    category: str
    things: int
    judged: dict[str, int]
    left: int


class StandingCell(StrEnum):
    """The state of a question for a rater."""

    GIVEN = "given"
    PLANNED = "planned"
    NOT_THEIRS = "not theirs"


class AssignmentPlan(Struct, frozen=True):
    """The plan of assignments: for each question (position, text) a cell for every rater, by name.

    ``lines`` end with how many raters the question reaches. ``nobody`` and ``too_few`` name
    the questions that no rater, or fewer than the overlap, will judge.
    """

    lines: tuple[tuple[int, str, dict[str, StandingCell], int], ...]
    nobody: str
    too_few: str


class StandingPage(Struct, frozen=True):
    """The progress of the study at ``at``; ``open_questions`` are those that miss a verdict.

    ``blindness`` says how many verdicts were given blind; of the others ``askable`` can be asked
    again, and ``waiting`` were and are not answered yet.
    ``plan`` is set in a blind study, where raters are given their questions. ``machines`` counts
    the machines, which nothing else on this page counts. ``brought`` are the parts of
    features, ``styles`` their style sheets.
    """

    at: datetime
    saving: Saving
    pool_depth: int | None
    overlap: int | None
    is_blind: bool
    raters: tuple[RaterStanding, ...]
    questions: tuple[StandingQuestionLine, ...]
    open_questions: int
    blindness: str
    askable: OpenWork
    waiting: OpenWork
    plan: AssignmentPlan | None
    machines: int
    brought: tuple[ShownPart, ...]
    styles: tuple[str, ...]


@blueprint.get("/")
def show() -> str:
    """Show the settings of the study."""
    with access.reading() as (session, rater):
        shown = replace(studies.switches(rater.study), name=studies.shown_name(rater.study))
        form = StudyForm.showing(shown)
        page = _page(session, rater.study, form, saved="saved" in request.args)
    return render_template("study/page.html", **htmx.names(page))


@blueprint.post("/")
def save() -> Response:
    """Store the settings of the form, or show the form again with its errors."""
    form = forms.sent(StudyForm)
    valid = form.validate()
    with access.writing() as (session, rater):
        study = rater.study
        if not valid:
            page = _page(session, study, form, errors=forms.messages(form))
            return make_response(render_template("study/page.html", **htmx.names(page)), 422)
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
        form.guidelines.data = "\n\n".join(filter(None, [form.guidelines.data, _starter(starter)]))
    with access.reading() as (session, rater):
        page = _page(session, rater.study, form)
    part = "study/_preview.html" if starter is None else "study/_guidelines.html"
    return htmx.respond("study/page.html", part, page)


@blueprint.get("/guidelines")
def guidelines() -> Response:
    """Go to the set-up: a reload or a change of language comes here after a preview."""
    return redirect(url_for("study.show", _anchor="guidelines-part"), 303)  # type: ignore[return-value]


@blueprint.get("/standing")
def standing() -> Response:
    """Show the verdicts that pooling saves, each rater's progress, and the work left."""
    with access.reading() as (session, rater):
        page = _standing(session, rater.study)
    return htmx.respond("study/standing.html", "study/_standing.html", page)


@blueprint.get("/more")
def more() -> str:
    """Show what only some studies need, each page with the people it is for."""
    return render_template("study/more.html")


@blueprint.get("/ask-again")
def ask_to_ask_again() -> str:
    """Say what is asked again blind, before it is."""
    with access.reading() as (session, rater):
        work = asked_again.askable(session, rater.study)
    return render_template("study/ask_again.html", work=work)


@blueprint.post("/ask-again")
def ask_again() -> Response:
    """Ask again, blind, what raters gave with the method in sight."""
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
) -> StudyPage:
    blind = studies.is_blind(session, study)
    commitment = pool.commitment(study.order_secret)
    starters, shows_starter = tuple(studies.starters()), study.starter_guidelines
    return StudyPage(form, errors or {}, saved, blind, commitment, starters, shows_starter)


def _starter(language: str) -> str:
    found = studies.starters().get(language)
    if found is None:
        raise BadRequest
    return found


def _standing(session: Session, study: Study) -> StandingPage:
    found = study_standing(session, study)
    questions = tuple(_question(one, study.overlap) for one in found.questions)
    is_blind = studies.is_blind(session, study)
    sets = assignments.numbered(session, study)
    return StandingPage(
        at=access.now(),
        saving=found.saving,
        pool_depth=study.pool_depth,
        overlap=study.overlap,
        is_blind=is_blind,
        raters=found.raters,
        questions=questions,
        open_questions=sum(line.left > 0 for line in questions),
        blindness=said_blindness(_blindness(session, study)),
        askable=asked_again.askable(session, study),
        waiting=asked_again.waiting(session, study),
        plan=_plan(found, study.overlap, sets) if is_blind and questions else None,
        machines=sum(one.is_machine for one in studies.people_and_machines(session, study)),
        brought=tuple(filter(None, [planning.settled_part(session, study)])) if questions else (),
        styles=planning.STYLES,
    )


def _blindness(session: Session, study: Study) -> Blindness:
    in_study = Query.run_id.in_(select(Run.id).where(Run.study_id == study.id))
    return reports.blindness(session, study, in_study, Rule(reports.MAJORITY))


def _plan(found: StudyStanding, overlap: int | None, sets: Sequence[Numbered]) -> AssignmentPlan:
    names = [rater.name for rater in found.raters]
    short = [one for one in found.questions if one.reach < (overlap or 1)]
    return AssignmentPlan(
        lines=tuple(
            (one.position, one.text, {name: _cell(one, name) for name in names}, one.reach)
            for one in found.questions
        ),
        nobody=assignments.written((one.id for one in short if not one.reach), sets),
        too_few=assignments.written((one.id for one in short if one.reach), sets),
    )


def _cell(question: QuestionStanding, name: str) -> StandingCell:
    if name in question.given_to:
        return StandingCell.GIVEN
    return StandingCell.PLANNED if name in question.planned_for else StandingCell.NOT_THEIRS


def _question(found: QuestionStanding, overlap: int | None) -> StandingQuestionLine:
    """Return a question's line, with the work left of all raters who have it or will get it."""
    named = {name: found.judged.get(name, 0) for name in (*found.given_to, *found.judged)}
    raters = len({*named, *found.assigned_to})
    wanted = raters if overlap is None else min(overlap, raters)
    begun = sum(found.things - count for count in named.values())
    return StandingQuestionLine(
        position=found.position,
        text=found.text,
        category=found.category,
        things=found.things,
        judged=dict(sorted(named.items())),
        left=begun + found.things * max(0, wanted - len(named)),
    )


class RuleChoice(Struct, frozen=True):
    """A rule by which several raters' verdicts become one: its name and its label."""

    name: str
    label: str


def wanted_rule() -> str | None:
    """Return the rule that the address names; ``None`` leaves the choice to the study."""
    return request.args.get("rule") or None


def rule_choices(session: Session, study: Study) -> tuple[RuleChoice, ...]:
    """Return every rule that may be chosen in a study."""
    names = (rule.name for rule in reports.rules(session, study))
    return tuple(RuleChoice(name, labels.rule(name)) for name in names)
