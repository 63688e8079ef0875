"""The results of any search or RAG system: recognised by content, read as runs and grades.

Files that are dropped together are one import: runs, questions, collections and grades join by
their ids. ``FORMATS`` has what is read, with a smallest example of each.
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct

from webapp.i18n import mark
from webapp.importers.results import lists, spans, tables, trec
from webapp.importers.results.assemble import Gathered, Judged, Question
from webapp.importers.results.rows import BROKEN, File, FlatRow, Rows, expanded, flattened
from webapp.importers.runs import csv_ratings
from webapp.importers.runs.problems import ImportRefused, error
from webapp.kinds.document import Document
from webapp.records import Problem, ReadRun, Tell, nobody

EXAMPLES = Path(__file__).with_name("examples")
HEAD = 64 * 1024
MOST_PROBLEMS = 1_000
"""Problems of one file that are kept; the rest are counted."""


class _Head(NamedTuple):
    name: str
    text: str
    lines: tuple[str, ...]  # the first whole ones
    record: object  # the first JSON value, as far as the head has it
    columns: Mapping[str, str] | None = None  # as chosen

    @property
    def base(self) -> str:
        return self.name.rpartition("/")[2].lower()

    @property
    def keys(self) -> frozenset[str]:
        return frozenset(self.record) if isinstance(self.record, dict) else frozenset()


READ_ORDER = ("questions", "results", "grades", "documents")
"""What files hold, in the order in which they are read."""


class Format(Struct, frozen=True):
    """A format of files: ``name`` has at most 8 letters, ``example`` is a file in ``EXAMPLES``.

    ``role`` is one of ``READ_ORDER``; a table or list of "results" may hold the others as well.
    """

    name: str
    role: str
    words: str
    example: str
    sniff: Callable[[_Head], bool]
    read: Callable[..., Rows] | None = None  # none: a collection, which is streamed


_COLLECTION = re.compile(r"corpus|collection|docs|documents|passages")
_TOPIC_LINE = re.compile(r"\S+\t[^\t]+")


def _headers(head: _Head) -> list[tuple[str, ...]]:
    """The names of columns that the beginning of a table may state."""
    first_of = head.record[0] if isinstance(head.record, list) and head.record else head.record
    if isinstance(first_of, dict):
        return [tuple(flattened(first_of))]
    first = head.lines[0] if head.lines else ""
    if first.startswith(("{", "[", "<")):
        return []
    split = (tuple(cell.strip(' "') for cell in first.split(one)) for one in csv_ratings.DELIMITERS)
    return [names for names in split if len(names) > 1]


def _is_table(head: _Head) -> bool:
    headers = [one for one in _headers(head) if not set(csv_ratings.REQUIRED) <= set(one)]
    roles = {tables.role_of(tables.columns_of(names, head.columns)) for names in headers}
    return bool(roles & ({"result", "grade"} if head.record else set(tables.TABLE_ROLES)))


def _is_documents(head: _Head) -> bool:
    is_tsv = re.match(r"\S+\t\S", head.lines[0] if head.lines else "")
    if re.match(r"\s*<doc>", head.text, re.IGNORECASE) or (
        is_tsv and _COLLECTION.search(head.base)
    ):
        return True
    ids = {"_id", "id", "docid", "doc_id", "docno", "pid"}
    texts = {"text", "contents", "body", "content", "passage", "title"}
    return bool(head.keys & ids and head.keys & texts)


def _is_topics(head: _Head) -> bool:
    if re.match(r"\s*(?:<\?xml[^>]*>\s*)?(?:<topics[^>]*>\s*)?<top(?:ic)?[\s>]", head.text):
        return True
    if isinstance(head.record, dict):
        named = re.search(r"quer|topic|question", head.base)
        return bool(named and trec.topic_line(head.lines[0])[1])
    return not _COLLECTION.search(head.base) and _all_match(_TOPIC_LINE, head.lines)


def _is_spans(head: _Head) -> bool:
    marks = ("openinference.span.kind", "retrieval.documents", '"RETRIEVER"')
    return any(one in head.text for one in marks) and "input" in head.text


def _is_rank_eval(head: _Head) -> bool:
    return '"metric_score"' in head.text and '"details"' in head.text


def _is_judgments(head: _Head) -> bool:
    return '"judgmentRatings"' in head.text


def _is_qrels(head: _Head) -> bool:
    # A question may have three words of which the last is a number.
    return _all_match(trec.QRELS_LINE, head.lines) and not _all_match(_TOPIC_LINE, head.lines)


def _is_run(head: _Head) -> bool:
    return _all_match(trec.RUN_LINE, head.lines)


def _is_lists(head: _Head) -> bool:
    return lists.is_list(head.record)


def _is_text(head: _Head) -> bool:
    return head.base.endswith((".txt", ".md"))


_SPANS = mark("retriever spans of OpenInference (Phoenix)")
_RANK_EVAL = mark("a response of _rank_eval (Elasticsearch, OpenSearch)")
_JUDGMENTS = mark("judgments of the Search Relevance Workbench")
_LISTS = mark("JSON with a list for each question")
_TOPICS = mark("questions (topics or queries)")
_CORPUS = mark("a collection of documents")
FORMATS = (
    Format("spans", "results", _SPANS, "spans.jsonl", _is_spans, spans.read),
    Format(
        "rankeval", "results", _RANK_EVAL, "rank_eval.json", _is_rank_eval, lists.read_rank_eval
    ),
    Format("judgment", "grades", _JUDGMENTS, "judgments.json", _is_judgments, lists.read_judgments),
    Format("qrels", "grades", mark("TREC qrels"), "qrels.txt", _is_qrels, trec.read_qrels),
    Format("trec", "results", mark("a TREC run"), "run.txt", _is_run, trec.read_run),
    Format("lists", "results", _LISTS, "lists.jsonl", _is_lists, lists.read),
    Format("table", "results", mark("a table"), "table.csv", _is_table, tables.read),
    Format("topics", "questions", _TOPICS, "topics.tsv", _is_topics, trec.read_topics),
    Format("corpus", "documents", _CORPUS, "corpus.jsonl", _is_documents),
    Format("text", "documents", mark("a document"), "d7.md", _is_text),
)

_TABLE = next(one for one in FORMATS if one.name == "table")
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


class Group(Struct, frozen=True):
    """What files that were dropped together hold.

    ``files`` has the name and format of each. ``highest_grade`` is that of ``judged`` (-1 for
    none): the caller compares it with the study's scale. ``columns`` (role to name) are those
    of the first table as read, ``header`` is the same for tables with the same columns.
    ``splits`` are the sets of grades to choose from, where there are several. ``has_passages``:
    ids of this collection name documents of several passages. ``collection_keys`` are the keys of
    metadata of collections, ``names`` the columns to choose from.
    """

    files: tuple[tuple[str, Format], ...]
    runs: tuple[ReadRun, ...]
    judged: tuple[Judged, ...]
    questions: tuple[Question, ...]
    problems: tuple[Problem, ...]
    sample: tuple[FlatRow, ...]
    highest_grade: int = -1
    columns: Mapping[str, str] = {}
    header: str = ""
    splits: tuple[str, ...] = ()
    has_passages: bool = False
    collection_keys: frozenset[str] = frozenset()
    names: tuple[str, ...] = ()


def recognised(
    name: str, first_bytes: bytes, columns: Mapping[str, str] | None = None
) -> Format | None:
    """The format of a file by how it begins (64 kB do), ``None`` for a file of another kind.

    A workbook is a table; a zip is looked into only by `read`, which knows `columns`, too.
    """
    head = _head(name, first_bytes, columns)
    return next((one for one in FORMATS if head and one.sniff(head)), None)


def _head(name: str, first_bytes: bytes, columns: Mapping[str, str] | None = None) -> _Head | None:
    if first_bytes.startswith(b"\x1f\x8b"):
        try:
            first_bytes = zlib.decompressobj(31).decompress(first_bytes, HEAD)
        except zlib.error:
            return None
        name = name.removesuffix(".gz")
    if first_bytes.startswith(b"PK\x03\x04") and name.lower().endswith(".xlsx"):
        return _Head(name, "", ("query,text",), None)  # as any table: `tables` looks into it
    text = first_bytes[:HEAD].decode("utf-8-sig", "replace")
    if text.count("\ufffd") > 3 or "\x00" in text or not text.strip():
        return None
    is_cut = len(first_bytes) >= HEAD and "\n" in text
    lines = text.splitlines()[: -1 if is_cut else None]
    kept = tuple(line for line in lines[:50] if line.strip())
    return _Head(name, text, kept, _record(text, kept), columns)


def _record(text: str, lines: tuple[str, ...]) -> object:
    """The JSON value that a head holds: its first line, else all of it, else the first entry."""
    start = text.lstrip()
    if not start.startswith(("{", "[")):
        return None
    for candidate in (lines[0] if lines else "", text):
        try:
            return msgspec.json.decode(candidate)
        except (msgspec.DecodeError, RecursionError):
            continue
    # A long file of which the head has a part: its first whole objects.
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


def _all_match(pattern: re.Pattern[str], lines: tuple[str, ...]) -> bool:
    """Whether most of the first lines are of a pattern; a broken one is a problem of its own."""
    fitting = sum(bool(pattern.fullmatch(line.strip())) for line in lines)
    return bool(lines) and fitting * 2 > len(lines)


def read(
    files: Iterable[Path | tuple[str, bytes]],
    *,
    columns: Mapping[str, str] | None = None,
    depth: int = 20,
    split: str | None = None,
    passages: bool = False,
    tell: Tell = nobody,
) -> Group:
    """What the files hold, which are paths (folders too) or names with bytes, plain or packed.

    `columns` names the columns of roles (see ``rows.ROLES``) where the guess is wrong. The first
    `depth` items of each list become cards, the ids of the next 1,000 are its tail. `split`
    chooses one of several sets of grades; `passages` says that an earlier import of the
    collection found its ids to name several passages. Raises an `ImportRefused` where nothing
    can be used, unless there is a table whose columns can be chosen.
    """
    found, problems = _recognise(files, columns)
    found, splits = _of_split(found, split)
    gathered = Gathered(depth, has_passages=passages)
    hashes: dict[str, str] = {}
    header: tuple[str, ...] = ()
    for file, kind in found:
        if kind.read:
            rows = kind.read(file)
            if kind.read in (tables.read, lists.read):
                rows = kind.read(file, columns)
            problems += _gather(file, kind, rows, gathered)
            hashes[file.name] = _sha256(file)
            header = header or (tables.header(file) if kind.read is tables.read else ())
    wanted = gathered.wanted()
    for file, kind in found:
        if wanted and kind.name == "corpus":
            problems += _gather(file, kind, trec.read_documents(file, wanted, tell), gathered)
        elif wanted and kind.name == "text":
            problems += _gather(file, kind, trec.read_text(file, wanted), gathered)
    runs = gathered.runs(hashes)
    judged = gathered.grades()
    problems += [*gathered.problems, *gathered.counted()]
    name = found[0][0].name if found else "-"
    if splits and split not in splits:
        problems.insert(0, error("results_splits", name, {"splits": ", ".join(splits)}))
    has_columns = any(problem.code == "results_columns_missing" for problem in problems)
    if not (runs or judged or splits or (header and has_columns)):
        raise ImportRefused(*(problems or [error("results_nothing", name)]))
    return Group(
        files=tuple((file.name, kind) for file, kind in found),
        runs=runs,
        judged=judged,
        questions=tuple(gathered.questions[key] for key in gathered.numbers()),
        problems=tuple(problems),
        sample=tuple(gathered.sample),
        highest_grade=max((one.grade for one in judged if one.grade is not None), default=-1),
        columns=tables.columns_of(header, columns),
        header=tables.header_key(header) if header else "",
        splits=splits,
        has_passages=gathered.has_passages,
        collection_keys=frozenset(key for one in gathered.documents.values() for key in one.meta),
        names=header,
    )


def _recognise(
    files: Iterable[Path | tuple[str, bytes]], columns: Mapping[str, str] | None
) -> tuple[list[tuple[File, Format]], list[Problem]]:
    """The files of known formats in the order in which they are read, and what is wrong."""
    found: list[tuple[File, Format]] = []
    problems: list[Problem] = []
    names_seen: Counter[str] = Counter()
    for one in expanded(files):
        names_seen[one.name] += 1
        again = names_seen[one.name]
        file = one if again == 1 else one._replace(name=f"{one.name} ({again})")
        try:
            with file.opened() as opened:
                first = opened.read(HEAD)
        except BROKEN:
            problems.append(error("results_cut_off", file.name))
            continue
        kind = recognised(one.name, first, columns)
        head = _head(one.name, first)
        names = max(_headers(head), key=len, default=()) if head else ()
        if kind:
            found.append((file, kind))
        elif len(names) > 1 and not one.name.endswith((".json", ".md", ".txt")):
            found.append((file, _TABLE))  # its columns can be chosen
        elif not re.search(r"(?:^|/)(?:readme|licen[cs]e)", file.name.lower()):
            looks = {"found": "other_value", "expected": "results_file"}
            problems.append(error("unknown_format", file.name, looks))
    found.sort(key=lambda pair: READ_ORDER.index(pair[1].role))
    return found, problems


def _of_split(
    found: list[tuple[File, Format]], split: str | None
) -> tuple[list[tuple[File, Format]], tuple[str, ...]]:
    """The files without the grades of other splits; the splits, if there are several."""
    splits = {
        file.name: file.stem for file, _ in found if re.search(r"(?:^|/)qrels/[^/]+$", file.name)
    }
    names = tuple(sorted(set(splits.values())))
    if len(names) < 2:
        return found, ()
    return [one for one in found if splits.get(one[0].name, split) == split], names


def _gather(
    file: File, kind: Format, rows: Iterable[FlatRow | Document | Problem], gathered: Gathered
) -> list[Problem]:
    problems: list[Problem] = []
    more = 0
    try:
        for row in rows:
            if isinstance(row, FlatRow):
                gathered.add(file, kind.name, row)
            elif not isinstance(row, Problem):
                gathered.add_document(file, row)
            elif len(problems) < MOST_PROBLEMS:
                problems.append(row)
            else:
                more += 1
    except ImportRefused as refused:
        problems += refused.problems
    except BROKEN:
        problems.append(error("results_cut_off", file.name))
    if more:
        problems.append(error("results_more", file.name, {"count": more}))
    return problems


def _sha256(file: File) -> str:
    digest = hashlib.sha256()
    with suppress(*BROKEN), file.opened() as opened:
        while part := opened.read(2**20):
            digest.update(part)
    return digest.hexdigest()
