"""Runs of one question set compared under one rule: which ones, by what, and how stable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from importlib.metadata import version

from msgspec import Struct
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from webapp import labels, rooms
from webapp.db.tables.judging import Judgment, StoredSummary
from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Query, Run
from webapp.db.tables.study import Question, Study
from webapp.failures import Refused
from webapp.i18n import gettext, mark
from webapp.metrics.comparisons.compared_runs import ComparedQuery, ComparedRun
from webapp.metrics.comparisons.comparisons import compare
from webapp.metrics.comparisons.report import ComparisonReport, RaterShare
from webapp.metrics.comparisons.resampling import Resampling
from webapp.metrics.comparisons.stability import stability
from webapp.metrics.judging.summaries import QueryJudgments, summarise
from webapp.records import QueryState
from webapp.services.judging import verdicts
from webapp.services.judging.verdicts import AskedQuery, Verdicts
from webapp.services.runs import order, reports, runs
from webapp.services.runs.reports import ADJUDICATED, MAJORITY, Rule
from webapp.services.study import blinding, studies
from webapp.services.study.unasked import is_put_to_raters, unasked
from webapp.steps import Tell, nobody

FEWEST = 2
"""A run alone is compared with nothing."""

PHASES = {1: ("search_method", "llm"), 2: ("llm", "search_method")}
"""Each phase: the label in which its runs differ, and the one they share."""

DISTINCTIONS = (
    ("search_method",),
    ("llm",),
    ("search_method", "llm"),
    ("search_method", "llm", "timestamp"),
    ("search_method", "llm", "id"),
)
"""The labels that can name a run among others, the shortest names first."""


CHOOSE = mark("Choose two runs or more of one question set on the page of the comparison.")


class NothingToCompare(Refused):
    """Fewer than two runs were chosen, or none differ in the label that the phase compares."""

    message = mark("A comparison needs two runs of one question set")
    remedy = CHOOSE
    command_remedy = mark("`relevansi runs` lists them.")
    status = 422


class DifferentQuestions(Refused):
    """The runs belong to different question sets; `only` has the questions that not all share.

    It maps the run's name to (position, question) of each.
    """

    message = mark("These runs were asked different questions: %(name)s")
    remedy = CHOOSE
    status = 422

    def __init__(self, only: Mapping[str, tuple[tuple[int, str], ...]]) -> None:
        alone = (
            f"{name}: {', '.join(str(position) for position, _ in asked)}"
            for name, asked in only.items()
            if asked
        )
        super().__init__("; ".join(alone))
        self.only = only


class Candidate(Struct, frozen=True):
    """A run that may be compared: its labels, its question set, and whether it is rated.

    ``done`` of ``of`` readable queries are complete for the rater who has got furthest.
    """

    run: str
    search_method: str | None
    llm: str | None
    timestamp: str | None
    question_set: int
    imported_at: datetime
    done: int
    of: int

    @property
    def complete(self) -> bool:
        """Whether a rater has finished the run."""
        return self.done == self.of


def candidates(session: Session, study: Study) -> tuple[Candidate, ...]:
    """Return every run of the study in its order."""
    own = Query.run_id.in_(select(Run.id).where(Run.study_id == study.id))
    asked = own & is_put_to_raters(Query.question_id)
    done = (
        select(StoredSummary.run_id, func.count().label("done"))
        .join(Query, Query.id == StoredSummary.query_key)
        .join(Rater, Rater.id == StoredSummary.rater_id)
        .where(asked, StoredSummary.complete, Rater.is_machine.is_(False))
        .group_by(StoredSummary.run_id, StoredSummary.rater_id)
        .subquery()
    )
    by_run = select(done.c.run_id, func.max(done.c.done)).group_by(done.c.run_id)
    furthest = dict(session.execute(by_run).all())
    readable = asked & (Query.state != str(QueryState.UNREADABLE))
    counted = select(Query.run_id, func.count()).where(readable).group_by(Query.run_id)
    of = dict(session.execute(counted).all())
    return tuple(
        Candidate(
            run=run.id,
            search_method=run.search_method,
            llm=run.llm,
            timestamp=run.timestamp,
            question_set=run.question_set_id,
            imported_at=run.imported_at,
            done=furthest.get(run.id, 0),
            of=of.get(run.id, 0),
        )
        for run in order.in_order(session, study)
    )


def of_phase(session: Session, study: Study, phase: int) -> tuple[str, ...]:
    """Return the ids of the runs a phase compares: they differ in its label, share the other.

    Of the groups that could be meant, the one with most labels, else the newest; of each
    label its newest complete run, else its newest, in the study's order. Raises
    ``NothingToCompare``.
    """
    varying, _ = PHASES[phase]
    everything = candidates(session, study)
    newest_first = sorted(everything, key=lambda run: run.imported_at, reverse=True)
    groups = _groups(newest_first, phase)
    best = max(groups, key=lambda group: len({getattr(run, varying) for run in group}), default=[])
    chosen = _newest_of_each(best, varying)
    if len(chosen) < FEWEST:
        raise NothingToCompare(phase)
    return tuple(run.run for run in everything if run in chosen)


def phases_of(session: Session, study: Study) -> tuple[int, ...]:
    """Return the phases for which the study has runs to compare."""
    everything = candidates(session, study)
    return tuple(
        phase
        for phase, (varying, _) in PHASES.items()
        if any(
            len({getattr(run, varying) for run in group}) >= FEWEST
            for group in _groups(everything, phase)
        )
    )


def report(
    session: Session,
    study: Study,
    run_ids: Sequence[str],
    rule: Rule,
    *,
    settings: Resampling | None = None,
    tell: Tell = nobody,
) -> ComparisonReport:
    """Return the comparison of `run_ids` under `rule`, with its raters and how stable it is.

    Its phase is the one whose runs these could be. `tell` hears of the steps on the way. Raises
    ``UnknownRun``, ``NothingToCompare`` and ``DifferentQuestions``.
    """
    chosen = comparable(session, study, run_ids)
    names = names_of(chosen)
    tell(0, 4)
    judged = _RunsUnderRules(session, study, chosen, names)
    base = judged.under(rule)
    tell(1, 4)
    comparison = compare(base, rule=rule.name, settings=settings, unasked=judged.unasked)
    tell(2, 4)
    stable = stability(
        base,
        without_rater=judged.without_each_rater(rule),
        other_rules=judged.under_other_rules(rule),
    )
    tell(3, 4)
    wings = rooms.contributions("services", "comparison_part")
    parts = (
        wing.compared(session, study, chosen, names, rule=rule, settings=settings) for wing in wings
    )
    return ComparisonReport(
        study=study.name,
        phase=_phase_of(chosen),
        comparison=comparison,
        stability=stable,
        raters=judged.shares(rule),
        judged_until=judged.until(rule),
        blind=studies.is_blind(session, study),
        unblinded=tuple(time.since for time in blinding.unblinded(session, study)),
        version=version("relevansi"),
        badged=tuple(time.since for time in blinding.badged(session, study)),
        record_shown=tuple(time.since for time in blinding.record_shown(session, study)),
        parts=tuple(part for part in parts if part is not None),
    )


def comparable(session: Session, study: Study, run_ids: Sequence[str]) -> list[Run]:
    """Return the runs to compare, each once.

    Raises ``UnknownRun``, ``NothingToCompare`` and ``DifferentQuestions``.
    """
    chosen = [runs.find(session, study, run_id) for run_id in dict.fromkeys(run_ids)]
    if len(chosen) < FEWEST:
        raise NothingToCompare
    if len({run.question_set_id for run in chosen}) > 1:
        raise DifferentQuestions(_only(chosen, names_of(chosen)))
    return chosen


def judged_runs(
    session: Session, study: Study, compared: Sequence[Run], rule: Rule
) -> tuple[ComparedRun, ...]:
    """Return runs of one question set as `rule` judges them, without comparing them."""
    return _RunsUnderRules(session, study, compared, names_of(compared)).under(rule)


def names_of(compared: Sequence[Run]) -> dict[str, str]:
    """Return a name for each run by its id: the shortest labels that tell all apart."""
    unknown = gettext("not stated")
    names = {run.id: run.id for run in compared}
    for parts in DISTINCTIONS:
        stated = {run.id: [_said(run, part) or unknown for part in parts] for run in compared}
        names = {run: " · ".join(found) for run, found in stated.items()}
        if len(set(names.values())) == len(compared):
            break
    return names


def _said(run: Run, part: str) -> str | None:
    """Return a part of a run's name: its search method in words, the rest as it is."""
    said: str | None = getattr(run, part)
    return labels.method(said) if part == "search_method" else said


class _RunsUnderRules:
    """The compared runs under any rule, made from one reading of the database."""

    def __init__(
        self, session: Session, study: Study, compared: Sequence[Run], names: Mapping[str, str]
    ) -> None:
        self._session = session
        self._runs = compared
        self._names = names
        self._scope = Query.run_id.in_([run.id for run in compared])
        self._everybody = studies.raters(session, study)
        ids = [rater.id for rater in self._everybody]
        self._said = verdicts.by_rater(session, self._scope, ids)
        self._settled = verdicts.settled(session, self._scope)
        everything = verdicts.asked_queries(session, self._scope)
        asked = select(Query.id, Question).join_from(Query, Question).where(self._scope)
        self._questions = dict(session.execute(asked).all())
        left_out = unasked(session, study.id)
        self._asked = [one for one in everything if self._questions[one.key].id not in left_out]
        everywhere = self._questions.values()
        self._made: dict[tuple[int, QueryJudgments], ComparedQuery] = {}
        self.unasked = sorted({one.position for one in everywhere if one.id in left_out})

    def under(self, rule: Rule) -> tuple[ComparedRun, ...]:
        """Return the runs as `rule` judges them."""
        if rule.rater is not None:
            return self._compared(self._of(rule.rater))
        return self._merged(self._everybody, adjudicated=rule.name == ADJUDICATED)

    def without_each_rater(self, rule: Rule) -> dict[str, tuple[ComparedRun, ...]]:
        """Return the runs under a merging rule once without each of their raters, by name."""
        judging = self._judging()
        if rule.rater is not None or len(judging) < FEWEST:
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
        if len(judging) >= FEWEST:
            rules.append(Rule(MAJORITY))
        if self._settled:
            rules.append(Rule(ADJUDICATED))
        found = {other.name: self.under(other) for other in rules if other.name != rule.name}
        return {name: judged for name, judged in found.items() if all(map(_is_rated, judged))}

    def shares(self, rule: Rule) -> tuple[RaterShare, ...]:
        """Return the raters who judged the runs, with how many verdicts each."""
        raters = [rule.rater] if rule.rater is not None else self._judging()
        return tuple(RaterShare(studies.called(r), len(self._of(r).by_thing)) for r in raters)

    def until(self, rule: Rule) -> datetime | None:
        """Return when the last verdict under `rule` was given; ``None`` before the first."""
        ids = [rule.rater.id] if rule.rater is not None else [r.id for r in self._everybody]
        return self._session.scalar(
            select(func.max(Judgment.changed_at)).where(
                Judgment.rater_id.in_(ids),
                Judgment.verdict.is_not(None),
                Judgment.judged_thing_id.in_(verdicts.judged_things(self._scope)),
            )
        )

    def _of(self, rater: Rater) -> Verdicts:
        """Return one rater's verdicts, or a machine's, which are never read with the others."""
        if rater.id not in self._said:
            return verdicts.of_rater(self._session, self._scope, rater.id)
        return self._said[rater.id]

    def _judging(self) -> list[Rater]:
        return [rater for rater in self._everybody if self._said[rater.id].by_thing]

    def _merged(self, raters: Iterable[Rater], *, adjudicated: bool) -> tuple[ComparedRun, ...]:
        merged = verdicts.most([(rater.name, self._said[rater.id]) for rater in raters])
        return self._compared(verdicts.overruled(merged, self._settled) if adjudicated else merged)

    def _compared(self, said: Verdicts) -> tuple[ComparedRun, ...]:
        queries: dict[str, list[ComparedQuery]] = {run.id: [] for run in self._runs}
        for asked in self._asked:
            queries[asked.run_id].append(self._query(asked, said))
        return tuple(
            ComparedRun(
                run=run.id,
                name=self._names[run.id],
                search_method=run.search_method,
                llm=run.llm,
                queries=tuple(queries[run.id]),
            )
            for run in self._runs
        )

    def _query(self, asked: AskedQuery, said: Verdicts) -> ComparedQuery:
        """Return a query under some verdicts: made once, as most rules agree on most queries."""
        question, judgments = self._questions[asked.key], said.judgments(asked)
        key = asked.key, judgments
        if key not in self._made:
            self._made[key] = ComparedQuery(
                position=question.position,
                query_id=asked.query_id,
                question=question.text,
                category=question.category,
                summary=summarise(judgments),
                verdicts=judgments.verdicts,
            )
        return self._made[key]


def _phase_of(compared: Sequence[Run]) -> int | None:
    """The phase in whose label all the runs differ while they share the other; or none."""
    for phase, (varying, shared) in PHASES.items():
        found = {getattr(run, varying) for run in compared}
        if len(found) == len(compared) and len({getattr(run, shared) for run in compared}) == 1:
            return phase
    return None


def _groups(everything: Iterable[Candidate], phase: int) -> list[list[Candidate]]:
    """The runs that share a question set and the label that the phase holds fixed."""
    _, shared = PHASES[phase]
    groups: dict[tuple[int, str | None], list[Candidate]] = {}
    for run in everything:
        groups.setdefault((run.question_set, getattr(run, shared)), []).append(run)
    return list(groups.values())


def _newest_of_each(group: Iterable[Candidate], varying: str) -> list[Candidate]:
    """Return the run of each label from those of a group, the newest first."""
    by_label: dict[str | None, list[Candidate]] = {}
    for run in group:
        by_label.setdefault(getattr(run, varying), []).append(run)
    return [next((r for r in same if r.complete), same[0]) for same in by_label.values()]


def _only(
    compared: Sequence[Run], names: Mapping[str, str]
) -> dict[str, tuple[tuple[int, str], ...]]:
    """Return the questions of each run's set that the other sets do not all have."""
    texts = {
        run.id: {one.key: (one.position, one.text) for one in run.question_set.questions}
        for run in compared
    }
    shared = set.intersection(*(set(found) for found in texts.values()))
    return {
        names[run]: tuple(entry for key, entry in found.items() if key not in shared)
        for run, found in texts.items()
    }


def _is_rated(run: ComparedRun) -> bool:
    return any(query.summary.judged_count or query.summary.empty_outcome for query in run.queries)
