"""The owner's notes on questions, which raters read above the cards."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

from flask import Blueprint, Response, make_response, redirect, render_template, request, url_for

from webapp.services.rating import particulars
from webapp.services.rating.particulars import LONGEST_NOTE
from webapp.web.frame import access, forms
from webapp.web.frame.forms import ChoiceField, LineField

blueprint = Blueprint("question_notes", __name__, url_prefix="/study/notes")


@blueprint.get("/")
def show() -> Response:
    return _page({}, {}, saved="saved" in request.args)


@blueprint.post("/")
def save() -> Response:
    with access.reading() as (session, rater):
        sets = particulars.question_notes(session, rater.study)
        notes = {f"note-{one.id}": one.id for one, _ in chain.from_iterable(sets)}
    shown = ChoiceField({"all": None, **{str(one): one for one in notes.values()}})
    form = forms.named({"show": shown, **{name: LineField(LONGEST_NOTE) for name in notes}})
    said = {field.name: field.data for field in form if field.raw_data}
    if not form.validate():
        return _page(said, forms.messages(form), status=422)
    typed = {notes[name]: text for name, text in said.items() if name in notes}
    with access.writing() as (session, rater):
        particulars.put_notes(session, rater.study, typed, access.now())
        if "show" in said:
            particulars.show_offered_notes(session, rater.study, access.now(), said["show"])
        session.commit()
    place = f"note-{said['show']}" if said.get("show") else None
    there = url_for("question_notes.show", saved=1, _anchor=place)
    return redirect(there, 303)  # type: ignore[return-value]


def _page(
    typed: Mapping[str, str], errors: Mapping[str, str], status: int = 200, *, saved: bool = False
) -> Response:
    with access.reading() as (session, rater):
        sets = particulars.question_notes(session, rater.study)
        text = render_template(
            "rating/question_notes/page.html",
            sets=sets,
            offered=sum(bool(gold) and not one.note for one, gold in chain.from_iterable(sets)),
            typed=typed,
            errors=errors,
            longest=LONGEST_NOTE,
            saved=saved,
        )
    return make_response(text, status)
