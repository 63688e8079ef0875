"""Results of any search or RAG system as they are stored: runs, texts and grades."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from relevansi import labels
from relevansi.db.tables.judging import Event, JudgedItem, Judgment
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query
from relevansi.db.tables.study import Question, QuestionSet, Study
from relevansi.failures import Refused
from relevansi.i18n import mark
from relevansi.importers.results.formats import Group
from relevansi.importers.results.grades import Judged
from relevansi.importers.runs.json_runs import question_key
from relevansi.importers.runs.problems import warning
from relevansi.kinds.document import Document
from relevansi.records import Click, OnProgress, Problem, ReadRun, Scale, no_progress
from relevansi.services.judging import events
from relevansi.services.judging.events import REASON, Target, TargetChange
from relevansi.services.judging.judged_items import Pool
from relevansi.services.people import raters
from relevansi.services.runs import stored_runs
from relevansi.services.runs.results import ResultsReport, examine, rater_name
from relevansi.services.runs.stored_runs import ImportedRun, Labels
from relevansi.services.study import question_sets, studies

_Questions = tuple[Mapping[str, int], Mapping[str, int]]
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


def store(  # noqa: PLR0913 (what an owner decides of files)
    session: Session,
    study: Study,
    report: ResultsReport,
    now: datetime,
    rater: str = "",
    *,
    confirmed: bool = False,
    meta: Sequence[str] | None = None,
    same_documents: bool = False,
    on_progress: OnProgress = no_progress,
) -> StoredResults:
    """Store the runs and the grades of the files.

    `rater` rated where the files do not say who did; to a rater whom the study has, grades are
    added only if that is `confirmed`. `meta` are the keys of metadata that raters see; without any
    word those of the collection. A document with another text than the study has under its id is
    judged anew, unless they are the `same_documents`. Raises ``OtherKind``, ``OtherIds``,
    ``OtherScale``, ``NoQuestion`` and ``KnownRater``, and then stores nothing.
    """
    examined, group = examine(session, study, report), report.group
    if examined.refused:
        raise examined.refused
    if not group.runs and not _grades_by_question(group.judged, _question_ids(session, study, ())):
        raise NoQuestion
    by_name: dict[str, list[Judged]] = {}
    for grade in group.judged:
        by_name.setdefault(rater_name(grade.rater or rater), []).append(grade)
    graders = {name: raters.find_named(session, study, name) for name in by_name}
    for grader in filter(None, graders.values()):
        if grader.is_machine or not confirmed:
            raise KnownRater(grader.name)
    stored_runs.begin(session, study, Document.kind, now)
    if examined.fits is not None:
        scale = replace(Scale.stored(study.scale), top=examined.fits, words=(), guidance=())
        # Which figures are shown first may change with it, for the runs that are there too.
        studies.set_switches(session, study, replace(studies.switches(study), scale=scale), now)
    _store_choices(study, group)
    of_collection = [key for key, is_of_collection in group.meta.items() if is_of_collection]
    visible_part = partial(_with_metadata, {*(of_collection if meta is None else meta), "format"})
    stored_before = [
        run
        for preview, run in zip(examined.runs, group.runs, strict=True)
        if preview.run_id and preview.n_texts
    ]
    kept_texts = _fill_texts(
        session, study, stored_before, visible_part, now, same_documents=same_documents
    )
    stored: tuple[ImportedRun, ...] = ()
    changed_texts: frozenset[str] = frozenset()
    if group.runs:
        stored, changed_texts = stored_runs.store_together(
            *(session, study, group.runs, Labels(), now),
            visible_part=visible_part,
            same_documents=same_documents,
            on_progress=on_progress,
        )
    labels.use_words_of(study.kind, Scale.stored(study.scale), study.merging)
    questions = _question_ids(session, study, [run.id for run in stored])
    grades = {}
    for name, judged in by_name.items():
        grader = graders[name] or studies.add_rater(session, study, name, now)
        placed = _grades_by_question(judged, questions)
        _grade(session, grader, placed, now)
        grades[name] = sum(map(len, placed.values()))
    counts = {"results_grades_unasked": len(group.judged) - sum(grades.values())}
    # What became of documents with another text under the id that they had.
    if same_documents:
        counts["results_texts_replaced"] = len(kept_texts | changed_texts)
    else:
        counts["results_texts_kept"] = len(kept_texts)
        counts["results_texts_differ"] = len(changed_texts)
    remarks = (warning(code, report.name, {"count": n}) for code, n in counts.items() if n)
    return StoredResults(stored, grades, (*examined.problems, *remarks))


def _store_choices(study: Study, group: Group) -> None:
    mappings = dict(study.mappings or {})
    if group.choices.columns and group.header:
        chosen = {group.header: dict(group.choices.columns)}
        mappings["columns"] = mappings.get("columns", {}) | chosen
    if group.has_passages:
        mappings["passages"] = True
    if mappings:
        study.mappings = mappings


def _with_metadata(keys: Container[str], card: Document) -> Document:
    """Return an item with no other metadata than this."""
    if all(key in keys for key in card.meta):
        return card
    return replace(card, meta={key: value for key, value in card.meta.items() if key in keys})


def _fill_texts(
    session: Session,
    study: Study,
    again: Sequence[ReadRun],
    visible_part: Callable[[Document], Document],
    now: datetime,
    *,
    same_documents: bool,
) -> frozenset[str]:
    """Give questions and items of runs that are stored already what these files say of them.

    Returns the identities of documents that have another text there.
    """
    if not again:
        return frozenset()
    _, questions = question_sets.of_collection(session, study, again[0].queries, now)
    changed: set[str] = set()
    for pool in _filled(session, questions, again, visible_part, same_documents=same_documents):
        pool.store()
        changed |= pool.changed
    return frozenset(changed)


def documents_that_differ(session: Session, study: Study, runs: Sequence[ReadRun]) -> int:
    """Return how many documents of these runs have another text than the study has of them.

    Nothing is stored. All that is stored of their questions is read.
    """
    if not runs or stored_runs.is_other_kind(session, study, Document.kind):
        return 0
    collection = question_sets.known_collection(session, study, runs[0].queries)
    if collection is None:
        return 0
    pools = _filled(session, collection[1], runs, lambda card: card, same_documents=False)
    return len(set().union(*(pool.changed for pool in pools)))


def _filled(
    session: Session,
    questions: Sequence[Question | None],
    runs: Sequence[ReadRun],
    visible_part: Callable[[Document], Document],
    *,
    same_documents: bool,
) -> Iterator[Pool]:
    """Yield what is judged of some questions at a time, as full as the items of these runs."""
    for start in range(0, len(questions), AT_ONCE):
        ids = [question.id if question else 0 for question in questions[start : start + AT_ONCE]]
        pool = Pool(session, ids, same_documents=same_documents)
        for run in runs:
            for at, query in zip(ids, run.queries[start : start + AT_ONCE], strict=True):
                for card in query.cards:
                    pool.fill(at, visible_part(card))
        yield pool


def _grades_by_question(judged: Iterable[Judged], questions: _Questions) -> dict[int, list[Judged]]:
    """Return those grades that are of `questions`, by the ids of these."""
    placed: dict[int, list[Judged]] = {}
    for grade in judged:
        name = grade.external_id or question_key(grade.question)
        # What a file calls an id may be a text elsewhere, and the other way round.
        first, second = questions if grade.external_id else reversed(questions)
        at = first.get(name, second.get(name))
        if at is not None:
            placed.setdefault(at, []).append(grade)
    return placed


def _grade(
    session: Session, rater: Rater, placed: Mapping[int, Sequence[Judged]], now: datetime
) -> None:
    """Store those grades that change what the rater said before, as events."""
    before = session.scalar(select(func.count(Event.id)).where(Event.rater_id == rater.id))
    changes: list[TargetChange] = []
    question_ids = [*placed]
    for start in range(0, len(question_ids), AT_ONCE):
        portion = question_ids[start : start + AT_ONCE]
        graded = [(at, grade) for at in portion for grade in placed[at]]
        items = {grade.identity: _item(grade.identity) for _, grade in graded}
        pool = Pool(session, portion)
        placed_items = [pool.place(at, None, items[g.identity], g.identity) for at, g in graded]
        pool.store()
        stored = select(Judgment.judged_item_id, Judgment.verdict, Judgment.reason)
        stored = stored.join(JudgedItem).where(
            Judgment.rater_id == rater.id, JudgedItem.question_id.in_(portion)
        )
        stored_before = {row.judged_item_id: row for row in session.execute(stored)}
        for (at, grade), item in zip(graded, placed_items, strict=True):
            row = stored_before.get(item.id)
            fingerprint = f"{rater.name} {at} {grade.identity} {grade.verdict} {before}"
            click = Click(hashlib.sha256(fingerprint.encode()).hexdigest()[:32], now)
            if row is None or row.verdict != grade.verdict:
                changes.append(TargetChange(Target("verdict", item.id), grade.verdict, click))
            if grade.reason and (row is None or row.reason != grade.reason):
                changes.append(TargetChange(Target(REASON, item.id), grade.reason, click))
    events.record_all(session, rater, changes, cause="import")
    events.refresh(session, rater, [change.target for change in changes])


def _item(identity: str) -> Document:
    """Return what an identity says of an item: nothing, where it is known by a text."""
    what, _, value = identity.partition(":")
    if what != "doc":
        return Document(url=value if what == "url" else None)
    doc_id, _, passage = value.partition("#")
    return Document(doc_id=doc_id, passage=passage or None)


def _question_ids(session: Session, study: Study, runs: Sequence[str]) -> _Questions:
    """Return the ids of questions, of `runs` or all, by ids in the collection and by their keys.

    An id that several collections have is that of the latest.
    """
    listed = (
        select(Question.external_id, Question.key, Question.id)
        .join(QuestionSet, QuestionSet.id == Question.question_set_id)
        .where(QuestionSet.study_id == study.id)
        .order_by(Question.id)
    )
    if runs:
        of_runs = select(Query.question_id).where(Query.run_id.in_(runs))
        listed = listed.where(Question.id.in_(of_runs))
    by_id: dict[str, int] = {}
    by_key: dict[str, int] = {}
    for external_id, key, number in session.execute(listed):
        by_key.setdefault(key, number)
        if external_id is not None:
            by_id[external_id] = number
    return by_id, by_key
