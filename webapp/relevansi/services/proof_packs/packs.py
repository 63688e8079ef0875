"""Everything behind the figures of a run, or of the whole study, as one zip to hand in.

A pack is dated by the last change of its content instead of the clock, so that the same state gives
the same bytes (decision 0040).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from importlib.metadata import version
from itertools import count
from typing import Any

from msgspec import to_builtins
from msgspec.structs import replace
from sqlalchemy import ColumnElement, Select, and_, func, or_, select, true, union
from sqlalchemy.orm import Session

from relevansi.db.migrations import HEAD
from relevansi.db.tables.base import Base
from relevansi.db.tables.catalogue import Search
from relevansi.db.tables.evaluations import GoldVersion
from relevansi.db.tables.judging import (
    Adjudication,
    Event,
    JudgedItem,
    Judgment,
    QueryRating,
    StoredItem,
    WordingOpened,
)
from relevansi.db.tables.people import LogEntry, Rater
from relevansi.db.tables.planning import SAMPLING, PlanningRule
from relevansi.db.tables.runs import Query, Result, Run, RunFile
from relevansi.db.tables.study import Question, QuestionSet, Study
from relevansi.exporters.comparisons.files import comparison_json
from relevansi.exporters.exports.metrics_tables import blindness_json, metrics_json
from relevansi.exporters.frame.csv_cells import csv_bytes
from relevansi.exporters.frame.json_files import JsonValue, fields
from relevansi.exporters.planning import machine_help as help_words
from relevansi.exporters.planning import samples as sample_words
from relevansi.exporters.planning import settled as settled_words
from relevansi.exporters.proof_packs import pack as files_of
from relevansi.failures import Conflict, Missing
from relevansi.i18n import SOURCE_LANGUAGE, mark, speaking
from relevansi.kinds import KINDS
from relevansi.metrics.judging.graded import is_pooled
from relevansi.metrics.proof_packs import proof_files
from relevansi.records import (
    BINARY,
    ExportedFile,
    OnProgress,
    Scale,
    no_progress,
)
from relevansi.services.catalogue import evidence
from relevansi.services.comparisons import chosen_runs, comparisons
from relevansi.services.exports import exports
from relevansi.services.exports.rated_runs import RatedRun
from relevansi.services.judging import reasons, verdicts
from relevansi.services.planning import machine_help, samples, settled
from relevansi.services.rating import pool
from relevansi.services.runs import reports, runs
from relevansi.services.runs.reports import Rule
from relevansi.services.study import assignments as blinding
from relevansi.services.study import studies

EXPORTS = {
    "rated.csv": "csv",
    "raters.csv": "wide-csv",
    "judgments.csv": "long-csv",
    "qrels.txt": "qrels",
    "run.txt": "run",
    "run.json": "json",
}
"""The members of a run and the export formats that write them."""

LONG_FROM = 300
"""From so many answers (ten runs of thirty questions) on a pack is made by a background job."""

LEFT_OUT = {
    "studies": {"password", "order_secret", "revision"},
    "events": {"token_id"},
    "log_entries": {"token_id"},
    "results": {"id"},
    "run_files": {"id"},
}
"""The columns that no pack holds: what opens a study or traces a blind answer, tokens, and numbers
that nothing refers to."""

CARDS = {"judged_items": {"card"}}
"""Columns left out where each result has its full card: an item's is the fullest of these."""

PACKED: tuple[type[Base], ...] = (
    Study,
    Rater,
    QuestionSet,
    Question,
    Run,
    RunFile,
    StoredItem,
    JudgedItem,
    Query,
    Result,
    Judgment,
    QueryRating,
    Adjudication,
    Event,
    WordingOpened,
    LogEntry,
    GoldVersion,
    PlanningRule,
    Search,
)
"""The tables whose rows are packed, those that others refer to first."""

NAMES = frozenset(table.__tablename__ for table in PACKED)


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
    on_progress: OnProgress = no_progress,
) -> ExportedFile:
    """Return the proof pack of a run, or of the whole study, its merged files under `rule`.

    `on_progress` is called after each step. Raises ``UnknownRun``, ``NoRuns`` and
    ``MachineNotPacked``.
    """
    packed = _runs(session, study, run_id, rule)
    of_study = run_id is None
    # In English whatever the reader's language: the same state gives the same bytes.
    with speaking(SOURCE_LANGUAGE):
        machine_ids = set()
        for set_runs in _by_set(packed).values():
            machine_ids |= {machine.id for machine in _helping_machines(session, study, set_runs)}
        rows = _rows_of(session, study, packed, sorted(machine_ids), of_study=of_study)
        files = {proof_files.of_table(name): files_of.lines(rows[name]) for name in rows}
        files |= dict(members(session, study, packed, rule, on_progress=on_progress))
        about = {
            **facts(session, study, packed, rule),
            "scope": "study" if of_study else "run",
            "product": {"name": "relevansi", "version": version("relevansi")},
            "database_version": HEAD,
            "created_at": _last_change(session, study, packed),
        }
        data = files_of.pack(about, pool.commitment(study.order_secret), files, ABOUT)
    name = "proof_pack.zip" if of_study else f"proof_pack_{run_id}.zip"
    return ExportedFile(name, "application/zip", data)


def _rows_of(
    session: Session, study: Study, runs: Sequence[Run], machines: Sequence[int], *, of_study: bool
) -> dict[str, list[dict[str, Any]]]:
    """Return by table the rows behind the figures of `runs`, with verdicts of people and machines.

    With `of_study` they have every event of the study's people, also on runs deleted since.
    """
    conditions = _row_conditions(study, runs, machines, of_study=of_study)
    left_out = LEFT_OUT | (CARDS if KINDS[study.kind].of_one_run is None else {})
    rows: dict[str, list[dict[str, Any]]] = {}
    for model in PACKED:
        table = Base.metadata.tables[model.__tablename__]
        hidden = left_out.get(table.name, ())
        columns = [column for column in table.columns if column.name not in hidden]
        statement = select(*columns).where(conditions[model]).order_by(*table.primary_key)
        rows[table.name] = [
            proof_files.to_pack(row._asdict()) for row in session.execute(statement)
        ]
    return rows


def judged_items(study: Study, scope: verdicts.Scope) -> Select[Any]:
    """Return the statement of the judged items on which the figures of queries depend.

    Ranking figures depend on all items judged for their questions, others on the items that the
    queries list and on pinned evidence.
    """
    if is_pooled(study):
        return verdicts.pool_of(scope)
    items = union(verdicts.judged_items(scope), evidence.pinned(scope)).subquery()
    return select(items.c[0])


def _row_conditions(
    study: Study, runs: Sequence[Run], machines: Sequence[int], *, of_study: bool
) -> Mapping[type[Base], ColumnElement[bool]]:
    sets = {run.question_set_id for run in runs}
    scope = Query.run_id.in_([run.id for run in runs])
    queries = select(Query.id).where(scope)
    shown_items = judged_items(study, scope)
    people = and_(Rater.study_id == study.id, Rater.is_machine.is_(False))
    raters = or_(people, Rater.id.in_(machines))
    rater_ids = select(Rater.id).where(raters)
    on_answers = and_(Event.judged_item_id.is_(None), Event.query_key.in_(queries))
    on_runs = true() if of_study else or_(Event.judged_item_id.in_(shown_items), on_answers)
    packed_events = and_(Event.rater_id.in_(select(Rater.id).where(people)), on_runs)
    items_of_events = select(Event.judged_item_id).where(packed_events)
    item_condition = or_(JudgedItem.id.in_(shown_items), JudgedItem.id.in_(items_of_events))
    newest = select(func.max(GoldVersion.id)).group_by(GoldVersion.question_set_id)
    judged = and_(Judgment.verdict.is_not(None), Judgment.judged_item_id.in_(shown_items))
    is_rated = or_(QueryRating.quality.is_not(None), QueryRating.notes != "")
    rated = and_(QueryRating.query_key.in_(queries), is_rated)
    question_ids = select(Query.question_id).where(scope)
    return {
        Study: Study.id == study.id,
        Rater: raters,
        QuestionSet: QuestionSet.id.in_(sets),
        Question: Question.question_set_id.in_(sets),
        Run: Run.id.in_([run.id for run in runs]),
        RunFile: RunFile.run_id.in_([run.id for run in runs]),
        StoredItem: StoredItem.id.in_(select(JudgedItem.item_id).where(item_condition)),
        JudgedItem: item_condition,
        Query: scope,
        Result: Result.query_key.in_(queries),
        Judgment: and_(judged, Judgment.rater_id.in_(rater_ids)),
        QueryRating: and_(rated, QueryRating.rater_id.in_(rater_ids)),
        Adjudication: Adjudication.judged_item_id.in_(shown_items),
        Event: packed_events,
        WordingOpened: WordingOpened.query_key.in_(queries),
        LogEntry: and_(LogEntry.study_id == study.id, LogEntry.action.in_(blinding.SWITCHES)),
        GoldVersion: and_(GoldVersion.question_set_id.in_(sets), GoldVersion.id.in_(newest)),
        PlanningRule: PlanningRule.question_set_id.in_(sets),
        Search: and_(Search.question_id.in_(question_ids), Search.rater_id.in_(rater_ids)),
    }


def is_long(session: Session, study: Study, run_id: str | None, rule: Rule) -> bool:
    """Whether a pack takes longer to make than a request should.

    Raises ``UnknownRun``, ``NoRuns`` and ``MachineNotPacked``, as ``pack`` does.
    """
    run_ids = [run.id for run in _runs(session, study, run_id, rule)]
    answers = select(func.count()).select_from(Query).where(Query.run_id.in_(run_ids))
    return (session.scalar(answers) or 0) >= LONG_FROM


def _runs(session: Session, study: Study, run_id: str | None, rule: Rule) -> list[Run]:
    if rule.rater is not None and rule.rater.is_machine:
        raise MachineNotPacked
    if run_id is not None:
        return [runs.find(session, study, run_id)]
    packed = sorted(runs.in_order(session, study), key=lambda run: run.question_set_id)
    if not packed:
        raise NoRuns
    return packed


def members(
    session: Session,
    study: Study,
    packed: Sequence[Run],
    rule: Rule,
    *,
    on_progress: OnProgress = no_progress,
) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of the members that follow from the rows of a pack."""
    steps = len(packed) * (len(EXPORTS) + 1) + 2
    steps_done = count(1)
    on_progress(0, steps)
    cells = _verdict_cells(session, study, packed)
    yield proof_files.VERDICTS, csv_bytes([proof_files.VERDICT_COLUMNS, *cells])
    guidelines = studies.guidelines(study)
    if guidelines:
        yield "guidelines.md", guidelines.encode()
    sets = _by_set(packed)
    for key in sets:
        yield f"questions/{key}.json", files_of.json_file(_questions(session, key))
    for run in packed:
        rated = RatedRun(session, study, run.id, rule)
        for name, file_format in EXPORTS.items():
            file = exports.FORMATS[file_format](rated)
            yield proof_files.of_run(run.id, name), file.data
            on_progress(next(steps_done), steps)
        by_rule = figures(session, study, run.id)
        yield proof_files.of_run(run.id, proof_files.FIGURES_FILE), files_of.json_file(by_rule)
        on_progress(next(steps_done), steps)
    for key, compared in sets.items():
        if len(compared) >= chosen_runs.MIN_RUNS:
            run_ids = [run.id for run in compared]
            report = comparisons.report(session, study, run_ids, rule)
            # A pack holds people's verdicts, not decisions on gold questions or who is asked what.
            document = comparison_json(replace(report, parts=(), state=None))
            yield f"comparisons/{key}.json", files_of.json_file(document)
    on_progress(next(steps_done), steps)
    for name, document in _planning(session, study, packed, rule).items():
        yield name, files_of.json_file(document)
    on_progress(next(steps_done), steps)


def _questions(session: Session, question_set: int) -> list[dict[str, Any]]:
    """Return a question set as a question file to import; ids are positions."""
    in_order = (
        select(
            Question.position.label("id"),
            Question.text.label("question"),
            Question.category,
            Question.context_dependent,
        )
        .where(Question.question_set_id == question_set)
        .order_by(Question.position)
    )
    return [dict(row._mapping) for row in session.execute(in_order)]


def _verdict_cells(
    session: Session, study: Study, packed: Sequence[Run]
) -> Iterator[Sequence[Any]]:
    """Yield the cells of people's current verdicts, in the order of ``VERDICT_COLUMNS``."""
    shown_items = judged_items(study, Query.run_id.in_([run.id for run in packed]))
    people = [rater.id for rater in studies.raters(session, study)]
    statement = (
        select(
            Rater.name,
            Question.question_set_id,
            Question.position,
            JudgedItem.run_id,
            StoredItem.identity,
            JudgedItem.content,
            Judgment.verdict,
            Judgment.reason,
            Judgment.is_evidence,
        )
        .join_from(Judgment, Rater)
        .join(JudgedItem, JudgedItem.id == Judgment.judged_item_id)
        .join(Question, Question.id == JudgedItem.question_id)
        .outerjoin(StoredItem, StoredItem.id == JudgedItem.item_id)
        .where(Judgment.rater_id.in_(people), Judgment.verdict.is_not(None))
        .where(Judgment.judged_item_id.in_(shown_items))
        .order_by(Rater.id, Question.question_set_id, Question.position, JudgedItem.id)
    )
    scale = Scale.stored(study.scale)
    for *cells, verdict, reason, is_evidence in session.execute(statement):
        yield *cells, verdict, reasons.in_force(reason, verdict, scale), int(is_evidence) or None


def figures(session: Session, study: Study, run_id: str) -> dict[str, JsonValue]:
    """Return the figures of a run under every rule, each rater's own first."""
    by_rater = [reports.of_rater(rater) for rater in studies.raters(session, study)]
    by_rule: dict[str, JsonValue] = {}
    for rule in (*by_rater, Rule(reports.MAJORITY), Rule(reports.ADJUDICATED)):
        report = reports.report(session, study, run_id, rule)
        by_rule[rule.name] = dict(metrics_json(report))
    return by_rule


def facts(session: Session, study: Study, packed: Sequence[Run], rule: Rule) -> dict[str, Any]:
    """Return the part of the manifest that follows from the rows of the pack."""
    exposure = blinding.exposure(session, study)
    scope = Query.run_id.in_([run.id for run in packed])
    blindness = reports.blindness(session, study, scope, Rule(reports.MAJORITY))
    times = {
        name: [{"since": time.since, "until": time.until} for time in getattr(exposure, name)]
        for name in ("badged", "record_shown", "suggested")
    }
    scale, of_kind = Scale.stored(study.scale), {}
    if scale != BINARY or KINDS[study.kind].of_collection:  # a pack of the method names neither
        merging = scale.merging(study.merging)
        of_kind = {"kind": study.kind, "scale": to_builtins(scale), "merging": merging}
    return {
        "study": study.name,
        "rule": rule.name,
        "cannot_tell": study.cannot_tell,
        **of_kind,
        "raters": [rater.name for rater in studies.raters(session, study)],
        "blindness": blindness_json(blindness),
        **times,
        "runs": [_run_json(run) for run in packed],
    }


def _run_json(run: Run) -> dict[str, Any]:
    return {
        "run": run.id,
        "question_set": str(run.question_set_id),
        **fields(run, "search_method", "llm", "stated_search_method", "stated_llm", "timestamp"),
        "queries": len(run.queries),
        "input_files": [
            fields(file, "name", "sha256")
            | {"format": file.file_format, "imported_at": file.imported_at}
            for file in run.files
        ],
    }


def _last_change(session: Session, study: Study, packed: Sequence[Run]) -> datetime:
    """Return the time of the study's last event, import, settlement or logged change."""
    rater_ids = [rater.id for rater in studies.raters(session, study)]
    latest = [
        select(func.max(Event.received_at)).where(Event.rater_id.in_(rater_ids)),
        select(func.max(Adjudication.at)).where(Adjudication.rater_id.in_(rater_ids)),
        select(func.max(LogEntry.at)).where(LogEntry.study_id == study.id),
        select(func.max(Rater.created_at)).where(Rater.study_id == study.id),
    ]
    times = [study.created_at, *(file.imported_at for run in packed for file in run.files)]
    times += [time for statement in latest if (time := session.scalar(statement)) is not None]
    return max(times)


RULES = "planning/rules.json"
PLANNED = "planning/figures.json"

ABOUT = {
    RULES: "the rules by which it was decided how much is judged: seed, when, which questions",
    PLANNED: "the figures that follow from these rules, each with its rule",
}
"""What these members hold, for the README of a pack."""


def _planning(
    session: Session, study: Study, packed: Sequence[Run], rule: Rule
) -> Mapping[str, Any]:
    """Return the documents of planning by member; none for one run of a set without a rule."""
    sets = _by_set(packed)
    rules = {key: samples.rules_of(session, key) for key in sets}
    sets = {key: runs for key, runs in sets.items() if rules[key] or len(runs) > 1}
    if not sets:
        return {}
    return {
        RULES: {str(key): [*map(sample_words.rule_json, rules[key])] for key in sets},
        PLANNED: {
            str(key): _planned_figures(session, study, runs, rule) for key, runs in sets.items()
        },
    }


def _by_set(packed: Sequence[Run]) -> dict[int, list[Run]]:
    sets: dict[int, list[Run]] = {}
    for run in packed:
        sets.setdefault(run.question_set_id, []).append(run)
    return sets


def restore_samples(session: Session) -> None:
    """Store each rule's sample, which no pack holds, as its seed draws it.

    Raises ``ValueError`` for a rule without a size.
    """
    for row in session.scalars(select(PlanningRule).order_by(PlanningRule.id)).all():
        if row.kind in SAMPLING and not row.settings.get("stratified"):
            samples.store_sample(session, row, session.get_one(QuestionSet, row.question_set_id))


def _planned_figures(
    session: Session, study: Study, runs: Sequence[Run], rule: Rule
) -> dict[str, Any]:
    """Return settled orders, sample and machines' help of the runs of one question set."""
    settled_orders: list[dict[str, Any]] = []
    if len(runs) > 1:
        orders = settled.settled_orders(session, study, runs, rule)
        settled_orders = settled_words.part_json(orders)
    sample, set_id = None, runs[0].question_set_id
    question_sample = samples.sample_of_runs(session, study, set_id, runs, rule)
    if question_sample is not None:
        ids_by_name = {name: run_id for run_id, name in chosen_runs.names_of(runs).items()}
        sample = sample_words.part_json(question_sample)
        # A pack names runs by their ids: names depend on which other runs there are.
        for figure in sample["figures"]:
            figure["runs"] = [ids_by_name[name] for name in figure["runs"]]
    machine_parts = [
        help_words.part_json(machine_help.of_runs(session, study, runs, rule, machine))
        for machine in _helping_machines(session, study, runs)
    ]
    return {"settled": settled_orders, "sample": sample, "machine_help": machine_parts}


def _helping_machines(session: Session, study: Study, runs: Sequence[Run]) -> list[Rater]:
    """Return the machines whose help is reported, which is only where a sample was drawn."""
    if samples.sampling_rule(session, runs[0].question_set_id) is None:
        return []
    return machine_help.machines(session, study, runs)
