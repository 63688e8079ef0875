"""Results of any search or RAG system: files of one import read, looked at, decided on, stored.

Each system in the files becomes a run, and grades in them become verdicts of a rater.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from msgspec import DecodeError, Raw, Struct, field, json
from msgspec.structs import asdict, replace
from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from webapp import labels
from webapp.db.tables.judging import JudgedThing
from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Query, Result, Run
from webapp.db.tables.study import Question, QuestionSet, Study
from webapp.failures import Refused
from webapp.i18n import mark
from webapp.importers.results import formats
from webapp.importers.results.assemble import Judged
from webapp.importers.results.formats import recognised
from webapp.importers.runs.json_runs import question_key
from webapp.importers.runs.problems import ImportRefused
from webapp.kinds import from_row, to_row
from webapp.kinds.document import Document
from webapp.printable import name_line
from webapp.records import Click, Problem, ReadQuery, ReadRun, Scale, Tell, nobody
from webapp.services.judging import events
from webapp.services.judging.events import Target, TargetChange
from webapp.services.judging.judged_things import Pool
from webapp.services.people import raters
from webapp.services.runs import imports
from webapp.services.runs.imports import ImportedRun, Labels, OtherKind
from webapp.services.study import question_sets, studies

DEPTH = 20
"""So many results of each list become items to judge, unless another depth is chosen."""
MOST_DEPTH = 1_000
USUAL_RATER = "qrels"
SCORED: Mapping[str, frozenset[str]] = {
    "answers": frozenset({"answer", "contexts"}),
    "chunks": frozenset({"expected_answer", "retrieved_chunks"}),
}
"""The keys of lines that an evaluation of the kind scores, which can be judged as well."""
LONGEST_LOOK = 2**20
AT_ONCE = 100
"""Questions whose items, with their texts, are in memory while they are filled or graded."""

Given = Path | tuple[str, bytes]


class OtherScale(Refused):
    message = mark("The files have grades up to %(name)s, which is above this study's scale")
    remedy = mark(
        "The first verdict fixes a scale, of 0 to 4 at most. Leave these grades out, or start "
        "Relevansi with another database for these files."
    )


class KnownRater(Refused):
    message = mark("The study has a rater %(name)s already")
    remedy = mark("Confirm that these grades are theirs, or name another rater.")
    command_remedy = mark(
        "--rater with that name says that they are theirs, with another it is new."
    )


class Choices(Struct, frozen=True):
    """How files are read: the columns of roles, the depth of lists, one of several splits.

    ``passages``: ids of the collection name documents of several passages.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    depth: int = DEPTH
    split: str | None = None
    passages: bool = False


class FoundRun(Struct, frozen=True):
    """A run in the files: how many questions, items and empty lists it has, and deeper ids.

    ``n_texts`` counts questions and items that have a text, or at least a title. ``run_id`` is the
    run of the study that holds the same already; it ``is_fuller`` here where the study has fewer
    of these texts.
    """

    read: ReadRun
    n_queries: int
    n_items: int
    n_empty: int
    n_deeper: int
    n_texts: int = 0
    run_id: str | None = None
    is_fuller: bool = False


class ResultsReport(Struct, frozen=True):
    """What files of one import hold, and what storing them does. Nothing is stored yet.

    ``sample`` has the first rows as texts by role, ``columns`` the names of columns by role.
    ``scorable`` has the kind of evaluation that scores a file of that name, too.
    ``raters`` counts the grades of each rater. ``meta`` has every key of metadata, and whether it
    is of a collection, which is the same for all systems. ``refused`` is why they cannot be stored
    and ``remedy`` what to do then, ``fits`` the scale that is set with them: the study has no
    verdict yet, or none that is above. ``turns_blind``: its runs will compete with one another.
    """

    name: str
    files: tuple[tuple[str, str], ...]
    runs: tuple[FoundRun, ...]
    raters: Mapping[str, int]
    n_questions: int
    highest_grade: int
    problems: tuple[Problem, ...]
    sample: tuple[Mapping[str, str], ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    header: str = ""
    names: tuple[str, ...] = ()
    splits: tuple[str, ...] = ()
    has_passages: bool = False
    meta: Mapping[str, bool] = field(default_factory=dict)
    choices: Choices = Choices()
    judged: tuple[Judged, ...] = ()
    given: tuple[tuple[str, bytes], ...] = ()
    refused: str = ""
    remedy: str = ""
    fits: int | None = None
    known_raters: tuple[str, ...] = ()
    scorable: Mapping[str, str] = field(default_factory=dict)
    turns_blind: bool = False

    @classmethod
    def of_refused(cls, refused: ImportRefused) -> ResultsReport:
        """Return the report of files that cannot be read."""
        name = next((problem.file for problem in refused.problems), "-")
        return cls(name, (), (), {}, 0, -1, tuple(refused.problems))

    @property
    def brings_something(self) -> bool:
        """Whether storing the files changes anything."""
        new = any(run.run_id is None or run.is_fuller for run in self.runs)
        return not self.refused and (new or bool(self.raters))


class StoredResults(Struct, frozen=True):
    """The runs of the files as they are stored, and how many grades each rater got."""

    runs: tuple[ImportedRun, ...]
    grades: Mapping[str, int]


def recognises(name: str, data: bytes) -> bool:
    return recognised(name, data[: formats.HEAD]) is not None


def packed(files: Iterable[tuple[str, bytes]], choices: Choices | None = None) -> bytes:
    """Return files of one import as one that waits."""
    return json.encode((tuple(files), choices or Choices()))


def read(name: str, data: bytes, tell: Tell = nobody) -> ResultsReport:
    """Return the report of packed files by themselves; raises an ``ImportRefused``."""
    given, choices = json.decode(data, type=tuple[tuple[tuple[str, bytes], ...], Choices])
    return replace(read_files(name, given, choices, tell), given=given)


def read_files(
    name: str, files: Iterable[Given], choices: Choices, tell: Tell = nobody
) -> ResultsReport:
    given = tuple(files)
    found = formats.read(
        given,
        columns=dict(choices.columns) or None,
        depth=choices.depth,
        split=choices.split,
        passages=choices.passages,
        tell=tell,
    )
    listed = [c for run in found.runs for query in run.queries for c in query.cards]
    keys = dict.fromkeys(key for card in listed for key in card.meta)
    return ResultsReport(
        name=name,
        files=tuple((file, form.words) for file, form in found.files),
        runs=tuple(map(_found, found.runs)),
        raters=Counter(one.rater or "" for one in found.judged),
        n_questions=found.n_questions,
        highest_grade=found.highest_grade,
        problems=found.problems,
        sample=tuple(map(_told, found.sample)),
        columns=found.columns,
        header=found.header,
        names=found.names,
        splits=found.splits,
        has_passages=found.has_passages,
        meta={key: key in found.collection_keys for key in keys},
        choices=choices,
        judged=found.judged,
        scorable=dict(filter(None, map(_scorable, given))),
    )


def _scorable(given: Given) -> tuple[str, str] | None:
    if isinstance(given, tuple):
        name, head = given[0], given[1][:LONGEST_LOOK]
    elif given.is_file():
        with given.open("rb") as file:
            name, head = given.name, file.read(LONGEST_LOOK)
    else:
        return None
    for line in head.splitlines()[:5]:
        with suppress(DecodeError):
            keys = json.decode(line, type=dict[str, Raw]).keys()
            for kind, needed in SCORED.items():
                if needed <= keys:
                    return name, kind
    return None


def _found(run: ReadRun) -> FoundRun:
    return FoundRun(
        run,
        n_queries=len(run.queries),
        n_items=sum(len(query.cards) for query in run.queries),
        n_empty=sum(not query.cards for query in run.queries),
        n_deeper=sum(len(query.tail) for query in run.queries),
        n_texts=sum(
            question_sets.is_told(query.question, query.external_id)
            + sum(bool(card.text or card.title) for card in query.cards)
            for query in run.queries
        ),
    )


def _told(row: Any) -> dict[str, str]:
    item = row.item if isinstance(row.item, Document) else Document(doc_id=row.item)
    told = {
        "query_id": row.query_id,
        "query": row.query,
        "system": row.system,
        "rank": row.rank,
        "score": row.score,
        "doc_id": item.doc_id,
        "title": item.title,
        "text": item.text[:200],
        "url": item.url,
        "grade": row.grade,
    }
    return {name: str(value) for name, value in told.items() if value not in (None, "")}


def parted(report: ResultsReport) -> tuple[ResultsReport, bytes]:
    """Return a report for looking at only, and what it lacks of the whole one."""
    brief = tuple(replace(run, read=replace(run.read, queries=())) for run in report.runs)
    queries = [
        [{**asdict(query), "cards": [*map(to_row, query.cards)]} for query in run.read.queries]
        for run in report.runs
    ]
    rest = json.encode((report.given, report.judged, queries))
    return replace(report, runs=brief, judged=(), given=()), rest


_Rest = tuple[tuple[tuple[str, bytes], ...], tuple[Judged, ...], list[tuple[ReadQuery, ...]]]


def whole(report: ResultsReport, rest: bytes) -> ResultsReport:
    given, judged, queries = json.decode(rest, type=_Rest)
    runs = tuple(
        replace(run, read=replace(run.read, queries=tuple(map(_with_items, of_run))))
        for run, of_run in zip(report.runs, queries, strict=True)
    )
    return replace(report, runs=runs, judged=judged, given=given)


def _with_items(query: ReadQuery) -> ReadQuery:
    return replace(query, cards=tuple(map(from_row, query.cards)))


def remembered(study: Study, report: ResultsReport) -> Choices | None:
    """Return what earlier files say of how these are read, if that differs.

    That are the columns which were chosen for files of this shape, and whether ids name passages.
    """
    mappings = study.mappings or {}
    known = mappings.get("columns", {}).get(report.header)
    columns = report.choices.columns or known or {}
    passages = report.has_passages or mappings.get("passages", False)
    if columns in (report.choices.columns, report.columns) and passages == report.has_passages:
        return None
    return replace(report.choices, columns=columns, passages=passages)


def examine(session: Session, study: Study, report: ResultsReport) -> ResultsReport:
    """Return the report of files beside the study as it is now."""
    refused: type[Refused] | None = None
    fits = None
    if imports.is_other_kind(session, study, Document.kind):
        refused = OtherKind
    elif report.highest_grade > Scale.stored(study.scale).top:
        if studies.has_verdicts(session, study) or report.highest_grade > Scale.MOST:
            refused = OtherScale
        else:
            fits = max(report.highest_grade, 2)
    names = map(_rater_name, report.raters)
    found = [_beside(session, study, run) for run in report.runs]
    new = sum(run.run_id is None for run in found)
    there = session.scalar(select(func.count(Run.id)).where(Run.study_id == study.id)) or 0
    is_open = study.blind is None and not studies.is_blind(session, study)
    return replace(
        report,
        runs=tuple(found),
        turns_blind=refused is None and is_open and new > 0 and new + there > 1,
        refused=refused.message if refused else "",
        remedy=refused.remedy if refused else "",
        fits=fits,
        known_raters=tuple(name for name in names if raters.named(session, study, name)),
    )


def _rater_name(name: str) -> str:
    return name_line(name) or USUAL_RATER


def _beside(session: Session, study: Study, run: FoundRun) -> FoundRun:
    same = select(Run.id).where(Run.study_id == study.id, Run.session_key == run.read.key)
    same = same.where(Run.stated_search_method == run.read.search_method)
    run_id = session.scalar(same.limit(1))
    if run_id is None or not run.n_texts:
        return replace(run, run_id=run_id, is_fuller=False)
    asked = select(Question.text, Question.external_id).join(Query).where(Query.run_id == run_id)
    listed = select(func.count()).select_from(Result).join(Query, Query.id == Result.query_key)
    listed = listed.join(JudgedThing, JudgedThing.id == Result.judged_thing_id)
    said = or_(*(JudgedThing.card[name].as_string() != "" for name in ("text", "title")))
    listed = listed.where(Query.run_id == run_id, said)
    n_texts = sum(question_sets.is_told(*row) for row in session.execute(asked))
    n_texts += session.scalar(listed) or 0
    return replace(run, run_id=run_id, is_fuller=n_texts < run.n_texts)


class ResultsDecision(Struct, frozen=True):
    """The owner's decision: who rated where the files do not say, and what raters may see.

    ``confirmed``: grades are added to a rater whom the study has. ``meta`` are the keys of metadata
    that raters see; without any word those of the collection.
    """

    rater: str = ""
    confirmed: bool = False
    meta: Sequence[str] | None = None


def store(
    session: Session,
    study: Study,
    report: ResultsReport,
    decision: ResultsDecision,
    now: datetime,
    tell: Tell = nobody,
) -> StoredResults:
    """Store the runs and the grades of the files.

    Raises ``OtherKind``, ``OtherScale`` and ``KnownRater``, and then stores nothing.
    """
    looked = examine(session, study, report)
    by_name: dict[str, list[Judged]] = {}
    for one in report.judged:
        by_name.setdefault(_rater_name(one.rater or decision.rater), []).append(one)
    graders = _graders(session, study, looked, by_name, decision)
    imports.begin(session, study, Document.kind, now)
    if looked.fits is not None:
        scale = replace(Scale.stored(study.scale), top=looked.fits, words=(), guidance=())
        # Which figures are shown first may change with it, for the runs that are there too.
        studies.set_switches(session, study, replace(studies.switches(study), scale=scale), now)
    if report.choices.columns and report.header:
        known = (study.mappings or {}).get("columns", {})
        chosen = {**known, report.header: dict(report.choices.columns)}
        study.mappings = {**(study.mappings or {}), "columns": chosen}
    if report.has_passages:
        study.mappings = {**(study.mappings or {}), "passages": True}
    shown = decision.meta
    if shown is None:
        shown = [key for key, is_of_collection in report.meta.items() if is_of_collection]
    stored = []
    for done, run in enumerate(looked.runs):
        tell(done, len(looked.runs))
        read = replace(run.read, queries=tuple(_seen(run.read, {*shown, "format"})))
        stored.append(imports.store(session, study, read, Labels(), now))
        if run.is_fuller:
            _fill_texts(session, study, read, now)
    labels.about(study.kind, Scale.stored(study.scale), study.merging)
    questions = _questions(session, study, [run.id for run in stored])
    grades = {}
    for name, judged in by_name.items():
        rater = graders[name] or studies.add_rater(session, study, name, now)
        grades[name] = _grade(session, rater, judged, questions, now)
    return StoredResults(tuple(stored), grades)


def _graders(
    session: Session,
    study: Study,
    report: ResultsReport,
    names: Iterable[str],
    decision: ResultsDecision,
) -> dict[str, Rater | None]:
    """Return whom of the raters the study has; raises what ``store`` does."""
    if report.refused == OtherKind.message:
        raise OtherKind
    if report.refused:
        raise OtherScale(str(report.highest_grade))
    graders = {name: raters.named(session, study, name) for name in names}
    for name, known in graders.items():
        if known is not None and (known.is_machine or not decision.confirmed):
            raise KnownRater(name)
    return graders


def _seen(read: ReadRun, shown: set[str]) -> Iterator[ReadQuery]:
    for query in read.queries:
        cards = (
            replace(card, meta={k: v for k, v in card.meta.items() if k in shown})
            for card in query.cards
        )
        yield replace(query, cards=tuple(cards))


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


def _grade(
    session: Session,
    rater: Rater,
    judged: Sequence[Judged],
    questions: Mapping[str, int],
    now: datetime,
) -> int:
    """Store grades as events of a rater."""
    placed: dict[int, list[Judged]] = {}
    for one in judged:
        at = questions.get(one.external_id or question_key(one.question))
        if at is not None and (one.grade is not None or one.cannot_tell):
            placed.setdefault(at, []).append(one)
    changes: list[TargetChange] = []
    asked = [*placed]
    for start in range(0, len(asked), AT_ONCE):
        portion = [(at, one) for at in asked[start : start + AT_ONCE] for one in placed[at]]
        items = {one.identity: _item(one.identity) for _, one in portion}
        pool = Pool(session, {at for at, _ in portion}, items.values())
        things = [pool.place(at, None, items[one.identity], one.identity) for at, one in portion]
        pool.store()
        for (at, one), thing in zip(portion, things, strict=True):
            verdict = "unsure" if one.cannot_tell else str(one.grade)
            said = f"{rater.name} {at} {one.identity} {verdict}"
            digest = hashlib.sha256(said.encode()).hexdigest()[:32]
            click = Click(digest, now, now, f"file {digest[:8]}", len(changes) + 1)
            changes.append(TargetChange(Target("verdict", thing.id), verdict, click))
    events.record_all(session, rater, changes, cause="import")
    events.refresh(session, rater, [change.target for change in changes])
    return len(changes)


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
