"""Everything behind the figures of a run, or of the whole study, as one zip to hand in.

A pack is written without a clock: it is dated by the last change of its
content, so the same state gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from importlib.metadata import version
from itertools import count
from typing import Any

from msgspec import to_builtins
from msgspec.structs import replace
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from webapp.db.migrations import HEAD
from webapp.db.tables.judging import Adjudication, Event, JudgedThing, Judgment, Property
from webapp.db.tables.people import LogEntry, Rater
from webapp.db.tables.runs import Query, Run
from webapp.db.tables.study import Question, Study
from webapp.exporters.comparisons.files import comparison_json
from webapp.exporters.exports.metrics_tables import JsonValue, blindness_json, metrics_json
from webapp.exporters.frame.csv_cells import csv_bytes
from webapp.exporters.proof_packs import pack as files_of
from webapp.failures import Conflict, Missing
from webapp.i18n import SOURCE_LANGUAGE, mark, speaking
from webapp.kinds import KINDS
from webapp.metrics.comparisons.significance import Resampling
from webapp.metrics.proof_packs import proof_files
from webapp.records import BINARY, Scale, Tell, nobody
from webapp.services.comparisons import chosen_runs, comparisons
from webapp.services.exports import exports
from webapp.services.exports.exports import ExportedFile
from webapp.services.planning import pack_part
from webapp.services.proof_packs import rows
from webapp.services.rating import pool
from webapp.services.runs import reports, runs
from webapp.services.runs.reports import Rule
from webapp.services.study import assignments as blinding
from webapp.services.study import studies

EXPORTS: Mapping[str, Callable[[Session, Study, str, Rule], ExportedFile]] = {
    "rated.csv": exports.rated_csv,
    "raters.csv": exports.wide_csv,
    "judgments.csv": exports.long_csv,
    "qrels.txt": exports.qrels,
    "run.txt": exports.run_file,
    "run.json": exports.run_json,
}
"""The members of a run that can also be had one by one."""
LONG_FROM = 300
"""The answers from which a pack is made beside the requests: ten runs of thirty questions."""


class NoRuns(Missing):
    message = mark("This study has no run yet")
    remedy = mark("Import one first.")
    command_remedy = mark("`relevansi import` brings one.")


class MachineNotPacked(Conflict):
    message = mark("A proof pack holds what people judged")
    remedy = mark(
        "Choose a person, the majority or the adjudication: a pack's figures are people's."
    )
    command_remedy = mark("Leave --rater out or name a person.")


def pack(
    session: Session,
    study: Study,
    run_id: str | None,
    rule: Rule,
    *,
    settings: Resampling | None = None,
    tell: Tell = nobody,
) -> ExportedFile:
    """Return the proof pack of a run, or of the whole study, its merged files under `rule`.

    `tell` is called after each step; `settings` are those of its comparisons' resampling. Raises
    ``UnknownRun``, ``NoRuns`` and ``MachineNotPacked``.
    """
    found = _runs(session, study, run_id, rule)
    settings = settings or Resampling()
    whole = run_id is None
    with speaking(SOURCE_LANGUAGE):
        machines = pack_part.machines(session, study, found)
        packed = rows.of_runs(session, study, found, machines, whole=whole)
        files = {proof_files.of_table(name): files_of.lines(rows) for name, rows in packed.items()}
        files |= dict(members(session, study, found, rule, settings, tell=tell))
        about = {
            **facts(session, study, found, rule, settings),
            "scope": "study" if whole else "run",
            "product": {"name": "relevansi", "version": version("relevansi")},
            "database_version": HEAD,
            "created_at": _last_change(session, study, found),
        }
        data = files_of.pack(about, pool.commitment(study.order_secret), files, pack_part.ABOUT)
    name = "proof_pack.zip" if whole else f"proof_pack_{run_id}.zip"
    return ExportedFile(name, "application/zip", data)


def is_long(session: Session, study: Study, run_id: str | None, rule: Rule) -> bool:
    """Whether the pack of a run, or of the study without one, takes longer than a page waits.

    Raises what making it raises before it begins.
    """
    found = [run.id for run in _runs(session, study, run_id, rule)]
    answers = select(func.count()).select_from(Query).where(Query.run_id.in_(found))
    return (session.scalar(answers) or 0) >= LONG_FROM


def _runs(session: Session, study: Study, run_id: str | None, rule: Rule) -> list[Run]:
    if rule.rater is not None and rule.rater.is_machine:
        raise MachineNotPacked
    if run_id is not None:
        return [runs.find(session, study, run_id)]
    found = sorted(runs.in_order(session, study), key=lambda run: run.question_set_id)
    if not found:
        raise NoRuns
    return found


def members(
    session: Session,
    study: Study,
    found: Sequence[Run],
    rule: Rule,
    settings: Resampling,
    *,
    tell: Tell = nobody,
) -> Iterator[tuple[str, bytes]]:
    """Yield the members of a pack that follow from its rows; `tell` is called after each step."""
    steps = len(found) * (len(EXPORTS) + 1) + 2
    done = count(1)
    tell(0, steps)
    table = [[*values] for _, values in given_verdicts(session, study, found)]
    yield proof_files.VERDICTS, csv_bytes([proof_files.VERDICT_COLUMNS, *table])
    if guidelines := studies.guidelines(study):
        yield "guidelines.md", guidelines.encode()
    sets: dict[int, list[str]] = {}
    for run in found:
        sets.setdefault(run.question_set_id, []).append(run.id)
    for key in sets:
        yield f"questions/{key}.json", files_of.json_file(_questions(session, key))
    for run in found:
        for name, export in EXPORTS.items():
            yield proof_files.of_run(run.id, name), export(session, study, run.id, rule).data
            tell(next(done), steps)
        by_rule = figures(session, study, run.id)
        yield proof_files.of_run(run.id, proof_files.FIGURES), files_of.json_file(by_rule)
        tell(next(done), steps)
    for key, run_ids in sets.items():
        if len(run_ids) >= chosen_runs.FEWEST:
            report = comparisons.report(session, study, run_ids, rule, settings=settings)
            # A pack holds people's verdicts, not the decisions on gold questions.
            document = comparison_json(replace(report, parts=()))
            yield f"comparisons/{key}.json", files_of.json_file(document)
    tell(next(done), steps)
    for name, document in pack_part.documents(session, study, found, rule).items():
        yield name, files_of.json_file(document)
    tell(next(done), steps)


def _questions(session: Session, question_set: int) -> list[dict[str, Any]]:
    """Return a question set as the question file that this product reads; ids are positions."""
    keys = ("id", "question", "category", "context_dependent")
    wanted = (
        select(Question.position, Question.text, Question.category, Question.context_dependent)
        .where(Question.question_set_id == question_set)
        .order_by(Question.position)
    )
    return [dict(zip(keys, row, strict=True)) for row in session.execute(wanted)]


def given_verdicts(
    session: Session, study: Study, found: Sequence[Run]
) -> Iterator[tuple[tuple[int, int], Sequence[Any]]]:
    """Yield the keys and the cells of people's current verdicts on what the runs show."""
    shown = rows.judged_things(study, Query.run_id.in_([run.id for run in found]))
    people = [rater.id for rater in studies.raters(session, study)]
    wanted = (
        select(
            *(Judgment.rater_id, Judgment.judged_thing_id, Rater.name, Question.question_set_id),
            *(Question.position, JudgedThing.run_id, Property.identity, JudgedThing.content),
            Judgment.verdict,
        )
        .join_from(Judgment, Rater)
        .join(JudgedThing, JudgedThing.id == Judgment.judged_thing_id)
        .join(Question, Question.id == JudgedThing.question_id)
        .outerjoin(Property, Property.id == JudgedThing.property_id)
        .where(Judgment.rater_id.in_(people), Judgment.verdict.is_not(None))
        .where(Judgment.judged_thing_id.in_(shown))
        .order_by(Rater.id, Question.question_set_id, Question.position, JudgedThing.id)
    )
    for rater, thing, *cells in session.execute(wanted):
        yield (rater, thing), cells


def figures(session: Session, study: Study, run_id: str) -> dict[str, JsonValue]:
    """Return the figures of a run under every rule, each rater's own first."""
    own = [reports.of_rater(rater) for rater in studies.raters(session, study)]
    return {
        rule.name: dict(metrics_json(reports.report(session, study, run_id, rule)))
        for rule in (*own, Rule(reports.MAJORITY), Rule(reports.ADJUDICATED))
    }


def facts(
    session: Session, study: Study, found: Sequence[Run], rule: Rule, settings: Resampling
) -> dict[str, Any]:
    """Return what the manifest states that follows from the rows of the pack."""
    seen = blinding.exposure(session, study)
    scope = Query.run_id.in_([run.id for run in found])
    return {
        "study": study.name,
        "rule": rule.name,
        "cannot_tell": study.cannot_tell,
        **_of_kind(study),
        "raters": [rater.name for rater in studies.raters(session, study)],
        "blindness": blindness_json(
            reports.blindness(session, study, scope, Rule(reports.MAJORITY))
        ),
        **{
            name: [{"since": one.since, "until": one.until} for one in getattr(seen, name)]
            for name in ("badged", "record_shown", "suggested")
        },
        "resampling": {
            "what": "intervals and tests of comparisons",
            "seed": settings.seed,
            "resamples": settings.resamples,
            "confidence": settings.confidence,
        },
        "runs": [_run_json(run) for run in found],
    }


def _of_kind(study: Study) -> dict[str, Any]:
    """Return the kind and the scale of a study other than those of the method."""
    scale = Scale.stored(study.scale)
    if scale == BINARY and not KINDS[study.kind].of_collection:
        return {}
    merging = scale.merging(study.merging)
    return {"kind": study.kind, "scale": to_builtins(scale), "merging": merging}


def _run_json(run: Run) -> dict[str, Any]:
    labels = ("search_method", "llm", "stated_search_method", "stated_llm", "timestamp")
    files = [
        {"name": one.name, "sha256": one.sha256, "format": one.file_format}
        | {"imported_at": one.imported_at}
        for one in run.files
    ]
    return {
        "run": run.id,
        "question_set": str(run.question_set_id),
        **{name: getattr(run, name) for name in labels},
        "queries": len(run.queries),
        "input_files": files,
    }


def _last_change(session: Session, study: Study, found: Sequence[Run]) -> datetime:
    """Return when the last event, import, settlement or logged change of the study happened."""
    of_study = [rater.id for rater in studies.raters(session, study)]
    latest = [
        select(func.max(Event.received_at)).where(Event.rater_id.in_(of_study)),
        select(func.max(Adjudication.at)).where(Adjudication.rater_id.in_(of_study)),
        select(func.max(LogEntry.at)).where(LogEntry.study_id == study.id),
        select(func.max(Rater.created_at)).where(Rater.study_id == study.id),
    ]
    moments = [file.imported_at for run in found for file in run.files]
    return max(filter(None, [study.created_at, *moments, *map(session.scalar, latest)]))
