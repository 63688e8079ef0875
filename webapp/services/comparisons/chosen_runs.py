"""Which runs can be compared, which ones are meant, and what they are called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from msgspec import Struct
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from webapp import labels
from webapp.db.tables.judging import StoredSummary
from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Query, Result, Run
from webapp.db.tables.study import Question, Study
from webapp.failures import Refused
from webapp.i18n import gettext, mark
from webapp.metrics.comparisons.differences import ComparedQuery
from webapp.metrics.judging.queries import summarise
from webapp.records import Card, QueryState, Relevance
from webapp.services.judging import verdicts
from webapp.services.judging.events import UnknownQuery
from webapp.services.judging.judged_things import from_row
from webapp.services.judging.verdicts import Verdicts
from webapp.services.runs import reports, runs
from webapp.services.runs.reports import Rule
from webapp.services.study.question_sets import is_put_to_raters

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
        for run in runs.in_order(session, study)
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


def phase_of(compared: Sequence[Run]) -> int | None:
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


class ShownResult(Struct, frozen=True):
    """One card of a list with its verdict; ``elsewhere`` are its ranks in the other lists.

    By the name of the run; the same judged thing, so the verdict is the same one.
    """

    rank: int
    card: Card
    relevance: Relevance | None
    elsewhere: tuple[tuple[str, int], ...]


class Side(Struct, frozen=True):
    """One run's answer to the question; ``answer`` is ``None`` where it was not run."""

    run: str
    name: str
    answer: ComparedQuery | None
    response: str
    notes: str
    results: tuple[ShownResult, ...]


class ComparedQuestion(Struct, frozen=True):
    """A question at its position in the set, with one side per run and its neighbours.

    The neighbours are asked of raters; ``is_asked`` says whether it is too.
    """

    position: int
    question: str
    category: str
    sides: tuple[Side, ...]
    previous: int | None
    next: int | None
    is_asked: bool = True


def find(
    session: Session, study: Study, run_ids: Sequence[str], position: int, rule: Rule
) -> ComparedQuestion:
    """Return one question as every run of a comparison answered it.

    Raises ``UnknownRun``; ``UnknownQuery`` where none of the runs has a question there.
    """
    compared = [runs.find(session, study, run_id) for run_id in dict.fromkeys(run_ids)]
    names = names_of(compared)
    positions = _positions(session, list(names))
    if position not in positions:
        raise UnknownQuery(" ".join(names), position)
    asked = [place for place, is_asked in positions.items() if is_asked]
    at = Question.position == position
    scope = Query.run_id.in_(list(names)) & Query.question_id.in_(select(Question.id).where(at))
    said = reports.verdicts_under(session, study, scope, rule)
    queries = session.scalars(select(Query).where(scope)).all()
    by_run = {query.run_id: query for query in queries}
    sides = _sides(session, study, scope, names, by_run, said)
    question = queries[0].question
    return ComparedQuestion(
        position=position,
        question=question.text,
        category=question.category,
        sides=sides,
        previous=max((place for place in asked if place < position), default=None),
        next=min((place for place in asked if place > position), default=None),
        is_asked=positions[position],
    )


def _positions(session: Session, run_ids: Sequence[str]) -> dict[int, bool]:
    """Return the positions of the runs' questions, with whether raters are asked them."""
    rows = (
        select(Question.position, is_put_to_raters(Question.id))
        .join(Query)
        .where(Query.run_id.in_(run_ids))
        .distinct()
    )
    return {position: bool(is_asked) for position, is_asked in session.execute(rows)}


def _sides(
    session: Session,
    study: Study,
    scope: verdicts.Scope,
    names: dict[str, str],
    by_run: dict[str, Query],
    said: Verdicts,
) -> tuple[Side, ...]:
    ranks: dict[int, list[tuple[str, int]]] = {}
    shown: dict[str, list[Result]] = {run: [] for run in names}
    found = select(Result, Query.run_id).join(Query).where(scope).order_by(Result.rank)
    for result, run in session.execute(found):
        ranks.setdefault(result.judged_thing_id, []).append((names[run], result.rank))
        shown[run].append(result)
    answers = {
        asked.run_id: ComparedQuery(
            position=by_run[asked.run_id].question.position,
            query_id=asked.query_id,
            question=by_run[asked.run_id].question.text,
            category=by_run[asked.run_id].question.category,
            summary=summarise(said.judgments(asked), cannot_tell=study.cannot_tell),
        )
        for asked in verdicts.asked_queries(session, scope)
    }
    return tuple(
        Side(
            run=run,
            name=name,
            answer=answers.get(run),
            response=by_run[run].response if run in by_run else "",
            notes=said.notes.get(by_run[run].id, "") if run in by_run else "",
            results=tuple(
                ShownResult(
                    rank=result.rank,
                    card=from_row(result.card),
                    relevance=said.relevance(result.judged_thing_id),
                    elsewhere=tuple(e for e in ranks[result.judged_thing_id] if e[0] != name),
                )
                for result in shown[run]
            ),
        )
        for run, name in names.items()
    )
