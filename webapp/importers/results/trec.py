"""Files of TREC and BEIR: runs, topics, qrels and collections of documents."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator
from typing import IO

import msgspec
from msgspec import Struct

from webapp.importers.evaluations.cited_answers import raw_lines
from webapp.importers.results.rows import (
    File,
    FlatRow,
    Rows,
    as_number,
    as_rank,
    as_text,
    flattened,
    guessed,
    item_of,
    text_lines,
    whole,
    worded_lines,
)
from webapp.importers.runs.problems import error
from webapp.kinds.document import Document
from webapp.records import Problem, Tell

RUN_LINE = re.compile(r"\S+\s+\S+\s+\S+\s+\d+\s+[-+]?[\d.]+(?:[eE][-+]?\d+)?\s+\S.*")
QRELS_LINE = re.compile(r"\S+\s+\S+\s+\S+\s+-?\d+(?:\.\d+)?\s*")
_TOPIC = re.compile(r"<top(?:ic)?(?:\s([^>]*))?>", re.IGNORECASE)
_FIELD = re.compile(r"<(num|title|desc|narr|question|query)[^>]*>([^<]*)", re.IGNORECASE)
_LABEL = re.compile(r"^\s*(?:Number|Topic|Description|Narrative)\s*:\s*", re.IGNORECASE)
_TAG = re.compile(r"<[^>]{0,200}>")
_MOST_TEXT = 2**20  # characters of one document


def read_run(file: File) -> Rows:
    """Every line of a run: query, Q0, document, rank, score, tag."""
    for line in worded_lines(file, 6):
        if isinstance(line, Problem):
            yield line
            continue
        number, (query_id, _, doc_id, rank, score, tag) = line
        place, value = as_rank(rank), as_number(score)
        if place is None or value is None:
            name, word = ("rank", rank) if place is None else ("score", score)
            wrong = {"place": name, "value": word[:40]}
            yield error("results_number_wrong", file.name, wrong, line=number)
            continue
        system, tab, own = tag.partition("\t")  # behind a tab the list's own score, as we export it
        yield FlatRow(
            number,
            query_id=query_id,
            item=doc_id,
            system=system.strip(),
            rank=place,
            score=as_number(own) if tab else value,
        )


def read_qrels(file: File) -> Rows:
    """Every line of qrels: query, iteration, document, grade."""
    for line in worded_lines(file, 4):
        if isinstance(line, Problem):
            yield line
        else:
            number, (query_id, _, doc_id, grade) = line
            yield FlatRow(number, "grade", query_id=query_id, item=doc_id, grade=grade.strip())


def read_topics(file: File) -> Rows:
    """The questions of <top> blocks (title; description and narrative beside it), TSV or JSONL."""
    with file.opened() as opened:
        start = opened.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"<"):
        yield from _blocks(file)
        return
    with file.opened() as opened:
        for line in text_lines(file, opened):
            if isinstance(line, Problem):
                yield line
                continue
            number, text = line
            query_id, query, category = topic_line(text)
            if query_id:
                yield FlatRow(number, "question", query_id=query_id, query=query, category=category)
            else:
                yield error("results_without_id", file.name, line=number)


def topic_line(text: str) -> tuple[str, str, str]:
    """The id, the words and the category of the question in a line; empty where it has none.

    >>> topic_line('{"_id": "q1", "text": "why", "metadata": {"category": "how to"}}')
    ('q1', 'why', 'how to')
    """
    if not text.startswith("{"):
        query_id, _, query = text.partition("\t")
        return query_id.strip(), query.strip(), ""
    try:
        value = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return "", "", ""
    if not isinstance(value, dict):
        return "", "", ""
    names = (value.get(name) for name in ("_id", "id", "query_id", "qid", "query-id"))
    query_id = next((as_text(one) for one in names if one not in (None, "")), "")
    texts = (value.get(name) for name in ("text", "query", "question", "title"))
    query = next((as_text(one) for one in texts if one), "")
    stated = flattened(value)
    category = as_text(stated.get(guessed(tuple(stated)).get("category", "")))
    return query_id.strip(), query.strip(), category.strip()


def _blocks(file: File) -> Rows:
    text = whole(file).decode("utf-8-sig", "replace").replace("\x00", "")
    line = 1
    for part in re.split(r"</top(?:ic)?>", text):
        start, line = line, line + part.count("\n")
        block = _TOPIC.search(part)
        if not block:
            continue
        inner = part[block.end() :]
        fields: dict[str, str] = {}
        for name, value in _FIELD.findall(inner):
            fields.setdefault(name.lower(), " ".join(_LABEL.sub("", value).split()))
        number = re.search(r"number\s*=\s*[\"']?([^\"'\s>]+)", block[1] or "")
        query_id = number[1] if number else fields.get("num", "")
        names = ("title", "query", "question", "desc")
        asked = next((fields[name] for name in names if fields.get(name)), "")
        query = asked or " ".join(_TAG.sub(" ", inner).split() if number else ())
        if not query_id:
            yield error("results_without_id", file.name, line=start)
            continue
        told = {"description": fields.get("desc", ""), "narrative": fields.get("narr", "")}
        extra = {name: said for name, said in told.items() if said and said != query}
        yield FlatRow(start, "question", query_id=query_id, query=query, extra=extra)


class _OnlyId(Struct):
    _id: str | int | None = None
    id: str | int | None = None
    docid: str | int | None = None
    doc_id: str | int | None = None
    docno: str | int | None = None
    pid: str | int | None = None


_only_id = msgspec.json.Decoder(_OnlyId)


def read_documents(file: File, wanted: Container[str], tell: Tell) -> Iterator[Document | Problem]:
    """The `wanted` documents of a collection, read as a stream; `tell` hears of bytes read."""
    with file.opened() as opened:
        start = opened.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    reader: Callable[[File, IO[bytes], Container[str], Tell], Iterator[Document | Problem]]
    if start.startswith(b"{"):
        reader = _json_lines
    elif b"<docno>" in start or start.startswith(b"<doc>"):
        reader = _doc_blocks
    else:
        reader = _tab_lines
    with file.opened() as opened:
        yield from reader(file, opened, wanted, tell)
    tell(file.size, file.size)


def _heard(file: File, opened: IO[bytes], number: int, tell: Tell) -> None:
    if number % 10_000 == 0:
        raw = getattr(opened, "fileobj", None) or opened
        tell(min(raw.tell(), file.size) if raw.seekable() else 0, file.size)


def _json_lines(
    file: File, opened: IO[bytes], wanted: Container[str], tell: Tell
) -> Iterator[Document | Problem]:
    for number, data in enumerate(raw_lines(opened), 1):
        _heard(file, opened, number, tell)
        if data is None:
            yield error("line_too_long", file.name, {"limit": 16}, line=number)
            continue
        line = data.removeprefix(b"\xef\xbb\xbf")
        try:
            only = _only_id.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            if line.strip():
                yield error("results_without_id", file.name, line=number)
            continue
        ids = (only._id, only.id, only.doc_id, only.docid, only.docno, only.pid)
        doc_id = next((str(one) for one in ids if one not in (None, "")), None)
        if doc_id in wanted:
            values = flattened(msgspec.json.decode(line))
            item = item_of(values, guessed(tuple(values), of_item=True))
            if item is not None:
                yield msgspec.structs.replace(item, doc_id=doc_id)


def _tab_lines(
    file: File, opened: IO[bytes], wanted: Container[str], tell: Tell
) -> Iterator[Document | Problem]:
    for line in text_lines(file, opened):
        if isinstance(line, Problem):
            yield line
            continue
        number, text = line
        _heard(file, opened, number, tell)
        doc_id, tab, rest = text.partition("\t")
        if not tab:
            yield error("results_without_id", file.name, line=number)
        elif doc_id.strip() in wanted:
            *titles, body = rest.split("\t")  # of MS MARCO's documents: address, title, body
            titles = [one for one in titles if not one.startswith("http")]
            yield Document(doc_id=doc_id.strip(), title=" ".join(titles), text=body)


def _doc_blocks(
    file: File, opened: IO[bytes], wanted: Container[str], tell: Tell
) -> Iterator[Document | Problem]:
    block: list[str] = []
    size = 0
    for number, data in enumerate(raw_lines(opened), 1):
        _heard(file, opened, number, tell)
        if data is None:
            yield error("line_too_long", file.name, {"limit": 16}, line=number)
            continue
        line = data.decode("utf-8", "replace").replace("\x00", "")
        if re.match(r"\s*<doc>", line, re.IGNORECASE):
            block, size = [], 0
        if size < _MOST_TEXT:
            block.append(line)
        size += len(line)
        if re.search(r"</doc>\s*$", line, re.IGNORECASE):
            text = "".join(block)
            block, size = [], 0
            doc_id = _inner(text, "docno") or _inner(text, "docid")
            if not doc_id:
                yield error("results_without_id", file.name, line=number)
            elif doc_id in wanted:
                title = _inner(text, "title") or _inner(text, "headline")
                yield Document(doc_id=doc_id, title=title, text=_body(text))


def _inside(block: str, name: str) -> list[str]:
    """What is between each <name ...> and </name>; no pattern, which may take very long."""
    lowered = block.lower()
    found: list[str] = []
    end = 0
    while (start := lowered.find(f"<{name}", end)) >= 0:
        start = lowered.find(">", start) + 1
        end = lowered.find(f"</{name}>", start)
        if not start or end < 0:
            break
        found.append(block[start:end])
    return found


def _inner(block: str, name: str) -> str:
    return " ".join(_TAG.sub(" ", next(iter(_inside(block, name)), "")).split())


def _body(block: str) -> str:
    texts = _inside(block, "text")
    if not texts:
        for name in ("docno", "docid", "title", "headline"):
            for part in _inside(block, name):
                block = block.replace(part, "", 1)
        texts = [block]
    return "\n\n".join(_TAG.sub("", text).strip() for text in texts)


def read_text(file: File, wanted: Container[str]) -> Iterator[Document | Problem]:
    """A document that is a file of its own, named after its id."""
    names = (file.name, file.name.rpartition("/")[2], file.stem)
    inside = file.name.partition("/")[2]
    doc_id = next((name for name in (inside, *names) if name and name in wanted), None)
    if doc_id is None:
        return
    text = whole(file).decode("utf-8-sig", "replace").replace("\x00", "")
    is_markdown = file.name.lower().endswith(".md")
    meta = {"format": "markdown"} if is_markdown else {}
    yield Document(doc_id=doc_id, title=file.stem, text=text, meta=meta)
