"""A run with its verdicts under a rule, as every export begins with it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Row, Select, select
from sqlalchemy.orm import Session

from relevansi import labels
from relevansi.db.tables.judging import JudgedItem, StoredItem
from relevansi.db.tables.runs import Query, Result, Run
from relevansi.db.tables.study import Question, Study
from relevansi.exporters.exports import run_folders
from relevansi.exporters.exports.judged_results import JudgedResult
from relevansi.exporters.exports.judging_sentences import unsampled_sentence
from relevansi.kinds import KINDS, from_row, listed_item
from relevansi.kinds.document import Document
from relevansi.metrics.judging.figures import RunReport
from relevansi.metrics.judging.graded import is_pooled
from relevansi.notation import file_day
from relevansi.records import ExportedFile, QueryState, Scale, State
from relevansi.services.catalogue import evidence
from relevansi.services.judging import verdicts
from relevansi.services.judging.verdicts import TAIL
from relevansi.services.runs import reasons, reports, runs
from relevansi.services.runs.reports import Rule
from relevansi.services.study import studies

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


class RatedRun(Struct, frozen=True, dict=True):
    """A run that is written with its verdicts under a rule; files of it share what is read."""

    session: Session
    study: Study
    run_id: str
    rule: Rule

    @cached_property
    def run(self) -> Run:
        return runs.find(self.session, self.study, self.run_id)

    @property
    def rated_by(self) -> str:
        """The name of the rater, or of the rule by which raters are merged."""
        if self.rule.rater:
            return studies.rater_name(self.rule.rater)
        scale, is_majority = Scale.stored(self.study.scale), self.rule.name == reports.MAJORITY
        return scale.merging(self.study.merging) if is_majority else self.rule.name

    @cached_property
    def report(self) -> RunReport:
        return reports.report(self.session, self.study, self.run_id, self.rule)

    def report_in_words(self) -> RunReport:
        return reports.report_in_words(self.session, self.study, self.run_id, self.rule)

    @cached_property
    def state(self) -> State:
        in_run = Query.run_id == self.run_id
        return reports.state(self.session, self.study, in_run, self.rule)

    @cached_property
    def unsampled_sentence(self) -> tuple[str, ...]:
        return unsampled_sentence(reports.unasked(self.session, self.run_id))

    def by_rater(self) -> dict[str, RatedRun]:
        """Return the run under each person's own verdicts, by the person's name."""
        people = studies.raters(self.session, self.study)
        return {person.name: replace(self, rule=reports.of_rater(person)) for person in people}

    def file(self, name: str, data: bytes, *notes: str) -> ExportedFile:
        """Return a file of the run, named with the day of the run, else of its import.

        The id tells runs of one day apart. The name of a file of unfinished ratings ends in how
        far they are.
        """
        stated_day = run_folders.moment(self.run.timestamp).partition("_")[0]
        day = stated_day if stated_day.isdecimal() else file_day(self.run.imported_at)
        stem, _, ending = name.partition(".")
        # A run file holds lists and no verdicts, so it is never unfinished.
        end = "" if stem == "run" else labels.file_ending(self.state)
        name = f"{stem}_{day}_{self.run_id}{end}.{ending}"
        return ExportedFile(name, MEDIA_TYPES[ending], data, notes)


def judged(rated: RatedRun, *, with_empty: bool = False) -> Iterator[JudgedResult]:
    """Yield the results of a run in order, question by question; `with_empty` empty lists too.

    Where figures rest on the pool of a question, ranks below those that are judged follow, and
    what else was pooled. Elsewhere only what was pinned as evidence on the question follows.
    """
    session, study, run_id, rule = rated.session, rated.study, rated.run_id, rated.rule
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
