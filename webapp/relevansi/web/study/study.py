"""The study: its settings and guidelines, and how far it is rated."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from typing import Any, get_args

from flask import Blueprint, Response, render_template, request, url_for
from msgspec.structs import asdict, replace
from sqlalchemy.orm import Session
from werkzeug.exceptions import BadRequest
from wtforms import Field, Form
from wtforms.validators import ValidationError

from relevansi import labels
from relevansi.db.tables.study import Study
from relevansi.exporters.exports.judging_sentences import blindness_sentence
from relevansi.failures import Refused
from relevansi.i18n import ngettext
from relevansi.kinds import KINDS
from relevansi.kinds.property import Card
from relevansi.metrics.judging.graded import headline_of, ranking_figure
from relevansi.metrics.judging.registry import MEASURES, label_on, ranking_measure
from relevansi.records import BINARY, Blindness, CannotTell, Scale
from relevansi.services.judging import reasons
from relevansi.services.rating import asked_again
from relevansi.services.runs import reports
from relevansi.services.runs.reports import Rule
from relevansi.services.study import progress, studies
from relevansi.services.study.studies import Switches
from relevansi.web.frame import access, forms, htmx, origins
from relevansi.web.frame.forms import (
    LONGEST_ANSWER,
    LONGEST_LABEL,
    NOT_WHOLE,
    ChoiceField,
    KindField,
    LineField,
    ListField,
    TextField,
    WholeField,
)
from relevansi.web.frame.htmx import see_other
from relevansi.web.planning import planning

MOST_RATERS = 1000
DEEPEST = 10_000
LONGEST_WORD = 40
GRADES = {str(grade): grade for grade in range(1, Scale.MOST + 1)}
PARTS = {
    "general": ("name", "show_pictures"),
    "scale": (
        *("top", "relevant_from", "cannot_tell", "merging", "asks_quality", "place", "further"),
        *("pool_depth", *(f"{of}_{grade}" for of in ("word", "guidance") for grade in range(5))),
    ),
    "raters": (
        *("overlap", "order", "reason_lines", "reason_required"),
        *("looks_up", "looks_up_in_phase_3"),
    ),
    "blind": (
        *("blind", "figures", "suggest_quality", "badges_while_blind", "repeat_percent"),
        *("show_record", "allow_bulk", "marks_words", "looks_up_constraints"),
    ),
    "guidelines": ("guidelines",),
}
"""The groups of settings, one on a screen, and their fields."""
CONFIRMED = ("blind", "overlap", "pool_depth", "merging", "cannot_tell", "asks_quality")
"""The settings that change what is already judged, or what it comes to: they are confirmed."""


class SwitchField(KindField):
    """On or off; the page sends an empty value before the one that a browser adds when it is on."""

    def process_formdata(self, valuelist: Sequence[str]) -> None:
        if valuelist:
            self.data = bool(valuelist[-1])

    def written(self, value: Any) -> str:
        """Return what a browser sends of it."""
        return "1" if value else ""


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
    allow_bulk = SwitchField()
    show_pictures = SwitchField()
    badges_while_blind = SwitchField()
    show_record = SwitchField()
    suggest_quality = ChoiceField({"open": None, "yes": True, "no": False})
    top = ChoiceField(GRADES, default=1)
    relevant_from = ChoiceField(GRADES, default=1)
    merging = ChoiceField({"usual": None, "median": "median", "majority": "majority"})
    asks_quality = SwitchField(default=True)
    marks_words = SwitchField(default=True)
    reason_required = SwitchField()
    reason_lines = TextField(LONGEST_LABEL * 2)
    looks_up = SwitchField(default=True)
    looks_up_in_phase_3 = SwitchField()
    looks_up_constraints = SwitchField()
    figure, place = ListField(), ListField()
    further = LineField(LONGEST_LABEL)

    @classmethod
    def stored(cls, study: Study) -> dict[str, Any]:
        """Return the values of the fields while the study is set as it is."""
        switches = studies.switches(study)
        data, scale = asdict(switches), switches.scale
        data |= {"top": scale.top, "relevant_from": scale.relevant_from}
        for grade, (word, line) in enumerate(zip_longest(scale.words, scale.guidance)):
            data |= {f"word_{grade}": word or "", f"guidance_{grade}": line or ""}
        listed = reasons.offered(study.kind, study.reasons)
        data["reason_lines"] = "\n".join(map(labels.reason, listed))
        texts = {"name": studies.shown_name(study), "guidelines": studies.guidelines(study)}
        return data | texts

    def validate_relevant_from(self, field: Field) -> None:
        if field.data is None:  # no grade at all, which is said already
            return
        with _refusal_as_error():
            studies.scale_of(self.top.data or Scale.MOST, field.data if self.top.data != 1 else 1)

    def validate_reason_lines(self, field: Field) -> None:
        with _refusal_as_error():
            reasons.from_lines(field.data.splitlines(), Card.kind)

    def validate_place(self, field: Field) -> None:
        if not all(re.fullmatch("[0-9]{0,3}", place) for place in field.data):
            raise ValidationError(NOT_WHOLE)

    def validate_further(self, field: Field) -> None:
        with _refusal_as_error():
            studies.figures_in(field.data)

    def switches(self, study: Study) -> Switches:
        """Return the settings of a valid form; a starter text that was not edited stays one."""
        before = studies.switches(study)
        values = {name: self.data[name] for name in Switches.__struct_fields__ if name in self.data}
        values["reasons"] = reasons.from_lines(self.reason_lines.data.splitlines(), study.kind)
        values |= {"scale": self._scale(before), "measures": self._measures(before)}
        switches = replace(before, **values)
        if not before.starter_guidelines:
            return switches
        if self.guidelines.data.strip() in studies.starters(study).values():
            return replace(switches, guidelines=before.guidelines)
        return replace(switches, starter_guidelines=False)

    def _scale(self, before: Switches) -> Scale:
        top = self.top.data
        if top == 1:  # its two verdicts have their words
            return before.scale if before.scale.top == 1 else BINARY
        grades = range(top + 1)
        words = [self.data[f"word_{grade}"] for grade in grades]
        guidance = [self.data[f"guidance_{grade}"] for grade in grades]
        return studies.scale_of(top, self.relevant_from.data, words, guidance)

    def _measures(self, before: Switches) -> tuple[str, ...] | None:
        if not self.figure.raw_data:
            return before.measures
        rows = enumerate(zip(self.figure.data, self.place.data, strict=False), 1)
        # Of two with one place, that which moved up to it comes first, that which moved down last.
        places = [
            (int(place), (int(place) > row) - (int(place) < row), row, name)
            for row, (name, place) in rows
            if place
        ]
        return (*(name for *_, name in sorted(places)), *studies.figures_in(self.further.data))


for _grade in range(Scale.MOST + 1):
    setattr(StudyForm, f"word_{_grade}", LineField(LONGEST_WORD))
    setattr(StudyForm, f"guidance_{_grade}", LineField(LONGEST_LABEL))


@contextmanager
def _refusal_as_error() -> Iterator[None]:
    """Show a refusal inside the ``with`` block as the error of a field."""
    try:
        yield
    except Refused as refused:
        raise ValidationError(str(refused)) from None


def _form_from_request(study: Study) -> StudyForm:
    return forms.form_from_request(StudyForm, **StudyForm.stored(study))


blueprint = Blueprint("study", __name__, url_prefix="/study")


@blueprint.get("/")
def show() -> Response:
    with access.reading() as (session, rater):
        form = StudyForm(data=StudyForm.stored(rater.study))
        page = _page(session, rater.study, form, saved="saved" in request.args)
        return htmx.respond("study/page.html", "study/_settings.html", page)


@blueprint.post("/")
def save() -> Response:
    """Store the settings that a form sends; those with an effect on judgments once confirmed."""
    is_saved = False
    unconfirmed: list[str] = []
    with access.writing() as (session, rater):
        study = rater.study
        form = _form_from_request(study)
        is_valid = form.validate()
        if is_valid:
            before, switches = studies.switches(study), form.switches(study)
            if "confirmed" not in request.form:
                unconfirmed = _to_confirm(session, study, switches)
            unchanged = {name: getattr(before, name) for name in unconfirmed}
            studies.set_switches(session, study, replace(switches, **unchanged), access.now())
            is_saved = studies.switches(study) != before
    if is_valid and not (unconfirmed or htmx.wants_part()):
        return htmx.see_other(url_for("study.show", part=_part(), saved=1))
    # Read once they are committed, so that no click waits for the page.
    with access.reading() as (session, rater):
        errors = forms.messages(form)
        page = _page(
            session, rater.study, form, errors=errors, saved=is_saved, unconfirmed=unconfirmed
        )
        status = 200 if is_valid else 422
        return htmx.respond("study/page.html", "study/_changed.html", page, status)


def _to_confirm(session: Session, study: Study, switches: Switches) -> list[str]:
    """Return the settings that would change with an effect on what is judged."""
    before = studies.switches(study)
    changed = [name for name in CONFIRMED if getattr(before, name) != getattr(switches, name)]
    return changed if changed and studies.has_verdicts(session, study) else []


def _part(errors: Mapping[str, str] | None = None) -> str:
    """Return the group of settings to show: that of the address, or of the first error."""
    of_errors = (part for part, names in PARTS.items() if {*names} & {*(errors or {})})
    part = next(of_errors, request.args.get("part"))
    return part if part in PARTS else next(iter(PARTS))


@blueprint.post("/guidelines")
def preview() -> Response:
    """Show the guidelines as typed, with a starter text below them if asked; nothing is stored."""
    starter = request.args.get("starter")
    with access.reading() as (session, rater):
        form = _form_from_request(rater.study)
        if starter is not None:
            text = studies.starters(rater.study).get(starter)
            if text is None:
                raise BadRequest
            form.guidelines.data = "\n\n".join(filter(None, [form.guidelines.data, text]))
        page = _page(session, rater.study, form, part="guidelines")
    part = "study/_preview.html" if starter is None else "study/_guidelines.html"
    return htmx.respond("study/page.html", part, page)


@blueprint.get("/guidelines")
def guidelines() -> Response:
    """Go to the set-up: a reload or a change of language comes here after a preview."""
    return see_other(url_for("study.show", part="guidelines"))


@blueprint.get("/standing", endpoint="standing")
def show_progress() -> Response:
    """Show how far the questions of the study are rated, by whom, and what is left."""
    with access.reading() as (session, rater):
        study, in_study = rater.study, reports.in_study(rater.study)
        study_map = progress.study_map(session, study)
        cells = zip(study_map.raters, study_map.total.cells, strict=True)
        return htmx.respond(
            "study/standing.html",
            "study/_standing.html",
            at=access.now(),
            **study_map._asdict(),
            state=reports.state(session, study, in_study, reports.final_rule(session, study)),
            saving=progress.saving(session, study),
            pool_depth=study.pool_depth,
            overlap=study.overlap,
            reminders={
                line.name: _reminder(study, line.name, cell.cards_left)
                for line, cell in cells
                if cell and cell.cards_left and line.name != rater.name
            },
            runs=progress.runs_by_question(session, study),
            blindness=blindness_sentence(_blindness(session, study)),
            askable=asked_again.askable(session, study),
            waiting=asked_again.waiting(session, study),
            machines=sum(rater.is_machine for rater in studies.people_and_machines(session, study)),
            settled=planning.settled_part(session, study) if study_map.questions else None,
        )


def _blindness(session: Session, study: Study) -> Blindness:
    return reports.blindness(session, study, reports.in_study(study), Rule(reports.MAJORITY))


def _reminder(study: Study, name: str, n_cards: int) -> str:
    """Return a message to a rater; its link is for where they judged before and are known."""
    sentence = ngettext(
        "Hello %(name)s, %(n)s card is left for you to judge in “%(study)s”.",
        "Hello %(name)s, %(n)s cards are left for you to judge in “%(study)s”.",
        n_cards,
        name=labels.owner(name),
        study=studies.shown_name(study),
    )
    if origins.is_loopback(request.host):  # it would lead nowhere on another device
        return sentence
    return f"{sentence} {url_for('home.show', _external=True)}"


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
    return see_other(url_for("study.standing", _anchor="blindness"))


def _page(
    session: Session,
    study: Study,
    form: StudyForm,
    *,
    errors: dict[str, str] | None = None,
    saved: bool = False,
    unconfirmed: Sequence[str] = (),
    part: str = "",
) -> dict[str, Any]:
    """Return the values of the page of settings; `unconfirmed` ones wait for a yes."""
    has_verdicts = studies.has_verdicts(session, study)
    return {
        "form": form,
        "part": part or _part(errors),
        "stored": StudyForm(data=StudyForm.stored(study)),
        "errors": errors or {},
        "saved": saved,
        "revision": study.revision,
        "unconfirmed": unconfirmed,
        "blindness": _blindness(session, study) if has_verdicts else Blindness(),
        "is_blind": studies.is_blind(session, study),  # under the stored settings
        "item": KINDS[study.kind],
        "has_verdicts": has_verdicts,
        "figures": _figures(study, form),
        "headline": headline_of(study),
        "starters": tuple(studies.starters(study)),
        "shows_starter": study.starter_guidelines,
    }


def _figures(study: Study, form: StudyForm) -> list[dict[str, Any]]:
    """Return what can be shown first, with the place of each as it was typed."""
    headline = headline_of(study)
    places: dict[str, Any] = {name: place for place, name in enumerate(headline, 1)}
    if form.figure.raw_data:
        places = dict(zip(form.figure.data, form.place.data, strict=False))
    scale, figures = Scale.stored(study.scale), []
    for name in studies.offered_figures(study):
        measure = MEASURES.get(name) or ranking_measure(name)
        needs_pool = name not in MEASURES and ranking_figure(name).needs_pool
        figure = {"name": name, "place": places.get(name, ""), "label": label_on(measure, scale)}
        figures.append(figure | {"measure": measure, "needs_pool": needs_pool})
    return figures
