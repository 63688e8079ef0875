"""Files dropped on the page: kept, reported on, and stored only when their owner confirms.

The report of ratings is that of one rater. Storing them for another one shows that rater's
report first, so that every change was shown before; the stored judgments of an existing rater
change only where that is ticked.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from flask import Blueprint, Response, current_app, redirect, request, url_for
from sqlalchemy.orm import Session

from webapp.db.tables.runs import Upload
from webapp.db.tables.study import Study
from webapp.i18n import gettext
from webapp.importers.runs import csv_ratings, problems
from webapp.importers.runs.problems import JoinedProblem
from webapp.importers.runs.ratings import recognises
from webapp.services.exports import rated_imports
from webapp.services.exports import ratings as offline_ratings
from webapp.services.exports.rated_imports import RatedImport
from webapp.services.exports.ratings import RatingsReport
from webapp.services.runs import imports, uploads
from webapp.services.runs.imports import ImportReport, Labels
from webapp.services.study import studies
from webapp.web.frame import access, forms, htmx
from webapp.web.runs.forms import WaitingFileForm, WaitingForm

blueprint = Blueprint("imports", __name__)


class UnfitFiles(Exception):
    """No file was chosen, or too many; the argument says so to the reader."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A file with its report; ``token`` is its name while it waits."""

    token: str
    report: ImportReport
    remarks: tuple[JoinedProblem, ...]


@dataclass(frozen=True, slots=True)
class WaitingRatings:
    """Ratings from a page without a server, with their report for one of the ``raters``."""

    token: str
    report: RatingsReport
    remarks: tuple[JoinedProblem, ...]
    raters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WaitingRatedCsv:
    """A rated CSV with what importing it as one rater's would store; ``raters`` can be chosen."""

    token: str
    report: RatedImport
    remarks: tuple[JoinedProblem, ...]
    raters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ImportPage:
    """The drop zone, and below it every file that waits for a decision: runs, then ratings."""

    files: tuple[Waiting, ...]
    notice: str = ""
    ratings: tuple[WaitingRatings, ...] = ()
    rated: tuple[WaitingRatedCsv, ...] = ()

    @property
    def any_waits(self) -> bool:
        """Whether there is a report to show."""
        return bool(self.files or self.ratings or self.rated)

    @property
    def storable(self) -> int:
        """How many of the files can be stored."""
        runs = [f.report.read and not f.report.already_imported for f in self.files]
        ratings = [f.report.storable and not f.report.already_imported for f in self.ratings]
        rated = [f.report.storable and (f.report.new or f.report.others) for f in self.rated]
        return sum(map(bool, (*runs, *ratings, *rated)))


@dataclass(frozen=True, slots=True)
class ImportContext:
    """The context of the import templates."""

    imports: ImportPage


@dataclass(frozen=True, slots=True)
class _Stored:
    """The runs of the files that were stored by one request, and the raters that it made."""

    runs: list[str] = field(default_factory=list)
    newcomers: set[str] = field(default_factory=set)


@blueprint.get("/runs/import")
def show() -> Response:
    """Show the drop zone and the report of each file that waits."""
    with access.reading() as (session, rater):
        found = [_waiting(session, rater.study, token) for token in request.args.getlist("token")]
    runs = tuple(file for file in found if isinstance(file, Waiting))
    ratings = tuple(file for file in found if isinstance(file, WaitingRatings))
    rated = tuple(file for file in found if isinstance(file, WaitingRatedCsv))
    notice = _not_stored() if "left" in request.args else ""
    return _answer(ImportPage(runs, notice, ratings=ratings, rated=rated))


@blueprint.post("/runs/import")
def upload() -> Response:
    """Keep the chosen files and report on them, or store, show or forget kept files."""
    form = forms.checked(WaitingForm)
    if form.token.data:
        return _decide(form)
    try:
        tokens = keep_chosen()
    except UnfitFiles as unfit:
        return _answer(ImportPage((), str(unfit)), 422)
    return redirect(url_for("imports.show", token=tokens), 303)  # type: ignore[return-value]


def keep_chosen() -> list[str]:
    """Keep the chosen files and return their names while they wait; raises ``UnfitFiles``."""
    chosen = [file for file in request.files.getlist("files") if file.filename]
    if not chosen:
        raise UnfitFiles(gettext("Please choose a file first."))
    if len(chosen) > current_app.config["MAX_UPLOAD_FILES"]:
        raise UnfitFiles(gettext("These are too many files at once."))
    with access.writing() as (session, rater):
        tokens = [
            uploads.keep(session, rater.study, file.filename or "", file.read(), access.now())
            for file in chosen
        ]
        session.commit()
    return tokens


def _decide(form: WaitingForm) -> Response:
    """Store the waiting files, runs before their ratings, show them anew, or forget them."""
    tokens = form.token.data
    if form.action.data == "look":
        return _look_again(tokens)
    wanted = form.action.data == "store"
    stored = _Stored()
    refused: list[str] = []
    with access.writing() as (session, rater):
        files = [uploads.find(session, rater.study, token) for token in tokens]
        for file in sorted(files, key=_turn):
            if wanted and not _store(session, rater.study, file, stored):
                refused.append(file.id)
                continue
            uploads.discard(session, file)
        session.commit()
    if refused:
        return _look_again(refused, left="1")
    return redirect(_after(stored.runs), 303)  # type: ignore[return-value]


def _look_again(tokens: list[str], **said: str) -> Response:
    """Show the reports of waiting files again, each for the rater who was named."""
    named = {f"rater-{token}": WaitingFileForm.sent(token).rater.data for token in tokens}
    names = {place: name for place, name in named.items() if name}
    return redirect(url_for("imports.show", token=tokens, **names, **said), 303)  # type: ignore[return-value,arg-type]


def _not_stored() -> str:
    return gettext("These files are not stored yet. Look at their reports and confirm them.")


def _turn(file: Upload) -> int:
    """The turn of a file: runs, then ratings from pages without a server, then rated CSVs."""
    return 2 if _is_rated_csv(file) else int(recognises(file.data))


def _is_rated_csv(file: Upload) -> bool:
    return file.name.lower().endswith(".csv") or csv_ratings.recognises(file.data)


def _store(session: Session, study: Study, file: Upload, done: _Stored) -> bool:
    """Store one waiting file and note its run; ratings that cannot be stored yet stay."""
    if _is_rated_csv(file):
        return _store_rated(session, study, file, done)
    if offline_ratings.examine(session, study, file.name, file.data, access.now()) is not None:
        return _store_ratings(session, study, file, done)
    report = imports.examine(session, study, file.name, file.data)
    if report.read is not None:
        labels = _labels(file.id, report)
        done.runs.append(imports.store(session, study, report.read, labels, access.now()).id)
    return True


def _store_ratings(session: Session, study: Study, file: Upload, done: _Stored) -> bool:
    """Store ratings for the rater whose report was shown; for one who exists, where ticked."""
    form = WaitingFileForm.sent(file.id)
    rater = form.rater_shown
    if rater is None:
        return False
    brought = offline_ratings.store(
        *(session, study, file.name, file.data, access.now(), rater),
        confirmed=form.confirm.data or rater in done.newcomers,
    )
    if brought is None or not brought.stored:
        return False
    done.runs.extend([brought.run_id] if brought.run_id else [])
    done.newcomers.update([brought.rater] if brought.rater_is_new else [])
    return True


def _store_rated(session: Session, study: Study, file: Upload, done: _Stored) -> bool:
    """Store a rated CSV for the rater whose report was shown; other values where ticked."""
    form = WaitingFileForm.sent(file.id)
    rater = form.rater_shown
    if rater is None:
        return False
    taken = rated_imports.store(
        session, study, file.name, file.data, rater, access.now(), overwrite=form.confirm.data
    )
    done.runs.extend([taken.run_id] if taken.run_id and taken.storable else [])
    return taken.storable


def _after(stored: list[str]) -> str:
    """Return the address to go on at: the run, if there is only one, else the list."""
    if len(set(stored)) == 1:
        return url_for("runs.show", run_id=stored[0])
    return url_for("runs.index") if stored else url_for("imports.show")


def _labels(token: str, report: ImportReport) -> Labels:
    form = WaitingFileForm.sent(token)
    return Labels(
        search_method=form.method.data or None,
        llm=form.llm.data or None,
        context_dependent={
            query.query_id: str(query.query_id) in form.depends.data for query in report.undecided
        },
    )


def _waiting(
    session: Session, study: Study, token: str
) -> Waiting | WaitingRatings | WaitingRatedCsv:
    file = uploads.find(session, study, token)
    rater = request.args.get(f"rater-{token}")
    people = [one.name for one in studies.raters(session, study) if one.removed_at is None]
    if _is_rated_csv(file):
        return _rated(session, study, file, rater, people)
    ratings = offline_ratings.examine(session, study, file.name, file.data, access.now(), rater)
    if ratings is not None:
        return WaitingRatings(token, ratings, problems.remarks(ratings.problems), tuple(people))
    report = imports.examine(session, study, file.name, file.data)
    return Waiting(token, report, problems.remarks(report.problems))


def _rated(
    session: Session, study: Study, file: Upload, rater: str | None, people: list[str]
) -> WaitingRatedCsv:
    """Return the report of a rated CSV; of the only rater, where there is no other."""
    if rater is None and len(people) == 1:
        rater = people[0]
    report = rated_imports.examine(session, study, file.name, file.data, rater)
    return WaitingRatedCsv(file.id, report, problems.remarks(report.problems), tuple(people))


def _answer(page: ImportPage, status: int = 200) -> Response:
    context = ImportContext(page)
    return htmx.respond("runs/imports/page.html", "runs/imports/_imports.html", context, status)
