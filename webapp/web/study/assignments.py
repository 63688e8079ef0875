"""Assignments: the questions that each rater gets, written as people say them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flask import Blueprint, Response, make_response, redirect, render_template, request, url_for
from sqlalchemy.orm import Session

from webapp.db.tables.study import Study
from webapp.i18n import gettext, mark
from webapp.services.study import assignments, studies
from webapp.services.study.assignments import NotQuestions, Numbered, Why
from webapp.web.frame import access, htmx
from webapp.web.frame.forms import TOO_LONG

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


@dataclass(frozen=True, slots=True)
class AssignmentLine:
    """One rater's field as stored or as typed, the number of its questions, and its error.

    ``count`` is ``None`` for all.
    """

    id: int
    name: str
    text: str
    count: int | None
    error: str = ""


@dataclass(frozen=True, slots=True)
class SetShown:
    """One question set: its letter (empty where there is one alone) and what can be named.

    ``categories`` have the numbers of their questions.
    """

    letter: str
    questions: str
    categories: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class AssignmentsPage:
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
        typed, errors = _typed(session, study), {}
        for found in studies.raters(session, study):
            if found.id in typed:
                try:
                    wanted = _read(typed[found.id], sets)
                    assignments.assign(session, found, wanted, access.now())
                except _Unusable as error:
                    errors[found.id] = str(error)
        if not errors:
            session.commit()
            return redirect(url_for("assignments.show", saved=1), 303)  # type: ignore[return-value]
        session.rollback()
        page = _page(session, study, typed, errors)
    return make_response(render_template("study/assignments/page.html", **htmx.names(page)), 422)


class _Unusable(ValueError):
    """The typed text names no questions; its text is the reason in the reader's language."""


def _typed(session: Session, study: Study) -> dict[int, str]:
    """Return the typed text for each rater who has a field."""
    return {
        rater.id: request.form[f"questions-{rater.id}"].replace("\x00", "").strip()
        for rater in studies.raters(session, study)
        if f"questions-{rater.id}" in request.form and rater.removed_at is None
    }


def _read(text: str, sets: Sequence[Numbered]) -> frozenset[int]:
    if len(text) > LONGEST:
        raise _Unusable(gettext(TOO_LONG))
    try:
        return assignments.read(text, sets)
    except NotQuestions as error:
        extent = _extent(sets)
        raise _Unusable(gettext(SAID[error.why], item=error.item, extent=extent)) from error


def _extent(sets: Sequence[Numbered]) -> str:
    """Return every question there is, as it would be written."""
    return assignments.written((key for one in sets for key in one.ids.values()), sets)


def _page(
    session: Session,
    study: Study,
    typed: Mapping[int, str],
    errors: Mapping[int, str],
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
                typed.get(rater.id, assignments.written(named.get(rater.id, ()), sets)),
                len(named[rater.id]) if rater.id in named else None,
                errors.get(rater.id, ""),
            )
            for rater in studies.raters(session, study)
            if rater.removed_at is None
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
