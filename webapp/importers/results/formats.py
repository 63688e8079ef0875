"""The results of any search or RAG system: recognised by content, read as runs and grades.

Files that are dropped together are one import: runs, questions, collections and grades join by
their ids. ``FORMATS`` has what is read, with a smallest example of each.
"""

from __future__ import annotations

import json
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct, field

from webapp.i18n import mark
from webapp.importers.results import files, lists, rows, trec
from webapp.importers.results.assemble import Gathered, Judged
from webapp.importers.results.files import BROKEN, Dropped, File
from webapp.importers.results.rows import Columns, FlatRow
from webapp.importers.runs import csv_ratings
from webapp.importers.runs.problems import ImportRefused, error
from webapp.kinds.document import Document
from webapp.records import Problem, ReadRun, Tell, nobody

EXAMPLES = Path(__file__).with_name("examples")
HEAD = 64 * 1024
READ_ORDER = ("questions", "results", "grades", "documents")
"""What files hold, in the order in which they are read."""
DEPTH = 20
"""So many results of each list become items to judge, unless another depth is chosen."""
MOST_DEPTH = 1_000


class Format(Struct, frozen=True):
    """A format of files: ``name`` has at most 8 letters, ``example`` is a file in ``EXAMPLES``.

    ``role`` is one of ``READ_ORDER``; a table or list of "results" may hold the others as well.
    ``read`` gives the rows of a file by the columns chosen; of "documents" those whose ids are
    wanted, and tells how far it is.
    """

    name: str
    role: str
    words: str
    example: str
    read: Callable[..., Iterable[FlatRow | Document | tuple[str, ...]]]


_SPANS = mark("retriever spans of OpenInference (Phoenix)")
_RANK_EVAL = mark("a response of _rank_eval (Elasticsearch, OpenSearch)")
_JUDGMENTS = mark("judgments of the Search Relevance Workbench")
_LISTS = mark("JSON with a list for each question")
_TOPICS = mark("questions (topics or queries)")
_CORPUS = mark("a collection of documents")
_TABLE = Format("table", "results", mark("a table"), "table.csv", rows.read_table)
FORMATS = (
    Format("spans", "results", _SPANS, "spans.jsonl", lists.read_spans),
    Format("rankeval", "results", _RANK_EVAL, "rank_eval.json", lists.read_rank_eval),
    Format("judgment", "grades", _JUDGMENTS, "judgments.json", lists.read_judgments),
    Format("qrels", "grades", mark("TREC qrels"), "qrels.txt", trec.read_qrels),
    Format("trec", "results", mark("a TREC run"), "run.txt", trec.read_run),
    Format("lists", "results", _LISTS, "lists.jsonl", lists.read),
    _TABLE,
    Format("topics", "questions", _TOPICS, "topics.tsv", trec.read_topics),
    Format("corpus", "documents", _CORPUS, "corpus.jsonl", trec.read_documents),
    Format("text", "documents", mark("a document"), "d7.md", trec.read_text),
)

OTHER_EXAMPLES = {
    "table.tsv": ("table", mark("a table with tabs")),
    "table.jsonl": ("table", mark("a row per line, as JSON")),
    "ratings.csv": ("table", mark("ratings of Quepid: query, docid, rating")),
    "langchain.json": ("lists", mark("documents of LangChain and LangSmith")),
    "mlflow.json": ("lists", mark("retrieved contexts of MLflow")),
    "llamaindex.json": ("lists", mark("source nodes of LlamaIndex")),
    "ragas.jsonl": ("lists", mark("samples of Ragas")),
    "search.jsonl": ("lists", mark("responses of _search, each with its query")),
    "contexts.jsonl": ("lists", mark("cited answers with their contexts")),
    "chunks.jsonl": ("lists", mark("retrieved chunks of several strategies")),
    "topics.xml": ("topics", mark("topics of TREC")),
    "documents.sgml": ("corpus", mark("documents of TREC")),
    "beir/queries.jsonl": ("topics", mark("questions of BEIR")),
    "beir/qrels/test.tsv": ("table", mark("grades of BEIR and MTEB")),
}
"""Further examples: file to format and description."""


def examples() -> dict[str, tuple[Path, str]]:
    """Every example: its name to its file and what it shows (a message id)."""
    shown = {one.example: one.words for one in FORMATS}
    shown |= {name: words for name, (_, words) in OTHER_EXAMPLES.items()}
    return {name: (EXAMPLES / name, words) for name, words in shown.items()}


class Choices(Struct, frozen=True):
    """How files are read: by which columns of roles, how deep, with which of several splits.

    ``columns`` names the columns of roles (see ``rows.ROLES``) where the guess is wrong. The first
    ``depth`` items of each list become cards, the ids of the next 1,000 are its tail. ``split``
    chooses one of several sets of grades. ``passages``: an earlier import of the collection found
    its ids to name several passages.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    depth: int = DEPTH
    split: str | None = None
    passages: bool = False


class Group(Struct, frozen=True):
    """What files that were dropped together hold, read by ``choices``.

    ``files`` has the name of each and what it is (a message id). ``raters`` counts the grades of
    each rater ("" where the files do not say). ``highest_grade`` is -1 without grades: the caller
    compares it with the study's scale. ``sample`` has the first rows as texts by role. ``columns``
    (role to name) are those of the first table as read, ``names`` those to choose from, ``header``
    is the same for tables with the same columns. ``splits`` are the sets of grades to choose from,
    where there are several. ``has_passages``: ids of this collection name documents of several
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
    names: tuple[str, ...] = ()
    header: str = ""
    splits: tuple[str, ...] = ()
    has_passages: bool = False
    meta: Mapping[str, bool] = field(default_factory=dict)
    choices: Choices = Choices()


class _Head(NamedTuple):
    """How a file begins: its first whole lines, and what it holds if it is JSON or a table.

    ``rows_are`` is what the rows of a table with this header are, see ``rows.role_of``.
    """

    name: str
    text: str = ""
    lines: tuple[str, ...] = ()
    record: object = None
    header: tuple[str, ...] = ()
    rows_are: str | None = None

    def is_named(self, pattern: str) -> bool:
        return bool(re.search(pattern, self.name.rpartition("/")[2].lower()))

    def begins(self, pattern: str) -> bool:
        return bool(re.match(pattern, self.text, re.IGNORECASE))

    def is_of(self, pattern: re.Pattern[str]) -> bool:
        """Whether most lines are of a pattern; a broken one is a problem of its own."""
        fitting = sum(bool(pattern.fullmatch(line.strip())) for line in self.lines)
        return fitting * 2 > len(self.lines)


def recognised(name: str, first_bytes: bytes) -> Format | None:
    """The format of a file by how it begins (64 kB do), ``None`` for a file of another kind.

    A workbook is a table; a zip is looked into only by `read`.
    """
    return _format_of(_head(name, first_bytes, {}))


_SPAN_MARKS = ("openinference.span.kind", "retrieval.documents", '"RETRIEVER"')
_COLLECTION = "corpus|collection|docs|documents|passages"
_TOP = r"\s*(?:<\?xml[^>]*>\s*)?(?:<topics[^>]*>\s*)?<top(?:ic)?[\s>]"
_TOPIC_LINE = re.compile(r"\S+\t[^\t]+")
_IDS = {"_id", "id", "docid", "doc_id", "docno", "pid"}
_TEXTS = {"text", "contents", "body", "content", "passage", "title"}


def _format_of(head: _Head) -> Format | None:
    text, record = head.text, head.record
    keys = record.keys() if isinstance(record, dict) else set()
    is_collection = head.is_named(_COLLECTION)
    is_rated = set(csv_ratings.REQUIRED) <= set(head.header)
    asks = head.is_named("quer|topic|question") and trec.topic_line("".join(head.lines[:1]))[1]
    has_topics = head.is_of(_TOPIC_LINE)
    rows_are = head.rows_are
    tests = {
        "spans": any(one in text for one in _SPAN_MARKS) and "input" in text,
        "rankeval": '"metric_score"' in text and '"details"' in text,
        "judgment": '"judgmentRatings"' in text,
        # A question may have three words of which the last is a number.
        "qrels": head.is_of(trec.QRELS_LINE) and not has_topics,
        "trec": head.is_of(trec.RUN_LINE),
        "lists": rows.objects(record, lists.is_asked),
        "table": not is_rated and (rows_are if not record else rows_are in ("result", "grade")),
        "topics": head.begins(_TOP) or (asks if keys else has_topics and not is_collection),
        "corpus": head.begins(r"\s*<doc>")
        or (keys & _IDS and keys & _TEXTS)
        or (is_collection and head.begins(r"\S+\t\S")),
        "text": text and head.is_named(r"\.(?:txt|md)$"),
    }
    return next((one for one in FORMATS if tests[one.name]), None)


def _head(name: str, data: bytes, columns: Columns) -> _Head:
    if data.startswith(b"\x1f\x8b"):
        with suppress(zlib.error):
            data = zlib.decompressobj(31).decompress(data, HEAD)
        name = name.removesuffix(".gz")
    if data.startswith(b"PK\x03\x04") and name.lower().endswith(".xlsx"):
        return _Head(name, rows_are="result")  # as any table: its reader looks into it
    text = data[:HEAD].decode("utf-8-sig", "replace")
    if text.count("\ufffd") > 3 or "\x00" in text or not text.strip():
        return _Head(name)
    is_cut = len(data) >= HEAD and "\n" in text
    lines = tuple(line for line in text.splitlines()[: -1 if is_cut else None][:50] if line.strip())
    first, record = lines[0] if lines else "", _record(text, lines)
    entry = record[0] if isinstance(record, list) and record else record
    if isinstance(entry, dict):
        header = tuple(rows.flattened(entry))
    elif first.startswith(("{", "[", "<")):
        header = ()
    else:
        split = [
            tuple(cell.strip(' "') for cell in first.split(one)) for one in csv_ratings.DELIMITERS
        ]
        header = max(split, key=lambda one: (len(rows.columns_of(one, columns)), len(one)))
    role = rows.role_of(rows.columns_of(header, columns))
    return _Head(name, text, lines, record, header, role)


def _record(text: str, lines: tuple[str, ...]) -> object:
    """The JSON value that a head holds: its first line, else all of it, else its first objects."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    for candidate in (*lines[:1], text):
        with suppress(msgspec.DecodeError, RecursionError):
            return msgspec.json.decode(candidate)
    entries: list[object] = []
    at = text.find("{", 1)
    for _ in range(20):
        if at < 0 or len(entries) > 2:
            break
        try:
            value, end = json.JSONDecoder().raw_decode(text, at)
            entries.append(value)
        except (ValueError, RecursionError):
            end = at + 1
        at = text.find("{", end)
    return entries


def read(dropped: Iterable[Dropped], choices: Choices | None = None, tell: Tell = nobody) -> Group:
    """What the files hold, plain or packed; `tell` hears how far a collection is read.

    Raises an `ImportRefused` where nothing can be used, unless there is a table whose columns can
    be chosen.
    """
    choices = choices or Choices()
    recognised, problems = _recognise(dropped, choices.columns)
    found, splits = _of_split(recognised, choices.split)
    gathered = Gathered(choices.depth, has_passages=choices.passages)
    for file, kind in found:
        if kind.role != "documents":
            gathered.take(file, kind.read(file, choices.columns))
    wanted = gathered.wanted()
    for file, kind in found:
        if kind.role == "documents" and wanted:
            gathered.take(file, kind.read(file, wanted, tell))
    runs, judged = gathered.runs(), gathered.grades()
    problems += [problem for file, _ in found for problem in file.told()]
    name = found[0][0].name if found else "-"
    if splits and choices.split not in splits:
        problems.insert(0, error("results_splits", name, {"splits": ", ".join(splits)}))
    has_columns = any(problem.code == "results_columns_missing" for problem in problems)
    if not (runs or judged or splits or (gathered.header and has_columns)):
        raise ImportRefused(*(problems or [error("results_nothing", name)]))
    of_collection = {key for one in gathered.documents.values() for key in one.meta}
    listed = (card for run in runs for query in run.queries for card in query.cards)
    return Group(
        files=tuple((file.name, kind.words) for file, kind in found),
        runs=runs,
        judged=judged,
        raters=Counter(one.rater for one in judged),
        problems=tuple(problems),
        sample=tuple(row.told() for row in gathered.sample),
        highest_grade=max(
            (int(one.verdict) for one in judged if one.verdict.isdecimal()), default=-1
        ),
        columns=rows.columns_of(gathered.header, choices.columns),
        names=gathered.header,
        header=rows.header_key(gathered.header) if gathered.header else "",
        splits=splits,
        has_passages=gathered.has_passages,
        meta={key: key in of_collection for card in listed for key in card.meta},
        choices=choices,
    )


def _recognise(
    dropped: Iterable[Dropped], columns: Columns
) -> tuple[list[tuple[File, Format]], list[Problem]]:
    """The files of known formats in the order in which they are read, and what is wrong."""
    found: list[tuple[File, Format]] = []
    problems: list[Problem] = []
    names_seen: Counter[str] = Counter()
    for file in files.expanded(dropped):
        name = file.name
        names_seen[name] += 1
        if names_seen[name] > 1:
            file.name = f"{name} ({names_seen[name]})"
        try:
            with file.opened() as opened:
                head = _head(name, opened.read(HEAD), columns)
        except BROKEN:
            problems.append(error("results_cut_off", file.name))
            continue
        kind = _format_of(head)
        if kind is None and len(head.header) > 1 and not name.endswith((".json", ".md", ".txt")):
            kind = _TABLE  # its columns can be chosen
        if kind:
            file.format = kind.name
            found.append((file, kind))
        elif not re.search(r"(?:^|/)(?:readme|licen[cs]e)", name.lower()):
            looks = {"found": "other_value", "expected": "results_file"}
            problems.append(error("unknown_format", file.name, looks))
    found.sort(key=lambda pair: READ_ORDER.index(pair[1].role))
    return found, problems


def _of_split(
    found: Sequence[tuple[File, Format]], split: str | None
) -> tuple[Sequence[tuple[File, Format]], tuple[str, ...]]:
    """The files without the grades of other splits; the splits, if there are several."""
    splits = {
        file.name: file.stem for file, _ in found if re.search(r"(?:^|/)qrels/[^/]+$", file.name)
    }
    names = tuple(sorted(set(splits.values())))
    if len(names) < 2:
        return found, ()
    return [one for one in found if splits.get(one[0].name, split) == split], names
