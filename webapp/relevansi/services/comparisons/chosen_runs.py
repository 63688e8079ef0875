"""The runs of a comparison: which to choose, their names, and one question as each answered it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from textwrap import shorten
from typing import Any, NamedTuple

from msgspec import Struct
from sqlalchemy import func, select
from sqlalchemy.orm import Session, joinedload

from relevansi import labels
from relevansi.db.tables.judging import StoredSummary
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query, Result, Run
from relevansi.db.tables.study import Question, Study
from relevansi.failures import Refused
from relevansi.i18n import gettext, mark
from relevansi.kinds import listed_item as shown_item
from relevansi.metrics.comparisons.differences import ComparedQuery
from relevansi.metrics.judging.empty_answers import EmptyAnswer, Evidence
from relevansi.metrics.judging.graded import headline_of, ranking_names
from relevansi.records import Item, QueryState
from relevansi.services.judging import verdicts
from relevansi.services.judging.judgments import UnknownQuery
from relevansi.services.runs import reports, runs
from relevansi.services.runs.reports import Rule
from relevansi.services.runs.votes import votes_by_item
from relevansi.services.study.question_sets import is_put_to_raters

MIN_RUNS = 2

MAX_NAMED = 3
"""How many questions that runs do not share an error names of each run; it counts the rest."""

PHASES = {1: ("search_method", "llm"), 2: ("llm", "search_method")}
"""Of each phase of a study the label in which its runs differ, and the one they share."""

NAMING_LABELS = (
    ("search_method",),
    ("llm",),
    ("search_method", "llm"),
    ("search_method", "llm", "timestamp"),
    ("search_method", "llm", "id"),
)
"""The labels that can name a run among others, the shortest names first."""


CHOOSE = mark("Choose two runs or more of one question set on the page of the comparison.")


class NothingToCompare(Refused):
    message = mark("A comparison needs two runs of one question set")
    remedy = CHOOSE
    program_remedy = mark("Name two runs or more of one question set: run=ID&run=ID.")
    command_remedy = mark("`relevansi runs` lists them.")
    status = 422


class DifferentQuestions(Refused):
    """The runs have different question sets; `only` has the questions that not all share, by name.

    `questions_by_name` has every (position, question), under keys that are equal for equal
    questions.
    """

    message = mark("These runs were asked different questions: %(name)s")
    remedy = CHOOSE
    program_remedy = mark("Name two runs or more of one question set: run=ID&run=ID.")
    status = 422

    def __init__(self, questions_by_name: Mapping[str, Mapping[Any, tuple[int, str]]]) -> None:
        shared = set.intersection(*map(set, questions_by_name.values()))
        self.only = {
            name: tuple(entry for key, entry in entries.items() if key not in shared)
            for name, entries in questions_by_name.items()
        }
        parts = []
        for name, entries in self.only.items():
            # By their texts: positions of two sets would look shared.
            texts = [shorten(text, 60, placeholder="…") or str(place) for place, text in entries]
            n_unnamed = len(texts) - MAX_NAMED
            if n_unnamed > 0:
                texts[MAX_NAMED:] = [f"+ {n_unnamed}"]
            if texts:
                parts.append(f"{name}: {', '.join(texts)}")
        super().__init__("; ".join(parts))


class Candidate(NamedTuple):
    """A run, and how many of its readable queries the rater who got furthest has completed."""

    run: Run
    n_complete: int
    n_readable: int

    @property
    def complete(self) -> bool:
        return self.n_complete == self.n_readable


def candidates(session: Session, study: Study) -> tuple[Candidate, ...]:
    """Return the runs of a study with how far each is rated, in the study's order."""
    of_study = Query.run_id.in_(select(Run.id).where(Run.study_id == study.id))
    put_to_raters = of_study & is_put_to_raters(Query.question_id)
    # One rater's complete judgments make figures; a machine's alone make none.
    complete_queries = (
        select(StoredSummary.run_id, func.count().label("n"))
        .join(Query, Query.id == StoredSummary.query_key)
        .join(Rater, Rater.id == StoredSummary.rater_id)
        .where(put_to_raters, StoredSummary.complete, Rater.is_machine.is_(False))
        .group_by(StoredSummary.run_id, StoredSummary.rater_id)
        .subquery()
    )
    run_id = complete_queries.c.run_id
    by_run = select(run_id, func.max(complete_queries.c.n)).group_by(run_id)
    n_complete = dict(session.execute(by_run).all())
    readable = put_to_raters & (Query.state != str(QueryState.UNREADABLE))
    readable_queries = select(Query.run_id, func.count()).where(readable).group_by(Query.run_id)
    n_readable = dict(session.execute(readable_queries).all())
    return tuple(
        Candidate(run, n_complete.get(run.id, 0), n_readable.get(run.id, 0))
        for run in runs.in_order(session, study)
    )


def of_phase(session: Session, study: Study, phase: int) -> tuple[str, ...]:
    """Return the ids of the runs that a phase compares, in the study's order.

    They differ in the label of the phase and share the other. Of several such groups it is the
    one with most labels, else the newest; of each label its newest complete run, else its newest.
    Raises ``NothingToCompare``.
    """
    all_candidates = candidates(session, study)
    newest_first = sorted(all_candidates, key=lambda each: runs.sequence(each.run), reverse=True)
    groups = _groups(newest_first, phase)
    # Of groups with equally many labels `max` takes the first, which has the newest run.
    largest = max(groups, key=len, default={})
    if len(largest) < MIN_RUNS:
        raise NothingToCompare(phase)
    chosen = set()
    for same_label in largest.values():
        complete = [candidate for candidate in same_label if candidate.complete]
        chosen.add((complete or same_label)[0].run.id)
    return tuple(candidate.run.id for candidate in all_candidates if candidate.run.id in chosen)


def phases_of(session: Session, study: Study) -> tuple[int, ...]:
    """Return the phases of which the study has runs to compare."""
    all_candidates = candidates(session, study)
    return tuple(
        phase
        for phase in PHASES
        if any(len(group) >= MIN_RUNS for group in _groups(all_candidates, phase))
    )


def comparable(session: Session, study: Study, run_ids: Sequence[str]) -> list[Run]:
    """Return the runs to compare, each once, in the order of their ids.

    Raises ``UnknownRun``, ``NothingToCompare`` and ``DifferentQuestions``.
    """
    chosen = [runs.find(session, study, run_id) for run_id in dict.fromkeys(run_ids)]
    if len(chosen) < MIN_RUNS:
        raise NothingToCompare
    if len({run.question_set_id for run in chosen}) > 1:
        names = names_of(chosen)
        questions_by_name = {
            names[run.id]: {
                each.key: (each.position, each.text) for each in run.question_set.questions
            }
            for run in chosen
        }
        raise DifferentQuestions(questions_by_name)
    return chosen


def names_of(compared: Sequence[Run]) -> dict[str, str]:
    """Return a name for each run by its id: the shortest labels that tell all apart."""
    names: dict[str, str] = {}
    for parts in NAMING_LABELS:
        for run in compared:
            texts = [getattr(run, part) for part in parts]
            if parts[0] == "search_method":
                texts[0] = labels.method(texts[0])
            names[run.id] = " · ".join(text or gettext("not stated") for text in texts)
        if len(set(names.values())) == len(compared):
            break
    return names


def phase_of(compared: Sequence[Run]) -> int | None:
    """Return the phase in whose label all runs differ while they share the other, or ``None``."""
    for phase, (varying, shared) in PHASES.items():
        n_varied = len({getattr(run, varying) for run in compared})
        n_shared = len({getattr(run, shared) for run in compared})
        if n_varied == len(compared) and n_shared == 1:
            return phase
    return None


def _groups(listed: Iterable[Candidate], phase: int) -> list[dict[str | None, list[Candidate]]]:
    """Return the runs that share question set and fixed label, by the label that varies."""
    varying, shared = PHASES[phase]
    groups: dict[object, dict[str | None, list[Candidate]]] = {}
    for candidate in listed:
        run = candidate.run
        group = groups.setdefault((run.question_set_id, getattr(run, shared)), {})
        group.setdefault(getattr(run, varying), []).append(candidate)
    return list(groups.values())


class ListedItem(NamedTuple):
    """An item in a run's list with its verdict and the votes on it, where several count.

    ``elsewhere`` are the ranks of the same item in the other lists, after the places of these.
    """

    rank: int
    card: Item
    verdict: str | None
    elsewhere: list[tuple[int, int]]
    votes: tuple[str, ...]


class Side(Struct, frozen=True):
    """One run's answer to the question; ``answer`` is ``None`` where the run does not have it.

    ``holes`` are the ranks whose results could not be read. ``empty_answer`` is what raters' own
    searches found for an empty list with an outcome.
    """

    name: str
    answer: ComparedQuery | None = None
    empty_answer: EmptyAnswer | None = None
    response: str = ""
    notes: str = ""
    results: tuple[ListedItem, ...] = ()
    holes: tuple[int, ...] = ()


class ComparedQuestion(Struct, frozen=True):
    """A question at its position in the set, with one side per run.

    ``positions`` are those of all questions of the runs that raters are asked, ``is_asked`` says
    whether this is one of them. ``evidence`` are the items that raters looked up and that fit it.
    """

    position: int
    question: str
    category: str
    sides: tuple[Side, ...]
    positions: tuple[int, ...]
    is_asked: bool = True
    evidence: tuple[Evidence, ...] = ()


def compared_question(
    session: Session, study: Study, run_ids: Sequence[str], position: int, rule: Rule
) -> ComparedQuestion:
    """Return one question as every run of a comparison answered it.

    Raises ``UnknownRun`` and ``UnknownQuery``.
    """
    compared = [runs.find(session, study, run_id) for run_id in dict.fromkeys(run_ids)]
    names = names_of(compared)
    questions = (
        select(Question.position, is_put_to_raters(Question.id))
        .join(Query)
        .where(Query.run_id.in_(names))
        .distinct()
    )
    asked_at = {place: bool(is_asked) for place, is_asked in session.execute(questions)}
    if position not in asked_at:
        raise UnknownQuery(" ".join(names), position)
    at_position = select(Question.id).where(Question.position == position)
    scope = Query.run_id.in_(list(names)) & Query.question_id.in_(at_position)
    ranking = ranking_names(headline_of(study))
    merged = reports.verdicts_under(session, study, scope, rule, pooled=bool(ranking))
    queries = {query.run_id: query for query in session.scalars(select(Query).where(scope))}
    summaries = {
        query.run_id: merged.summary(query, cannot_tell=study.cannot_tell, ranking=ranking)
        for query in verdicts.asked_queries(session, scope, pooled=bool(ranking))
    }
    votes = {} if rule.rater is not None else votes_by_item(session, study, scope)
    listed = _listed(session, scope, names, merged, votes)
    holes = verdicts.holes(session, scope)
    empty_answers = reports.empty_answers(session, study, scope, rule)
    question = next(iter(queries.values())).question  # the same in each
    evidence = reports.evidence_on(session, study, question.id, rule)
    sides = {run_id: Side(name) for run_id, name in names.items()}
    for run_id, query in queries.items():
        query_holes = holes.get(query.id, ())
        sides[run_id] = Side(
            name=names[run_id],
            answer=ComparedQuery(
                position,
                query.query_id,
                question.text,
                question.category,
                summaries[run_id],
                n_holes=len(query_holes),
            ),
            empty_answer=empty_answers.get(query.id),
            response=query.response,
            notes=merged.notes.get(query.id, ""),
            results=tuple(listed[run_id]),
            holes=query_holes,
        )
    return ComparedQuestion(
        position=position,
        question=question.text,
        category=question.category,
        sides=tuple(sides.values()),
        positions=tuple(sorted(place for place, is_asked in asked_at.items() if is_asked)),
        is_asked=asked_at[position],
        evidence=tuple(item for item in evidence if item.run_id in {None, *queries}),
    )


def _listed(
    session: Session,
    scope: verdicts.Scope,
    names: Mapping[str, str],
    merged: verdicts.Verdicts,
    votes: Mapping[int, Mapping[int, str]],
) -> dict[str, list[ListedItem]]:
    """Return the list of each run by its id, every item with its ranks in the other lists."""
    results = select(Result, Query.run_id).join(Query).where(scope).order_by(Result.rank)
    results = results.where(Result.judged_item_id.is_not(None))
    rows = session.execute(results.options(joinedload(Result.judged_item))).all()
    places = {run_id: place for place, run_id in enumerate(names)}
    ranks: dict[int, list[tuple[int, int]]] = {}
    for result, run_id in rows:
        ranks.setdefault(result.judged_item.id, []).append((places[run_id], result.rank))
    listed: dict[str, list[ListedItem]] = {run_id: [] for run_id in names}
    for result, run_id in rows:
        item = result.judged_item
        listed[run_id].append(
            ListedItem(
                rank=result.rank,
                card=shown_item(result.card, item.card),
                verdict=merged.by_item.get(item.id),
                elsewhere=[each for each in ranks[item.id] if each[0] != places[run_id]],
                votes=tuple(sorted(votes.get(item.id, {}).values())),
            )
        )
    return listed
