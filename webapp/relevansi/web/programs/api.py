"""The addresses for programs: what the pages do, by the same services, as JSON and files.

The owner's token sees the study. A rater's token sees their own questions as the blind page shows
them, without run, method, rank or any number that tells, and their own verdicts there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from flask import Response, current_app, request, url_for
from msgspec import UnsetType, convert, json
from msgspec.structs import asdict

from relevansi.db.tables.runs import LongWork
from relevansi.exporters.agreement import report as agreement_files
from relevansi.exporters.comparisons import files as comparison_files
from relevansi.exporters.exports.metrics_tables import metrics_json
from relevansi.exporters.frame.json_files import fields
from relevansi.exporters.frame.report_formats import ReportFormat
from relevansi.exporters.offline import page
from relevansi.failures import Missing
from relevansi.i18n import gettext, mark
from relevansi.importers.runs import problems
from relevansi.importers.runs.problems import ImportRefused
from relevansi.metrics.judging.graded import headline_of
from relevansi.records import ExportedFile, Item, Problem, Scale, no_progress
from relevansi.services.agreement import agreement
from relevansi.services.catalogue import imports
from relevansi.services.catalogue.filters import Filters
from relevansi.services.catalogue.imports import Mode
from relevansi.services.catalogue.search import as_json, search
from relevansi.services.comparisons import chosen_runs, comparisons, gate
from relevansi.services.comparisons.gate import GateReport
from relevansi.services.exports import exports, rated_runs
from relevansi.services.judging import judgments, reasons
from relevansi.services.offline import runs as offline_runs
from relevansi.services.programs import rows
from relevansi.services.programs.rows import (
    FilteredItems,
    FilteredJudgments,
    InPages,
    ItemRow,
    JudgmentRow,
    Page,
    QuestionRow,
    RatingRow,
    ResultRow,
    RunRow,
    UnjudgedResults,
)
from relevansi.services.rating import blind_pages, task_judgments, task_order, workloads
from relevansi.services.rating.blind_pages import BlindPage
from relevansi.services.rating.pool import QueryFilter
from relevansi.services.runs import confirmations, file_formats, reports, runs, waiting_files
from relevansi.services.study import studies
from relevansi.services.workers import jobs, kinds
from relevansi.web.frame import access
from relevansi.web.programs.openapi import document
from relevansi.web.programs.operations import JSON, blueprint, operation
from relevansi.web.programs.requests import (
    CatalogueForm,
    CatalogueQuery,
    ComparisonQuery,
    DepthQuery,
    FiguresQuery,
    FormatQuery,
    GateForm,
    ImportForm,
    NewCardJudgment,
    NewJudgment,
    NewRating,
    NewTaskRating,
    ResultsQuery,
    RuleQuery,
)
from relevansi.web.programs.responses import (
    CatalogueOutcome,
    CataloguePage,
    Imported,
    JobRow,
    NextTask,
    Runs,
    StudyRow,
    Task,
    TaskAnswer,
    TaskCard,
)
from relevansi.web.runs.imports import chosen_files
from relevansi.web.workers.jobs import wake

# Clients that are made from the description take the first.
EXPORT_MEDIA = (
    "application/octet-stream",
    *sorted({media_type.partition(";")[0] for media_type in rated_runs.MEDIA_TYPES.values()}),
)
REPORT_MEDIA = tuple(
    sorted(form.media_type.partition(";")[0] for form in agreement_files.FORMATS.values())
)


class UnknownFormat(Missing):
    message = mark("There is no export called %(name)s")
    remedy = mark("The description of this address lists the formats.")


@operation("/study", "read")
def show_study() -> StudyRow:
    """Return the settings of the study."""
    with access.reading() as (session, rater):
        study = rater.study
        scale = Scale.stored(study.scale)
        return StudyRow(
            name=studies.shown_name(study),
            scale=scale,
            merging=scale.merging(study.merging),
            headline=headline_of(study),
            blind=studies.is_blind(session, study),
            **fields(study, "kind", "cannot_tell", "asks_quality"),
        )


@operation("/runs", "read")
def list_runs() -> Runs:
    """Return the runs of the study in its order."""
    with access.reading() as (session, rater):
        return Runs(rows.run_rows(session, rater.study))


@operation("/runs", "import", method="POST", status=201, may_be_job=True)
def import_runs(form: ImportForm) -> Imported | JobRow:
    """Import files of any format that the import page takes; several are one import.

    Answers with the runs of the files, of a file that was imported before too. What would change
    the judgments of a rater whom the study has, a setting or how the study is rated is refused with
    409 until ``confirm`` names how many changes these are; ``problems`` lists them. Large files are
    stored in the background: the answer is 202 with the job.
    """
    if form.rating or form.confirm or form.same_documents:
        access.need_scope()
    files = file_formats.together(chosen_files(), form.choices())
    decision, blind = form.decision(), form.rating == "blind" if form.rating else None
    if waiting_files.is_long(file_formats.size(kind, data) for kind, _, data in files):
        uploads = [waiting_files.new_upload(name, data, kind) for kind, name, data in files]
        with access.writing() as (session, rater):
            waiting = [
                waiting_files.store_upload(session, rater.study, upload, access.now())
                for upload in uploads
            ]
            job_data = kinds.order_to_import(waiting, decision, blind=blind, confirm=form.confirm)
        return _enqueue(jobs.IMPORTING, job_data)
    with access.reading() as (_, rater):
        opened = [file_formats.read_file(*file) for file in files]
        store = kinds.deferred_store(
            rater.study, opened, decision, blind=blind, confirm=form.confirm
        )
    with access.writing() as (session, rater):
        result = store(session, rater.study, access.now())
    if result["problems"]:
        raise ImportRefused(*map(Problem.stored, result["problems"]))
    with access.reading() as (session, rater):
        listed = rows.run_rows(session, rater.study, result["runs"])
    return Imported(listed, result["grades"], _problem_rows(result["remarks"]))


@operation("/catalogue", "import", method="POST")
def import_catalogue(form: CatalogueForm) -> CatalogueOutcome:
    """Take files of items into the catalogue, of any shape that results may have.

    Items are known by their identity. Answers with how many were added, changed, left as they were,
    removed or ``repeated`` in the files. A file that cannot be read changes nothing.
    """
    token_id, files, mode = access.current_user().token_id, chosen_files(), Mode(form.mode)
    database = access.database()
    outcome = imports.import_files(database, files, mode, access.now(), token_id=token_id)
    remarks = [problems.to_dict(problem, "program") for problem in outcome.problems]
    return CatalogueOutcome(**asdict(outcome) | {"problems": remarks})


@operation("/catalogue", "read")
def search_catalogue(query: CatalogueQuery) -> CataloguePage:
    """Return how many items can be looked up, and a page of those that have all the words of ``q``.

    What runs returned is among them. Where ``is_imported`` is false there is nothing else.
    """
    filters = convert(query, Filters, from_attributes=True)
    with access.database().writing() as session:  # it takes in what runs returned
        study = access.rater(session).study
        matches = search(session, study, query.q, filters, start=query.start, most=query.limit)
        session.commit()
    return CataloguePage(**as_json(matches))


@operation("/runs/<run_id>", "read")
def show_run(run_id: str) -> RunRow:
    """Return one run."""
    with access.reading() as (session, rater):
        run = runs.find(session, rater.study, run_id)
        return rows.run_rows(session, rater.study, [run.id])[0]


@operation("/runs/<run_id>", method="DELETE", status=204)
def delete_run(run_id: str) -> None:
    """Delete a run with the judgments that belong to it alone."""
    with access.writing() as (session, rater):
        runs.delete_run(session, rater.study, run_id, access.now())


@operation("/runs/<run_id>/figures", "read")
def show_figures(run_id: str, query: FiguresQuery) -> dict[str, Any]:
    """Return the figures of a run, as `relevansi metrics --format json` prints them.

    ``figures`` are the names of others than the headline, with commas between.
    """
    measures = studies.figures_in(query.figures)
    with access.reading() as (session, rater):
        rule = reports.rule_of(session, rater.study, query.rule)
        report = reports.report_in_words(session, rater.study, run_id, rule, figures=measures)
    return metrics_json(report)


@operation("/runs/<run_id>/results", "read")
def list_results(run_id: str, query: ResultsQuery) -> Page[ResultRow]:
    """Return the results of a run with their relevance, in pages of so many questions."""
    with access.reading() as (session, rater):
        rule = reports.rule_of(session, rater.study, query.rule)
        return rows.result_rows(session, rater.study, run_id, rule, query)


@operation("/runs/<run_id>/unjudged", "read")
def list_unjudged(run_id: str, query: DepthQuery) -> UnjudgedResults:
    """Return the results of a run to judge next, down to rank ``k``, with Judged@k."""
    with access.reading() as (session, rater):
        return rows.unjudged(session, rater.study, run_id, query.k)


@operation("/runs/<run_id>/exports/<name>", "read", media=EXPORT_MEDIA, may_be_job=True)
def export_run(run_id: str, name: str, query: RuleQuery) -> ExportedFile | JobRow:
    """Return a run as a file, under any name that `relevansi export --format` takes.

    A large proof pack is made in the background: the answer is 202 with the job, which has the
    address of the file once it is made.
    """
    with access.reading() as (session, rater):
        study = rater.study
        rule = reports.rule_of(session, study, query.rule)
        if name in exports.FORMATS:
            return exports.export(session, study, run_id, rule, name)
        if name == "html":
            run = offline_runs.offline_run(session, study, run_id)
            document = page.page(current_app.jinja_env, run)
            return ExportedFile(f"rate_{run.name}.html", "text/html; charset=utf-8", document)
        if name != "proof-pack":
            raise UnknownFormat(name)
        from relevansi.services.proof_packs import packs  # noqa: PLC0415 - brings pandas, which no page needs

        job_data = kinds.order_to_pack(run_id, rule)
        if not packs.is_long(session, study, run_id, rule):
            return kinds.make_pack(session, study, job_data, no_progress)
    return _enqueue(jobs.PACK, job_data)


@operation("/runs/<run_id>/queries/<int:query_id>/ratings", "judge", method="POST")
def rate_answer(run_id: str, query_id: int, body: NewRating) -> RatingRow:
    """Grade a whole answer of a run, with notes, or say whether its empty list is right."""
    with access.writing() as (session, rater):
        judgments.rate(session, rater, run_id, query_id, body.rating(), body.click())
        return rows.rating_row(session, rater, run_id, query_id)


@operation("/questions", "read")
def list_questions(query: InPages) -> Page[QuestionRow]:
    """Return the questions of the study, with how many of their items nobody judged."""
    with access.reading() as (session, rater):
        return rows.question_rows(session, rater.study, query)


@operation("/items", "read")
def list_items(query: FilteredItems) -> Page[ItemRow]:
    """Return the judged items: of a question, of a run, or those that nobody judged."""
    with access.reading() as (session, rater):
        return rows.item_rows(session, rater.study, query)


@operation("/judgments", "read")
def list_judgments(query: FilteredJudgments) -> Page[JudgmentRow]:
    """Return the verdicts in force, in pages of so many items."""
    with access.reading() as (session, rater):
        return rows.judgment_rows(session, rater.study, query)


@operation("/judgments", "judge", method="POST")
def judge_item(body: NewJudgment) -> JudgmentRow:
    """Judge an item as oneself; the same event twice changes nothing."""
    with access.writing() as (session, rater):
        judgments.judge_item(session, rater, body.item, body.verdict, body.click())
        if not isinstance(body.reason, UnsetType):
            reasons.check_beside(body.verdict, body.reason, Scale.stored(rater.study.scale))
            judgments.give_reason_of_item(session, rater, body.item, body.reason, body.click())
        return rows.judgment_row(session, rater, body.item)


@operation("/ratings", "read")
def list_ratings(query: FilteredJudgments) -> Page[RatingRow]:
    """Return the grades of answers with their notes, in pages of so many answers."""
    with access.reading() as (session, rater):
        return rows.rating_rows(session, rater.study, query)


@operation("/comparisons", "read", media=REPORT_MEDIA)
def compare_runs(query: ComparisonQuery) -> dict[str, Any] | ExportedFile:
    """Compare runs, named by ``run`` or chosen as of a ``phase``, as `relevansi compare` does."""
    measures = studies.figures_in(query.figures)
    with access.reading() as (session, rater):
        rule = reports.rule_of(session, rater.study, query.rule)
        ids: Sequence[str] = query.run
        if query.phase:
            ids = chosen_runs.of_phase(session, rater.study, query.phase)
        report = comparisons.report(
            session, rater.study, ids, rule, figures=measures, with_agreement=True
        )
    return _report_file(comparison_files.FORMATS[query.format], report, "comparison")


@operation("/agreement", "read", media=REPORT_MEDIA)
def show_agreement(query: FormatQuery) -> dict[str, Any] | ExportedFile:
    """Return how far the raters agree, as `relevansi agreement` does."""
    with access.reading() as (session, rater):
        report = agreement.report(session, rater.study)
    return _report_file(agreement_files.FORMATS[query.format], report, "agreement")


@operation("/gates", "gate", "import", method="POST")
def pass_gate(form: GateForm) -> GateReport:
    """Hold a run against floors and an earlier run, as `relevansi gate` does.

    Nothing of the run stays, unless ``ask`` is set: then what is open is put before the raters,
    which takes the scope import.
    """
    if form.ask:
        access.need_scope("import")
    if form.confirm:
        access.need_scope()
    request, files, turns_blind = form.request(), chosen_files(), False
    with access.reading() as (session, rater):
        run = gate.read(rater.study, files, form.choices())
    if form.ask:
        with access.writing() as (session, rater):
            study, now = rater.study, access.now()
            with confirmations.confirmed(session, study, form.confirm, now):
                turns_blind = gate.keep_run(session, study, run, request, now)
    with access.reading() as (session, rater):
        return gate.gate(session, rater.study, run, request, turns_blind=turns_blind)


@operation("/jobs/<job_id>", "read", "import")
def show_job(job_id: str) -> JobRow:
    """Return how far a job is, or what came of it."""
    with access.reading() as (session, rater):
        return _job_row(jobs.find(session, rater.study, job_id))


@operation("/jobs/<job_id>/file", "read", media=EXPORT_MEDIA)
def download_job(job_id: str) -> ExportedFile:
    """Return the file that a job made."""
    with access.reading() as (session, rater):
        return jobs.file(session, rater.study, job_id)


@operation("/tasks", "judge", method="POST")
def take_task() -> NextTask:
    """Take the question that is next for the rater, who goes on with it until it is done."""
    with access.writing() as (session, rater):
        task_id = task_order.onward(session, rater, access.now(), QueryFilter())
        page = blind_pages.blind_page(session, rater, task_id) if task_id else None
        n_left = workloads.progress(session, rater).turns_left
    return NextTask(_task_of_page(page) if page else None, n_left)


@operation("/tasks/<task_id>", "read", "judge")
def show_task(task_id: str) -> Task:
    """Return a question that the rater was given, with what they said so far."""
    with access.reading() as (session, rater):
        return _task_of_page(blind_pages.blind_page(session, rater, task_id))


@operation("/tasks/<task_id>/judgments", "judge", method="POST")
def judge_card(task_id: str, body: NewCardJudgment) -> Task:
    """Judge a card of a question that the rater was given."""
    with access.writing() as (session, rater):
        task_judgments.judge(session, rater, task_id, body.card, body.verdict, body.click())
        if not isinstance(body.reason, UnsetType):
            reasons.check_beside(body.verdict, body.reason, Scale.stored(rater.study.scale))
            task_judgments.give_reason(
                session, rater, task_id, body.card, body.reason, body.click()
            )
        page = blind_pages.blind_page(session, rater, task_id)
    return _task_of_page(page)


@operation("/tasks/<task_id>/ratings", "judge", method="POST")
def rate_task(task_id: str, body: NewTaskRating) -> Task:
    """Grade an answer of a question that the rater was given, or its empty lists."""
    with access.writing() as (session, rater):
        task_judgments.rate(session, rater, task_id, body.answer, body.rating(), body.click())
        page = blind_pages.blind_page(session, rater, task_id)
    return _task_of_page(page)


@blueprint.get("/openapi.json")
def openapi() -> Response:
    """Return the description of every address here."""
    return Response(json.encode(document(request.script_root)), content_type=JSON)


def _enqueue(kind: str, job_data: Mapping[str, Any]) -> JobRow:
    with access.writing() as (session, rater):
        job_id = jobs.enqueue(session, rater.study, kind, job_data, access.now())
        row = _job_row(jobs.find(session, rater.study, job_id))
    wake()
    return row


def _job_row(job: LongWork) -> JobRow:
    result = job.result or {}
    why = f"{gettext(job.failure)}. {gettext(job.remedy or '')}" if job.failure else None
    return JobRow(
        **fields(job, "id", "kind", "state", "steps_done", "steps"),
        address=url_for("api.show_job", job_id=job.id),
        runs=result.get("runs", []),
        grades=result.get("grades", {}),
        remarks=_problem_rows(result.get("remarks", ())),
        file=url_for("api.download_job", job_id=job.id) if job.file_name else None,
        problems=_problem_rows(result.get("problems", ())),
        failure=why and why % {"name": job.about},
    )


def _problem_rows(stored: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [problems.to_dict(Problem.stored(problem), "program") for problem in stored]


def _report_file(form: ReportFormat, report: Any, name: str) -> ExportedFile:
    data = form.render(report, access.now().astimezone().date())
    return ExportedFile(f"{name}.{form.extension}", form.media_type, data)


def _task_of_page(page: BlindPage) -> Task:
    cards = [
        TaskCard(
            card=card.key,
            number=card.number,
            fields=_blind_fields(card.card),
            verdict=card.relevance,
            reason=reasons.in_force(card.reason, card.relevance, page.scale),
        )
        for card in page.cards
    ]
    answers = [
        TaskAnswer(
            answer=answer.key,
            cards=[*map(_blind_fields, answer.cards)],
            **fields(answer, "letter", "state", "before", "after", "quality", "notes"),
        )
        for answer in page.answers
    ]
    return Task(
        id=page.task_id,
        earlier_turns=[asdict(turn) for turn in page.earlier_turns],
        cards=cards,
        answers=answers,
        **fields(page, "question", "category", "context_dependent", "scale", "stage"),
        **fields(page, "asks_emptiness", "empty_outcome"),
    )


def _blind_fields(item: Item) -> dict[str, Any]:
    """Return the fields of an item that the blind page shows."""
    values = fields(item, *item.seen_blind)
    return {name: value for name, value in values.items() if value not in (None, "", {})}
