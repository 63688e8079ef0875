"""A rated run as the files people and programs take away, and the study as a tree of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import partial
from typing import Any, NamedTuple

from msgspec import to_builtins
from msgspec.structs import replace
from sqlalchemy import Row, Select, select
from sqlalchemy.orm import Session, selectinload

from relevansi import labels
from relevansi.db.tables.judging import JudgedItem, StoredItem
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query, Result, Run
from relevansi.db.tables.study import Question, Study
from relevansi.exporters.comparisons import files as comparison_files
from relevansi.exporters.exports import (
    csv_ratings,
    empty_answers,
    json_results,
    judged_results,
    metrics_tables,
    run_folders,
)
from relevansi.exporters.exports.judged_results import JudgedResult, grade_word
from relevansi.exporters.exports.judging_sentences import unsampled_sentence
from relevansi.exporters.frame.csv_cells import CsvStyle, Value, csv_bytes
from relevansi.exporters.frame.json_files import JsonValue, fields, whole_if_exact
from relevansi.exporters.frame.spreadsheets import Sheet, workbook
from relevansi.exporters.proof_packs.pack import packed_folder
from relevansi.failures import Refused
from relevansi.i18n import gettext, mark, ngettext
from relevansi.importers.runs.json_runs import read as read_run
from relevansi.kinds import KINDS, from_row, listed_item
from relevansi.kinds.document import Document
from relevansi.metrics.agreement.report import ItemKind
from relevansi.metrics.judging.figures import RunReport
from relevansi.metrics.judging.graded import is_pooled
from relevansi.metrics.judging.queries import QueryJudgments, Span, summarise
from relevansi.notation import file_day
from relevansi.records import ExportedFile, QueryState, ReadQuery, ReadRun, Scale
from relevansi.services.agreement import agreement
from relevansi.services.catalogue import evidence
from relevansi.services.comparisons import chosen_runs, comparisons
from relevansi.services.judging import verdicts
from relevansi.services.judging.verdicts import TAIL
from relevansi.services.rating import particulars
from relevansi.services.runs import reasons, reports, runs
from relevansi.services.runs.reports import Rule
from relevansi.services.runs.runs import sequence
from relevansi.services.runs.votes import provenances
from relevansi.services.study import studies

OWN_QUERY = mark(
    "The queries in the file only stand for yours: put your own query in the place of each request."
)
MEDIA_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "md": "text/markdown; charset=utf-8",
    "txt": "text/plain; charset=utf-8",
    "zip": "application/zip",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}


def is_rated(report: RunReport) -> bool:
    """Whether a run has any judgment at all."""
    return any(
        row.notes
        or row.summary.judged_count
        or row.summary.empty_outcome is not None
        or row.summary.quality is not None
        for row in report.rows
    )


class RatedRun(NamedTuple):
    """A run that is written with its verdicts under a rule."""

    session: Session
    study: Study
    run_id: str
    rule: Rule

    @property
    def run(self) -> Run:
        return runs.find(self.session, self.study, self.run_id)

    @property
    def rated_by(self) -> str:
        """The name of the rater, or of the rule by which raters are merged."""
        if self.rule.rater:
            return studies.rater_name(self.rule.rater)
        scale, is_majority = Scale.stored(self.study.scale), self.rule.name == reports.MAJORITY
        return scale.merging(self.study.merging) if is_majority else self.rule.name

    def report(self, rater: Rater | None = None) -> RunReport:
        """Return the report under the rule, or of one `rater`."""
        rule = reports.of_rater(rater) if rater else self.rule
        return reports.report(self.session, self.study, self.run_id, rule)

    def unsampled_sentence(self) -> tuple[str, ...]:
        return unsampled_sentence(reports.unasked(self.session, self.run_id))

    def file(self, name: str, data: bytes, *notes: str) -> ExportedFile:
        """Return a file of the run, named with the day of the run, else of its import.

        The id tells runs of one day apart. The name of a file of unfinished ratings ends in how
        far they are.
        """
        stated_day = run_folders.moment(self.run.timestamp).partition("_")[0]
        day = stated_day if stated_day.isdecimal() else file_day(self.run.imported_at)
        stem, _, ending = name.partition(".")
        in_run, end = Query.run_id == self.run_id, ""
        # A run file holds lists and no verdicts, so it is never unfinished.
        if stem != "run":
            state = reports.state(self.session, self.study, in_run, self.rule)
            end = labels.file_ending(state)
        name = f"{stem}_{day}_{self.run_id}{end}.{ending}"
        return ExportedFile(name, MEDIA_TYPES[ending], data, notes)


def export(
    session: Session, study: Study, run_id: str, rule: Rule, file_format: str, **options: Any
) -> ExportedFile:
    """Return a run under `rule` as a file in one of ``FORMATS``, with the `options` of that format.

    Raises ``UnknownRun``; ``KeyError`` for an unknown format.
    """
    return FORMATS[file_format](RatedRun(session, study, run_id, rule), **options)


def _rated_csv(rated: RatedRun, *, style: CsvStyle = CsvStyle.PLAIN) -> ExportedFile:
    report = rated.report()
    data = csv_ratings.rated_csv(report, style=style)
    return rated.file("evaluation_rated.csv", data, *csv_ratings.remarks(report))


def _wide_csv(rated: RatedRun, *, style: CsvStyle = CsvStyle.PLAIN) -> ExportedFile:
    by_rater = {
        rater.name: rated.report(rater) for rater in studies.raters(rated.session, rated.study)
    }
    merged = rated.report()
    data = csv_ratings.wide_csv(merged, by_rater, style=style)
    return rated.file("evaluation_raters.csv", data, *csv_ratings.remarks(merged))


def _long_csv(rated: RatedRun, *, style: CsvStyle = CsvStyle.PLAIN) -> ExportedFile:
    """Return one line per result and empty list, by ids that stay the same.

    The first line names the columns.

    ``property`` is the property's identity, ``document`` the id of one of a collection, and
    ``content`` the number of what was shown. ``rater`` may name a merging rule; ``provenance`` then
    says where the label comes from, and is blank for one rater's own verdicts. ``relevance`` is a
    grade (1 or 0 on a binary scale), ``unsure`` or, unjudged, blank. An empty list has no rank, its
    outcome as ``relevance``, and as ``evidence`` the identities of what was looked up and fits.
    ``reason`` says why an item is not relevant; of several raters all that were given. ``seconds``
    is the time from the rater's verdict before, where it is known and no break.
    """
    rater, of_collection = rated.rule.rater, KINDS[rated.study.kind].of_collection
    in_run, scale = Query.run_id == rated.run_id, Scale.stored(rated.study.scale)
    origins: Mapping[int, str] = {}
    seconds: Mapping[tuple[int, int], float] = {}
    if rater is None:
        settled = rated.rule.name == reports.ADJUDICATED
        origins = provenances(rated.session, rated.study, in_run, adjudicated=settled)
    elif of_collection:
        seconds = reports.seconds(rated.session, in_run, [rater])
    name = rated.rated_by if rater or of_collection else rated.rule.name
    rows: list[Sequence[Value]] = [csv_ratings.LONG_COLUMNS]
    if of_collection:
        rows = [csv_ratings.LONG_COLUMNS_OF_DOCUMENTS]
    by_query = reports.empty_answers(rated.session, rated.study, in_run, rated.rule)
    empty = {answer.emptiness: answer for answer in by_query.values()}
    for result in judged(rated, with_empty=True):
        if (result.rank is None and not result.is_emptiness) or result.is_below:
            continue
        item: tuple[Value, ...] = (
            result.docno if of_collection else result.identity,
            result.content,
            result.title,
            result.verdict,
        )
        answer = empty.get(result.judged_item_id)
        if result.is_emptiness:
            item = ("", None, "", answer.outcome.value if answer else None)
        cells: tuple[Value, ...] = (
            *(rated.run_id, name, result.query_id, result.rank, *item),
            origins.get(result.judged_item_id),
            "; ".join(fitting.identity for fitting in answer.evidence) if answer else None,
            result.reason,
        )
        if of_collection:
            gap = seconds.get((rater.id, result.judged_item_id)) if rater else None
            cells = (*cells, grade_word(result.verdict, scale), gap)
        rows.append(cells)
    return rated.file("judgments.csv", csv_bytes(rows, style=style), *rated.unsampled_sentence())


def _spreadsheet(rated: RatedRun) -> ExportedFile:
    """Return the rated CSV's cells as an XLSX workbook: numbers unrounded, no formulas."""
    report = rated.report()
    columns, rows = csv_ratings.columns_of(report), csv_ratings.rated_rows(report)
    data = workbook([Sheet("ratings", columns, rows)])
    return rated.file("evaluation_rated.xlsx", data, *csv_ratings.remarks(report))


def _report(rated: RatedRun) -> ExportedFile:
    """Return the report of the run: its figures, what they mean, and the references."""
    name = run_folders.run_title(rated.run.search_method, rated.run.llm, rated.run.timestamp)
    data = metrics_tables.runs_markdown([(name, reports.report_in_words(*rated))])
    return rated.file("evaluation_report.md", data)


def _qrels(rated: RatedRun, *, unjudged: bool = False) -> ExportedFile:
    """Return the judgments in TREC form; `unjudged` results with the grade -1."""
    text, notes = judged_results.qrels(judged(rated), unjudged=unjudged)
    return rated.file("qrels.txt", text.encode(), *notes, *rated.unsampled_sentence())


def _run_file(rated: RatedRun) -> ExportedFile:
    """Return the ranked lists in TREC form, tagged with the run's id."""
    text = judged_results.run_file(judged(rated), tag=rated.run_id)
    return rated.file("run.txt", text.encode(), *rated.unsampled_sentence())


def judged(rated: RatedRun, *, with_empty: bool = False) -> Iterator[JudgedResult]:
    """Yield the results of a run in order, question by question; `with_empty` empty lists too.

    Where figures rest on the pool of a question, ranks below those that are judged follow, and
    what else was pooled. Elsewhere only what was pinned as evidence on the question follows.
    """
    session, study, run_id, rule = rated
    kind, scope = KINDS[study.kind], reports.asked_of(rated.run.id)
    pinned = None if is_pooled(study) else {*session.scalars(evidence.pinned(scope))}
    pooled = pinned is None or bool(pinned)
    ratings = reports.verdicts_under(session, study, Query.run_id == run_id, rule, pooled=pooled)
    in_scope: Select[Any] = (verdicts.pool_of if pooled else verdicts.judged_items)(scope)
    why = reasons.under(session, study, in_scope, rule, ratings)
    rows = select(JudgedItem.id, JudgedItem.content, JudgedItem.card, StoredItem.identity)
    rows = rows.join(StoredItem).where(JudgedItem.id.in_(in_scope))
    items = {row.id: row for row in session.execute(rows)}
    extra = [Query.extra[name].label(name) for name in (TAIL, "span_id", "_index")]
    texts = select(Query.id, Question.external_id, Question.text, *extra)
    questions = {row.id: row for row in session.execute(texts.join(Question).where(scope))}
    listed: dict[int, list[Row[Any]]] = defaultdict(list)
    of_run = select(Result.query_key, Result.rank, Result.card, Result.judged_item_id)
    of_run = of_run.join(Query).where(scope, Result.judged_item_id.is_not(None))
    of_run = of_run.order_by(Result.query_key, Result.rank)
    for row in session.execute(of_run):
        listed[row.query_key].append(row)
    for query in verdicts.asked_queries(session, scope, pooled=pooled):
        question, results = questions[query.key], listed.pop(query.key, [])
        if with_empty and query.state is QueryState.EMPTY:
            yield JudgedResult(
                query_id=question.external_id or str(query.query_id),
                rank=None,
                docno="",
                judged_item_id=query.emptiness or 0,
                is_emptiness=True,
            )
        listings: Counter[str] = Counter()
        below = zip(query.tail, question.tail or (), strict=False)
        places = [
            *((row.rank, row.judged_item_id, "", row.card) for row in results),
            *((rank, *place, None) for rank, place in enumerate(below, len(query.item_ids) + 1)),
            *((None, item, "", None) for item in query.others if pinned is None or item in pinned),
        ]
        for rank, item_id, tail_identity, card in places:
            stored = items.get(item_id or 0)
            identity, content = (stored.identity, stored.content) if stored else (tail_identity, 1)
            docno, shared = kind.docno(identity, content), stored.card if stored else None
            item = listed_item(card, shared) if card else from_row(shared) if shared else None
            verdict = ratings.scale.numbers[ratings.by_item.get(item_id or 0)]
            is_below = rank is not None and card is None
            listings[docno] += 1
            yield JudgedResult(
                query_id=question.external_id or str(query.query_id),
                rank=rank,
                docno=docno,
                verdict=verdict,
                repetition=listings[docno],
                question=question.text,
                document=item if isinstance(item, Document) else None,
                identity=identity,
                content=content,
                title=item.title if item else "",
                judged_item_id=item_id or 0,
                is_below=is_below,
                is_pooled=stored is not None and (not is_below or verdict is not None),
                position=card.get("position") if card else None,
                span_id=question.span_id or "",
                index=question._mapping["_index"] or "",
                reason=why.get(item_id or 0, ""),
            )


def _run_json(rated: RatedRun, *, texts: bool = False) -> ExportedFile:
    """Return the run with every card, all its details and verdict as one JSON document.

    Details that only a listing's record has are in it, even if raters may not see them. A result's
    ``relevance`` is a grade (1 or 0 on a binary scale), "unsure" or, unjudged, null; ``reason`` is
    there only where one was given why it is not relevant. Whole areas
    and grades are whole numbers. ``not_asked`` is there only where a sample left questions out,
    ``holes`` where results at these ranks could not be read, ``searches`` and ``evidence`` (ids)
    where an empty list has an outcome. Of a collection, ``kind``, ``scale``
    and ``merging`` are stated, ``external_id`` for each question, and the `texts` of documents only
    where they are wanted.
    """
    session, study, run_id, rule = rated
    kind, scale, run = KINDS[study.kind], Scale.stored(study.scale), rated.run
    without = () if texts else ("text",)
    ratings = reports.verdicts_under(session, study, Query.run_id == run_id, rule)
    blindness = reports.blindness(session, study, Query.run_id == run_id, rule)
    holes = verdicts.holes(session, Query.run_id == run_id)
    empty = reports.empty_answers(session, study, Query.run_id == run_id, rule)
    unasked = reports.unasked(session, run_id)
    head: dict[str, JsonValue] = {
        "run": run.id,
        **fields(run, "search_method", "llm"),
        "question_set": str(run.question_set_id),
        "timestamp": run.timestamp,
        "source_file": run.files[0].name,
        "sha256": run.files[0].sha256,
        "rule": rule.name,
        "cannot_tell": study.cannot_tell,
        "blindness": metrics_tables.blindness_json(blindness),
    }
    if unasked:
        head["not_asked"] = [*unasked]
    if kind.of_collection:
        head |= {"kind": study.kind, "scale": to_builtins(scale)}
        head["merging"] = scale.merging(study.merging)
    scope = reports.asked_of(run_id)
    why = reasons.under(session, study, verdicts.judged_items(scope), rule, ratings)
    queries = (
        {
            "query_id": query.query_id,
            **({"external_id": query.external_id} if kind.of_collection else {}),
            "question": query.text,
            "category": query.category,
            **fields(query, "response", "state"),
            "empty_outcome": ratings.outcome(query.emptiness_id),
            **empty_answers.answer_json(empty.get(query.id)),
            "quality": whole_if_exact(ratings.quality.get(query.id)),
            "notes": ratings.notes.get(query.id, ""),
            "question_note": query.note or "",
            "results": [
                json_results.result_json(
                    result.rank,
                    listed_item(result.card, result.shared),
                    scale.numbers[ratings.by_item.get(result.judged_item_id)],
                    details.get(result.rank),
                    reason=why.get(result.judged_item_id),
                    without=without,
                )
                for result in results
            ],
            **({"holes": [*holes[query.id]]} if query.id in holes else {}),
        }
        for query, results, details in particulars.of_run(session, run, scope, with_record=True)
    )
    data = json_results.json_of_queries(head, queries)
    return rated.file("run.json", data, *unsampled_sentence(unasked))


class ForCollections(Refused):
    message = mark("The format %(name)s is for studies of documents")
    remedy = mark("Take CSV, JSON or the files of TREC.")


class EqualTexts(Refused):
    message = mark("This format names questions by their texts, and two are equal: %(name)s")
    remedy = mark("Take the qrels or BEIR, which name them by their ids.")


class NotOfSpans(Refused):
    message = mark("Run %(name)s was not imported from spans, which Phoenix annotates")
    remedy = mark("Import the retriever spans that Phoenix exports, and judge those.")


class IndexUnknown(Refused):
    message = mark("The import of run %(name)s names no index, and _rank_eval needs one")
    remedy = mark("Export by the command, which takes its name.")
    command_remedy = mark("Say which: --index NAME.")


TOOLS = {
    "beir": "beir.zip",
    "srw": "srw.json",
    "phoenix": "phoenix.json",
    "rank-eval": "rank_eval.json",
    "quepid": "quepid.csv",
    "quepid-book": "quepid_book.csv",
}
"""The formats of other tools that know documents by their ids, with the names of their files."""
BY_TEXT = {"srw", "quepid", "quepid-book"}


def _for_tool(rated: RatedRun, *, form: str, index: str = "") -> ExportedFile:
    """Return the judgments in one of ``TOOLS``; `index` is that of rank-eval.

    Raises ``ForCollections``, ``EqualTexts``, ``NotOfSpans`` and ``IndexUnknown``.
    """
    results, study = _of_collection(rated, form), rated.study
    scale, notes = Scale.stored(study.scale), rated.unsampled_sentence()
    match form:
        case "beir":
            card = judged_results.dataset_card(
                reports.report_in_words(*rated),
                title=studies.shown_name(study),
                guidelines=studies.guidelines(study),
                agreement=agreement.report(rated.session, study, kinds=[ItemKind.CARDS]).kinds[0],
                results=results,
            )
            data = packed_folder(judged_results.beir(results, card))
        case "srw":
            title = studies.shown_name(study)
            data = judged_results.search_relevance(results, name=title, description=rated.rated_by)
        case "phoenix":
            if not any(result.span_id for result in results):
                raise NotOfSpans(rated.run_id)
            is_machine = rated.rule.rater is not None and rated.rule.rater.is_machine
            data = judged_results.phoenix(
                results, rater=rated.rated_by, scale=scale, is_machine=is_machine
            )
        case "rank-eval":
            if not index and not all(result.index for result, _ in judged_results.graded(results)):
                raise IndexUnknown(rated.run_id)
            data = judged_results.rank_eval(results, index=index, relevant_from=scale.relevant_from)
            notes = (gettext(OWN_QUERY), *notes)
        case "quepid":
            data = judged_results.quepid(results)
        case _:
            by_rater = {
                rater.name: [*judged(rated._replace(rule=reports.of_rater(rater)))]
                for rater in studies.raters(rated.session, study)
            }
            data = judged_results.quepid_book(by_rater)
    unsure = sum(result.verdict == "unsure" for result in results)
    if unsure and form != "phoenix":
        left_out = ngettext(
            '%(n)s item is left out: "cannot tell".',
            '%(n)s items are left out: "cannot tell".',
            unsure,
        )
        notes = (left_out, *notes)
    return rated.file(TOOLS[form], data, *notes)


def _of_collection(rated: RatedRun, form: str) -> list[JudgedResult]:
    """Return the results of a run for a format of ``TOOLS``; raises what refuses that format."""
    if form not in formats_for(rated.study):
        raise ForCollections(form)
    results = [*judged(rated)]
    if form in BY_TEXT:
        texts = {result.query_id: result.question for result in results}.values()
        for text, n_questions in Counter(texts).items():
            if n_questions > 1:
                raise EqualTexts(text)
    return results


def formats_for(study: Study) -> tuple[str, ...]:
    """Return the names of the formats for the study's kind of items."""
    of_collection = KINDS[study.kind].of_collection
    return tuple(name for name in FORMATS if of_collection or name not in TOOLS)


FORMATS: Mapping[str, Callable[..., ExportedFile]] = {
    "csv": _rated_csv,
    "wide-csv": _wide_csv,
    "long-csv": _long_csv,
    "xlsx": _spreadsheet,
    "report": _report,
    "qrels": _qrels,
    "run": _run_file,
    "json": _run_json,
    **{form: partial(_for_tool, form=form) for form in TOOLS},
}


OfflinePageRenderer = Callable[[Session, Study, str, Rule], bytes]
"""Makes the page on which a run is rated without a server."""


def tree(
    session: Session, study: Study, rule: Rule, to_rate: OfflinePageRenderer | None
) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """Return the study's runs with their judgments under `rule`, as files by path.

    Second come the warnings on data that no file holds.
    """
    # Whole runs, with their questions and cards, in a few statements.
    rows = session.scalars(
        select(Run)
        .where(Run.study_id == study.id)
        .options(selectinload(Run.queries).joinedload(Query.question))
        .options(selectinload(Run.queries, Query.results))
    )
    runs = run_folders.in_order(map(_read_run_of, sorted(rows, key=sequence)))
    names = run_folders.names(runs)
    report_of = {run.name: reports.report(session, study, run.name, rule) for run in runs}
    files: dict[str, bytes] = {}
    notes: list[str] = []
    for run in runs:
        at, report = names[run.name], report_of[run.name]
        raw, data = at.path("test_results_{moment}.json"), run_folders.run_file(run)
        files[raw] = files[f"{at.folder}/test_results_latest.json"] = data
        notes += _differing_answers(run, raw, data)
        files[at.path("evaluation_template_{day}.csv")] = csv_ratings.rated_csv(_unrated(report))
        if to_rate is not None:
            files[at.path("evaluation_{day}.html")] = to_rate(session, study, run.name, rule)
        if is_rated(report):
            files[at.path("evaluation_rated_{day}.csv")] = csv_ratings.rated_csv(report)
        files[at.path("full_responses_{day}.txt")] = run_folders.responses(run)
    notes += dict.fromkeys(
        note for run in runs for note in unsampled_sentence(report_of[run.name].unasked)
    )
    rated = {run.name: run for run in runs if is_rated(report_of[run.name])}
    if rated:
        described = []
        for name, run in rated.items():
            blindness = reports.blindness(session, study, Query.run_id == name, rule)
            title = run_folders.run_title(run.search_method, run.llm, run.timestamp)
            described.append((title, replace(report_of[name], blindness=blindness)))
        # Dated with the newest run.
        report_file = f"evaluation_report_{_day(rated.values())}.md"
        files[report_file] = metrics_tables.runs_markdown(described)
        files |= _comparisons(session, study, rule, rated)
    return dict(sorted(files.items())), tuple(notes)


def _read_run_of(run: Run) -> ReadRun:
    """Return a stored run as one is read; it is called by its id."""
    return ReadRun(
        file_format="v1",
        name=run.id,
        sha256="",
        queries=tuple(
            ReadQuery(
                **fields(query, "query_id", "response", "claimed_count", "error", "extra"),
                **fields(query.question, "category", "context_dependent"),
                question=query.question.text,
                state=QueryState(query.state),
                cards=tuple(from_row(result.card) for result in query.results),
            )
            for query in run.queries
        ),
        **fields(run, "search_method", "llm", "timestamp", "total_questions", "extra"),
        key=run.session_key,
    )


def _unrated(report: RunReport) -> RunReport:
    """Return the report as it was before any rating: the template to be filled in."""
    rows = []
    for row in report.rows:
        verdicts = (None,) * row.summary.results_count
        unjudged = QueryJudgments(row.summary.state, verdicts)
        summary = summarise(unjudged, cannot_tell="not_relevant")  # no verdict, so either way
        summary = summary.with_figures(dict.fromkeys(row.summary.ranking, Span.settled(None)))
        rows.append(replace(row, notes="", summary=summary, verdicts=verdicts))
    return replace(report, rows=tuple(rows))


def _comparisons(
    session: Session, study: Study, rule: Rule, rated: Mapping[str, ReadRun]
) -> Iterator[tuple[str, bytes]]:
    for phase in chosen_runs.phases_of(session, study):
        ids = [run for run in chosen_runs.of_phase(session, study, phase) if run in rated]
        if len(ids) < chosen_runs.MIN_RUNS:
            continue
        compared = comparisons.report(session, study, ids, rule, with_agreement=True)
        day, markdown = _day(rated[run] for run in ids), comparison_files.FORMATS["markdown"]
        # Runs without a date get a fixed one, since equal data give equal files.
        on = date.fromisoformat(day) if day.isdecimal() else date.min
        yield f"phase{phase}_comparison_{day}.md", markdown.render(compared, on)


def _day(runs: Iterable[ReadRun]) -> str:
    """Return the latest day among those that the runs state, as files are named by it."""
    days = [run_folders.moment(run.timestamp).partition("_")[0] for run in runs]
    return max((day for day in days if day.isdecimal()), default=run_folders.UNDATED)


def _differing_answers(run: ReadRun, path: str, data: bytes) -> Iterator[str]:
    """Yield a warning on each question that the file, read again, would not give as it is here."""
    read = {query.query_id: query for query in read_run(path, data).queries}
    for query in run.queries:
        again = read.get(query.query_id)
        if again is None or (again.state, again.cards) != (query.state, query.cards):
            yield gettext(
                "%(file)s, question %(query)s: its cards were added by hand or read by another "
                "version; the file holds the answer as it came.",
                file=path,
                query=query.query_id,
            )
