"""The results of any search or RAG system: recognised by structure, read as runs and grades.

Files that are dropped together are one import: runs, questions, collections and grades join by
their ids. Each file is opened, parsed into records, and read by the format or the shape that its
first whole records have; names of files decide only between two that fit alike.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field

from relevansi.i18n import mark
from relevansi.importers.results import files, json_questions, recognition
from relevansi.importers.results.assemble import Gathered
from relevansi.importers.results.files import BROKEN, Dropped, File, reading
from relevansi.importers.results.grades import Judged, UnfitGrades
from relevansi.importers.results.recognition import Beside, Source
from relevansi.importers.results.rows import Columns, columns_of, header_key
from relevansi.importers.results.shapes import SHAPES
from relevansi.importers.results.unknown import UnknownNames, unknown_json, unknown_names
from relevansi.importers.runs.problems import ImportRefused, error
from relevansi.records import OnProgress, Problem, ReadRun, no_progress

EXAMPLES = Path(__file__).with_name("examples")
READ_ORDER = ("requests", "questions", "grades", "results", "documents")
"""What files hold, in the order in which they are read."""
DEPTH = 20
"""So many results of each list become items to judge, unless another depth is chosen."""
MOST_DEPTH = 1_000


class Choices(Struct, frozen=True):
    """How files are read: by which columns and paths of roles, how deep, of which split.

    ``columns`` names the column or path of roles (see ``rows.ROLES``, and ``items``) where the
    guess is wrong. The first ``depth`` ranks of each list become cards, the ids of the next 1,000
    are its tail. ``split`` chooses one of several sets of grades, ``grades`` maps a grade in the
    files to one here. ``method`` and ``llm`` label the run of files that name no system.
    ``passages``: an earlier import of the collection found its ids to name several passages.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    depth: int = DEPTH
    split: str | None = None
    grades: Mapping[str, str] = field(default_factory=dict)
    method: str = ""
    llm: str = ""
    passages: bool = False


class Group(Struct, frozen=True):
    """What files that were dropped together hold, read by ``choices``.

    ``files`` has the name of each and what it is (a message id). ``raters`` counts the grades of
    each rater ("" where the files do not say). ``highest_grade`` is -1 without grades: the caller
    compares it with the study's scale. ``sample`` has the first rows as texts by role. ``columns``
    (role to name or path) are those of the first table or of the JSON whose shape is not known, as
    read or as guessed; ``names`` those to choose from with an example of each, ``header`` is the
    same for files with the same names. ``splits`` are the sets of grades to choose from, where
    there are several. ``unfit_grades`` are those of the files that ``choices.grades`` has to say
    what they are here. ``has_passages``: ids of this collection name documents of several
    passages. ``meta`` has every key of metadata, and whether it is of a collection, which is the
    same for all systems.
    """

    files: tuple[tuple[str, str], ...] = ()
    runs: tuple[ReadRun, ...] = ()
    judged: tuple[Judged, ...] = ()
    raters: Mapping[str, int] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    sample: tuple[Mapping[str, str], ...] = ()
    highest_grade: int = -1
    columns: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    header: str = ""
    splits: tuple[str, ...] = ()
    unfit_grades: tuple[str, ...] = ()
    has_passages: bool = False
    meta: Mapping[str, bool] = field(default_factory=dict)
    choices: Choices = Choices()


EXAMPLE_FILES = {
    "table.csv": recognition.TABLE,
    "table.tsv": mark("a table with tabs"),
    "table.jsonl": recognition.JSON_ROWS,
    "columns.json": mark("a table as JSON by columns (pandas)"),
    "ratings.csv": mark("ratings of Quepid: query, docid, rating"),
    **{shape.example: shape.name for shape in SHAPES},
    "spans.jsonl": recognition.SPANS,
    "mlflow_trace.json": mark("a trace of MLflow"),
    "phoenix.csv": mark("retrieved documents of Phoenix"),
    "rank_eval.json": recognition.RANK_EVAL,
    "contexts.jsonl": mark("cited answers with their contexts"),
    "chunks.jsonl": mark("retrieved chunks of several strategies"),
    "scores.json": recognition.SCORES,
    "judgments.json": recognition.JUDGMENTS,
    "run.txt": recognition.RUN,
    "ranks.tsv": mark("a run of MS MARCO: question, document, rank"),
    "qrels.txt": recognition.QRELS,
    "topics.tsv": recognition.TOPICS,
    "topics.xml": mark("topics of TREC"),
    "corpus.jsonl": recognition.COLLECTION,
    "documents.sgml": mark("documents of TREC"),
    "d7.md": recognition.DOCUMENT,
    "beir/queries.jsonl": mark("questions of BEIR"),
    "beir/qrels/test.tsv": mark("grades of BEIR and MTEB"),
}
"""Every example: file to what it shows (a message id)."""


def examples() -> dict[str, tuple[Path, str]]:
    """Every example: its name to its file and what it shows (a message id)."""
    return {name: (EXAMPLES / name, words) for name, words in EXAMPLE_FILES.items()}


def recognised(name: str, data: bytes) -> str | None:
    """What a file is (a message id), ``None`` where it is nothing that is read here."""
    try:
        file = next(files.expanded([(name, data)]))
        return recognition.recognise(file, {}).words
    except (ImportRefused, StopIteration, *BROKEN):
        return None


def read(
    dropped: Iterable[Dropped],
    choices: Choices | None = None,
    on_progress: OnProgress = no_progress,
) -> Group:
    """What the files hold, plain or packed; `on_progress` hears how far a collection is read.

    Raises an `ImportRefused` where a file cannot be used, or none holds anything to judge. Where
    the columns or paths of a file have to be chosen, the group has their ``names`` and no runs.
    """
    choices = choices or Choices()
    opened = _opened(dropped)
    try:
        sources = list(_recognised(opened, choices.columns))
        _check_that_lists_are_there(sources)
    except UnknownNames as unknown:
        if not unknown.names:
            raise ImportRefused(*unknown.problems) from None
        return _to_choose(opened, unknown, choices)
    used, splits = _of_split(sources, choices.split)
    gathered = _gathered(used, choices, on_progress)
    runs = gathered.runs(choices.method, choices.llm)
    judged: tuple[Judged, ...] = ()
    unfit: tuple[str, ...] = ()
    problems: list[Problem] = []
    try:
        judged = gathered.judged()
    except UnfitGrades as refused:
        unfit, runs = refused.values, ()
        problems += refused.problems
    problems += [problem for file in opened for problem in file.remarks()]
    name = opened[0].name if opened else "-"
    if absent := _absent(sources, choices.columns):
        raise ImportRefused(error("results_paths_absent", name, {"paths": ", ".join(absent)}))
    if splits and choices.split not in splits:
        problems.insert(0, error("results_splits", name, {"splits": ", ".join(splits)}))
    elif not (runs or judged or unfit):
        raise ImportRefused(*(*problems, error("results_nothing", name)))
    names = next((source.names for source in sources if source.names), {})
    of_collection = {key for document in gathered.documents.values() for key in document.meta}
    listed = (card for run in runs for query in run.queries for card in query.cards)
    grades = [int(grade.verdict) for grade in judged if grade.verdict.isdecimal()]
    return Group(
        files=tuple((source.file.name, source.words) for source in sources),
        runs=runs,
        judged=judged,
        raters=Counter(grade.rater for grade in judged),
        problems=tuple(problems),
        sample=tuple(row.texts() for row in gathered.sample),
        highest_grade=max(grades, default=-1),
        columns=columns_of(tuple(names), choices.columns),
        names=names,
        header=header_key(tuple(names)) if names else "",
        splits=splits,
        unfit_grades=unfit,
        has_passages=gathered.has_passages,
        meta={key: key in of_collection for card in listed for key in card.meta},
        choices=choices,
    )


def _recognised(opened: Iterable[File], columns: Columns) -> Iterator[Source]:
    """How each file is read; what nobody knows in a folder is reported and passed over."""
    for file in opened:
        try:
            with reading(file):
                source = recognition.recognise(file, columns)
        except ImportRefused as refused:
            file.note(*refused.problems)
            if "/" not in file.name:
                raise
        else:
            yield source


def _check_that_lists_are_there(sources: Sequence[Source]) -> None:
    """Raise `UnknownNames` where files have names of columns or keys, and only other things."""
    source = next((source for source in sources if source.names or source.sample), None)
    if source and {source.role for source in sources} <= {"questions", "documents"}:
        is_table, file = bool(source.names), source.file
        refused = (
            unknown_names(file, source.names) if is_table else unknown_json(file, source.sample)
        )
        file.note(*refused.problems)
        raise refused


def _gathered(sources: Sequence[Source], choices: Choices, on_progress: OnProgress) -> Gathered:
    """The rows of all files, then the documents whose texts they lack."""
    gathered = Gathered(choices.depth, has_passages=choices.passages, grades=choices.grades)
    beside = Beside(choices.columns, sources, gathered.judged_ids)
    for source in sorted(sources, key=lambda source: READ_ORDER.index(source.role)):
        if source.rows:
            gathered.take(source.file, source.rows(beside))
    ids = gathered.ids_without_text()
    unread: list[File] = []
    for source in sources:
        before = len(gathered.documents)
        if source.documents and ids:
            gathered.take(source.file, source.documents(ids, on_progress))
        if source.words == recognition.DOCUMENT and len(gathered.documents) == before:
            unread.append(source.file)
    if unread:
        unread[0].counts["results_documents_unread"] += len(unread)
    return gathered


def _to_choose(opened: Sequence[File], unknown: UnknownNames, choices: Choices) -> Group:
    lowered = {name.lower() for name in unknown.names}
    absent = [name for name in choices.columns.values() if name and name.lower() not in lowered]
    if absent and len(opened) == 1 and not unknown.sample:
        opened[0].error("results_paths_absent", paths=", ".join(absent))
    return Group(
        problems=tuple(problem for file in opened for problem in file.remarks()),
        sample=tuple(row.texts() for row in unknown.sample),
        columns=unknown.columns,
        names=unknown.names,
        header=header_key(tuple(unknown.names)),
        choices=choices,
    )


def _opened(dropped: Iterable[Dropped]) -> list[File]:
    """The files that were dropped, with those in folders and archives, each name once."""
    opened: list[File] = []
    names: Counter[str] = Counter()
    for file in files.expanded(dropped):
        names[file.name] += 1
        if names[file.name] > 1:
            file.name = f"{file.name} ({names[file.name]})"
        if not re.search(r"(?:^|/)(?:readme|licen[cs]e)[^/]*$", file.name.lower()):
            opened.append(file)
    return opened


def _of_split(
    sources: Sequence[Source], split: str | None
) -> tuple[Sequence[Source], tuple[str, ...]]:
    """The files without the grades of other splits; the splits, if there are several."""
    stems = {
        source.file.name: source.file.stem
        for source in sources
        if re.search(r"(?:^|/)qrels/[^/]+$", source.file.name)
    }
    names = tuple(sorted(set(stems.values())))
    if len(names) < 2:
        return sources, ()
    return [source for source in sources if stems.get(source.file.name, split) == split], names


def _absent(sources: Iterable[Source], columns: Columns) -> list[str]:
    """The columns and paths that were chosen and that no file has."""
    chosen = {name for name in columns.values() if name}
    for source in sources:
        lowered = {name.lower() for name in source.names}
        chosen -= {name for name in chosen if name.lower() in lowered}
        if source.sample:
            chosen -= {path for path in chosen if json_questions.stands(source.sample, path, -1)}
    return sorted(chosen)
