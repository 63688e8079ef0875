"""A gate before a change of a system: its new run held against floors and against an earlier run.

Each item that the run's files list is looked up among the judged items of its question, so every
stored judgment counts. Nothing is stored for that; ``keep_run`` stores the run for raters to judge.
How a figure passes or fails is in ``metrics.comparisons.gate``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from math import inf, isfinite
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from relevansi.db.rows import core
from relevansi.db.tables.judging import JudgedItem, StoredItem
from relevansi.db.tables.runs import Query, Run
from relevansi.db.tables.study import Question, Study
from relevansi.failures import Refused
from relevansi.i18n import mark
from relevansi.importers.results.formats import Choices
from relevansi.importers.runs.json_runs import question_key
from relevansi.importers.runs.problems import ImportRefused
from relevansi.kinds import KINDS
from relevansi.metrics.comparisons.differences import paired
from relevansi.metrics.comparisons.gate import (
    ALPHA,
    GatedAnswer,
    GateFigure,
    GateRequest,
    Outcome,
    depth_of,
    gate_figures,
)
from relevansi.metrics.judging.empty_answers import EmptyAnswerCounts, counts_of
from relevansi.metrics.judging.graded import headline_of, ranking_names, usual_headline
from relevansi.records import QueryState, ReadRun, Scale
from relevansi.services.comparisons import chosen_runs
from relevansi.services.comparisons.chosen_runs import DifferentQuestions
from relevansi.services.judging import verdicts
from relevansi.services.judging.judged_items import Pool
from relevansi.services.judging.verdicts import TAIL, AskedQuery, Scope, Verdicts, with_pool
from relevansi.services.runs import file_formats, imports, reports, results, runs
from relevansi.services.runs.file_formats import FileDecision, FileFormat, ReadFile
from relevansi.services.runs.imports import ImportReport
from relevansi.services.runs.reports import Rule
from relevansi.services.runs.results import ResultsReport
from relevansi.services.runs.stored_results import StoredResults
from relevansi.services.runs.stored_runs import ImportedRun
from relevansi.services.study import question_sets, studies

EXIT_CODES = {Outcome.PASSED: 0, Outcome.OPEN: 3, Outcome.FAILED: 1}


class UnfitFloor(Refused, ValueError):
    """The argument is no FIGURE=VALUE, or a second floor of one figure."""

    message = mark('"%(name)s" is not a floor')
    remedy = mark(
        "Write the name of a figure, = and a number with a decimal point, once for each figure."
    )


class UnfitFigure(Refused, ValueError):
    """The argument is a figure by which a gate does not decide."""

    message = mark("A gate does not decide by %(name)s")
    remedy = mark(
        "The composite is no verdict, each answer's quality is rated anew, and how much is to be "
        "judged has a setting of its own, min-judged. Name other figures."
    )


class NotOneRun(Refused):
    """The files hold no run or several; the arguments are their names."""

    message = mark("A gate takes one run, and %(name)s holds %(n)s")
    remedy = mark("Give it the results of one system; import ratings and grades before.")


class GateRun(NamedTuple):
    """The run in the files of a gate, and how many grades were there, which are left out."""

    file: ReadFile
    read: ReadRun
    n_grades: int = 0


class AnswerCounts(Struct, frozen=True):
    """How a run answered the baseline's questions."""

    answered: int
    empty: int
    failed: int
    unreadable: int
    missing: int


class Unjudged(Struct, frozen=True):
    """A result without a verdict under the rule; without ``rank`` an empty list to be classified.

    ``position`` is the question's in its set, ``external_id`` the one in its owner's files.
    """

    position: int
    external_id: str | None
    rank: int | None = None
    item: str = ""
    title: str = ""


class GateReport(Struct, frozen=True):
    """The result of a gate; ``run`` is the id of the run, ``None`` where the study lacks it.

    ``missing`` names the questions that the run lacks: empty lists, unless the request leaves them
    out. ``n_added`` are questions of the run that the baseline lacks, which are in no figure.
    ``unjudged`` are the run's results without a verdict, and ``n_below_pool`` those below the depth
    that raters see. ``merging`` of several raters is by "majority" or "median". ``n_grades`` are
    grades in the files, which do not count: a run does not judge itself. ``turns_blind``: since the
    run was stored, raters rate blind. ``empty_answers`` counts what raters' searches found for the
    run's empty lists and missing questions.
    """

    outcome: Outcome
    exit_code: int
    request: GateRequest
    study: str
    run: str | None
    name: str
    baseline_name: str
    rule: str
    merging: str
    n_questions: int
    answers: AnswerCounts
    baseline_answers: AnswerCounts
    figures: tuple[GateFigure, ...]
    unjudged: tuple[Unjudged, ...]
    n_below_pool: int = 0
    missing: tuple[str, ...] = ()
    n_added: int = 0
    n_grades: int = 0
    turns_blind: bool = False
    alpha: float = ALPHA
    empty_answers: EmptyAnswerCounts = EmptyAnswerCounts()


def floors_in(texts: Iterable[str]) -> dict[str, float]:
    """Return floors by figure from texts as ``nDCG@10=0.6``, one for each.

    Raises ``UnfitFloor``, ``UnfitFigure`` and ``UnknownHeadline``.
    """
    floors: dict[str, float] = {}
    for text in texts:
        figure, _, number = text.rpartition("=")
        try:
            floor = float(number)
        except ValueError:
            raise UnfitFloor(text) from None
        # float() reads 0_5 too, which nobody means.
        if not figure.strip() or not isfinite(floor) or "_" in number:
            raise UnfitFloor(text)
        [name] = _deciding(studies.named_figures([figure]))
        if name in floors:
            raise UnfitFloor(text)
        floors[name] = floor
    return floors


def figures_in(text: str) -> tuple[str, ...]:
    """Return the figures that a text names, with commas between.

    Raises ``UnfitFigure`` and ``UnknownHeadline``.
    """
    return _deciding(studies.figures_in(text))


def _deciding(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return `names`; raises ``UnfitFigure`` where a gate does not decide by one of them."""
    for name in names:
        if not _decides(name):
            raise UnfitFigure(name)
    return names


def _decides(figure: str) -> bool:
    return figure not in {"composite", "mean_response_quality"} and not figure.startswith("Judged")


def read(study: Study, files: Sequence[tuple[str, bytes]], choices: Choices) -> GateRun:
    """Return the run in a gate's files, without reading the database.

    Raises ``NotOneRun`` where there is none or are several, and an ``ImportRefused``.
    """
    together = file_formats.together(files, choices)
    with_runs = FileFormat.RUN, FileFormat.RESULTS
    file_format, name, data = together[0]
    if len(together) > 1 or file_format not in with_runs:
        n = sum(form in with_runs for form, _, _ in together)
        raise NotOneRun(*(file_name for _, file_name, _ in together), n=n)
    file = file_formats.with_known_columns(study, file_formats.read_file(file_format, name, data))
    problems = file_formats.why_refused(file)
    if problems:
        raise ImportRefused(*problems)
    content = file.content
    if isinstance(content, ImportReport):
        return GateRun(file, content.read)
    assert isinstance(content, ResultsReport)  # of no other format has a gate a file
    group = content.group
    if len(group.runs) != 1:
        raise NotOneRun(name, n=len(group.runs))
    # A run does not judge itself: grades in its own file would decide its gate.
    ungraded = replace(group, judged=(), raters={}, highest_grade=-1)
    file = replace(file, content=replace(content, group=ungraded))
    return GateRun(file, group.runs[0], len(group.judged))


def keep_run(
    session: Session, study: Study, gated: GateRun, request: GateRequest, now: datetime
) -> bool:
    """Store the run for raters to judge; return whether that made the study blind.

    A run that the study already has stays as it is.
    """
    was_blind = studies.is_blind(session, study)
    labels = FileDecision(method=request.method, llm=request.llm)
    report = file_formats.store(session, study, gated.file, labels, set(), now).report
    stored = report.runs[0] if isinstance(report, StoredResults) else report
    assert isinstance(stored, ImportedRun)
    if not (stored.already_imported or stored.enriched):
        run = runs.find(session, study, stored.id)
        run.search_method = request.method or run.search_method
        run.llm = request.llm or run.llm
    return not was_blind and studies.is_blind(session, study)


class QuestionPools(NamedTuple):
    """The judged items of some questions: ``names`` are (document id, title) by judged item id.

    ``identities`` are those of items shared by all runs, by question and judged item id.
    ``emptiness`` is the judged item of each question's empty list, shared by all runs.
    """

    names: dict[int, tuple[str, str]]
    identities: Mapping[int, Mapping[int, str]]
    emptiness: Mapping[int, int]

    def add(self, docno: str, title: str) -> int:
        """Return a new id, below 0, for an item that is not stored."""
        # Stored ids start at 1, so no two meet.
        item_id = -len(self.names) - 1
        self.names[item_id] = docno, title
        return item_id

    def query(
        self, question: Question, state: QueryState, item_ids: tuple[int, ...] = ()
    ) -> AskedQuery:
        """Return a query that is not stored."""
        emptiness = self.emptiness.get(question.id)
        return AskedQuery(0, "", question.position, state, item_ids, emptiness, asks_quality=False)


class RankedList(NamedTuple):
    """A query as raters are asked it, and its list in a form comparable with the baseline's.

    ``items`` are ids of judged items; below the depth that is stored they are identities. In a
    question that depends on its conversation a verdict holds for one run only: there ``query``
    has new ids, and ``items`` those of the baseline's items, so that equal lists compare equal.
    """

    query: AskedQuery
    items: tuple[int | str, ...] = ()


Lists = Mapping[int, RankedList]
"""The lists of a run by the ids of their questions."""


def gate(
    session: Session,
    study: Study,
    gated: GateRun,
    request: GateRequest,
    *,
    turns_blind: bool = False,
) -> GateReport:
    """Return what a gate says of a run; nothing is written.

    A run that the study already has is taken as it is stored. Raises ``UnknownRun``,
    ``DifferentQuestions``, what ``reports.rule_of`` raises, and why the files cannot be of this
    study.
    """
    baseline = runs.find(session, study, request.baseline)
    rule = reports.rule_of(session, study, request.rule)
    run = _run(session, study, gated, request)
    if run.id not in {"", baseline.id}:
        chosen_runs.comparable(session, study, [run.id, baseline.id])
    scope = Query.run_id.in_({baseline.id, run.id})
    pools = _pools(session, study, scope)
    stored = _stored_lists(session, scope)
    run_lists = baseline_lists = stored[baseline.id]
    if run.id != baseline.id:
        run_lists = _lists_of_files(session, study, gated, baseline, pools)
        for question_id, (query, items) in stored.get(run.id, {}).items():
            # A stored run is judged as it is stored; its file may list more.
            file_items = run_lists[question_id].items if question_id in run_lists else items
            run_lists[question_id] = RankedList(query, file_items)
    put_to_raters = baseline_lists.keys() - question_sets.unasked(session, study.id)
    questions = [each for each in baseline.question_set.questions if each.id in put_to_raters]
    missing = [question for question in questions if question.id not in run_lists]
    lists = run_lists
    if not request.allow_missing:
        empty = {each.id: RankedList(pools.query(each, QueryState.EMPTY)) for each in missing}
        lists = {**run_lists, **empty}
    merged = reports.verdicts_under(session, study, scope, rule, pooled=True)
    deciding = request.figures or _headline(study, baseline_lists)
    names = ranking_names((*deciding, *request.floors))

    def answer(listed: RankedList) -> GatedAnswer:
        summary = merged.summary(listed.query, cannot_tell=study.cannot_tell, ranking=names)
        judged = tuple(grade is not None for grade in merged.ranked(listed.query).ranks)
        return GatedAnswer(summary, listed.items, judged)

    compared = [question.id for question in questions if question.id in lists]
    pairs = [(answer(lists[key]), answer(baseline_lists[key])) for key in compared]
    figures = tuple(gate_figures(pairs, deciding, request))
    outcome = _worst_outcome(figures)
    unjudged, n_below_pool = _unjudged(study, questions, run_lists, merged, pools)
    run_names = chosen_runs.names_of([run, baseline] if run.id != baseline.id else [baseline])
    return GateReport(
        outcome=outcome,
        exit_code=EXIT_CODES[outcome],
        request=request,
        study=studies.shown_name(study),
        run=run.id or None,
        name=run_names[run.id],
        baseline_name=run_names[baseline.id],
        rule=rule.name,
        merging=Scale.stored(study.scale).merging(study.merging),
        n_questions=len(compared),
        answers=_counts(questions, run_lists),
        baseline_answers=_counts(questions, baseline_lists),
        figures=figures,
        unjudged=unjudged,
        n_below_pool=n_below_pool,
        missing=tuple(question.external_id or str(question.position) for question in missing),
        n_added=len(gated.read.queries) - len(run_lists.keys() & baseline_lists.keys()),
        n_grades=gated.n_grades,
        turns_blind=turns_blind,
        empty_answers=_empty_answers(session, study, rule, [lists[key] for key in compared]),
    )


def _worst_outcome(figures: Sequence[GateFigure]) -> Outcome:
    outcomes = [figure.floor_outcome for figure in figures if figure.floor_outcome]
    outcomes += [figure.difference.outcome for figure in figures if figure.difference]
    return max(outcomes, key=[*Outcome].index, default=Outcome.PASSED)


def _empty_answers(
    session: Session, study: Study, rule: Rule, lists: Iterable[RankedList]
) -> EmptyAnswerCounts:
    empty = {listed.query.emptiness for listed in lists if listed.query.state is QueryState.EMPTY}
    items = select(JudgedItem.id).where(JudgedItem.id.in_(empty - {None}))
    return counts_of(reports.empty_answers_of_items(session, study, items, rule).values())


def _run(session: Session, study: Study, gated: GateRun, request: GateRequest) -> Run:
    """Return the files' run as the study has it; one that it lacks has the id ""."""
    content = gated.file.content
    if isinstance(content, ResultsReport):
        report = results.examine(session, study, content)
        refused, run_id = report.refused, report.runs[0].run_id
    else:
        assert isinstance(content, ImportReport)
        run_report = imports.examine(session, study, content)
        refused, run_id = run_report.refused, run_report.run_id
    if refused:
        raise refused
    if run_id is not None:
        return runs.find(session, study, run_id)
    # Never added to the session: it only carries the labels that name it.
    return Run(
        id="",
        search_method=request.method or gated.read.search_method,
        llm=request.llm or gated.read.llm,
        timestamp=gated.read.timestamp,
    )


def _stored_lists(session: Session, scope: Scope) -> dict[str, dict[int, RankedList]]:
    columns = select(Query.id, Query.question_id, Query.extra[TAIL]).where(scope)
    queries = {key: (question, tail) for key, question, tail in core(session).execute(columns)}
    lists: dict[str, dict[int, RankedList]] = defaultdict(dict)
    for query in verdicts.asked_queries(session, scope, pooled=True):
        question_id, tail = queries[query.key]
        lists[query.run_id][question_id] = RankedList(query, (*query.item_ids, *(tail or ())))
    return lists


def _pools(session: Session, study: Study, scope: Scope) -> QuestionPools:
    names, emptiness = {}, {}
    identities: dict[int, dict[int, str]] = defaultdict(dict)
    title = func.coalesce(JudgedItem.card["title"].as_string(), "")
    columns = (JudgedItem.id, JudgedItem.question_id, JudgedItem.run_id, JudgedItem.content)
    statement = select(*columns, StoredItem.identity, title).outerjoin(StoredItem)
    statement = statement.where(JudgedItem.id.in_(verdicts.pool_of(scope)))
    for item_id, question_id, run_id, content, identity, text in core(session).execute(statement):
        if identity is not None:
            names[item_id] = KINDS[study.kind].docno(identity, content), text
        if run_id is None and identity is not None:
            identities[question_id][item_id] = identity
        elif run_id is None:
            emptiness[question_id] = item_id
    return QuestionPools(names, identities, emptiness)


def _lists_of_files(
    session: Session, study: Study, gated: GateRun, baseline: Run, pools: QuestionPools
) -> dict[int, RankedList]:
    """Return the lists of the run in the files; items not stored get ids below 0 in `pools`."""
    read, question_set = gated.read, baseline.question_set
    questions = question_sets.matched(
        question_set, read.queries, by_id=gated.file.format is FileFormat.RESULTS
    )
    if questions is None:
        of_run = {question_key(q.question): (n, q.question) for n, q in enumerate(read.queries, 1)}
        of_set = {each.key: (each.position, each.text) for each in question_set.questions}
        raise DifferentQuestions({read.name: of_run, baseline.id: of_set})
    pairs = zip(questions, read.queries, strict=True)
    matched = [(question, query) for question, query in pairs if question is not None]
    pool = Pool(session, {question.id for question, _ in matched})
    lists = {}
    for question, query in matched:
        run_id = baseline.id if question.context_dependent else None
        placed = [pool.place(question.id, run_id, card) for card in query.cards]
        for item, card in zip(placed, query.cards, strict=True):
            docno = KINDS[study.kind].docno(item.identity or "", item.content)
            item.id = item.id or pools.add(docno, card.title)
        item_ids = tuple(item.id for item in placed)
        items: tuple[int | str, ...] = (*item_ids, *query.tail)
        if question.context_dependent:
            # The baseline's verdicts were given in another conversation and do not hold here.
            new_ids = {each: pools.add(*pools.names[each]) for each in dict.fromkeys(item_ids)}
            item_ids = tuple(new_ids[each] for each in item_ids)
        listed_query = pools.query(question, query.state, item_ids)
        listed_query = with_pool(listed_query, pools.identities.get(question.id, {}), query.tail)
        lists[question.id] = RankedList(listed_query, items)
    return lists


def _headline(study: Study, baseline: Lists) -> tuple[str, ...]:
    """Return the figures of the study's headline that decide, those judged deep enough if any.

    Of a study whose headline has none they are the usual ones of its kind.
    """
    depths = [
        len(listed.query.item_ids)
        for listed in baseline.values()
        if len(listed.query.item_ids) < len(listed.items)
    ]
    if study.pool_depth is not None:
        depths.append(study.pool_depth)
    names = _tested(headline_of(study)) or _tested(usual_headline(study))
    if "mrr" in names:
        # A gate counts an empty list 0 in both, which makes them one figure.
        names = [name for name in names if name != "mrr_answerable"]
    judged_depth = min(depths, default=inf)
    deep_enough = [name for name in names if (depth_of(name) or inf) <= judged_depth]
    return tuple(deep_enough or names)


def _tested(headline: Sequence[str]) -> list[str]:
    """Return the figures of a headline that a comparison tests and a gate decides by."""
    return list(dict.fromkeys(name for name, _ in paired(headline) if _decides(name)))


def _counts(questions: Iterable[Question], lists: Lists) -> AnswerCounts:
    states = Counter(
        lists[question.id].query.state if question.id in lists else None for question in questions
    )
    order = (QueryState.RESULTS, QueryState.EMPTY, QueryState.FAILED, QueryState.UNREADABLE, None)
    return AnswerCounts(*(states[state] for state in order))


def _unjudged(
    study: Study,
    questions: Iterable[Question],
    lists: Lists,
    merged: Verdicts,
    pools: QuestionPools,
) -> tuple[tuple[Unjudged, ...], int]:
    """Return a run's unjudged results in the pool, and how many lie below the pool's depth."""
    unjudged: list[Unjudged] = []
    n_below = 0
    for question in questions:
        if question.id not in lists:
            continue
        query = lists[question.id].query
        position, external_id = question.position, question.external_id
        if query.state is QueryState.EMPTY and merged.outcome(query.emptiness) is None:
            unjudged.append(Unjudged(position, external_id))
        for item_id in dict.fromkeys(query.item_ids):
            if item_id in merged.by_item:
                continue
            rank = query.item_ids.index(item_id) + 1
            if rank > (study.pool_depth or inf):
                n_below += 1
            else:
                docno, title = pools.names[item_id]
                unjudged.append(Unjudged(position, external_id, rank, docno, title))
    return tuple(unjudged), n_below
