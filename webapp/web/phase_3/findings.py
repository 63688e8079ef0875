"""The findings of phase 3, for its owner: participants, figures, tags, withdrawals, files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from flask import Blueprint, Response, make_response, redirect, render_template, request, url_for
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy.orm import Session
from werkzeug.exceptions import NotFound
from wtforms import Form

from webapp import notation
from webapp.db.tables.study import Study
from webapp.exporters.phase_3 import summary
from webapp.metrics.judging.queries import Undefined
from webapp.metrics.phase_3.user_study import Comment, OwnAnswer, Person, UserStudyReport
from webapp.services.phase_3 import findings, participants, user_studies
from webapp.services.phase_3.findings import LONGEST
from webapp.web.frame import access, htmx
from webapp.web.frame.downloads import attached
from webapp.web.frame.forms import LONGEST_LABEL, LineField, checked

blueprint = Blueprint("findings", __name__, url_prefix="/study/participants")
REPORT = "any(markdown, latex, html, json, xlsx)"


class CategoryForm(Form):
    """The category of a question."""

    category = LineField(LONGEST_LABEL)


class ThemeForm(Form):
    """A theme that a comment gets, or one that it loses."""

    theme = LineField(LONGEST_LABEL)
    remove = LineField(LONGEST_LABEL)


class PersonLine(Struct, frozen=True):
    """The progress of one participant; ``usability`` is the SUS score in words, "-" without."""

    person: Person
    stage: str
    consent: str
    items: int
    usability: str


class ParticipantQuestionLine(Struct, frozen=True):
    """A question with its participant, outcome and rating; ``saved`` marks a new change."""

    person: Person
    answer: OwnAnswer
    state: str
    rating: str
    saved: bool = False


class CommentLine(Struct, frozen=True):
    """A comment with its writer and its subject."""

    person: Person
    comment: Comment
    on: str


@blueprint.get("/")
def show() -> str:
    """Show the participants, their progress and the figures."""
    with access.reading() as (session, owner):
        found = None
        if user_studies.find(session, owner.study) is not None:
            found = _found(session, owner.study)
    return render_template("phase_3/findings/page.html", found=found)


@blueprint.get(f"/report.<{REPORT}:file_format>")
def take_away(file_format: str) -> Response:
    """Return the summary as a file; the download is logged."""
    from webapp.exporters.phase_3.files import FORMATS, file_name

    today = access.now().astimezone().date()
    name, made = file_name(file_format, today), FORMATS[file_format]
    return attached(made.render(_exported(name), today), made.media_type, name)


@blueprint.get("/data/<name>")
def data(name: str) -> Response:
    """Return participants' data as a file; the download is logged."""
    from webapp.exporters.phase_3.files import DATA

    if name not in DATA:
        raise NotFound
    return attached(DATA[name].render(_exported(name)), DATA[name].media_type, name)


@blueprint.get("/questions")
def questions() -> str:
    """List the participants' questions, with the category of each."""
    wanted = request.args.get("category")
    report = _report()
    lines = tuple(_question_lines(report)) if report else ()
    shown = tuple(one for one in lines if wanted is None or one.answer.category == wanted)
    page = {
        "category": wanted,
        "categories": report.categories if report else (),
        "lines": shown,
        "total": len(lines),
        "longest": LONGEST,
    }
    return render_template("phase_3/findings/questions.html", **page)


@blueprint.post("/<int:participant_id>/questions/<int:number>/category")
def set_category(participant_id: int, number: int) -> Response:
    """Store the category of a question."""
    form = checked(CategoryForm)
    with access.writing() as (session, owner):
        participant = participants.find(session, owner.study, participant_id)
        findings.set_category(session, participant, number, form.category.data, access.now())
        session.commit()
        person = findings.person(session, participant, access.now())
    if htmx.wants_part():
        (line,) = (one for one in _of_person(person) if one.answer.number == number)
        part = {"one": replace(line, saved=True), "longest": LONGEST}
        return make_response(render_template("phase_3/findings/_question.html", **part))
    anchor = f"question-{participant_id}-{number}"
    return redirect(url_for("findings.questions", _anchor=anchor), 303)  # type: ignore[return-value]


@blueprint.get("/comments")
def comments() -> str:
    """List the participants' comments, with the themes of each."""
    wanted = request.args.get("theme")
    report = _report()
    lines = tuple(_comment_lines(report)) if report else ()
    shown = tuple(one for one in lines if wanted is None or _is_under(one.comment, wanted))
    page = {
        "theme": wanted,
        "themes": report.themes if report else (),
        "lines": shown,
        "total": len(lines),
        "longest": LONGEST,
    }
    return render_template("phase_3/findings/comments.html", **page)


@blueprint.post("/<int:participant_id>/comments/<comment>/themes")
def tag(participant_id: int, comment: str) -> Response:
    """Give a comment a theme, or take one from it."""
    form = checked(ThemeForm)
    with access.writing() as (session, owner):
        participant = participants.find(session, owner.study, participant_id)
        if form.remove.raw_data:
            findings.remove(session, participant, comment, form.remove.data, access.now())
        else:
            findings.add(session, participant, comment, form.theme.data, access.now())
        session.commit()
        person = findings.person(session, participant, access.now())
    lines = [_comment(person, one) for one in person.comments if one.name == comment]
    if htmx.wants_part() and lines:
        part = {"one": lines[0], "longest": LONGEST}
        return make_response(render_template("phase_3/findings/_comment.html", **part))
    anchor = f"comment-{participant_id}-{comment.replace(' ', '-')}"
    return redirect(url_for("findings.comments", _anchor=anchor), 303)  # type: ignore[return-value]


@blueprint.get("/<int:participant_id>/withdraw")
def ask_to_withdraw(participant_id: int) -> str:
    """Show what is deleted with a participant, what is kept, and which copies may hold it."""
    with access.reading() as (session, owner):
        participant = participants.find(session, owner.study, participant_id)
        page = {
            "person": findings.person(session, participant, access.now()),
            "cost": participants.cost(session, participant),
            "copies": participants.copies(session, participant),
        }
    return render_template("phase_3/findings/withdraw.html", **page)


@blueprint.post("/<int:participant_id>/withdraw")
def withdraw(participant_id: int) -> Response:
    """Delete a participant with all their data."""
    with access.writing() as (session, owner):
        participant = participants.find(session, owner.study, participant_id)
        participants.withdraw(session, participant, access.now())
        session.commit()
    access.database().empty_journal()
    return redirect(url_for("findings.show", _anchor="withdrawn"), 303)  # type: ignore[return-value]


def _report() -> UserStudyReport | None:
    """Return what the participants gave; ``None`` while phase 3 is not set up."""
    with access.reading() as (session, owner):
        if user_studies.find(session, owner.study) is None:
            return None
        return findings.report(session, owner.study, access.now())


def _exported(name: str) -> UserStudyReport:
    """Return the report that a file is made of, with the file noted in the log."""
    with access.writing() as (session, owner):
        report = findings.report(session, owner.study, access.now())
        participants.note_export(session, owner.study, name, access.now())
        session.commit()
    return report


def _found(session: Session, study: Study) -> dict[str, Any]:
    from webapp.exporters.phase_3.files import DATA, FORMATS

    report = findings.report(session, study, access.now())
    return {
        "report": report,
        "counts": summary.counts(report),
        "people": tuple(map(_line, report.people)),
        "summary": summary.summary(report),
        "per_person": summary.per_person(report),
        "drawing": summary.draw(report),
        "usability": summary.usability(report.usability, report.settings.confidence),
        "categories": summary.by_category(report),
        "themes": report.themes,
        "notes": tuple(summary.notes(report)),
        "formats": tuple(FORMATS),
        "data": tuple(DATA),
        "copies": participants.copies_before_last(session, study),
    }


def _line(person: Person) -> PersonLine:
    score = person.usability_score
    return PersonLine(
        person=person,
        stage=summary.stage(person.stage),
        consent=summary.consent(person),
        items=sum(answer is not None for answer in person.usability),
        usability=notation.UNDEFINED if isinstance(score, Undefined) else notation.number(score),
    )


def _question_lines(report: UserStudyReport) -> Iterator[ParticipantQuestionLine]:
    for person in report.people:
        yield from _of_person(person)


def _of_person(person: Person) -> Iterator[ParticipantQuestionLine]:
    for answer in person.answers:
        yield ParticipantQuestionLine(
            person, answer, summary.state(answer.state), summary.rating(answer)
        )


def _comment_lines(report: UserStudyReport) -> Iterator[CommentLine]:
    for person in report.people:
        for comment in person.comments:
            yield _comment(person, comment)


def _comment(person: Person, comment: Comment) -> CommentLine:
    return CommentLine(person, comment, summary.comment_name(comment))


def _is_under(comment: Comment, theme: str) -> bool:
    return theme in comment.themes or (not theme and not comment.themes)
