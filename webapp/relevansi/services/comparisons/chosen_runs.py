"""Which runs can be compared, which ones are meant, and what they are called."""

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
from relevansi.services.judging.events import UnknownQuery
from relevansi.services.runs import reports, runs
from relevansi.services.runs.reports import Rule
from relevansi.services.study.question_sets import is_put_to_raters

FEWEST = 2
"""A run alone is compared with nothing."""

MOST_NAMED = 3
"""So many questions that runs do not share are named, of each run; the rest are counted."""
PHASES = {1: ("search_method", "llm"), 2: ("llm", "search_method")}
"""Each phase: the label in which its runs differ, and the one they share."""

DISTINCTIONS = (
    *(("search_method",), ("llm",), ("search_method", "llm")),
    *(("search_method", "llm", "timestamp"), ("search_method", "llm", "id")),
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
        alone = []
        for name, entries in self.only.items():
            # By their texts: positions of two sets would look shared.
            texts = [shorten(text, 60, placeholder="…") or str(place) for place, text in entries]
            if (more := len(texts) - MOST_NAMED) > 0:
                texts[MOST_NAMED:] = [f"+ {more}"]
            alone += [f"{name}: {', '.join(texts)}"] if texts else []
        super().__init__("; ".join(alone))


class Candidate(NamedTuple):
    """A run, and how many of its readable queries the rater who got furthest has completed."""

    run: Run
    n_complete: int
    of: int

    @property
    def complete(self) -> bool:
        return self.n_complete == self.of


def candidates(session: Session, study: Study) -> tuple[Candidate, ...]:
    of_study = Query.run_id.in_(select(Run.id).where(Run.study_id == study.id))
    put_to_raters = of_study & is_put_to_raters(Query.question_id)
    complete_queries = (
        select(StoredSummary.run_id, func.count().label("done"))
        .join(Query, Query.id == StoredSummary.query_key)
        .join(Rater, Rater.id == StoredSummary.rater_id)
        .where(put_to_raters, StoredSummary.complete, Rater.is_machine.is_(False))
        .group_by(StoredSummary.run_id, StoredSummary.rater_id)
        .subquery()
    )
    run_id = complete_queries.c.run_id
    by_run = select(run_id, func.max(complete_queries.c.done)).group_by(run_id)
    # One rater's complete judgments make figures; a machine's alone make none.
    furthest = dict(session.execute(by_run).all())
    readable = put_to_raters & (Query.state != str(QueryState.UNREADABLE))
    readable_queries = select(Query.run_id, func.count()).where(readable).group_by(Query.run_id)
    of = dict(session.execute(readable_queries).all())
    return tuple(
        Candidate(run, furthest.get(run.id, 0), of.get(run.id, 0))
        for run in runs.in_order(session, study)
    )


def of_phase(session: Session, study: Study, phase: int) -> tuple[str, ...]:
    """Return the ids of the runs a phase compares: they differ in its label, share the other.

    Of the groups that could be meant, the one with most labels, else the newest; of each
    label its newest complete run, else its newest, in the study's order. Raises
    ``NothingToCompare``.
    """
    everything = candidates(session, study)
    newest_first = sorted(everything, key=lambda each: runs.sequence(each.run), reverse=True)
    best: dict[str | None, list[Candidate]] = {}
    for group in _groups(newest_first, phase):
        best = max(best, group, key=len)
    if len(best) < FEWEST:
        raise NothingToCompare(phase)
    chosen = {
        next((candidate for candidate in same if candidate.complete), same[0]).run.id
        for same in best.values()
    }
    return tuple(candidate.run.id for candidate in everything if candidate.run.id in chosen)


def phases_of(session: Session, study: Study) -> tuple[int, ...]:
    everything = candidates(session, study)
    return tuple(
        phase
        for phase in PHASES
        if any(len(group) >= FEWEST for group in _groups(everything, phase))
    )


def comparable(session: Session, study: Study, run_ids: Sequence[str]) -> list[Run]:
    """Return the runs to compare, each once."""
    chosen = [runs.find(session, study, run_id) for run_id in dict.fromkeys(run_ids)]
    if len(chosen) < FEWEST:
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
    for parts in DISTINCTIONS:
        for run in compared:
            stated_labels = [getattr(run, part) for part in parts]
            if parts[0] == "search_method":
                stated_labels[0] = labels.method(stated_labels[0])
            names[run.id] = " · ".join(label or gettext("not stated") for label in stated_labels)
        if len(set(names.values())) == len(compared):
            break
    return names


def phase_of(compared: Sequence[Run]) -> int | None:
    """The phase in whose label all the runs differ while they share the other; or none."""
    for phase, (varying, shared) in PHASES.items():
        n_varied = len({getattr(run, varying) for run in compared})
        n_shared = len({getattr(run, shared) for run in compared})
        if n_varied == len(compared) and n_shared == 1:
            return phase
    return None


def _groups(everything: Iterable[Candidate], phase: int) -> list[dict[str | None, list[Candidate]]]:
    """The runs of a question set and of the label that the phase holds fixed, by the other one."""
    varying, shared = PHASES[phase]
    groups: dict[object, dict[str | None, list[Candidate]]] = {}
    for candidate in everything:
        run = candidate.run
        group = groups.setdefault((run.question_set_id, getattr(run, shared)), {})
        group.setdefault(getattr(run, varying), []).append(candidate)
    return list(groups.values())


class ListedItem(NamedTuple):
    """An item in a run's list with its verdict and the votes on it, where several count.

    ``elsewhere`` are the ranks of the same item in the other lists by the names of their runs.
    """

    rank: int
    card: Item
    verdict: str | None
    elsewhere: list[tuple[str, int]]
    votes: tuple[str, ...]


class Side(Struct, frozen=True):
    """One run's answer to the question; ``answer`` is ``None`` where it was not run.

    ``holes`` are the ranks whose results could not be read. ``empty_answer`` is what looking gave
    for an empty list with an outcome.
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


def find(
    session: Session, study: Study, run_ids: Sequence[str], position: int, rule: Rule
) -> ComparedQuestion:
    """Return one question as every run of a comparison answered it."""
    compared = [runs.find(session, study, run_id) for run_id in dict.fromkeys(run_ids)]
    names = names_of(compared)
    places = (
        select(Question.position, is_put_to_raters(Question.id))
        .join(Query)
        .where(Query.run_id.in_(names))
        .distinct()
    )
    positions = {place: bool(is_asked) for place, is_asked in session.execute(places)}
    if position not in positions:
        raise UnknownQuery(" ".join(names), position)
    at = Question.position == position
    scope = Query.run_id.in_(list(names)) & Query.question_id.in_(select(Question.id).where(at))
    ranking = ranking_names(headline_of(study))
    merged = reports.verdicts_under(session, study, scope, rule, pooled=bool(ranking))
    queries = {query.run_id: query for query in session.scalars(select(Query).where(scope))}
    summaries = {
        query.run_id: merged.summary(query, cannot_tell=study.cannot_tell, ranking=ranking)
        for query in verdicts.asked_queries(session, scope, pooled=bool(ranking))
    }
    votes = {} if rule.rater is not None else reports.votes(session, study, scope)
    listed = _listed(session, scope, names, merged, votes)
    holes = verdicts.holes(session, scope)
    empty_answers = reports.empty_answers(session, study, scope, rule)
    question = next(iter(queries.values())).question
    evidence = reports.evidence_on(session, study, question.id, rule)
    sides = {run: Side(name) for run, name in names.items()}
    for run, query in queries.items():
        summary = summaries[run]
        sides[run] = Side(
            name=names[run],
            answer=ComparedQuery(
                *(position, query.query_id, question.text, question.category, summary),
                n_holes=len(holes.get(query.id, ())),
            ),
            empty_answer=empty_answers.get(query.id),
            response=query.response,
            notes=merged.notes.get(query.id, ""),
            results=tuple(listed[run]),
            holes=holes.get(query.id, ()),
        )
    return ComparedQuestion(
        position=position,
        question=question.text,
        category=question.category,
        sides=tuple(sides.values()),
        positions=tuple(sorted(place for place, is_asked in positions.items() if is_asked)),
        is_asked=positions[position],
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
    ranks: dict[int, list[tuple[str, int]]] = {}
    for result, run in rows:
        ranks.setdefault(result.judged_item.id, []).append((names[run], result.rank))
    listed: dict[str, list[ListedItem]] = {run: [] for run in names}
    for result, run in rows:
        item = result.judged_item
        elsewhere = [place for place in ranks[item.id] if place[0] != names[run]]
        cast = tuple(sorted(votes.get(item.id, {}).values()))
        card = shown_item(result.card, item.card)
        verdict = merged.by_item.get(item.id)
        listed[run].append(ListedItem(result.rank, card, verdict, elsewhere, cast))
    return listed
