"""The findings of phase 3, for its owner: participants, figures, tags, withdrawals, files."""

from __future__ import annotations

from flask import Blueprint, Response, render_template, request, url_for
from wtforms import Form

from relevansi import labels
from relevansi.exporters.frame.report_formats import XLSX
from relevansi.exporters.phase_3 import sheets, summary, words
from relevansi.exporters.phase_3.summary import FORMATS, file_name
from relevansi.metrics.phase_3.user_study import UserStudyReport
from relevansi.services.phase_3 import findings, participants, user_studies
from relevansi.services.phase_3.findings import LONGEST
from relevansi.web.frame import access, htmx
from relevansi.web.frame.forms import LONGEST_LABEL, LineField, validated_form
from relevansi.web.frame.htmx import attached, see_other

blueprint = Blueprint("findings", __name__, url_prefix="/study/participants")


class CategoryForm(Form):
    category = LineField(LONGEST_LABEL)


class ThemeForm(Form):
    theme = LineField(LONGEST_LABEL)
    remove = LineField(LONGEST_LABEL)


@blueprint.get("/")
def show() -> str:
    with access.reading() as (session, owner):
        if user_studies.find(session, owner.study) is None:
            return render_template("phase_3/findings/page.html", report=None)
        report = findings.report(session, owner.study, access.now())
        copies = participants.exports_before_withdrawal(session, owner.study)
    document = summary.document(report, access.now().date())
    return render_template(
        "phase_3/findings/page.html",
        report=report,
        counts=words.counts(report),
        plots=summary.plots(report),
        sections={section.name: section for section in document.sections},
        formats=tuple(FORMATS),
        copies=copies,
    )


@blueprint.get("/report.<any(markdown, latex, html, docx, json, xlsx):file_format>")
def take_away(file_format: str) -> Response:
    today = access.now().astimezone().date()
    name, write = file_name(file_format, today), FORMATS[file_format]
    return attached(write.render(_exported(name), today), write.media_type, name)


@blueprint.get("/data/phase3.xlsx")
def data() -> Response:
    name = "phase3.xlsx"
    return attached(sheets.data_workbook(_exported(name)), XLSX, name)


@blueprint.get("/questions")
def questions() -> str:
    report, category = _report(), request.args.get("category")
    people = report.people if report else ()
    lines = [(person, answer) for person in people for answer in person.answers]
    return render_template(
        "phase_3/findings/questions.html",
        category=category,
        categories=report.categories if report else (),
        lines=[line for line in lines if category is None or line[1].category == category],
        total=len(lines),
        longest=LONGEST,
    )


@blueprint.post("/<int:participant_id>/questions/<int:number>/category")
def set_category(participant_id: int, number: int) -> Response:
    form = validated_form(CategoryForm)
    with access.writing() as (session, owner):
        participant = participants.find(session, owner.study, participant_id)
        label = labels.category_label(form.category.data)
        findings.set_category(session, participant, number, label, access.now())
        person = findings.person(session, participant, access.now())
    if htmx.wants_part():
        (answer,) = (candidate for candidate in person.answers if candidate.number == number)
        part = "phase_3/findings/_question.html"
        return htmx.part(part, person=person, answer=answer, saved=True, longest=LONGEST)
    anchor = f"question-{participant_id}-{number}"
    return see_other(url_for("findings.questions", _anchor=anchor))


@blueprint.get("/comments")
def comments() -> str:
    report, theme = _report(), request.args.get("theme")
    people = report.people if report else ()
    lines = [(person, comment) for person in people for comment in person.comments]
    return render_template(
        "phase_3/findings/comments.html",
        theme=theme,
        themes=report.themes if report else (),
        lines=[line for line in lines if theme is None or theme in (line[1].themes or ("",))],
        total=len(lines),
        longest=LONGEST,
        comment_name=words.comment_name,
    )


@blueprint.post("/<int:participant_id>/comments/<comment>/themes")
def tag(participant_id: int, comment: str) -> Response:
    form = validated_form(ThemeForm)
    with access.writing() as (session, owner):
        participant = participants.find(session, owner.study, participant_id)
        if form.remove.raw_data:
            findings.remove(session, participant, comment, form.remove.data, access.now())
        else:
            findings.add(session, participant, comment, form.theme.data, access.now())
        person = findings.person(session, participant, access.now())
    answer = next((candidate for candidate in person.comments if candidate.name == comment), None)
    if htmx.wants_part() and answer:
        part, name = "phase_3/findings/_comment.html", words.comment_name
        return htmx.part(part, person=person, comment=answer, comment_name=name, longest=LONGEST)
    anchor = f"comment-{participant_id}-{comment.replace(' ', '-')}"
    return see_other(url_for("findings.comments", _anchor=anchor))


@blueprint.get("/<int:participant_id>/withdraw")
def ask_to_withdraw(participant_id: int) -> str:
    with access.reading() as (session, owner):
        participant = participants.find(session, owner.study, participant_id)
        return render_template(
            "phase_3/findings/withdraw.html",
            person=participant,
            cost=participants.withdrawal_cost(session, participant),
            copies=participants.exports_since_consent(session, participant),
        )


@blueprint.post("/<int:participant_id>/withdraw")
def withdraw(participant_id: int) -> Response:
    with access.writing() as (session, owner):
        participant = participants.find(session, owner.study, participant_id)
        participants.withdraw(session, participant, access.now())
    access.database().empty_journal()
    return see_other(url_for("findings.show", _anchor="withdrawn"))


def _report() -> UserStudyReport | None:
    with access.reading() as (session, owner):
        if user_studies.find(session, owner.study) is None:
            return None
        return findings.report(session, owner.study, access.now())


def _exported(name: str) -> UserStudyReport:
    """Return the report that a file is made of, with the file noted in the log."""
    with access.writing() as (session, owner):
        report = findings.report(session, owner.study, access.now())
        participants.log_export(session, owner.study, name, access.now())
    return report
