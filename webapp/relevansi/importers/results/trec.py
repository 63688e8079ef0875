"""Files of TREC and BEIR: runs, topics, qrels and collections of documents."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from itertools import islice

import msgspec
from msgspec.structs import replace

from relevansi.importers.results import records
from relevansi.importers.results.files import File
from relevansi.importers.results.ranks import refuse_number, stated_rank
from relevansi.importers.results.rows import (
    Columns,
    Role,
    Row,
    Rows,
    as_number,
    as_score,
    as_text,
    flattened,
    guessed,
    item_of,
)
from relevansi.importers.runs.json_documents import storable_text
from relevansi.kinds.document import Document
from relevansi.records import OnProgress, no_progress

_NUMBER = r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
RUN_LINE = re.compile(
    r"\S+\s+\S+\s+\S+\s+\d+(?:\.0+)?\s+[-+]?(?:[\d.,]+(?:[eE][-+]?\d+)?|inf|nan)\s+\S.*",
    re.IGNORECASE,
)
RANKS_LINE = re.compile(r"\S+\s+\S+\s+\d+\s*")
SCORES_LINE = re.compile(r"\S+\t\S+(?:\t\d+)?\t-?\d+\.\d+(?:[eE][-+]?\d+)?\s*")
NAMED_LINE = re.compile(rf"\S+\t\S+\t\d+\t{_NUMBER}\t\S+\s*")
UNTAGGED_LINE = re.compile(rf"\S+\s+Q?0\s+\S+\s+\d+\s+{_NUMBER}\s*", re.IGNORECASE)
QRELS_LINE = re.compile(r"\S+\s+\S+\s+\S+\s+-?\d+(?:\.\d+)?\s*")
RUN = ("query_id", "", "item", "rank", "score", "system")
"""The roles of the words in a line of a run; "" for none."""
_COMMAS = re.compile(r"[^\s,]+,\s*(?:Q?0,\s*[^\s,]+,\s*)?(?:[^\s,]+,\s*){2,3}[^\s,]+\s*")
_QUOTED = re.compile(r'(?<![^\s,])"([^"]*)"(?![^\s,])')
_LINES_OF_START = 20
_TOPIC = re.compile(r"<top(?:ic)?(?:\s([^>]*))?>", re.IGNORECASE)
_FIELD = re.compile(r"<(num|title|desc|narr|question|query)[^>]*>([^<]*)", re.IGNORECASE)
_LABEL = re.compile(r"^\s*(?:Number|Topic|Description|Narrative)\s*:\s*", re.IGNORECASE)
_TAG = re.compile(r"<[^>]{0,200}>")
_MOST_TEXT = 1_000_000  # characters of one document


def with_tabs(line: str) -> str:
    """A line of a run whose words have commas between them with tabs; any other one as it is.

    Quotation marks round words, as R and spreadsheets write them, are left off.
    """
    if '"' in line:
        line = _QUOTED.sub(r"\1", line)
    return re.sub(r",[ \t]*", "\t", line) if _COMMAS.fullmatch(line) else line


def is_comment(words: Sequence[str], roles: Sequence[str] = RUN) -> bool:
    """Whether a line is a remark between those whose words have these roles."""
    number = roles.index("rank") if "rank" in roles else -1
    is_like_others = len(words) == len(roles) and as_number(words[number]) is not None
    return words[0].startswith("#") and not is_like_others


def _is_header(words: Sequence[str]) -> bool:
    """Whether the words are names of columns: of the question, the document and what follows."""
    columns = guessed(tuple(words))
    return "query_id" in columns and "doc_id" in columns and as_number(words[-1]) is None


def _text_lines(file: File, on_progress: OnProgress = no_progress) -> Iterator[tuple[int, str]]:
    """Every line that is not blank with its number, without line end."""
    for number, line in file.lines(on_progress):
        text = storable_text(line).rstrip("\r\n")
        if text.strip():
            yield number, text


def read_words(roles: Sequence[str], file: File, _columns: Columns) -> Rows:
    """Every line of a run or of qrels, whose words have these roles."""
    for number, text in _text_lines(file):
        line = with_tabs(text)
        words = line.split()
        if is_comment(words, roles) or (number == 1 and _is_header(words)):
            continue
        # Behind a tab is the own score of the list, as we export it.
        _, tab, last = line.rpartition("\t")
        if roles == RUN and tab and len(words) == 7 and as_number(last) is not None:
            words[4] = words.pop()
        if len(words) != len(roles):
            file.refuse("results_word_count", line=number, cells=len(words), columns=len(roles))
        file.budget.spend("records", file)
        yield _row(file, number, {of: w for of, w in zip(roles, words, strict=True) if of})


def _row(file: File, line: int, words: dict[str, str]) -> Row:
    number, points = words.pop("rank", ""), words.pop("score", "")
    rank = stated_rank(file, line, "rank", number) if number else None
    score = as_score(points, comma="system" in words)
    if points and score is None:
        file.counts["results_scores_unusable"] += 1
        if rank is None:
            refuse_number(file, line, "score", points)
    role: Role = "grade" if "grade" in words else "result"
    return Row(line, role, rank=rank, score=score, **words)  # type: ignore[arg-type]


def read_topics(file: File, _columns: Columns) -> Rows:
    """The questions of <top> blocks (title; description and narrative beside it), TSV or JSONL."""
    _, first = next(_text_lines(file), (1, ""))
    if first.lstrip().startswith("<"):
        yield from _blocks(file)
        return
    words = ((line, text.split("\t", 1)) for line, text in _text_lines(file))
    lines = ((line, dict(zip(("query_id", "query"), two, strict=False))) for line, two in words)
    is_json = first.lstrip().startswith(("{", "["))
    for line, value in records.read(file) if is_json else lines:
        query_id, query, category = topic_of(value)
        if not query_id:
            file.refuse("results_without_id", line=line)
        yield Row(line, "question", query_id=query_id, query=query, category=category)


def topic_of(value: object) -> tuple[str, str, str]:
    """The id, the words and the category of the question in an object; empty where it has none.

    >>> topic_of({"_id": "q1", "text": "why", "metadata": {"category": "how to"}})
    ('q1', 'why', 'how to')
    """
    if not isinstance(value, dict):
        return "", "", ""
    # The id and the text of an item are the question's here.
    names = {**guessed(tuple(value), of_item=True), **guessed(tuple(value))}
    texts = {role: as_text(value[name]).strip() for role, name in names.items()}
    query_id = texts.get("query_id") or texts.get("doc_id", "")
    is_described = names.get("text") == "description"  # beside a title, as topics of TREC are
    of_text = ("query", "title", "text") if is_described else ("query", "text", "title")
    query = next(filter(None, map(texts.get, of_text)), "")
    inner = flattened(value)
    category = as_text(inner.get(guessed(tuple(inner)).get("category", ""))).strip()
    return query_id, query, category


def _blocks(file: File) -> Rows:
    line = 1
    for part in re.split(r"</top(?:ic)?>", storable_text(file.whole_text())):
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
        words = next((fields[name] for name in names if fields.get(name)), "")
        query = words or " ".join(_TAG.sub(" ", inner).split() if number else ())
        if not query_id:
            file.refuse("results_without_id", line=start)
        texts = {"description": fields.get("desc", ""), "narrative": fields.get("narr", "")}
        extra = {name: text for name, text in texts.items() if text and text != query}
        yield Row(start, "question", query_id=query_id, query=query, extra=extra)


ID_KEYS = ("_id", "id", "doc_id", "docid", "docno", "pid")
"""The keys of the id in an object of a collection."""
_ONLY_ID = msgspec.defstruct("_OnlyId", [(name, str | int | None, None) for name in ID_KEYS])
_only_id = msgspec.json.Decoder(_ONLY_ID)
_ID_KEY = re.compile(rf'"(?:{"|".join(ID_KEYS)})"\s*:')
Documents = Iterator[Document]


def read_documents(file: File, ids: Container[str], on_progress: OnProgress) -> Documents:
    """The documents of a collection with `ids`, read as a stream; `on_progress` has bytes read."""
    start = "".join(line for _, line in islice(_text_lines(file), _LINES_OF_START)).lower().lstrip()
    if start.startswith("{"):
        yield from _json_lines(file, ids, on_progress)
    elif "<docno>" in start or start.startswith("<doc>"):
        yield from _doc_blocks(file, ids, on_progress)
    else:
        yield from _tab_lines(file, ids, on_progress)
    on_progress(file.size, file.size)


def _json_lines(file: File, ids: Container[str], on_progress: OnProgress) -> Documents:
    for number, text in file.lines(on_progress):
        try:
            object_ids = _only_id.decode(text)
        except msgspec.DecodeError:
            if text.strip():
                file.refuse("results_without_id", line=number)
            continue
        candidates = (getattr(object_ids, name) for name in ID_KEYS)
        doc_id = next((str(value) for value in candidates if value not in (None, "")), "")
        may_be_listed = not doc_id or doc_id in ids  # it may stand deeper
        # Of two values of one id either may be the listed one.
        if may_be_listed or len(_ID_KEY.findall(text)) > 1:
            value = records.decoded_line(file, number, text)
        if may_be_listed:
            values = flattened(value)
            columns = guessed(tuple(values), of_item=True)
            doc_id = doc_id or as_text(values.get(columns.get("doc_id", "")))
            item = item_of(values, columns)
            if item is not None and doc_id in ids:
                yield replace(item, doc_id=doc_id)


def _tab_lines(file: File, ids: Container[str], on_progress: OnProgress) -> Documents:
    for number, text in _text_lines(file, on_progress):
        doc_id, tab, columns = text.partition("\t")
        if not tab:
            file.refuse("results_without_id", line=number)
        if doc_id.strip() in ids:
            *titles, body = columns.split("\t")  # of MS MARCO's documents: address, title, body
            title = " ".join(column for column in titles if not column.startswith("http"))
            yield Document(doc_id=doc_id.strip(), title=title, text=body)


def _doc_blocks(file: File, ids: Container[str], on_progress: OnProgress) -> Documents:
    block = ""
    for number, text in file.lines(on_progress):
        line = text.replace("\x00", "")
        if re.match(r"\s*<doc>", line, re.IGNORECASE):
            block = ""
        block += line[: _MOST_TEXT - len(block)]
        if re.search(r"</doc>\s*$", line, re.IGNORECASE):
            document, block = block, ""
            doc_id = _first(document, "docno", "docid")
            if not doc_id:
                file.refuse("results_without_id", line=number)
            if doc_id in ids:
                file.counts["results_texts_cut"] += len(document) == _MOST_TEXT
                title = _first(document, "title", "headline")
                yield Document(doc_id=doc_id, title=title, text=_body(document))


def _inside(block: str, name: str) -> list[str]:
    """What is between each <name ...> and </name>; no pattern, which may take very long."""
    lowered = block.lower()
    parts: list[str] = []
    end = 0
    while (start := lowered.find(f"<{name}", end)) >= 0:
        start = lowered.find(">", start) + 1
        end = lowered.find(f"</{name}>", start)
        if not start or end < 0:
            break
        parts.append(block[start:end])
    return parts


def _first(block: str, *names: str) -> str:
    """The words of the first of these fields that has some."""
    parts = (next(iter(_inside(block, name)), "") for name in names)
    return next(filter(None, (" ".join(_TAG.sub(" ", part).split()) for part in parts)), "")


def _body(block: str) -> str:
    texts = _inside(block, "text")
    if not texts:
        for name in ("docno", "docid", "title", "headline"):
            for part in _inside(block, name):
                block = block.replace(part, "", 1)
        texts = [block]
    return "\n\n".join(_TAG.sub("", text).strip() for text in texts)


def read_text(file: File, ids: Container[str], _on_progress: OnProgress) -> Documents:
    """A document that is a file of its own, named after its id."""
    base = file.name.rpartition("/")[2]
    names = (file.name.partition("/")[2], file.name, base, file.stem)
    doc_id = next((name for name in names if name and name in ids), None)
    if doc_id is not None:
        meta = {"format": "markdown"} if base.lower().endswith(".md") else {}
        text = storable_text(file.whole_text())
        yield Document(doc_id=doc_id, title=file.stem, text=text, meta=meta)
