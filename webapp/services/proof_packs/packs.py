"""Everything behind the figures of a run, or of the whole study, as one zip to hand in.

A pack is written without a clock: it is dated by the last change of its
content, so the same state gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from importlib.metadata import version
from itertools import count

from msgspec.structs import replace
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from webapp.db.migrations import HEAD
from webapp.db.tables.agreement import Adjudication
from webapp.db.tables.judging import Event
from webapp.db.tables.people import LogEntry, Rater
from webapp.db.tables.runs import Query, Run
from webapp.db.tables.study import Study
from webapp.exporters.comparisons.json_file import comparison_json
from webapp.exporters.exports.json_runs import JsonValue
from webapp.exporters.exports.metrics_tables import metrics_json
from webapp.exporters.proof_packs import pack
from webapp.exporters.proof_packs.pack import Contents, Drawn, InputFile, PackedRun
from webapp.failures import Conflict
from webapp.i18n import SOURCE_LANGUAGE, mark, speaking
from webapp.metrics.comparisons.significance import Resampling
from webapp.metrics.proof_packs import proof_files
from webapp.services.comparisons import chosen_runs, comparisons
from webapp.services.exports import exports
from webapp.services.exports.exports import ExportedFile
from webapp.services.proof_packs import added
from webapp.services.proof_packs.evidence import Evidence, NoRuns
from webapp.services.rating import pool
from webapp.services.runs import reports, runs
from webapp.services.runs.reports import Rule
from webapp.services.study import blinding, studies
from webapp.steps import Tell, nobody

MEDIA_TYPE = "application/zip"

EXPORTS = {
    proof_files.RATED: exports.rated_csv,
    proof_files.RATED_BY_EACH: exports.wide_csv,
    proof_files.JUDGMENTS: exports.long_csv,
    proof_files.QRELS: exports.qrels,
    proof_files.RUN_FILE: exports.run_file,
    proof_files.RUN_JSON: exports.run_json,
}
"""The members of a run that can also be had one by one."""
STEPS_OF_RUN = len(EXPORTS) + 1
LONG_FROM = 300
"""The answers from which a pack is made beside the requests: ten runs of thirty questions."""


class MachineNotPacked(Conflict):
    """A proof pack holds people's judgments; a machine's are not in it."""

    message = mark("A proof pack holds what people judged")
    remedy = mark(
        "Choose a person, the majority or the adjudication: a pack's figures are people's."
    )
    command_remedy = mark("Leave --rater out or name a person.")


def of_run(
    session: Session, study: Study, run_id: str, rule: Rule, *, tell: Tell = nobody
) -> ExportedFile:
    """Return the proof pack of one run, its merged files under `rule`.

    `tell` is called after each step. Raises ``UnknownRun`` and ``MachineNotPacked``.
    """
    run = runs.find(session, study, run_id)
    data = _pack(session, study, [run], rule, Resampling(), tell, whole=False)
    return ExportedFile(f"proof_pack_{run_id}.zip", MEDIA_TYPE, data)


def of_study(
    session: Session,
    study: Study,
    rule: Rule,
    *,
    settings: Resampling | None = None,
    tell: Tell = nobody,
) -> ExportedFile:
    """Return the proof pack of every run of the study; `tell` is called after each step.

    Raises ``NoRuns`` and ``MachineNotPacked``. `settings` are those of its comparisons' resampling.
    """
    found = _runs(session, study, None)
    data = _pack(session, study, found, rule, settings or Resampling(), tell, whole=True)
    return ExportedFile("proof_pack.zip", MEDIA_TYPE, data)


def is_long(session: Session, study: Study, run_id: str | None, rule: Rule) -> bool:
    """Whether the pack of a run, or of the study without one, takes longer than a page waits.

    Raises what making it raises before it begins.
    """
    found = [run.id for run in _runs(session, study, run_id)]
    _check(rule)
    answers = select(func.count()).select_from(Query).where(Query.run_id.in_(found))
    return (session.scalar(answers) or 0) >= LONG_FROM


def _runs(session: Session, study: Study, run_id: str | None) -> list[Run]:
    if run_id is not None:
        return [runs.find(session, study, run_id)]
    found = runs.in_order(session, study)
    found.sort(key=lambda run: run.question_set_id)
    if not found:
        raise NoRuns
    return found


def _check(rule: Rule) -> None:
    if rule.rater is not None and rule.rater.is_machine:
        raise MachineNotPacked


def _pack(
    session: Session,
    study: Study,
    found: Sequence[Run],
    rule: Rule,
    settings: Resampling,
    tell: Tell,
    *,
    whole: bool,
) -> bytes:
    _check(rule)
    files: dict[str, bytes] = {}
    steps = len(found) * STEPS_OF_RUN + 3
    done = count(1)
    tell(0, steps)

    def told() -> None:
        tell(next(done), steps)

    with speaking(SOURCE_LANGUAGE):
        files |= dict(_study_files(session, study, found, whole=whole))
        told()
        for run in found:
            for name, data in _run_files(session, study, run, rule):
                files[name] = data
                told()
        files |= dict(_comparisons(session, study, found, rule, settings))
        told()
        files |= dict(added.files(session, study, found, rule))
        contents = _contents(session, study, found, rule, settings, whole=whole)
        packed = pack.pack(contents, files, added.about())
        told()
        return packed


def _study_files(
    session: Session, study: Study, found: Sequence[Run], *, whole: bool
) -> Iterator[tuple[str, bytes]]:
    """Yield the members that belong to no run alone."""
    evidence = Evidence(session, study, found, whole=whole)
    for run in found:
        yield (
            proof_files.of_run(run.id, proof_files.LISTS),
            pack.lists_csv(evidence.lists(run)),
        )
    for question_set, questions in evidence.questions().items():
        yield proof_files.of_question_set(question_set), pack.question_file(questions)
    yield proof_files.VERDICTS, pack.verdicts_csv(evidence.given_verdicts())
    yield proof_files.RATINGS, pack.ratings_csv(evidence.given_ratings())
    yield proof_files.ADJUDICATIONS, pack.adjudications_csv(evidence.settled())
    yield proof_files.EVENTS, pack.events_jsonl(evidence.events())
    if guidelines := studies.guidelines(study):
        yield proof_files.GUIDELINES, guidelines.encode()


def _comparisons(
    session: Session, study: Study, found: Sequence[Run], rule: Rule, settings: Resampling
) -> Iterator[tuple[str, bytes]]:
    """Yield the comparison of each question set that more than one run was asked."""
    sets: dict[int, list[str]] = {}
    for run in found:
        sets.setdefault(run.question_set_id, []).append(run.id)
    for question_set, run_ids in sets.items():
        if len(run_ids) >= chosen_runs.FEWEST:
            report = comparisons.report(session, study, run_ids, rule, settings=settings)
            name = proof_files.of_comparison(str(question_set))
            # A pack holds people's verdicts, from which gold questions cannot be recomputed.
            report = replace(report, parts=())
            yield name, pack.json_file(comparison_json(report))


def _run_files(session: Session, study: Study, run: Run, rule: Rule) -> Iterator[tuple[str, bytes]]:
    """Yield the members of a run: its exports under `rule`, its figures under every rule."""
    for name, export in EXPORTS.items():
        yield proof_files.of_run(run.id, name), export(session, study, run.id, rule).data
    by_rule = figures(session, study, run.id)
    yield proof_files.of_run(run.id, proof_files.FIGURES), pack.figures_json(by_rule)


def figures(session: Session, study: Study, run_id: str) -> dict[str, dict[str, JsonValue]]:
    """Return the figures of a run under every rule, each rater's own first."""
    rules = [
        *(reports.of_rater(rater) for rater in studies.raters(session, study)),
        Rule(reports.MAJORITY),
        Rule(reports.ADJUDICATED),
    ]
    return {each.name: metrics_json(reports.report(session, study, run_id, each)) for each in rules}


def _contents(
    session: Session,
    study: Study,
    found: Sequence[Run],
    rule: Rule,
    settings: Resampling,
    *,
    whole: bool,
) -> Contents:
    return Contents(
        scope="study" if whole else "run",
        study=study.name,
        rule=rule.name,
        cannot_tell=study.cannot_tell,
        version=version("relevansi"),
        database=HEAD,
        made_at=_last_change(session, study, found),
        raters=tuple(rater.name for rater in studies.raters(session, study)),
        runs=tuple(_packed(run) for run in found),
        drawn=(
            Drawn(
                "intervals and tests of comparisons",
                settings.seed,
                settings.resamples,
                settings.confidence,
            ),
        ),
        secret_commitment=pool.commitment(study.order_secret),
        blindness=reports.blindness(
            session, study, Query.run_id.in_([run.id for run in found]), Rule(reports.MAJORITY)
        ),
        badged=tuple((t.since, t.until) for t in blinding.badged(session, study)),
        record_shown=tuple((t.since, t.until) for t in blinding.record_shown(session, study)),
        suggested=tuple((t.since, t.until) for t in blinding.suggested(session, study)),
    )


def _last_change(session: Session, study: Study, found: Sequence[Run]) -> datetime:
    """Return when the last event, import, settlement or logged change of the study happened."""
    of_study = [rater.id for rater in studies.raters(session, study)]
    moments = [
        study.created_at,
        *(file.imported_at for run in found for file in run.files),
        session.scalar(select(func.max(Event.received_at)).where(Event.rater_id.in_(of_study))),
        session.scalar(
            select(func.max(Adjudication.at)).where(Adjudication.rater_id.in_(of_study))
        ),
        session.scalar(select(func.max(LogEntry.at)).where(LogEntry.study_id == study.id)),
        session.scalar(select(func.max(Rater.created_at)).where(Rater.study_id == study.id)),
    ]
    return max(moment for moment in moments if moment is not None)


def _packed(run: Run) -> PackedRun:
    return PackedRun(
        run=run.id,
        question_set=str(run.question_set_id),
        search_method=run.search_method,
        llm=run.llm,
        stated_search_method=run.stated_search_method,
        stated_llm=run.stated_llm,
        timestamp=run.timestamp,
        queries=len(run.queries),
        input_files=tuple(
            InputFile(file.name, file.sha256, file.file_format, file.imported_at)
            for file in run.files
        ),
    )
