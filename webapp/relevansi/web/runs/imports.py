"""Files dropped on the page: kept, reported on, and stored only when their owner confirms.

Large files are read and stored in the background: the answer leads to the page
that shows how far that is.

The report of ratings is that of one rater. Storing them for another one shows that rater's
report first, so that every change was shown before; the stored judgments of an existing rater
change only where that is ticked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flask import Blueprint, Response, render_template, request, send_file, url_for
from msgspec.structs import replace
from sqlalchemy.orm import Session
from werkzeug.exceptions import NotFound
from wtforms import BooleanField, Form

from relevansi import labels
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import LongWork
from relevansi.db.tables.study import Study
from relevansi.i18n import gettext
from relevansi.importers.results.formats import DEPTH, MOST_DEPTH, Choices, examples
from relevansi.importers.results.grades import grades_in
from relevansi.importers.results.rows import MAPPED_ROLES
from relevansi.importers.runs import problems
from relevansi.importers.runs.problems import ImportRefused
from relevansi.kinds.property import Card
from relevansi.notation import ranges
from relevansi.records import ReadQuery
from relevansi.services.evaluations.evaluations import EvaluationKind
from relevansi.services.evaluations.scoring import NamedBytes, ScoringSettings
from relevansi.services.runs import file_formats, results, runs, waiting_files
from relevansi.services.runs.file_formats import (
    STORING_ORDER,
    FileDecision,
    FileFormat,
    ReadFile,
)
from relevansi.services.runs.imports import ImportReport
from relevansi.services.runs.results import ResultsReport
from relevansi.services.runs.waiting_files import UnknownUpload
from relevansi.services.study import studies
from relevansi.services.workers import jobs, kinds
from relevansi.web.evaluations import evaluations
from relevansi.web.frame import access, forms, htmx
from relevansi.web.frame.forms import (
    LONGEST_LABEL,
    ChoiceField,
    LineField,
    ListField,
    UnusableForm,
    WholeField,
)
from relevansi.web.frame.htmx import see_other
from relevansi.web.workers.jobs import after_import, redirect_to_job


class LabelsForm(Form):
    search_method = LineField(LONGEST_LABEL)
    llm = LineField(LONGEST_LABEL)


class MoveForm(Form):
    direction = ChoiceField([*runs.STEPS])


class WaitingForm(Form):
    """The files that wait, by their tokens; ``open`` keeps a study open that would turn blind."""

    token = ListField()
    score = LineField(2 * LONGEST_LABEL)
    open = BooleanField()
    study_name = LineField(LONGEST_LABEL)
    action = ChoiceField(["discard", "look", "store"], default="discard")


class WaitingFileForm(Form):
    """The decisions on one of the files that wait: its rater or its labels."""

    rater = LineField(LONGEST_LABEL)
    reported_rater = LineField(LONGEST_LABEL)
    confirm = BooleanField()
    method = LineField(LONGEST_LABEL)
    llm = LineField(LONGEST_LABEL)
    depends = ListField()
    grader = LineField(LONGEST_LABEL)
    shown_meta = ListField()
    same_documents = BooleanField()
    column = ListField()
    depth = WholeField(1, MOST_DEPTH)
    split = LineField(LONGEST_LABEL)
    grades = LineField(2 * LONGEST_LABEL)

    def choices(self, read: ResultsReport) -> Choices:
        """Return how files of results that were `read` once are to be read now.

        A role is none's only where it was some column's: files beside it may have others.
        """
        filled = (part for part in self.grades.data.split(",") if part.rstrip()[-1:] != "=")
        before = read.group.columns.keys() | read.group.choices.columns.keys()
        columns = self._columns().items()
        return replace(
            read.group.choices,
            columns={role: name for role, name in columns if name or role in before},
            depth=self.depth.data or DEPTH,
            split=self.split.data or None,
            grades=grades_in(",".join(filled)) or {},
        )

    def differs_from(self, read: ResultsReport) -> bool:
        """Whether files of results are to be read otherwise than the page showed them."""
        group, chosen = read.group, self.choices(read)
        columns = {role: name for role, name in group.columns.items() if name in group.names}
        fields = (self.depth, self.split, self.grades)
        return any(columns.get(role, "") != name for role, name in self._columns().items()) or any(
            field.raw_data and getattr(chosen, field.name) != getattr(group.choices, field.name)
            for field in fields
        )

    def _columns(self) -> dict[str, str]:
        """Return the column or path of each role that the page sent, "" where it has none."""
        pairs = (pair.partition("=") for pair in self.column.data or ())
        return {role: name for role, _, name in pairs}

    def decision(self) -> FileDecision:
        """Return the decision; its rater only if the report that was shown was theirs."""
        name: str = self.rater.data
        return FileDecision(
            rater=name if name and name == self.reported_rater.data else None,
            confirm=self.confirm.data,
            method=self.method.data,
            llm=self.llm.data,
            depends=self.depends.data,
            grader=self.grader.data,
            meta=[key for key in self.shown_meta.data if key] if self.shown_meta.raw_data else None,
            same_documents=self.same_documents.data,
        )


MOST_FILES = 100  # at once
SECONDS_PER_CARD = 7
"""So long a verdict takes, before anybody gave one; about as long as in the demo."""
blueprint = Blueprint("imports", __name__)


@blueprint.get("/runs/import")
def show() -> Response:
    """Show the drop zone and the report of each file that waits: runs, then ratings."""
    tokens = request.args.getlist("token")
    notice_left = gettext("These files are not stored yet. Look at their reports and confirm them.")
    with access.reading() as (session, rater):
        waiting = [_waiting(session, rater.study, token) for token in tokens]
        files = sorted(waiting, key=lambda file: STORING_ORDER.index(file["format"]))
        works = () if tokens else _works(session, rater.study)
        reports = [file["report"] for file in files]
        becomes = file_formats.becomes(session, rater.study, reports)
        return _answer(
            files,
            notice_left if "left" in request.args else "",
            works=works,
            turns_blind=file_formats.turns_blind(session, rater.study, reports),
            study_name=studies.shown_name(rater.study) if becomes else "",
            becomes=becomes,
            queries=_new_queries(session, rater.study, files),
            is_of_properties=(
                rater.study.kind == Card.kind and bool(runs.in_order(session, rater.study))
            ),
        )


@blueprint.post("/runs/import")
def upload() -> Response:
    """Keep the chosen files and report on them, or store, show or forget kept files."""
    form = forms.validated_form(WaitingForm)
    if form.score.data:
        return _score(*form.score.data.partition(" ")[::2])
    if form.token.data:
        return _decide(form)
    try:
        chosen = chosen_files()
    except UnusableForm as unfit:
        return _answer([], unfit.messages["files"], 422)
    imports = file_formats.together(chosen)
    is_long = waiting_files.is_long(file_formats.size(form, data) for form, _, data in imports)
    with access.reading() as (session, rater):
        opened = (file_formats.read_file(*file) for file in ([] if is_long else imports))
        mapped = (file_formats.with_known_columns(rater.study, file) for file in opened)
        read = [file_formats.with_differing_texts(session, rater.study, file) for file in mapped]
    files = [waiting_files.new_upload(name, data, form) for form, name, data in imports]
    for file, file_read in zip(files, read, strict=False):
        waiting_files.store_content(file, waiting_files.waiting_content(file_read))
    with access.writing() as (session, rater):
        for file in files:
            waiting_files.store_upload(session, rater.study, file, access.now())
        reading = kinds.order_to_read(files)
    if is_long:
        return redirect_to_job(jobs.READING, reading)
    return see_other(url_for("imports.show", token=reading["tokens"]))


@blueprint.post("/runs/import/<token>/preview")
def preview(token: str) -> Response:
    """Show the first cards of files of results, read as the page says; nothing is stored."""
    form = forms.validated(forms.form_from_request(WaitingFileForm, after=f"-{token}"))
    with access.reading() as (session, rater):
        file = waiting_files.find(session, rater.study, token)
        report, data = waiting_files.read_upload(file, complete=False).content, file.content
    if not isinstance(report, ResultsReport):
        raise UnknownUpload(token)
    # Outside of any transaction, as when they are read anew to be stored.
    read = _read_as_chosen(report, data, form).content
    results_read = read if isinstance(read, ResultsReport) and read.group.sample else None
    refusal = [] if results_read else [gettext("Read like this, the file has no results.")]
    if isinstance(read, ImportRefused):
        refusal = [remark.text for remark in problems.remarks(read.problems, "page")]
    return htmx.part(
        "runs/imports/_first_cards.html",
        token=token,
        group=results_read.group if results_read else None,
        runs=results_read.runs if results_read else (),
        refusal=refusal,
    )


@blueprint.get("/runs/import/formats")
def formats() -> str:
    """Show the smallest example of each format."""
    listed = [
        (name, words, "" if name.endswith((".xlsx", ".zip")) else file.read_text("utf-8"))
        # What most people bring comes first: a table.
        for name, (file, words) in sorted(examples().items(), key=lambda e: e[0][:5] != "table")
    ]
    return render_template("runs/imports/formats.html", examples=listed)


@blueprint.get("/runs/import/formats/<path:name>")
def example(name: str) -> Response:
    """Return the example of that name."""
    listed = examples().get(name)
    if listed is None:
        raise NotFound
    return send_file(listed[0], as_attachment=True, download_name=name.rpartition("/")[2])


def chosen_files() -> list[tuple[str, bytes]]:
    """Return the names and the bytes of the chosen files; raises ``UnusableForm``."""
    uploads = ((forms.clean(file.filename), file) for file in request.files.getlist("files"))
    chosen = [(name, file) for name, file in uploads if name]
    if not chosen:
        raise UnusableForm({"files": gettext("Please choose a file first.")})
    if len(chosen) > MOST_FILES:
        raise UnusableForm({"files": gettext("These are too many files at once.")})
    return [(name, file.read()) for name, file in chosen]


def _decide(form: WaitingForm) -> Response:
    tokens, is_stored = form.token.data, form.action.data == "store"
    by_token = {
        t: forms.validated(forms.form_from_request(WaitingFileForm, after=f"-{t}")) for t in tokens
    }
    if form.action.data == "look":
        _read_again(by_token)
        return _look_again(tokens, by_token)
    if is_stored and _read_again(by_token, only_changed=True):
        # Only what the report showed is stored.
        return _look_again(tokens, by_token, left="1")
    return _store_or_discard(form, by_token)


def _store_or_discard(form: WaitingForm, by_token: dict[str, WaitingFileForm]) -> Response:
    tokens, is_stored = form.token.data, form.action.data == "store"
    decisions = {token: decided.decision() for token, decided in by_token.items()}
    run_ids: list[str] = []
    undecided: list[str] = []
    with access.writing() as (session, rater):
        files = [waiting_files.find(session, rater.study, token) for token in tokens]
        is_long = is_stored and waiting_files.is_long(file.questions for file in files)
        storing = kinds.order_to_store(files, decisions)
        if is_stored:
            _set_up(session, rater, form)
        if is_stored and not is_long:
            read = {file.id: waiting_files.read_upload(file) for file in files}
            now = access.now()
            run_ids, undecided = waiting_files.store(session, rater.study, read, decisions, now)
        elif not is_stored:
            for file in files:
                session.delete(file)
        for work in _works(session, rater.study):
            is_same = is_long and work.is_open and work.wanted == storing
            if set(work.wanted["tokens"]) & set(tokens) and not is_same:
                jobs.cancel(session, rater.study, work.id)
    if is_long:
        return redirect_to_job(jobs.STORING, storing)
    if undecided:
        return _look_again(undecided, by_token, left="1")
    return see_other(after_import(run_ids))


def _score(token: str, name: str) -> Response:
    """Score a waiting file of results, which goes on waiting."""
    with access.reading() as (session, rater):
        file = waiting_files.find(session, rater.study, token)
        report, data = waiting_files.read_upload(file, complete=False).content, file.content
    kind = getattr(report, "scorable", {}).get(name)
    if kind is None:
        raise UnknownUpload(name)
    settings = ScoringSettings(kind=EvaluationKind(kind))
    chosen = [NamedBytes(*file) for file in results.unpacked(data)[0] if file[0] == name]
    return evaluations.score(settings, chosen[:1])


def _set_up(session: Session, owner: Rater, form: WaitingForm) -> None:
    switches = studies.switches(owner.study)
    if form.study_name.data:  # asked for with the first run
        switches = replace(switches, name=form.study_name.data)
        studies.rename_rater(session, owner, labels.owner(owner.name), access.now())
    if form.open.data:
        switches = replace(switches, blind=False)
    studies.set_switches(session, owner.study, switches, access.now())


def _works(session: Session, study: Study) -> Sequence[LongWork]:
    return jobs.of_kinds(session, study, (jobs.READING, jobs.STORING), access.now())


def _look_again(
    tokens: list[str], by_token: dict[str, WaitingFileForm], **options: str
) -> Response:
    names = {f"rater-{token}": name for token in tokens if (name := by_token[token].rater.data)}
    return see_other(url_for("imports.show", token=tokens, **names, **options))  # type: ignore[arg-type]


def _read_again(by_token: Mapping[str, WaitingFileForm], *, only_changed: bool = False) -> bool:
    """Read files of results anew as the page says, all or those read otherwise before.

    Returns whether there were any.
    """
    chosen = {token: decided for token, decided in by_token.items() if decided.depth.raw_data}
    before: list[tuple[str, ResultsReport, bytes]] = []
    with access.reading() as (session, rater):
        for token, form in chosen.items():
            file = waiting_files.find(session, rater.study, token)
            report = waiting_files.read_upload(file, complete=False).content
            if isinstance(report, ResultsReport) and (
                not only_changed or form.differs_from(report)
            ):
                before.append((token, report, file.content))
    # Outside of any transaction: clicks do not wait for it.
    read: dict[str, waiting_files.WaitingContent] = {}
    for token, report, data in before:
        file_read = _read_as_chosen(report, data, chosen[token])
        with access.reading() as (session, rater):
            differing = file_formats.with_differing_texts(session, rater.study, file_read)
        read[token] = waiting_files.waiting_content(differing)
    with access.writing() as (session, rater):
        for token, content in read.items():
            waiting_files.store_content(waiting_files.find(session, rater.study, token), content)
    return bool(read)


def _read_as_chosen(report: ResultsReport, data: bytes, form: WaitingFileForm) -> ReadFile:
    dropped, _ = results.unpacked(data)
    return file_formats.read_results(report.name, dropped, form.choices(report))


def _waiting(session: Session, study: Study, token: str) -> dict[str, Any]:
    file = waiting_files.find(session, study, token)
    rater = request.args.get(f"rater-{token}")
    people = [person.name for person in studies.present(session, study)]
    opened = waiting_files.read_upload(file, complete=False)
    if opened.format is FileFormat.RATED_CSV and rater is None and len(people) == 1:
        rater = people[0]
    report = file_formats.examine(session, study, opened, rater, access.now())
    return {
        "token": token,
        "format": opened.format,
        "is_refused": isinstance(report, ImportRefused),
        "is_guess": (
            isinstance(report, ResultsReport)
            and not (report.runs or report.refused)
            and bool(report.group.names)
        ),
        "report": report,
        "remarks": problems.remarks(report.problems, "page"),
        "roles": MAPPED_ROLES if opened.format is FileFormat.RESULTS else (),
        "raters": people,  # to whom ratings can be given
        "is_long": waiting_files.is_long([file.questions]),
        "follow_ups": ", ".join(ranges(getattr(report, "follow_ups", ()))),
    }


def _new_queries(
    session: Session, study: Study, files: Sequence[Mapping[str, Any]]
) -> list[ReadQuery]:
    """Return the questions with cards of the runs that wait; none where reading them takes long."""
    waiting = [
        waiting_files.find(session, study, file["token"])
        for file in files
        if file["format"] is FileFormat.RUN and not file["is_refused"] and _n_new_runs(file)
    ]
    if waiting_files.is_long(upload.questions for upload in waiting):
        return []
    reports = [waiting_files.read_upload(upload).content for upload in waiting]
    return [
        query
        for report in reports
        if isinstance(report, ImportReport)
        for query in report.read.queries
        if query.cards
    ]


def _n_storable(file: Mapping[str, Any]) -> int:
    if file["is_refused"] or not file["report"].brings_something:
        return 0
    return len(file["report"].group.files) if file["format"] is FileFormat.RESULTS else 1


def _n_new_runs(file: Mapping[str, Any]) -> int:
    if file["is_refused"]:
        return 0
    if file["format"] is FileFormat.RESULTS:
        return sum(run.run_id is None for run in file["report"].runs)
    return int(isinstance(file["report"], ImportReport) and file["report"].run_id is None)


def _answer(files: Sequence[Any], notice: str, status: int = 200, **more: Any) -> Response:
    page = {"works": (), "turns_blind": False, "study_name": "", "becomes": "", **more}
    queries = page.setdefault("queries", [])
    items = [(query.query_id, card.identity) for query in queries for card in query.cards]
    page |= {"n_cards": len(items), "n_distinct": len({*items})}
    page["seconds_per_card"] = SECONDS_PER_CARD
    page |= {"files": files, "notice": notice, "storable": sum(map(_n_storable, files))}
    page |= {"n_runs": sum(map(_n_new_runs, files))}
    return htmx.respond(
        "runs/imports/page.html", "runs/imports/_imports.html", {"imports": page}, status
    )
