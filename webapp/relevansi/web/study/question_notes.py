"""The owner's notes on questions, which raters see beside them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

from flask import Blueprint, Response, make_response, render_template, request, url_for

from relevansi.services.rating import particulars
from relevansi.services.rating.particulars import LONGEST_NOTE
from relevansi.web.frame import access, forms
from relevansi.web.frame.forms import ChoiceField, LineField
from relevansi.web.frame.htmx import see_other

blueprint = Blueprint("question_notes", __name__, url_prefix="/study/notes")


@blueprint.get("/")
def show() -> Response:
    return _page({}, {}, saved="saved" in request.args)


@blueprint.post("/")
def save() -> Response:
    """Store the notes on questions, and which offered ones are shown."""
    with access.reading() as (session, rater):
        sets = particulars.question_notes(session, rater.study)
        notes = {f"note-{question.id}": question.id for question, _ in chain.from_iterable(sets)}
    shows = ChoiceField({"all": None, **{str(number): number for number in notes.values()}})
    fields = {"show": shows, **{name: LineField(LONGEST_NOTE) for name in notes}}
    form = forms.form_of_fields(fields)
    values = {field.name: field.data for field in form if field.raw_data}
    if not form.validate():
        return _page(values, forms.messages(form), status=422)
    typed = {notes[name]: text for name, text in values.items() if name in notes}
    with access.writing() as (session, rater):
        particulars.set_notes(session, rater.study, typed, access.now())
        if "show" in values:
            particulars.show_offered_notes(session, rater.study, access.now(), values["show"])
    place = f"note-{values['show']}" if values.get("show") else None
    return see_other(url_for("question_notes.show", saved=1, _anchor=place))


def _page(
    typed: Mapping[str, str], errors: Mapping[str, str], status: int = 200, *, saved: bool = False
) -> Response:
    with access.reading() as (session, rater):
        sets = particulars.question_notes(session, rater.study)
        text = render_template(
            "rating/question_notes/page.html",
            sets=sets,
            offered=sum(bool(gold) and not q.note for q, gold in chain.from_iterable(sets)),
            typed=typed,
            errors=errors,
            longest=LONGEST_NOTE,
            saved=saved,
        )
    return make_response(text, status)
