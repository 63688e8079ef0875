"""The formats of the files that can be imported, and the one way from a file to what is stored.

A file is recognised and read once, then looked at beside the study, decided on by the owner, and
stored; on the page what was read waits in between.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from enum import StrEnum
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace
from sqlalchemy.orm import Session

from relevansi import labels
from relevansi.db.engine import one_at_a_time
from relevansi.db.tables.study import Study
from relevansi.importers.frame import bounded
from relevansi.importers.results.files import Dropped
from relevansi.importers.results.formats import Choices
from relevansi.importers.runs import csv_ratings, json_runs
from relevansi.importers.runs import ratings as rating_changes
from relevansi.importers.runs.csv_ratings import RatedFile
from relevansi.importers.runs.problems import ImportRefused
from relevansi.importers.runs.ratings import OfflineRatings
from relevansi.kinds.document import Document
from relevansi.kinds.property import Card
from relevansi.records import OnProgress, Problem, Scale, no_progress
from relevansi.services.exports import rated_imports, ratings
from relevansi.services.exports.rated_imports import RatedImport
from relevansi.services.exports.ratings import RatingsReport
from relevansi.services.runs import imports, results, runs, stored_results, stored_runs
from relevansi.services.runs.imports import ImportReport
from relevansi.services.runs.results import ResultsReport
from relevansi.services.runs.stored_results import StoredResults
from relevansi.services.runs.stored_runs import ImportedRun, Labels

BYTES_A_QUESTION = 15_000
"""Results of about so many bytes are stored in the time of a question with its cards."""
CHANGES_A_QUESTION = 10
"""So many changes of a rater are stored in the time of a question with its cards."""


class FileDecision(Struct, frozen=True):
    """The owner's decision on one file: its run's labels, or its rater, whose report was shown."""

    rater: str | None = None
    confirm: bool = False
    method: str = ""
    llm: str = ""
    depends: list[str] = field(default_factory=list)
    grader: str = ""
    meta: list[str] | None = None
    same_documents: bool = False


class FileFormat(StrEnum):
    """The formats of files, in the order in which they are tried on a file."""

    RATED_CSV = "rated_csv"
    RATINGS = "ratings"
    RUN = "run"
    RESULTS = "results"


STORING_ORDER = (FileFormat.RESULTS, FileFormat.RUN, FileFormat.RATINGS, FileFormat.RATED_CSV)
"""Runs are stored before the ratings of them."""

CONTENT_TYPES: Mapping[FileFormat, type] = {
    FileFormat.RATED_CSV: RatedFile,
    FileFormat.RATINGS: OfflineRatings,
    FileFormat.RUN: ImportReport,
    FileFormat.RESULTS: ResultsReport,
}


class ReadFile(Struct, frozen=True):
    """A file with its content as its format has it, or with why it cannot be read."""

    format: FileFormat
    content: RatedFile | OfflineRatings | ImportReport | ResultsReport | ImportRefused


class StoredFile(Struct, frozen=True):
    """The outcome of storing a file: its report, its runs, and whether nothing is left to decide.

    A file that is refused has no report.
    """

    report: RatedImport | RatingsReport | ImportedRun | StoredResults | None = None
    runs: tuple[str, ...] = ()
    is_done: bool = True


def recognised(name: str, data: bytes) -> FileFormat:
    """Return the format of a file; what no other format knows is refused as results."""
    if csv_ratings.recognises(data):
        return FileFormat.RATED_CSV
    if rating_changes.recognises(data):
        return FileFormat.RATINGS
    # A run that this reader refuses may be a file of results for another one.
    with suppress(ImportRefused):
        if bounded.call(name, json_runs.recognises, data):
            return FileFormat.RUN
    return FileFormat.RESULTS


def size(form: FileFormat, data: bytes) -> int:
    """Return about how many questions with their cards take as long as this file to store."""
    if form is FileFormat.RESULTS:
        return len(data) // BYTES_A_QUESTION
    if form is FileFormat.RATED_CSV:
        return data.count(b"\n")
    n_ids = data.count(b'"query_id"')
    return n_ids if form is FileFormat.RUN else n_ids // CHANGES_A_QUESTION


def read_file(
    form: FileFormat, name: str, data: bytes, on_progress: OnProgress = no_progress
) -> ReadFile:
    """Return a file as its format reads it; `on_progress` gets how many questions are read."""
    try:
        if form is FileFormat.RUN:
            return ReadFile(form, imports.read(name, data, on_progress))
        if form is FileFormat.RESULTS:
            return ReadFile(form, results.read(name, data, on_progress))
        if form is FileFormat.RATED_CSV:
            return ReadFile(form, bounded.call(name, csv_ratings.read, name, data))
        return ReadFile(form, bounded.call(name, rating_changes.read, name, data))
    except ImportRefused as refused:
        # Without the frames that it came through, which hold the whole file.
        return ReadFile(form, refused.with_traceback(None))


def read_results(
    name: str, dropped: Iterable[Dropped], choices: Choices, on_progress: OnProgress = no_progress
) -> ReadFile:
    """Return files of results, read together; they may be too large to be held as bytes."""
    form = FileFormat.RESULTS
    try:
        return ReadFile(form, results.read_files(name, dropped, choices, on_progress))
    except ImportRefused as refused:
        return ReadFile(form, refused.with_traceback(None))


def together(
    files: Sequence[tuple[str, bytes]], choices: Choices | None = None
) -> list[tuple[FileFormat, str, bytes]]:
    """Return the format, name and content of each import: files of results are one together."""
    recognised_files = [(recognised(name, data), name, data) for name, data in files]
    separate = [file for file in recognised_files if file[0] is not FileFormat.RESULTS]
    of_results = [file[1:] for file in recognised_files if file[0] is FileFormat.RESULTS]
    if not of_results:
        return separate
    names = ", ".join(name for name, _ in of_results)
    return [*separate, (FileFormat.RESULTS, names, results.packed(of_results, choices))]


def why_refused(file: ReadFile) -> Sequence[Problem]:
    """Return the problems of a file of which nothing can be stored; none of one that can be."""
    content = file.content
    if isinstance(content, ImportRefused):
        return content.problems
    is_empty = isinstance(content, ResultsReport) and not (content.runs or content.group.raters)
    return content.problems if is_empty else ()


def with_known_columns(
    study: Study, file: ReadFile, on_progress: OnProgress = no_progress
) -> ReadFile:
    """Return a file read by the columns that were chosen for files of its shape before."""
    content = file.content
    if not isinstance(content, ResultsReport):
        return file
    choices = results.known_choices(study, content)
    if choices is None:
        return file
    return read_results(content.name, content.files, choices, on_progress)


def with_differing_texts(session: Session, study: Study, file: ReadFile) -> ReadFile:
    """Return a file that counts the documents whose text the study has otherwise."""
    if not isinstance(file.content, ResultsReport):
        return file
    differing = stored_results.documents_that_differ(session, study, file.content.group.runs)
    return replace(file, content=replace(file.content, n_differing=differing))


def examine(
    session: Session, study: Study, file: ReadFile, rater: str | None, now: datetime
) -> ImportRefused | ImportReport | ResultsReport | RatingsReport | RatedImport:
    """Return the report of a file beside the study, or why it is refused; nothing is stored."""
    match file.content:
        case ImportRefused() as refused:
            return refused
        case ImportReport() as report:
            return imports.examine(session, study, report)
        case ResultsReport() as results_report:
            return results.examine(session, study, results_report)
        case OfflineRatings() as changes:
            return ratings.examine(session, study, changes, now, rater)
        case RatedFile() as rated:
            return rated_imports.examine(session, study, rated, rater)


def turns_blind(session: Session, study: Study, reports: Sequence[Any]) -> bool:
    """Whether storing these files, by their reports, makes the study's rating blind."""
    of_runs = [report for report in reports if isinstance(report, ImportReport)]
    return imports.turns_blind(session, study, of_runs) or any(
        report.turns_blind for report in reports if isinstance(report, ResultsReport)
    )


def becomes(session: Session, study: Study, reports: Sequence[Any]) -> str:
    """What the first runs make of a study (a message id), "" if it has some or gets none.

    Words about their items are in force from here on.
    """
    if any(isinstance(report, ImportReport) for report in reports):
        kind = Card.kind
    elif any(isinstance(report, ResultsReport) and report.runs for report in reports):
        kind = Document.kind
    else:
        return ""
    if runs.in_order(session, study):
        return ""
    labels.use_words_of(kind, Scale.stored(study.scale), study.merging)
    return imports.BECOMES[kind]


def lock(session: Session, study: Study) -> None:
    """Make those queue who store files; the same files at once are one run."""
    one_at_a_time(session)
    session.refresh(study)


def store(
    session: Session,
    study: Study,
    file: ReadFile,
    decision: FileDecision,
    newcomers: set[str],
    now: datetime,
    on_progress: OnProgress = no_progress,
) -> StoredFile:
    """Store a file as far as it can be; `newcomers` are raters made by files of one import."""
    lock(session, study)
    rater, is_sure = decision.rater, decision.confirm
    match file.content:
        case ImportRefused():
            return StoredFile()
        case RatedFile() as rated:
            rated_import = rated_imports.store(
                session, study, rated, rater or "", now, overwrite=is_sure
            )
            return StoredFile(rated_import, _of(rated_import.run_id), rated_import.storable)
        case OfflineRatings() as changes:
            report = ratings.store(
                session, study, changes, now, rater, confirmed=is_sure, newcomers=newcomers
            )
            if report.stored and report.rater_is_new:
                newcomers.add(report.rater)
            return StoredFile(report, _of(report.run_id), report.stored)
        case ResultsReport() as read:
            if not (read.runs or read.group.raters):
                return StoredFile(StoredResults((), {}, read.problems))
            outcome = stored_results.store(
                *(session, study, read, now, decision.grader),
                confirmed=is_sure,
                meta=decision.meta,
                same_documents=decision.same_documents,
                on_progress=on_progress,
            )
            return StoredFile(outcome, tuple(run.id for run in outcome.runs))
        case ImportReport() as read_run:
            depends = {
                query.query_id: str(query.query_id) in decision.depends
                for query in read_run.undecided
            }
            labels = Labels(decision.method or None, decision.llm or None, depends)
            run = stored_runs.store(session, study, read_run.read, labels, now)
            return StoredFile(run, (run.id,))


def _of(run_id: str | None) -> tuple[str, ...]:
    return (run_id,) if run_id else ()
