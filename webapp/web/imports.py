"""Files dropped on the page: kept, reported on, and stored only at their owner's word."""

from __future__ import annotations

from dataclasses import dataclass

from flask import Blueprint, Response, current_app, redirect, request, url_for
from sqlalchemy.orm import Session

from webapp.db.models import Study
from webapp.i18n import gettext
from webapp.importers.problems import message
from webapp.services import imports, uploads
from webapp.services.imports import ImportReport, Labels
from webapp.web import access, htmx
from webapp.web.forms import LONGEST_LABEL

blueprint = Blueprint("imports", __name__)


@dataclass(frozen=True, slots=True)
class Told:
    """A problem of a file in the reader's language."""

    severity: str
    query_id: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """A file with its report; ``token`` is its name while it waits."""

    token: str
    report: ImportReport
    problems: tuple[Told, ...]


@dataclass(frozen=True, slots=True)
class ImportPage:
    """The drop zone, and below it every file that waits for a word."""

    files: tuple[Waiting, ...]
    notice: str = ""

    @property
    def storable(self) -> tuple[Waiting, ...]:
        """The files that can be stored."""
        return tuple(
            file for file in self.files if file.report.read and not file.report.already_imported
        )


@dataclass(frozen=True, slots=True)
class Shown:
    """What the import templates take."""

    imports: ImportPage


@blueprint.get("/runs/import")
def show() -> Response:
    """Show the drop zone and the report of each file that waits."""
    with access.reading() as (session, rater):
        files = tuple(
            _waiting(session, rater.study, token) for token in request.args.getlist("token")
        )
    return _answer(ImportPage(files))


@blueprint.post("/runs/import")
def upload() -> Response:
    """Keep the chosen files and report on them, or do with kept ones as the form says."""
    if "token" in request.form:
        return _decide()
    chosen = [file for file in request.files.getlist("files") if file.filename]
    if not chosen:
        return _answer(ImportPage((), gettext("Please choose a file first.")), 422)
    if len(chosen) > current_app.config["MAX_UPLOAD_FILES"]:
        return _answer(ImportPage((), gettext("These are too many files at once.")), 422)
    with access.writing() as (session, rater):
        tokens = [
            uploads.keep(session, rater.study, file.filename or "", file.read(), access.now())
            for file in chosen
        ]
        session.commit()
    return redirect(url_for("imports.show", token=tokens), 303)  # type: ignore[return-value]


def _decide() -> Response:
    """Store the waiting files, or forget them."""
    tokens = request.form.getlist("token")
    stored: list[str] = []
    with access.writing() as (session, rater):
        for token in tokens:
            file = uploads.find(session, rater.study, token)
            report = imports.examine(session, rater.study, file.name, file.data)
            if request.form.get("action") == "store" and report.read is not None:
                labels = _labels(token, report)
                run = imports.store(session, rater.study, report.read, labels, access.now())
                stored.append(run.id)
            uploads.discard(session, file)
        session.commit()
    return redirect(_after(stored), 303)  # type: ignore[return-value]


def _after(stored: list[str]) -> str:
    """Return where to go on: at the run, if there is one, else at the list."""
    if len(set(stored)) == 1:
        return url_for("runs.show", run_id=stored[0])
    return url_for("runs.index") if stored else url_for("imports.show")


def _labels(token: str, report: ImportReport) -> Labels:
    ticked = request.form.getlist(f"depends-{token}")
    return Labels(
        search_method=_label(f"method-{token}"),
        llm=_label(f"llm-{token}"),
        context_dependent={
            query.query_id: str(query.query_id) in ticked for query in report.undecided
        },
    )


def _label(name: str) -> str | None:
    return request.form.get(name, "").replace("\x00", "").strip()[:LONGEST_LABEL] or None


def _waiting(session: Session, study: Study, token: str) -> Waiting:
    file = uploads.find(session, study, token)
    report = imports.examine(session, study, file.name, file.data)
    told = tuple(
        Told(str(problem.severity), problem.query_id, message(problem))
        for problem in report.problems
    )
    return Waiting(token, report, told)


def _answer(page: ImportPage, status: int = 200) -> Response:
    context = Shown(page)
    return htmx.respond("imports/page.html", "imports/_imports.html", context, status)
