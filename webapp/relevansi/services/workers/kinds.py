"""What jobs do: large files imported, proof packs of large studies made.

Reading brings the report of run files; storing stores all of them in one transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec.structs import asdict, replace
from sqlalchemy.orm import Session

from relevansi.db.tables.runs import Upload
from relevansi.db.tables.study import Study
from relevansi.failures import Conflict
from relevansi.i18n import mark
from relevansi.records import ExportedFile, OnProgress, Problem
from relevansi.services.exports.rated_imports import RatedImport
from relevansi.services.exports.ratings import RatingsReport
from relevansi.services.people import raters
from relevansi.services.runs import confirmations, file_formats, reports, waiting_files
from relevansi.services.runs import runs as stored_runs
from relevansi.services.runs.file_formats import STORING_ORDER, FileDecision, ReadFile
from relevansi.services.runs.reports import Rule
from relevansi.services.runs.stored_results import StoredResults
from relevansi.services.study import studies
from relevansi.services.workers.jobs import (
    IMPORTING,
    PACK,
    READING,
    STORING,
    JobFunction,
    StoreOutcome,
)


class Undecided(Conflict):
    message = mark("%(name)s cannot be stored as it is")
    remedy = mark(
        "Nothing was stored. Import the run that was rated, and send the name of its rater, who "
        "takes part here or is new, beside the file: that confirms what changes."
    )


def order_to_read(files: Sequence[Upload]) -> dict[str, Any]:
    """Return the order of a job that parses these files."""
    return {"tokens": [file.id for file in files], "names": [file.name for file in files]}


def order_to_store(
    files: Sequence[Upload], decisions: Mapping[str, FileDecision]
) -> dict[str, Any]:
    """Return the order of a job that stores these files, with the decision on each by its id."""
    decided = {token: asdict(decision) for token, decision in decisions.items()}
    return order_to_read(files) | {"decisions": decided}


def read_files(
    session: Session, study: Study, order: Mapping[str, Any], on_progress: OnProgress
) -> StoreOutcome:
    """Parse waiting files; the function returned stores their reports. Raises ``UnknownUpload``."""
    opened = _opened(session, study, order, on_progress)
    # Before the transaction that clicks wait for: it may take as long as the parsing.
    read = {}
    for token, file in opened.items():
        columned = file_formats.with_known_columns(study, file)
        differing = file_formats.with_differing_texts(session, study, columned)
        read[token] = waiting_files.waiting_content(differing)

    def finish(session: Session, study: Study, _now: datetime) -> dict[str, Any]:
        for token, file in read.items():
            waiting_files.store_content(waiting_files.find(session, study, token), file)
        return {"runs": [], "left": order["tokens"], "stored": False}

    return finish


def store_files(
    session: Session, study: Study, order: Mapping[str, Any], on_progress: OnProgress
) -> StoreOutcome:
    """Parse files; the function returned stores them as was decided. Raises ``UnknownUpload``."""
    read = _opened(session, study, order, on_progress)

    def finish(session: Session, study: Study, now: datetime) -> dict[str, Any]:
        decisions = {t: FileDecision(**values) for t, values in order["decisions"].items()}
        runs, waiting = waiting_files.store(session, study, read, decisions, now)
        return {"runs": runs, "left": waiting, "stored": True}

    return finish


def order_to_import(
    files: Sequence[Upload], decision: FileDecision, *, blind: bool | None, confirm: int
) -> dict[str, Any]:
    """Return the order of a job that parses and stores files at once, as programs import them."""
    decided = {"decision": asdict(decision), "blind": blind, "confirm": confirm}
    return order_to_read(files) | decided


def import_files(
    session: Session, study: Study, order: Mapping[str, Any], on_progress: OnProgress
) -> StoreOutcome:
    """Parse files; the function returned stores them without a person; see ``deferred_store``."""
    opened = _opened(session, study, order, on_progress)
    decision, blind, confirm = FileDecision(**order["decision"]), order["blind"], order["confirm"]
    store = deferred_store(study, opened.values(), decision, blind=blind, confirm=confirm)

    def finish(session: Session, study: Study, now: datetime) -> dict[str, Any]:
        for token in opened:
            session.delete(waiting_files.find(session, study, token))
        return store(session, study, now)

    return finish


def deferred_store(
    study: Study,
    files: Iterable[ReadFile],
    decision: FileDecision,
    *,
    blind: bool | None,
    confirm: int = 0,
) -> StoreOutcome:
    """Return the function that stores files as was decided, and switches blind rating if stated.

    Nothing changes if one of them is refused: ``problems`` of the result say why. ``remarks`` are
    on files that are stored, ``grades`` how many each rater got. It raises ``Undecided``, and
    ``WouldChange`` unless it changes as many judgments as `confirm` says.
    """
    columned = [file_formats.with_known_columns(study, file) for file in files]
    refused = [problem for file in columned for problem in file_formats.why_refused(file)]
    in_order = sorted(columned, key=lambda file: STORING_ORDER.index(file.format))

    def finish(session: Session, study: Study, now: datetime) -> dict[str, Any]:
        runs: list[str] = []
        newcomers: set[str] = set()
        grades: dict[str, int] = {}
        remarks: list[Problem] = []
        file_formats.lock(session, study)
        before = {run.id for run in stored_runs.in_order(session, study)}
        if blind is not None and not refused:
            switched = replace(studies.switches(study), blind=blind)
            studies.set_switches(session, study, switched, now)
        with confirmations.confirmed(session, study, confirm, now):
            for file in [] if refused else in_order:
                outcome = file_formats.store(session, study, file, decision, newcomers, now)
                report = outcome.report
                if isinstance(report, RatedImport | RatingsReport) and not outcome.is_done:
                    raise Undecided(report.name)
                runs.extend(outcome.runs)
                if isinstance(report, StoredResults):
                    grades |= report.grades
                remarks += report.problems if report else ()
        new_runs = [run for run in dict.fromkeys(runs) if run not in before]
        if new_runs:
            studies.log(session, study, "import", ", ".join(new_runs), None, None, now)
        return {
            "runs": runs,
            "grades": grades,
            "problems": [asdict(problem) for problem in refused],
            "remarks": [asdict(remark) for remark in remarks],
        }

    return finish


def _opened(
    session: Session, study: Study, order: Mapping[str, Any], on_progress: OnProgress
) -> dict[str, ReadFile]:
    files = [waiting_files.find(session, study, token) for token in order["tokens"]]
    of, before = sum(file.questions for file in files), 0
    read: dict[str, ReadFile] = {}
    for file in files:
        read[file.id] = waiting_files.read_upload(
            file, _progress_in_all(before, file.questions, of, on_progress)
        )
        before += file.questions
    on_progress(of, of)
    return read


def _progress_in_all(before: int, share: int, of: int, on_progress: OnProgress) -> OnProgress:
    """Return the callback of one file that reports its steps as a share of those of all files."""
    return lambda steps_done, total: on_progress(before + share * steps_done // max(total, 1), of)


def order_to_pack(run_id: str | None, rule: Rule) -> dict[str, Any]:
    """Return the order of a pack, with a rater by number: a deleted one's name stays nowhere."""
    return {"run": run_id, "rule": rule.rater.id if rule.rater else rule.name}


def make_pack(
    session: Session, study: Study, order: Mapping[str, Any], on_progress: OnProgress
) -> ExportedFile:
    """Return the proof pack that was ordered; see ``order_to_pack``."""
    from relevansi.services.proof_packs import packs  # noqa: PLC0415 - brings pandas, which no page needs

    chosen = order["rule"]
    if isinstance(chosen, int):
        rule = reports.of_rater(raters.find(session, study, chosen))
    else:
        rule = reports.rule_of(session, study, chosen)
    return packs.pack(session, study, order["run"], rule, on_progress=on_progress)


JOB_KINDS: Mapping[str, JobFunction] = {
    IMPORTING: import_files,
    READING: read_files,
    STORING: store_files,
    PACK: make_pack,
}
