"""Assignments: the questions that each rater gets, written as people say them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flask import Blueprint, Response, make_response, redirect, render_template, request, url_for
from msgspec import Struct
from sqlalchemy.orm import Session

from webapp.db.tables.people import Rater
from webapp.db.tables.study import Study
from webapp.i18n import gettext, mark
from webapp.services.study import assignments, studies
from webapp.services.study.assignments import NotQuestions, Numbered, Why
from webapp.web.frame import access, forms, htmx
from webapp.web.frame.forms import LineField

blueprint = Blueprint("assignments", __name__, url_prefix="/study/assignments")

LONGEST = 2000

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


class AssignmentLine(Struct, frozen=True):
    """One rater's field as stored or as typed, the number of its questions, and its error.

    ``count`` is ``None`` for all.
    """

    id: int
    name: str
    text: str
    count: int | None
    error: str = ""


class SetShown(Struct, frozen=True):
    """One question set: its letter (empty where there is one alone) and what can be named.

    ``categories`` have the numbers of their questions.
    """

    letter: str
    questions: str
    categories: tuple[tuple[str, str], ...]


class AssignmentsPage(Struct, frozen=True):
    """Every rater's questions, the sets to name them from, and whether there is an error."""

    lines: tuple[AssignmentLine, ...]
    sets: tuple[SetShown, ...]
    overlap: int | None
    is_blind: bool
    saved: bool
    wrong: bool


@blueprint.get("/")
def show() -> str:
    """Show the questions that each rater gets."""
    with access.reading() as (session, rater):
        page = _page(session, rater.study, {}, {}, saved="saved" in request.args)
    return render_template("study/assignments/page.html", **htmx.names(page))


@blueprint.post("/")
def save() -> Response:
    """Assign the typed questions, or show the form with its errors and store nothing."""
    with access.writing() as (session, rater):
        study = rater.study
        sets = assignments.numbered(session, study)
        people = {_name(one): one for one in _present(session, study)}
        form = forms.named({name: LineField(LONGEST) for name in people})
        form.validate()
        errors = forms.messages(form)
        typed = {field.name: field.data for field in form if field.raw_data}
        for name in typed.keys() - errors.keys():
            try:
                wanted = assignments.read(typed[name], sets)
                assignments.assign(session, people[name], wanted, access.now())
            except NotQuestions as error:
                extent = _extent(sets)
                errors[name] = gettext(SAID[error.why], item=error.item, extent=extent)
        if not errors:
            session.commit()
            return redirect(url_for("assignments.show", saved=1), 303)  # type: ignore[return-value]
        session.rollback()
        page = _page(session, study, typed, errors)
    return make_response(render_template("study/assignments/page.html", **htmx.names(page)), 422)


def _name(rater: Rater) -> str:
    """Return the name of a rater's field."""
    return f"questions-{rater.id}"


def _present(session: Session, study: Study) -> list[Rater]:
    return [one for one in studies.raters(session, study) if one.removed_at is None]


def _extent(sets: Sequence[Numbered]) -> str:
    """Return every question there is, as it would be written."""
    return assignments.written((key for one in sets for key in one.ids.values()), sets)


def _page(
    session: Session,
    study: Study,
    typed: Mapping[str, str],
    errors: Mapping[str, str],
    *,
    saved: bool = False,
) -> AssignmentsPage:
    sets = assignments.numbered(session, study)
    named = assignments.by_rater(session, study)
    return AssignmentsPage(
        lines=tuple(
            AssignmentLine(
                rater.id,
                rater.name,
                typed.get(_name(rater), assignments.written(named.get(rater.id, ()), sets)),
                len(named[rater.id]) if rater.id in named else None,
                errors.get(_name(rater), ""),
            )
            for rater in _present(session, study)
        ),
        sets=tuple(_set(one, sets) for one in sets),
        overlap=study.overlap,
        is_blind=studies.is_blind(session, study),
        saved=saved,
        wrong=bool(errors),
    )


def _set(one: Numbered, sets: Sequence[Numbered]) -> SetShown:
    return SetShown(
        letter=one.letter if len(sets) > 1 else "",
        questions=assignments.written(one.ids.values(), sets),
        categories=tuple(
            (category, assignments.written(one.of(category), sets))
            for category in dict.fromkeys(one.categories.values())
        ),
    )
