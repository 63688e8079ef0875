"""Runs of one question set as the study's rules judge them, to be compared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from relevansi import labels
from relevansi.db.tables.judging import Judgment
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query, Run
from relevansi.db.tables.study import Question, Study
from relevansi.metrics.comparisons.differences import ComparedQuery, ComparedRun, conversations
from relevansi.metrics.judging.graded import ranking_names
from relevansi.metrics.judging.queries import as_counted
from relevansi.services.comparisons.chosen_runs import names_of
from relevansi.services.judging import verdicts
from relevansi.services.judging.verdicts import AskedQuery, Verdicts
from relevansi.services.runs import reports
from relevansi.services.runs.reports import ADJUDICATED, MAJORITY, Rule
from relevansi.services.study import studies
from relevansi.services.study.question_sets import unasked


def judged_runs(
    session: Session,
    study: Study,
    compared: Sequence[Run],
    rule: Rule,
    figures: Sequence[str] = (),
) -> tuple[ComparedRun, ...]:
    """Return runs of one question set as `rule` judges them, without comparing them.

    Each question has the ranking figures among `figures`.
    """
    return RunsUnderRules(session, study, compared, ranking_names(figures)).under(rule)


class RunsUnderRules:
    """The compared runs under any rule, made from one reading of the database.

    ``unasked`` are the positions of the questions that the study puts to nobody.
    """

    def __init__(
        self,
        session: Session,
        study: Study,
        compared: Sequence[Run],
        ranking: Sequence[str] = (),
    ) -> None:
        self._session = session
        self._ranking = ranking
        self._merging = verdicts.merging_of(study)
        self._cannot_tell = study.cannot_tell
        self._runs = compared
        self._names = names_of(compared)
        self._scope = Query.run_id.in_([run.id for run in compared])
        self._everybody = studies.raters(session, study)
        ids = [rater.id for rater in self._everybody]
        pooled = bool(ranking)
        self._by_rater = verdicts.by_rater(session, self._scope, ids, pooled=pooled)
        self._adjudications = verdicts.adjudications(session, self._scope, pooled=pooled)
        everything = verdicts.asked_queries(session, self._scope, pooled=pooled)
        self._items: set[int | None] = set()
        for query in everything:
            self._items |= {*query.item_ids, query.emptiness}
        statement = select(Query.id, Question).join_from(Query, Question).where(self._scope)
        self._questions = dict(session.execute(statement).all())
        left_out, questions = unasked(session, study.id), self._questions
        self._asked = [query for query in everything if questions[query.key].id not in left_out]
        self._conversations = conversations(
            {question.position: question.context_dependent for question in questions.values()}
        )
        # Most queries are judged alike under several rules.
        self._cache: dict[tuple[object, ...], ComparedQuery] = {}
        self.unasked = sorted({q.position for q in questions.values() if q.id in left_out})

    def under(self, rule: Rule) -> tuple[ComparedRun, ...]:
        """Return the runs under one rule, in the order in which they are compared."""
        if rule.rater is not None:
            return self._compared(self._of(rule.rater))
        return self._merged(self._everybody, adjudicated=rule.name == ADJUDICATED)

    def without_each_rater(self, rule: Rule) -> dict[str, tuple[ComparedRun, ...]]:
        """Return the runs under a merging rule once without each of their raters, by name."""
        judging = self._judging()
        if rule.rater is not None or len(judging) < 2:
            return {}
        return {
            left_out.name: self._merged(
                [rater for rater in judging if rater is not left_out],
                adjudicated=rule.name == ADJUDICATED,
            )
            for left_out in judging
        }

    def under_other_rules(self, rule: Rule) -> dict[str, tuple[ComparedRun, ...]]:
        """Return the runs under every other rule that has verdicts on each of them."""
        judging = self._judging()
        rules = [reports.of_rater(rater) for rater in judging]
        if len(judging) > 1:
            rules.append(Rule(MAJORITY))
        if self._adjudications:
            rules.append(Rule(ADJUDICATED))
        others = {each.name: self.under(each) for each in rules if each.name != rule.name}
        return {name: judged for name, judged in others.items() if all(map(_is_judged, judged))}

    def verdicts_by_rater(self, rule: Rule) -> tuple[tuple[str, int], ...]:
        """Return the raters whose verdicts `rule` uses, each with the number of them."""
        raters = [rule.rater] if rule.rater is not None else self._judging()
        counts = [sum(item in self._items for item in self._of(r).by_item) for r in raters]
        names = [labels.owner(r.name) if r.is_owner else studies.rater_name(r) for r in raters]
        return tuple(zip(names, counts, strict=True))

    def until(self, rule: Rule) -> datetime | None:
        """Return when the last verdict under `rule` was given; ``None`` before the first."""
        ids = [rule.rater.id] if rule.rater is not None else [r.id for r in self._everybody]
        of_raters = Judgment.rater_id.in_(ids) & Judgment.verdict.is_not(None)
        in_scope = Judgment.judged_item_id.in_(verdicts.judged_items(self._scope))
        return self._session.scalar(
            select(func.max(Judgment.changed_at)).where(of_raters, in_scope)
        )

    def _of(self, rater: Rater) -> Verdicts:
        if rater.id not in self._by_rater:
            pooled = bool(self._ranking)
            return verdicts.of_rater(self._session, self._scope, rater.id, pooled=pooled)
        return self._by_rater[rater.id]

    def _judging(self) -> list[Rater]:
        return [rater for rater in self._everybody if self._by_rater[rater.id].by_item]

    def _merged(self, raters: Iterable[Rater], *, adjudicated: bool) -> tuple[ComparedRun, ...]:
        by_name = [(rater.name, self._by_rater[rater.id]) for rater in raters]
        merged = verdicts.merged(by_name, self._merging)
        if adjudicated:
            merged = verdicts.overruled(merged, self._adjudications)
        return self._compared(merged)

    def _compared(self, judged: Verdicts) -> tuple[ComparedRun, ...]:
        queries: dict[str, list[ComparedQuery]] = {run.id: [] for run in self._runs}
        for query in self._asked:
            queries[query.run_id].append(self._query(query, judged))
        return tuple(
            ComparedRun(
                *(run.id, self._names[run.id], run.search_method, run.llm),
                tuple(queries[run.id]),
            )
            for run in self._runs
        )

    def _query(self, query: AskedQuery, judged: Verdicts) -> ComparedQuery:
        question, judgments = self._questions[query.key], judged.judgments(query)
        key = query.key, judgments, judged.ranked(query) if self._ranking else None
        if key not in self._cache:
            self._cache[key] = ComparedQuery(
                position=question.position,
                query_id=query.query_id,
                question=question.text,
                category=question.category,
                conversation=self._conversations.get(question.position),
                summary=judged.summary(query, cannot_tell=self._cannot_tell, ranking=self._ranking),
                verdicts=as_counted(judgments.verdicts, cannot_tell=self._cannot_tell),
                is_open=bool(judged.open_items(query)),
                n_holes=query.item_ids.count(verdicts.HOLE),
            )
        return self._cache[key]


def _is_judged(run: ComparedRun) -> bool:
    summaries = (query.summary for query in run.queries)
    return any(summary.judged_count or summary.empty_outcome for summary in summaries)
