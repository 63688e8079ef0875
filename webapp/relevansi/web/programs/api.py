"""The addresses for programs: what the pages do, by the same services, as JSON and files.

The owner's token sees the study. A rater's token sees their own questions as the blind page shows
them, without run, method, rank or any number that tells, and their own verdicts there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from flask import Response, current_app, request, url_for
from msgspec import UNSET, Meta, MsgspecError, Struct, UnsetType, convert, json
from msgspec.structs import asdict, replace

from relevansi.db.tables.runs import LongWork
from relevansi.exporters.agreement import report as agreement_files
from relevansi.exporters.comparisons import files as comparison_files
from relevansi.exporters.exports.metrics_tables import metrics_json
from relevansi.exporters.frame.json_files import fields
from relevansi.exporters.frame.report_formats import ReportFormat
from relevansi.exporters.offline import page
from relevansi.failures import Missing
from relevansi.i18n import gettext, mark
from relevansi.importers.results.assemble import plain_grade
from relevansi.importers.results.formats import DEPTH, MOST_DEPTH, Choices
from relevansi.importers.runs import problems
from relevansi.importers.runs.prices import HIGHEST_PRICE
from relevansi.importers.runs.problems import ImportRefused
from relevansi.metrics.comparisons.gate import GateRequest
from relevansi.metrics.judging.graded import headline_of
from relevansi.printable import label_line
from relevansi.records import (
    Click,
    EmptyOutcome,
    ExportedFile,
    Item,
    Problem,
    Scale,
    no_progress,
)
from relevansi.services.agreement import agreement
from relevansi.services.catalogue import imports
from relevansi.services.catalogue.filters import Filters
from relevansi.services.catalogue.imports import Mode
from relevansi.services.catalogue.search import MAX_PAGE, MAX_WORDS, as_json, search
from relevansi.services.comparisons import chosen_runs, comparisons, gate
from relevansi.services.comparisons.gate import GateReport
from relevansi.services.exports import exports, rated_runs
from relevansi.services.judging import answer_ratings, judgments, reasons
from relevansi.services.judging.answer_ratings import AnswerRating
from relevansi.services.offline import runs as offline_runs
from relevansi.services.programs import rows
from relevansi.services.programs.rows import (
    FilteredItems,
    FilteredJudgments,
    Id,
    InPages,
    ItemRow,
    JudgmentRow,
    Page,
    QuestionRow,
    RatingRow,
    ResultRow,
    RunRow,
    Text,
    UnjudgedResults,
)
from relevansi.services.rating import blind_pages, task_judgments, task_order, workloads
from relevansi.services.rating.blind_pages import BlindPage
from relevansi.services.rating.pool import QueryFilter
from relevansi.services.runs import confirmations, file_formats, reports, runs, waiting_files
from relevansi.services.runs.file_formats import FileDecision
from relevansi.services.study import studies
from relevansi.services.workers import jobs, kinds
from relevansi.web.frame import access
from relevansi.web.programs.openapi import document
from relevansi.web.programs.operations import JSON, InvalidInput, blueprint, decode_json, operation
from relevansi.web.runs.imports import chosen_files
from relevansi.web.workers.jobs import wake

LongText = Annotated[str, Meta(max_length=answer_ratings.LONGEST_NOTES, pattern="^[^\\x00]*$")]
EventId = Annotated[str, Meta(min_length=1, max_length=64, pattern="^[!-~]+$")]
_RULES = "majority|adjudicated|(rater|machine) [^\\x00]+"
Rule = Annotated[str, Meta(max_length=220, pattern=f"^({_RULES})$")]
Rupiah = Annotated[int, Meta(ge=0, le=HIGHEST_PRICE)]
Reason = Annotated[str, Meta(max_length=206, pattern="^[^\\x00]*$")]
Verdict = Literal["0", "1", "2", "3", "4", "unsure", "correct_empty", "false_negative"]


# Clients that are made from the description take the first.
EXPORT_MEDIA = (
    "application/octet-stream",
    *sorted({media_type.partition(";")[0] for media_type in rated_runs.MEDIA_TYPES.values()}),
)
REPORT_MEDIA = tuple(
    sorted(form.media_type.partition(";")[0] for form in agreement_files.FORMATS.values())
)
FormatName = Literal["json", "markdown", "latex", "html", "docx", "xlsx"]


class RuleQuery(Struct, forbid_unknown_fields=True):
    rule: Rule | None = None


class FiguresQuery(RuleQuery):
    figures: Text = ""


class ResultsQuery(InPages):
    rule: Rule | None = None


class DepthQuery(Struct, forbid_unknown_fields=True):
    k: Annotated[int, Meta(ge=1, le=1000)] = 10


class FormatQuery(Struct, forbid_unknown_fields=True):
    format: FormatName = "json"


class ComparisonQuery(FiguresQuery):
    format: FormatName = "json"
    run: list[Text] = []
    phase: Literal[1, 2] | None = None


class FilesForm(Struct, forbid_unknown_fields=True, kw_only=True):
    """How files are read: ``columns`` is a JSON object of roles and the columns that have them.

    ``map`` is one of roles and the paths to them in JSON, with dots; ``grades`` one of grades in
    the files and what they are here. ``depth``: so many results of each list are judged. ``split``
    is one of several sets of grades. ``method`` and ``llm`` are labels where the files have none.
    """

    method: Text = ""
    llm: Text = ""
    columns: Annotated[str, Meta(max_length=10_000)] = "{}"
    map: Annotated[str, Meta(max_length=10_000)] = "{}"
    grades: Annotated[str, Meta(max_length=10_000)] = "{}"
    depth: Annotated[int, Meta(ge=1, le=MOST_DEPTH)] = DEPTH
    split: Text = ""

    def choices(self) -> Choices:
        objects = {}
        for name in ("columns", "map", "grades"):
            try:
                objects[name] = convert(decode_json(getattr(self, name), name), dict[str, str])
            except MsgspecError as error:
                raise InvalidInput(name, str(error)) from None
        return Choices(
            columns=objects["columns"] | objects["map"],
            depth=self.depth,
            split=self.split or None,
            grades={plain_grade(grade): here for grade, here in objects["grades"].items()},
        )


class ImportForm(FilesForm, kw_only=True):
    """What may be said of files to import.

    ``rater`` names whose the grades or ratings of the files are. ``metadata`` are the columns that
    raters see. ``rating`` sets how the study is rated. ``confirm`` is how many changes are meant of
    what the study has: judgments of raters whom it has, settings. Documents whose text is another
    than before are judged anew, unless they are the ``same_documents``: these have the new text,
    and verdicts on them carry over. All three take the scope everything.
    """

    rater: Text = ""
    metadata: list[Text] = []
    rating: Literal["", "blind", "open"] = ""
    confirm: Id = 0
    same_documents: bool = False

    def choices(self) -> Choices:
        return replace(super().choices(), method=self.method, llm=self.llm)

    def decision(self) -> FileDecision:
        return FileDecision(
            rater=self.rater or None,
            confirm=True,  # whatever changes is counted, and held against `confirm`
            method=label_line(self.method),
            llm=label_line(self.llm),
            grader=self.rater,
            meta=self.metadata or None,
            same_documents=self.same_documents,
        )


class CatalogueForm(Struct, forbid_unknown_fields=True):
    """Files add to the catalogue or bring it up to date, replace it, or remove what they have."""

    mode: Literal["add", "replace", "remove"] = "add"


class CatalogueQuery(Struct, forbid_unknown_fields=True):
    """The words ``q`` that an item has, the last one as a beginning, and what narrows listings.

    ``place`` is words, too, or several places with commas between, of which one is enough.
    """

    q: Annotated[str, Meta(max_length=MAX_WORDS)] = ""
    type: Text | None = None
    offer: Literal["sale", "rent"] | None = None
    place: Text | None = None
    price_from: Rupiah | None = None
    price_to: Rupiah | None = None
    bedrooms: Id | None = None
    start: Id = 0
    limit: Annotated[int, Meta(ge=1, le=MAX_PAGE)] = 20


class GateForm(FilesForm, kw_only=True):
    """What a gate is asked: a run to compare with, and what the new one has to keep to.

    ``floor`` is as "nDCG@10=0.6". ``figures`` decide, with commas between: those that the study
    shows first, unless named. ``min_judged`` is the share to be judged where the lists differ,
    ``tolerance`` a loss that has to be ruled out. ``strict`` asks a floor of the interval's lower
    end. ``allow_missing`` leaves out questions that the run lacks. ``ask`` keeps the run;
    ``confirm`` is then how many changes of what the study has are meant, as of an import.
    """

    baseline: Text
    floor: list[Text] = []
    figures: Text = ""
    min_judged: Annotated[float, Meta(ge=0, le=1)] = 1.0
    tolerance: Annotated[float, Meta(ge=0)] | None = None
    strict: bool = False
    allow_missing: bool = False
    ask: bool = False
    confirm: Id = 0
    rule: Annotated[str, Meta(max_length=220, pattern=f"^({_RULES})?$")] = ""

    def request(self) -> GateRequest:
        same = ("baseline", "min_judged", "tolerance", "strict", "allow_missing", "method", "llm")
        return GateRequest(
            **fields(self, *same),
            floors=gate.floors_in(self.floor),
            figures=gate.figures_in(self.figures),
            rule=self.rule or None,
        )


class EventBody(Struct, forbid_unknown_fields=True, kw_only=True):
    """The id that makes a repeated request one event, and when and where it was given."""

    event_id: EventId
    client_time: Annotated[datetime, Meta(tz=True)] | None = None
    device: EventId | None = None
    sequence: Id | None = None

    def click(self) -> Click:
        try:
            made_at = self.client_time and self.client_time.astimezone(UTC)
        except OverflowError as error:
            raise InvalidInput("client_time", str(error)) from None
        return Click(self.event_id, access.now(), made_at, self.device, self.sequence)


class NewJudgment(EventBody, kw_only=True):
    """A verdict on an item: a grade, "unsure", an outcome of an empty list; null takes it back.

    ``reason`` says why the item is not relevant: one of the study's, or "other: " with words; null
    takes it back, and what is left out stays as it is.
    """

    item: Id
    verdict: Verdict | None
    reason: Reason | UnsetType | None = UNSET


class NewCardJudgment(EventBody, kw_only=True):
    card: Text
    verdict: Verdict | None
    reason: Reason | UnsetType | None = UNSET


class NewRating(EventBody):
    """A grade of a whole answer, 0 to 5, and notes; what is left out stays as it is."""

    quality: Annotated[int, Meta(ge=0, le=5)] | UnsetType | None = UNSET
    notes: LongText | UnsetType = UNSET
    empty_outcome: EmptyOutcome | UnsetType | None = UNSET

    def rating(self) -> AnswerRating:
        return AnswerRating(self.quality, self.notes, self.empty_outcome)


class NewTaskRating(NewRating):
    answer: Text | None = None


class StudyRow(Struct):
    """The settings of the study that its numbers rest on."""

    name: str
    kind: str
    scale: Scale
    merging: str
    headline: tuple[str, ...]
    cannot_tell: str
    asks_quality: bool
    blind: bool


class Runs(Struct):
    data: list[RunRow]


class Imported(Runs):
    """The runs of files; ``grades`` counts those that each rater got.

    ``remarks`` are what is wrong with files that were stored all the same, as lines left out.
    """

    grades: dict[str, int]
    remarks: list[dict[str, Any]]


class CatalogueOutcome(Struct):
    # What an import did to the catalogue, whose total is without what only runs returned.
    name: str
    kind: str
    total: int
    removed: int
    added: int
    changed: int
    unchanged: int
    repeated: int
    problems: list[dict[str, Any]]


class CataloguePage(Struct):
    """So many items fit, ``count`` of ``total``; each has the fields of its kind."""

    count: int
    total: int
    is_imported: bool
    items: list[dict[str, Any]]


class JobRow(Struct):
    """Work that goes on in the background, or its outcome.

    ``state`` is "waiting", "asking" (at work), "done" or "failed"; ``steps_done`` of ``steps`` are
    done. ``runs``, ``grades`` and ``remarks`` are those of an import, ``problems`` are why its
    files were refused, ``file`` is the address of a file that was made, ``failure`` says why there
    is nothing.
    """

    id: str
    kind: str
    state: str
    steps_done: int
    steps: int
    address: str
    runs: list[str] = []
    grades: dict[str, int] = {}
    remarks: list[dict[str, Any]] = []
    file: str | None = None
    problems: list[dict[str, Any]] = []
    failure: str | None = None


class TaskCard(Struct):
    card: str
    number: int
    fields: dict[str, Any]
    verdict: str | None
    reason: str | None


class TaskAnswer(Struct):
    answer: str
    letter: str
    state: str
    before: str
    cards: list[dict[str, Any]]
    after: str
    quality: int | None
    notes: str


class Task(Struct):
    """One question as the blind page shows it: cards, then emptiness, then whole answers.

    ``stage`` is "cards", "emptiness", "answers" or "done": what is to be given next.
    """

    id: str
    question: str
    category: str
    context_dependent: bool
    earlier_turns: list[dict[str, str]]
    scale: Scale
    stage: str
    cards: list[TaskCard]
    asks_emptiness: bool
    empty_outcome: EmptyOutcome | None
    answers: list[TaskAnswer]


class NextTask(Struct):
    """The question that is next for a rater, null if nothing is left; ``left`` turns are."""

    task: Task | None
    left: int


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
