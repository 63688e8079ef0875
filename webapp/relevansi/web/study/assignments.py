"""Who judges what: the questions that each rater is given, typed as numbers and ranges."""

from __future__ import annotations

from collections.abc import Mapping

from flask import Blueprint, Response, make_response, render_template, request, url_for
from sqlalchemy.orm import Session

from relevansi.db.tables.study import Study
from relevansi.i18n import gettext
from relevansi.services.study import assignments, studies
from relevansi.services.study.assignments import NotQuestions
from relevansi.web.frame import access, forms
from relevansi.web.frame.forms import LineField
from relevansi.web.frame.htmx import see_other

LONGEST_ASSIGNMENT = 2000


blueprint = Blueprint("assignments", __name__, url_prefix="/study/assignments")


@blueprint.get("/")
def show() -> str:
    with access.reading() as (session, rater):
        return _page(session, rater.study, {}, {})


@blueprint.post("/")
def save() -> Response:
    """Store which questions each rater judges, or show what cannot be read."""
    with access.writing() as (session, rater):
        study = rater.study
        sets = assignments.numbered(session, study)
        people = {f"questions-{rater.id}": rater for rater in studies.present(session, study)}
        form = forms.form_of_fields({name: LineField(LONGEST_ASSIGNMENT) for name in people})
        form.validate()
        errors = forms.messages(form)
        typed = {field.name: field.data for field in form if field.raw_data}
        for name in typed.keys() - errors.keys():
            try:
                questions = assignments.read(typed[name], sets)
                assignments.assign(session, people[name], questions, access.now())
            except NotQuestions as error:
                everything = (key for each in sets for key in each.ids.values())
                extent = assignments.written(everything, sets)
                errors[name] = gettext(error.why, item=error.item, extent=extent)
        if not errors:
            return see_other(url_for("assignments.show", saved=1))
        session.rollback()
        return make_response(_page(session, study, typed, errors), 422)


def _page(
    session: Session, study: Study, typed: Mapping[str, str], errors: Mapping[str, str]
) -> str:
    sets = assignments.numbered(session, study)
    return render_template(
        "study/assignments/page.html",
        raters=studies.present(session, study),
        by_rater=assignments.by_rater(session, study),
        sets=sets,
        written=assignments.written,
        typed=typed,
        errors=errors,
        overlap=study.overlap,
        is_blind=studies.is_blind(session, study),
        saved="saved" in request.args,
    )
