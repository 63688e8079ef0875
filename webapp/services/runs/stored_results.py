"""Results of any search or RAG system as they are stored: runs, texts and grades."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from webapp import labels
from webapp.db.tables.judging import Event, JudgedThing, Judgment
from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Query
from webapp.db.tables.study import Question, QuestionSet, Study
from webapp.failures import Refused
from webapp.i18n import mark
from webapp.importers.results.assemble import Judged
from webapp.importers.results.formats import Group
from webapp.importers.runs.json_runs import question_key
from webapp.importers.runs.problems import warning
from webapp.kinds.document import Document
from webapp.records import Click, Problem, ReadRun, Scale, Tell, nobody
from webapp.services.judging import events
from webapp.services.judging.events import Target, TargetChange
from webapp.services.judging.judged_things import Pool
from webapp.services.people import raters
from webapp.services.runs import stored_runs
from webapp.services.runs.results import ResultsReport, examine, rater_name
from webapp.services.runs.stored_runs import ImportedRun, Labels
from webapp.services.study import question_sets, studies

AT_ONCE = 100
"""Questions whose items, with their texts, are in memory while they are filled or graded."""


class KnownRater(Refused):
    message = mark("The study has a rater %(name)s already")
    remedy = mark("Confirm that these grades are theirs, or name another rater.")
    command_remedy = mark(
        "--rater with that name says that they are theirs, with another it is new."
    )


class NoQuestion(Refused):
    message = mark("This study has none of the questions that these grades are of")
    remedy = mark(
        "Nothing was stored. Import a run of these questions before, or its files together with "
        "the grades."
    )


class StoredResults(Struct, frozen=True):
    """The runs of the files as they are stored, and how many grades each rater got."""

    runs: tuple[ImportedRun, ...]
    grades: Mapping[str, int]
    problems: tuple[Problem, ...]


def store(
    session: Session,
    study: Study,
    report: ResultsReport,
    now: datetime,
    rater: str = "",
    *,
    confirmed: bool = False,
    meta: Sequence[str] | None = None,
    tell: Tell = nobody,
) -> StoredResults:
    """Store the runs and the grades of the files.

    `rater` rated where the files do not say who did; to a rater whom the study has, grades are
    added only if that is `confirmed`. `meta` are the keys of metadata that raters see; without any
    word those of the collection. Raises ``OtherKind``, ``OtherIds``, ``OtherScale``,
    ``NoQuestion`` and ``KnownRater``, and then stores nothing.
    """
    looked, group = examine(session, study, report), report.group
    if looked.refused:
        raise looked.refused
    if not group.runs and not _known(group.judged, _questions(session, study, ())):
        raise NoQuestion
    by_name: dict[str, list[Judged]] = {}
    for one in group.judged:
        by_name.setdefault(rater_name(one.rater or rater), []).append(one)
    graders = {name: raters.named(session, study, name) for name in by_name}
    if taken := [one.name for one in graders.values() if one and (one.is_machine or not confirmed)]:
        raise KnownRater(taken[0])
    stored_runs.begin(session, study, Document.kind, now)
    if looked.fits is not None:
        scale = replace(Scale.stored(study.scale), top=looked.fits, words=(), guidance=())
        # Which figures are shown first may change with it, for the runs that are there too.
        studies.set_switches(session, study, replace(studies.switches(study), scale=scale), now)
    _remember(study, group)
    shown = [key for key, is_of_collection in group.meta.items() if is_of_collection]
    stored = []
    for done, (found, run) in enumerate(zip(looked.runs, group.runs, strict=True)):
        tell(done, len(group.runs))
        seen = _seen(run, {*(shown if meta is None else meta), "format"})
        stored.append(stored_runs.store(session, study, seen, Labels(), now))
        if found.is_fuller:
            _fill_texts(session, study, seen, now)
    labels.about(study.kind, Scale.stored(study.scale), study.merging)
    questions = _questions(session, study, [run.id for run in stored])
    grades = {}
    for name, judged in by_name.items():
        grader = graders[name] or studies.add_rater(session, study, name, now)
        placed = _known(judged, questions)
        _grade(session, grader, placed, now)
        grades[name] = sum(map(len, placed.values()))
    told = [*looked.problems]
    if left_out := len(group.judged) - sum(grades.values()):
        told.append(warning("results_grades_unasked", report.name, {"count": left_out}))
    return StoredResults(tuple(stored), grades, tuple(told))


def _remember(study: Study, group: Group) -> None:
    mappings = dict(study.mappings or {})
    if group.choices.columns and group.header:
        chosen = {group.header: dict(group.choices.columns)}
        mappings["columns"] = mappings.get("columns", {}) | chosen
    if group.has_passages:
        mappings["passages"] = True
    if mappings:
        study.mappings = mappings


def _seen(run: ReadRun, shown: set[str]) -> ReadRun:
    """Return a run whose items have no other metadata than this."""

    def seen(card: Document) -> Document:
        return replace(card, meta={k: v for k, v in card.meta.items() if k in shown})

    queries = (replace(query, cards=tuple(map(seen, query.cards))) for query in run.queries)
    return replace(run, queries=tuple(queries))


def _fill_texts(session: Session, study: Study, read: ReadRun, now: datetime) -> None:
    """Give questions and items that were imported without their texts what a collection says."""
    _, questions = question_sets.of_collection(session, study, read.queries, now)
    answers = [*zip((asked.id for asked in questions), read.queries, strict=True)]
    for start in range(0, len(answers), AT_ONCE):
        portion = answers[start : start + AT_ONCE]
        listed = [(at, card) for at, query in portion for card in query.cards]
        pool = Pool(session, {at for at, _ in portion}, [card for _, card in listed])
        for at, card in listed:
            pool.fill(at, card)
        pool.store()


def _known(judged: Iterable[Judged], questions: Mapping[str, int]) -> dict[int, list[Judged]]:
    """Return those grades that are of `questions`, by the ids of these."""
    placed: dict[int, list[Judged]] = {}
    for one in judged:
        at = questions.get(one.external_id or question_key(one.question))
        if at is not None:
            placed.setdefault(at, []).append(one)
    return placed


def _grade(
    session: Session, rater: Rater, placed: Mapping[int, Sequence[Judged]], now: datetime
) -> None:
    """Store those grades that change what the rater said before, as events."""
    before = session.scalar(select(func.count(Event.id)).where(Event.rater_id == rater.id))
    changes: list[TargetChange] = []
    asked = [*placed]
    for start in range(0, len(asked), AT_ONCE):
        portion = asked[start : start + AT_ONCE]
        graded = [(at, one) for at in portion for one in placed[at]]
        items = {one.identity: _item(one.identity) for _, one in graded}
        pool = Pool(session, portion, items.values())
        things = [pool.place(at, None, items[one.identity], one.identity) for at, one in graded]
        pool.store()
        own = select(Judgment.judged_thing_id, Judgment.verdict).join(JudgedThing)
        own = own.where(Judgment.rater_id == rater.id, JudgedThing.question_id.in_(portion))
        known = dict(session.execute(own).all())
        for (at, one), thing in zip(graded, things, strict=True):
            if known.get(thing.id) != one.verdict:
                said = f"{rater.name} {at} {one.identity} {one.verdict} {before}"
                event_id = hashlib.sha256(said.encode()).hexdigest()[:32]
                target, click = Target("verdict", thing.id), Click(event_id, now)
                changes.append(TargetChange(target, one.verdict, click))
    events.record_all(session, rater, changes, cause="import")
    events.refresh(session, rater, [change.target for change in changes])


def _item(identity: str) -> Document:
    """Return what an identity says of an item: nothing, where it is known by a text."""
    what, _, value = identity.partition(":")
    if what != "doc":
        return Document(url=value if what == "url" else None)
    doc_id, _, passage = value.partition("#")
    return Document(doc_id=doc_id, passage=passage or None)


def _questions(session: Session, study: Study, runs: Sequence[str]) -> dict[str, int]:
    """The ids of questions by their ids in the collection and keys: those of `runs`, else all.

    An id that several collections have is that of the latest.
    """
    found = (
        select(Question.external_id, Question.key, Question.id)
        .join(QuestionSet, QuestionSet.id == Question.question_set_id)
        .where(QuestionSet.study_id == study.id)
        .order_by(Question.id)
    )
    if runs:
        asked = select(Query.question_id).where(Query.run_id.in_(runs))
        found = found.where(Question.id.in_(asked))
    known: dict[str, int] = {}
    for external_id, key, number in session.execute(found):
        known.setdefault(key, number)
        if external_id is not None:
            known[external_id] = number
    return known
