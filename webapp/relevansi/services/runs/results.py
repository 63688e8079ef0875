"""Results of any search or RAG system: files of one import read and looked at.

Each system in the files becomes a run, and grades in them become verdicts of a rater.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from msgspec import DecodeError, Raw, Struct, field, json, msgpack
from msgspec.structs import replace
from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from relevansi.db.tables.judging import JudgedItem
from relevansi.db.tables.runs import Query, Result, Run
from relevansi.db.tables.study import Question, Study
from relevansi.failures import Refused
from relevansi.i18n import mark
from relevansi.importers.frame import bounded
from relevansi.importers.results import formats
from relevansi.importers.results.files import Dropped, expanded
from relevansi.importers.results.formats import Choices, Group
from relevansi.importers.results.recognition import COLLECTION
from relevansi.importers.runs.problems import warning
from relevansi.kinds.document import Document
from relevansi.printable import name_line
from relevansi.records import OnProgress, Problem, ReadRun, Scale, no_progress
from relevansi.services.people import raters
from relevansi.services.runs.stored_runs import OtherKind, is_other_kind
from relevansi.services.study import question_sets, studies

USUAL_RATER = "qrels"
SCORED: Mapping[str, frozenset[str]] = {
    "answers": frozenset({"answer", "contexts"}),
    "chunks": frozenset({"expected_answer", "retrieved_chunks"}),
}
"""The keys of lines that an evaluation of the kind scores, which can be judged as well."""
LONGEST_LOOK = 2**20


class OtherScale(Refused):
    message = mark("The files have grades up to %(name)s, which is above this study's scale")
    remedy = mark(
        "The first verdict fixes a scale, of 0 to 4 at most. Leave these grades out, or start "
        "Relevansi with another database for these files."
    )


class OtherIds(Refused):
    message = mark("In these files one id names several texts, but in this study an id is one item")
    remedy = mark(
        "Start Relevansi with another database and import all files of this collection together "
        "there, so that each passage is judged by itself. Or give each text its own id."
    )


class RunPreview(Struct, frozen=True):
    """A run in the files: how many questions, items and empty lists it has, and deeper ids.

    ``depth`` is the length of its longest list of items. ``n_texts`` counts questions and items
    that have a text, or at least a title. ``run_id`` is the run of the study that holds the same
    already, ``stored_depth`` the length of the longest list there; it ``is_fuller`` here where the
    study has fewer of these texts.
    """

    system: str
    key: str
    n_queries: int
    n_items: int
    n_empty: int
    n_deeper: int
    depth: int
    n_texts: int
    run_id: str | None = None
    stored_depth: int = 0
    is_fuller: bool = False


class ResultsReport(Struct, frozen=True):
    """What files of one import hold, and what storing them does. Nothing is stored yet.

    ``scorable`` has the kind of evaluation that scores a file of that name, too. ``refused`` is why
    they cannot be stored, ``fits`` the scale that is set with them: the study has no verdict yet,
    or none that is above. ``turns_blind``: its runs will compete with one another. So many
    documents differ, ``n_differing``, from the text that the study had of them when the files were
    read. ``files`` are the files; without them a report is for looking at only.
    """

    name: str
    group: Group
    problems: tuple[Problem, ...]
    runs: tuple[RunPreview, ...] = ()
    files: tuple[Any, ...] = ()
    refused: Any = None  # a ``Refused``
    fits: int | None = None
    known_raters: tuple[str, ...] = ()
    scorable: Mapping[str, str] = field(default_factory=dict)
    turns_blind: bool = False
    n_differing: int = 0

    @property
    def collections(self) -> list[str]:
        """The names of those files that are whole collections of documents."""
        return [name for name, words in self.group.files if words == COLLECTION]

    @property
    def brings_something(self) -> bool:
        """Whether storing the files changes anything."""
        new = any(run.run_id is None or run.is_fuller for run in self.runs)
        return not self.refused and (new or bool(self.group.raters) or self.n_differing > 0)


def packed(files: Iterable[tuple[str, bytes]], choices: Choices | None = None) -> bytes:
    """Return files of one import as one that waits."""
    return msgpack.encode((tuple(files), choices or Choices()))


def unpacked(data: bytes) -> tuple[tuple[tuple[str, bytes], ...], Choices]:
    return msgpack.decode(data, type=tuple[tuple[tuple[str, bytes], ...], Choices])


def collections_in(report: ResultsReport, data: bytes) -> list[tuple[str, bytes]]:
    """Return the whole collections among packed files that were read, also those in archives."""
    files = expanded(unpacked(data)[0])
    return [(file.name, file.opened().read()) for file in files if file.name in report.collections]


def read(name: str, data: bytes, on_progress: OnProgress = no_progress) -> ResultsReport:
    """Return the report of packed files by themselves; raises an ``ImportRefused``."""
    return read_files(name, *unpacked(data), on_progress)


def read_files(
    name: str,
    files: Iterable[Dropped],
    choices: Choices | None = None,
    on_progress: OnProgress = no_progress,
) -> ResultsReport:
    dropped = tuple(files)
    group = bounded.call(name, formats.read, dropped, choices, on_progress=on_progress)
    return ResultsReport(
        name=name,
        group=group,
        problems=group.problems,
        runs=tuple(map(_preview, group.runs)),
        files=dropped,
        scorable=dict(filter(None, map(_scorable, dropped))),
    )


def _scorable(dropped: Dropped) -> tuple[str, str] | None:
    if isinstance(dropped, tuple):
        name, head = dropped[0], dropped[1][:LONGEST_LOOK]
    elif dropped.is_file():
        with dropped.open("rb") as file:
            name, head = dropped.name, file.read(LONGEST_LOOK)
    else:
        return None
    for line in head.splitlines()[:5]:
        with suppress(DecodeError, RecursionError):
            keys = json.decode(line, type=dict[str, Raw]).keys()
            for kind, needed in SCORED.items():
                if needed <= keys:
                    return name, kind
    return None


def _preview(run: ReadRun) -> RunPreview:
    lengths = [len(query.cards) for query in run.queries]
    return RunPreview(
        system=run.search_method or "",
        key=run.key,
        n_queries=len(lengths),
        n_items=sum(lengths),
        n_empty=lengths.count(0),
        n_deeper=sum(len(query.tail) for query in run.queries),
        depth=max(lengths, default=0),
        n_texts=sum(
            question_sets.has_text(query.question, query.external_id)
            + sum(bool(card.text or card.title) for card in query.cards)
            for query in run.queries
        ),
    )


def parted(report: ResultsReport) -> tuple[ResultsReport, bytes]:
    """Return a report for looking at only, and the packed files that it was read from.

    All runs of an import have the same questions, of which the first one keeps the words.
    """
    runs = report.group.runs[:1]
    full = (q for run in runs for q in run.queries)
    queries = (replace(q, response="", cards=(), extra={}, tail=()) for q in full)
    first = tuple(replace(run, queries=tuple(queries)) for run in runs)
    brief = replace(report, group=replace(report.group, runs=first, judged=()), files=())
    return brief, packed(report.files, report.group.choices)


def known_choices(study: Study, report: ResultsReport) -> Choices | None:
    """Return the choices that earlier files of this shape were read by, if they differ.

    These are their columns, and whether ids name passages.
    """
    mappings, group = study.mappings or {}, report.group
    columns_before = mappings.get("columns", {}).get(group.header)
    columns = group.choices.columns or columns_before or {}
    passages = group.has_passages or mappings.get("passages", False)
    if columns in (group.choices.columns, group.columns) and passages == group.has_passages:
        return None
    return replace(group.choices, columns=columns, passages=passages)


def examine(session: Session, study: Study, report: ResultsReport) -> ResultsReport:
    """Return the report of files beside the study as it is now."""
    highest = report.group.highest_grade
    refused = _refusal(session, study, report)
    is_above = highest > Scale.stored(study.scale).top
    names = map(rater_name, report.group.raters)
    previews = tuple(_match_stored_run(session, study, run) for run in report.runs)
    is_open = study.blind is None and not studies.is_blind(session, study)
    return replace(
        report,
        problems=(*report.group.problems, *_other_depths(report, previews)),
        runs=previews,
        turns_blind=not refused and is_open and _compete(session, study, report, previews),
        refused=refused,
        fits=max(highest, 2) if is_above and not refused else None,
        known_raters=tuple(name for name in names if raters.find_named(session, study, name)),
    )


def _refusal(session: Session, study: Study, report: ResultsReport) -> Refused | None:
    if is_other_kind(session, study, Document.kind):
        return OtherKind()
    if report.group.has_passages and not (study.mappings or {}).get("passages"):
        listed = select(Result.id).join(JudgedItem).join(Query, Query.id == Result.query_key)
        listed = listed.join(Run).where(Run.study_id == study.id)
        by_id = listed.where(JudgedItem.card["doc_id"].as_string() != "").limit(1)
        if session.scalar(by_id) is not None:
            return OtherIds()
    highest = report.group.highest_grade
    if highest > Scale.stored(study.scale).top and (
        highest > Scale.MOST or studies.has_verdicts(session, study)
    ):
        return OtherScale(f"{highest:g}")
    return None


def _compete(
    session: Session, study: Study, report: ResultsReport, previews: Sequence[RunPreview]
) -> bool:
    """Whether a new run has the questions of another one, be it new as well or in the study."""
    n_new = sum(run.run_id is None for run in previews)
    if n_new != 1:
        return n_new > 1
    collection = question_sets.known_collection(session, study, report.group.runs[0].queries)
    set_id = collection[0].id if collection else None
    with_it = select(Run.id).where(Run.question_set_id == set_id)
    return session.scalar(with_it.limit(1)) is not None


def _other_depths(report: ResultsReport, previews: Iterable[RunPreview]) -> Iterator[Problem]:
    for run in previews:
        if run.run_id is not None and run.depth != run.stored_depth:
            depths = {"stored": run.stored_depth, "depth": run.depth}
            yield warning("results_other_depth", report.name, {"system": run.system, **depths})


def rater_name(name: str) -> str:
    return name_line(name) or USUAL_RATER


def _match_stored_run(session: Session, study: Study, run: RunPreview) -> RunPreview:
    same = select(Run.id).where(Run.study_id == study.id, Run.session_key == run.key)
    same = same.where(Run.stated_search_method == run.system)
    run_id = session.scalar(same.limit(1))
    if run_id is None:
        return run
    questions = select(Question.text, Question.external_id).join(Query)
    questions = questions.where(Query.run_id == run_id)
    is_told = or_(*(JudgedItem.card[name].as_string() != "" for name in ("text", "title")))
    listed = select(func.max(Result.rank), func.count(JudgedItem.id).filter(is_told))
    listed = listed.select_from(Result).join(Query, Query.id == Result.query_key)
    listed = listed.join(JudgedItem, JudgedItem.id == Result.judged_item_id)
    listed = listed.where(Query.run_id == run_id)
    depth, n_texts = session.execute(listed).one()
    n_texts += sum(question_sets.has_text(*row) for row in session.execute(questions))
    is_fuller = n_texts < run.n_texts
    return replace(run, run_id=run_id, stored_depth=depth or 0, is_fuller=is_fuller)
