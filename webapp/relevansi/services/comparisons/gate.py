"""A gate before a change of a system: its new run held against floors and against an earlier run.

The run of the files meets every judgment there is: each item it lists is looked up among the judged
items of its question. Nothing is stored for that; ``keep_run`` stores the run, so that raters judge
what is open in it. How a figure is decided stands in ``metrics.comparisons.gate``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from math import inf, isfinite
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from relevansi.db.engine import tables
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
from relevansi.services.runs.file_formats import RESULTS, RUN, FileDecision, OpenedFile
from relevansi.services.runs.reports import Rule
from relevansi.services.study import question_sets, studies

EXIT_CODES = {Outcome.PASSED: 0, Outcome.OPEN: 3, Outcome.FAILED: 1}


class UnfitFloor(Refused, ValueError):
    """A floor that is not written as FIGURE=VALUE, or a second one; it is the argument."""

    message = mark('"%(name)s" is not a floor')
    remedy = mark(
        "Write the name of a figure, = and a number with a decimal point, once for each figure."
    )


class UnfitFigure(Refused, ValueError):
    """A figure by which a gate does not decide; it is the argument."""

    message = mark("A gate does not decide by %(name)s")
    remedy = mark(
        "The composite is no verdict, each answer's quality is rated anew, and how much is to be "
        "judged has a setting of its own, min-judged. Name other figures."
    )


class NotOneRun(Refused):
    """The files, which are the argument, hold no run or several."""

    message = mark("A gate takes one run, and %(name)s holds %(n)s")
    remedy = mark("Give it the results of one system; import ratings and grades before.")


class GateRun(NamedTuple):
    """The run in the files of a gate, and how many grades were there, which are left out."""

    file: OpenedFile
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
    """What a gate found. ``run`` is the id of the run, ``None`` where the study does not have it.

    ``missing`` names the questions that the run lacks: empty lists, unless the request leaves them
    out. ``n_added`` are questions of the run that the baseline lacks, which are in no figure.
    ``unjudged`` are the run's results without a verdict, and ``n_below_pool`` those below the depth
    that raters see. ``merging`` of several raters is by "majority" or "median". ``n_grades`` are
    grades in the files, which do not count: a run does not judge itself. ``turns_blind``: since the
    run was stored, raters rate blind. ``empty_answers`` says what looking gave for the run's empty
    lists and missing questions.
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
        if not figure.strip() or not isfinite(floor) or "_" in number:
            raise UnfitFloor(text)
        [name] = _fit(studies.named_figures([figure]))
        if name in floors:
            raise UnfitFloor(text)
        floors[name] = floor
    return floors


def figures_in(text: str) -> tuple[str, ...]:
    """Return the figures that a text names, with commas between.

    Raises ``UnfitFigure`` and ``UnknownHeadline``.
    """
    return _fit(studies.figures_in(text))


def _fit(names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if not _decides(name):
            raise UnfitFigure(name)
    return names


def _decides(figure: str) -> bool:
    return figure not in {"composite", "mean_response_quality"} and not figure.startswith("Judged")


def read(study: Study, files: Sequence[tuple[str, bytes]], choices: Choices) -> GateRun:
    """Return the run of a gate's files, which needs no transaction.

    Raises ``NotOneRun`` where there is none or are several, and an ``ImportRefused``.
    """
    together = file_formats.together(files, choices)
    form, name, data = together[0]
    if len(together) > 1 or form not in (RUN, RESULTS):
        n = sum(each[0] in (RUN, RESULTS) for each in together)
        raise NotOneRun(*(each[1] for each in together), n=n)
    file = file_formats.with_known_columns(study, file_formats.opened(form, name, data))
    if problems := file_formats.why_refused(file):
        raise ImportRefused(*problems)
    if form is RUN:
        return GateRun(file, file.read.read)
    group = file.read.group
    if len(group.runs) != 1:
        raise NotOneRun(name, n=len(group.runs))
    ungraded = replace(group, judged=(), raters={}, highest_grade=-1)
    file = replace(file, read=replace(file.read, group=ungraded))
    return GateRun(file, group.runs[0], len(group.judged))


def keep_run(
    session: Session, study: Study, gated: GateRun, request: GateRequest, now: datetime
) -> bool:
    """Store the run, for raters to judge; return whether they rate blind from now on.

    A run that the study has is left as it is.
    """
    was_blind = studies.is_blind(session, study)
    labels = FileDecision(method=request.method, llm=request.llm)
    report = file_formats.store(session, study, gated.file, labels, set(), now).report
    stored = report.runs[0] if gated.file.format is RESULTS else report
    if not (stored.already_imported or stored.enriched):
        run = runs.find(session, study, stored.id)
        run.search_method = request.method or run.search_method
        run.llm = request.llm or run.llm
    return not was_blind and studies.is_blind(session, study)


class QuestionPools(NamedTuple):
    """What is judged of some questions: items by id with their names, emptiness by question.

    ``identities`` are of the items that hold for every run, by question and id.
    """

    names: dict[int, tuple[str, str]]
    identities: Mapping[int, Mapping[int, str]]
    emptiness: Mapping[int, int]

    def add(self, docno: str, title: str) -> int:
        """Return the id of an item that is not stored, which is below 0."""
        item_id = -len(self.names) - 1  # no stored item has an id below 0
        self.names[item_id] = docno, title
        return item_id

    def query(
        self, question: Question, state: QueryState, item_ids: tuple[int, ...] = ()
    ) -> AskedQuery:
        """Return a query that is not stored."""
        emptiness = self.emptiness.get(question.id)
        return AskedQuery(0, "", question.position, state, item_ids, emptiness, asks_quality=False)


class RankedList(NamedTuple):
    """A query as it was asked, and what it lists, as it can be held against the baseline's list.

    ``items`` are ids of judged items, below them identities. An item of a question that depends on
    its conversation has the id of the baseline's item there, though it is judged anew.
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
    """Return what a gate says of a run; `session` only reads. A run of the study is that run.

    Raises ``UnknownRun``, ``DifferentQuestions``, what ``reports.rule_of`` raises, and why these
    files cannot be of the study.
    """
    baseline = runs.find(session, study, request.baseline)
    rule = reports.rule_of(session, study, request.rule)
    run_id = _known_id(session, study, gated)
    if run_id is None:  # a run that no session knows, by which it is named beside others
        method, llm = request.method or gated.read.search_method, request.llm or gated.read.llm
        run = Run(id="", search_method=method, llm=llm, timestamp=gated.read.timestamp)
    else:
        run = runs.find(session, study, run_id)
    if run_id not in {None, baseline.id}:  # one that is not stored is matched question by question
        chosen_runs.comparable(session, study, [run.id, baseline.id])
    scope = Query.run_id.in_({baseline.id, run_id or baseline.id})
    pools = _pools(session, study, scope)
    gated_lists, theirs = _both_lists(session, study, gated, run_id, baseline, pools)
    unasked = question_sets.unasked(session, study.id)
    of_set, of_baseline = baseline.question_set.questions, theirs.keys() - unasked
    questions_asked = [question for question in of_set if question.id in of_baseline]
    missing = [question for question in questions_asked if question.id not in gated_lists]
    empty_lists = {
        question.id: RankedList(pools.query(question, QueryState.EMPTY)) for question in missing
    }
    merged = reports.verdicts_under(session, study, scope, rule, pooled=True)
    deciding = request.figures or _headline(study, theirs)
    names = ranking_names((*deciding, *request.floors))

    def answer(listed: RankedList) -> GatedAnswer:
        summary = merged.summary(listed.query, cannot_tell=study.cannot_tell, ranking=names)
        judged = tuple(grade is not None for grade in merged.ranked(listed.query).ranks)
        return GatedAnswer(summary, listed.items, judged)

    lists = gated_lists if request.allow_missing else {**empty_lists, **gated_lists}
    questions = [question.id for question in questions_asked if question.id in lists]
    pairs = [(answer(lists[question]), answer(theirs[question])) for question in questions]
    figures = tuple(gate_figures(pairs, deciding, request))
    outcomes = {figure.floor_outcome for figure in figures}
    outcomes |= {figure.difference.outcome for figure in figures if figure.difference}
    worst_first = (each for each in (Outcome.FAILED, Outcome.OPEN) if each in outcomes)
    outcome = next(worst_first, Outcome.PASSED)
    unjudged, n_below_pool = _unjudged(study, questions_asked, gated_lists, merged, pools)
    run_names = chosen_runs.names_of([run, baseline] if run_id != baseline.id else [baseline])
    return GateReport(
        outcome=outcome,
        exit_code=EXIT_CODES[outcome],
        request=request,
        study=studies.shown_name(study),
        run=run_id,
        name=run_names[run.id],
        baseline_name=run_names[baseline.id],
        rule=rule.name,
        merging=Scale.stored(study.scale).merging(study.merging),
        n_questions=len(questions),
        answers=_counts(questions_asked, gated_lists),
        baseline_answers=_counts(questions_asked, theirs),
        figures=figures,
        unjudged=unjudged,
        n_below_pool=n_below_pool,
        missing=tuple(question.external_id or str(question.position) for question in missing),
        n_added=len(gated.read.queries) - len(gated_lists.keys() & theirs.keys()),
        n_grades=gated.n_grades,
        turns_blind=turns_blind,
        empty_answers=_empty_answers(session, study, rule, [lists[key] for key in questions]),
    )


def _empty_answers(
    session: Session, study: Study, rule: Rule, lists: Iterable[RankedList]
) -> EmptyAnswerCounts:
    empty = {listed.query.emptiness for listed in lists if listed.query.state is QueryState.EMPTY}
    items = select(JudgedItem.id).where(JudgedItem.id.in_(empty - {None}))
    return counts_of(reports.looked_up(session, study, items, rule).values())


def _known_id(session: Session, study: Study, gated: GateRun) -> str | None:
    """Return the id of the run of the study that the files hold, if it has it."""
    examine = results.examine if gated.file.format is RESULTS else imports.examine
    report: Any = examine(session, study, gated.file.read)
    if report.refused:
        raise report.refused
    run_id: str | None = report.run_id if gated.file.format is RUN else report.runs[0].run_id
    return run_id


def _both_lists(
    session: Session,
    study: Study,
    gated: GateRun,
    run_id: str | None,
    baseline: Run,
    pools: QuestionPools,
) -> tuple[Lists, Lists]:
    """Return the lists of the gated run and of the baseline; `run_id` is ``None`` if not stored."""
    stored = _stored_lists(session, Query.run_id.in_({baseline.id, run_id or baseline.id}))
    if run_id == baseline.id:
        return stored[baseline.id], stored[baseline.id]
    lists = _placed_lists(session, study, gated, baseline, pools)
    for question_id, (query, items) in stored[run_id or ""].items():
        # A stored run is judged as it is stored; its file may list more.
        of_file = lists[question_id].items if question_id in lists else items
        lists[question_id] = RankedList(query, of_file)
    return lists, stored[baseline.id]


def _stored_lists(session: Session, scope: Scope) -> dict[str, dict[int, RankedList]]:
    columns = select(Query.id, Query.question_id, Query.extra[TAIL]).where(scope)
    queries = {key: (question, tail) for key, question, tail in tables(session).execute(columns)}
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
    for item_id, question_id, run_id, content, identity, text in tables(session).execute(statement):
        if identity is not None:
            names[item_id] = KINDS[study.kind].docno(identity, content), text
        if run_id is None and identity is not None:
            identities[question_id][item_id] = identity
        elif run_id is None:
            emptiness[question_id] = item_id
    return QuestionPools(names, identities, emptiness)


def _placed_lists(
    session: Session, study: Study, gated: GateRun, baseline: Run, pools: QuestionPools
) -> dict[int, RankedList]:
    """Return the lists of a run that is not stored; new items get names, and ids below 0."""
    read, of_set = gated.read, baseline.question_set
    questions = question_sets.matched(of_set, read.queries, by_id=gated.file.format is RESULTS)
    if questions is None:
        ours = {question_key(q.question): (n, q.question) for n, q in enumerate(read.queries, 1)}
        theirs = {each.key: (each.position, each.text) for each in of_set.questions}
        raise DifferentQuestions({read.name: ours, baseline.id: theirs})
    matched_queries = [(at, query) for at, query in zip(questions, read.queries, strict=True) if at]
    pool = Pool(session, {question.id for question, _ in matched_queries})
    lists = {}
    for question, query in matched_queries:
        run_id = baseline.id if question.context_dependent else None
        placed = [pool.place(question.id, run_id, card) for card in query.cards]
        for item, card in zip(placed, query.cards, strict=True):
            docno = KINDS[study.kind].docno(item.identity or "", item.content)
            item.id = item.id or pools.add(docno, card.title)
        item_ids = tuple(item.id for item in placed)
        items: tuple[int | str, ...] = (*item_ids, *query.tail)
        if question.context_dependent:  # a verdict of another conversation does not hold
            anew = {each: pools.add(*pools.names[each]) for each in dict.fromkeys(item_ids)}
            item_ids = tuple(anew[each] for each in item_ids)
        listed_query = pools.query(question, query.state, item_ids)
        listed_query = with_pool(listed_query, pools.identities.get(question.id, {}), query.tail)
        lists[question.id] = RankedList(listed_query, items)
    return lists


def _headline(study: Study, baseline: Lists) -> tuple[str, ...]:
    """Return the headline figures that a comparison tests, if any those judged deep enough.

    Of a study that shows none they are the usual ones of its kind.
    """
    lengths = ((len(listed.query.item_ids), len(listed.items)) for listed in baseline.values())
    depths = [n_judged for n_judged, n_listed in lengths if n_judged < n_listed]
    if study.pool_depth is not None:
        depths.append(study.pool_depth)
    headlines = (headline_of(study), usual_headline(study))
    tested = (
        dict.fromkeys(name for name, _ in paired(headline) if _decides(name))
        for headline in headlines
    )
    names = next(filter(None, tested))
    if "mrr" in names:  # where an empty list is 0, the two are one figure
        names.pop("mrr_answerable", None)
    within = [name for name in names if (depth_of(name) or inf) <= min(depths, default=inf)]
    return tuple(within or names)


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
    """Return what raters are still to judge of a run, and how much is below the pool's depth."""
    unjudged: list[Unjudged] = []
    n_below = 0
    for question in questions:
        if question.id not in lists:
            continue
        query, names = lists[question.id].query, (question.position, question.external_id)
        if query.state is QueryState.EMPTY and merged.outcome(query.emptiness) is None:
            unjudged.append(Unjudged(*names))
        for item_id in dict.fromkeys(query.item_ids):
            rank = query.item_ids.index(item_id) + 1
            if item_id in merged.by_item:
                continue
            if rank > (study.pool_depth or inf):
                n_below += 1
            else:
                unjudged.append(Unjudged(*names, rank, *pools.names[item_id]))
    return tuple(unjudged), n_below
