"""The formats of the files that can be imported, and the one way from a file to what is stored.

A file is recognised and read once, then looked at beside the study, decided on by the owner, and
stored; on the page what was read waits in between. Another format is its functions and a line in
``FORMATS``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
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
from relevansi.services.runs import imports, results, runs, stored_results, stored_runs
from relevansi.services.runs.imports import ImportReport
from relevansi.services.runs.results import ResultsReport
from relevansi.services.runs.stored_results import StoredResults
from relevansi.services.runs.stored_runs import Labels

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


class StoredFile(Struct, frozen=True):
    """What became of a file: its report, its runs, and whether there is nothing left to decide.

    A file that is refused has no report.
    """

    report: Any = None
    runs: tuple[str, ...] = ()
    is_done: bool = True


class FileFormat(Struct, frozen=True):
    """How files of one format are recognised and read, as ``kind``.

    The report's template has the ``name``; ``size`` is about how many questions a file has. What
    was read is ``parted`` into its report and a rest, with which the report is ``joined`` again.
    """

    name: str
    kind: type
    sniff: Callable[[str, bytes], bool]
    read: Callable[[str, bytes, OnProgress], Any]
    size: Callable[[bytes], int]
    parted: Callable[[Any], tuple[Any, bytes]] = lambda read: (read, b"")
    joined: Callable[[Any, bytes], Any] = lambda report, _data: report


def _is_run(name: str, data: bytes) -> bool:
    try:
        return bounded.call(name, json_runs.recognises, data)
    except ImportRefused:
        return False  # another reader refuses it, as a file among others


RATED_CSV = FileFormat(
    name="rated_csv",
    kind=RatedFile,
    sniff=lambda _name, data: csv_ratings.recognises(data),
    read=lambda name, data, _on_progress: bounded.call(name, csv_ratings.read, name, data),
    size=lambda data: data.count(b"\n"),
)
RATINGS = FileFormat(
    name="ratings",
    kind=OfflineRatings,
    sniff=lambda _name, data: rating_changes.recognises(data),
    read=lambda name, data, _on_progress: bounded.call(name, rating_changes.read, name, data),
    size=lambda data: data.count(b'"query_id"') // CHANGES_A_QUESTION,
)
RUN = FileFormat(
    name="run",
    kind=ImportReport,
    sniff=_is_run,
    read=imports.read,
    size=lambda data: data.count(b'"query_id"'),
    parted=imports.parted,
    joined=imports.joined,
)
RESULTS = FileFormat(
    name="results",
    kind=ResultsReport,
    sniff=lambda _name, _data: True,  # what cannot be read is refused with what was found in it
    read=results.read,
    size=lambda data: len(data) // BYTES_A_QUESTION,
    parted=results.parted,
    joined=lambda report, packed: results.read(report.name, packed),
)
FORMATS = (RATED_CSV, RATINGS, RUN, RESULTS)
"""Every format in the order of recognising; files are stored in the opposite order, runs first."""


class ReadFile(Struct, frozen=True):
    """A file as it was read, or why it cannot be."""

    format: FileFormat
    read: Any


def recognised(name: str, data: bytes) -> FileFormat:
    """Return the format that a file has."""
    return next(each for each in FORMATS if each.sniff(name, data))


def read_file(
    form: FileFormat, name: str, data: bytes, on_progress: OnProgress = no_progress
) -> ReadFile:
    """Read a file that is recognised; `on_progress` is called with how many questions are read."""
    try:
        return ReadFile(form, form.read(name, data, on_progress))
    except ImportRefused as refused:
        # Without the frames that it came through, which hold the whole file.
        return ReadFile(form, refused.with_traceback(None))


def read_results(
    name: str, dropped: Iterable[Dropped], choices: Choices, on_progress: OnProgress = no_progress
) -> ReadFile:
    """Read files of results together, which may be too large to be held as bytes."""
    try:
        return ReadFile(RESULTS, results.read_files(name, dropped, choices, on_progress))
    except ImportRefused as refused:
        return ReadFile(RESULTS, refused.with_traceback(None))


def together(
    files: Sequence[tuple[str, bytes]], choices: Choices | None = None
) -> list[tuple[FileFormat, str, bytes]]:
    """Return the format, name and content of each import: files of results are one together."""
    recognised_files = [(recognised(*file), *file) for file in files]
    of_results = [(name, data) for form, name, data in recognised_files if form is RESULTS]
    imports_of = [each for each in recognised_files if each[0] is not RESULTS]
    if of_results:
        names = ", ".join(name for name, _ in of_results)
        imports_of.append((RESULTS, names, results.packed(of_results, choices)))
    return imports_of


def why_refused(file: ReadFile) -> Sequence[Problem]:
    """Return the problems of a file of which nothing can be stored; none of one that can be."""
    read = file.read
    is_refused = isinstance(read, ImportRefused) or (
        file.format is RESULTS and not (read.runs or read.group.raters)
    )
    return read.problems if is_refused else ()


def with_known_columns(
    study: Study, file: ReadFile, on_progress: OnProgress = no_progress
) -> ReadFile:
    """Return a file read by the columns that were chosen for files of its shape before."""
    if file.format is not RESULTS or isinstance(file.read, ImportRefused):
        return file
    choices = results.remembered(study, file.read)
    if choices is None:
        return file
    return read_results(file.read.name, file.read.files, choices, on_progress)


def with_differing_texts(session: Session, study: Study, file: ReadFile) -> ReadFile:
    """Return a file that counts the documents whose text the study has otherwise."""
    if file.format is not RESULTS or isinstance(file.read, ImportRefused):
        return file
    differing = stored_results.documents_that_differ(session, study, file.read.group.runs)
    return ReadFile(RESULTS, replace(file.read, n_differing=differing))


def examine(
    session: Session, study: Study, file: ReadFile, rater: str | None, now: datetime
) -> Any:
    """Return the report of a file beside the study, or why it is refused; nothing is stored."""
    if isinstance(file.read, ImportRefused):
        return file.read
    if file.format is RUN:
        return imports.examine(session, study, file.read)
    if file.format is RESULTS:
        return results.examine(session, study, file.read)
    if file.format is RATINGS:
        return ratings.examine(session, study, file.read, now, rater)
    return rated_imports.examine(session, study, file.read, rater)


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
    read, rater, is_sure = file.read, decision.rater, decision.confirm
    if isinstance(read, ImportRefused):
        return StoredFile()
    if file.format is RATED_CSV:
        csv = rated_imports.store(session, study, read, rater or "", now, overwrite=is_sure)
        return StoredFile(csv, _of(csv.run_id), csv.storable)
    if file.format is RATINGS:
        report = ratings.store(
            session, study, read, now, rater, confirmed=is_sure, newcomers=newcomers
        )
        if report.stored and report.rater_is_new:
            newcomers.add(report.rater)
        return StoredFile(report, _of(report.run_id), report.stored)
    if file.format is RESULTS:
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
    depends = {query.query_id: str(query.query_id) in decision.depends for query in read.undecided}
    labels = Labels(decision.method or None, decision.llm or None, depends)
    run = stored_runs.store(session, study, read.read, labels, now)
    return StoredFile(run, (run.id,))


def _of(run_id: str | None) -> tuple[str, ...]:
    return (run_id,) if run_id else ()
