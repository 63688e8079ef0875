"""The owner's notes on questions, which raters read above the cards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from flask import Blueprint, Response, make_response, redirect, render_template, request, url_for

from webapp.i18n import gettext
from webapp.services.rating import question_notes
from webapp.services.rating.question_notes import LONGEST, QuestionNote
from webapp.web.frame import access, htmx
from webapp.web.frame.forms import TOO_LONG

blueprint = Blueprint("question_notes", __name__, url_prefix="/study/notes")


@dataclass(frozen=True, slots=True)
class NotesPage:
    """The questions of every set with their notes, as stored or as typed.

    ``errors`` say what is wrong with a note, by question. ``offered`` counts the questions
    whose only note is that of the gold question, which raters do not see.
    """

    sets: tuple[tuple[QuestionNote, ...], ...]
    typed: Mapping[int, str]
    errors: Mapping[int, str]
    longest: int
    saved: bool
    offered: int


@blueprint.get("/")
def show() -> Response:
    """Show the note on every question."""
    return _page({}, {}, saved="saved" in request.args)


@blueprint.post("/")
def save() -> Response:
    """Store the notes as typed, then show gold notes where asked to.

    With a note that is too long nothing is stored.
    """
    typed = {
        int(name.removeprefix("note-")): value.replace("\x00", "").replace("\r\n", "\n")
        for name, value in request.form.items()
        if name.startswith("note-") and name.removeprefix("note-").isdecimal()
    }
    long = [question for question, text in typed.items() if len(text.strip()) > LONGEST]
    if long:
        return _page(typed, dict.fromkeys(long, gettext(TOO_LONG)), status=422)
    wanted = request.form.get("show", type=int)
    with access.writing() as (session, rater):
        question_notes.put(session, rater.study, typed, access.now())
        if wanted is not None or request.form.get("show") == "all":
            question_notes.show_gold(session, rater.study, access.now(), wanted)
        session.commit()
    place = None if wanted is None else f"note-{wanted}"
    there = url_for("question_notes.show", saved=1, _anchor=place)
    return redirect(there, 303)  # type: ignore[return-value]


def _page(
    typed: Mapping[int, str],
    errors: Mapping[int, str],
    status: int = 200,
    *,
    saved: bool = False,
) -> Response:
    with access.reading() as (session, rater):
        sets = question_notes.notes(session, rater.study)
    page = NotesPage(
        sets=tuple(lines for _, lines in sets),
        typed=typed,
        errors=errors,
        longest=LONGEST,
        saved=saved,
        offered=sum(line.is_offered for _, lines in sets for line in lines),
    )
    return make_response(
        render_template("rating/question_notes/page.html", **htmx.names(page)), status
    )
