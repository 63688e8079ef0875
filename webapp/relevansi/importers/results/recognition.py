"""Files recognised by their structure, on whole records: what each holds and how it is read.

A file's name breaks a tie between two that fit alike, it never decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain, islice

from msgspec import Struct, field
from msgspec.structs import replace

from relevansi.i18n import mark
from relevansi.importers.results import (
    graded_records,
    json_forms,
    json_lists,
    json_questions,
    json_systems,
    records,
    shapes,
    spans,
    table_rows,
    tables,
    trec,
)
from relevansi.importers.results.columns import (
    OF_GRADES,
    Head,
    are_grades,
    check_id,
    known_id,
    plain_id,
    plain_rank,
    report_left,
    unread,
)
from relevansi.importers.results.files import BROKEN, File
from relevansi.importers.results.records import LOOKED_AT, at, text_at
from relevansi.importers.results.rows import (
    Columns,
    Row,
    Values,
    as_number,
    as_text,
    columns_of,
    cut,
    flat_row,
    flattened,
    guessed,
    item_of,
    role_of,
)
from relevansi.importers.results.shapes import SHAPES, USUAL, Shape
from relevansi.importers.results.unknown import MEASURE, unknown_json
from relevansi.importers.runs.json_documents import kind_of
from relevansi.importers.runs.problems import ImportRefused
from relevansi.kinds.document import Document
from relevansi.records import OnProgress, no_progress

TABLE = mark("a table")
RUN = mark("a TREC run")
QRELS = mark("TREC qrels")
TOPICS = mark("questions (topics or queries)")
COLLECTION = mark("a collection of documents")
DOCUMENT = mark("a document")
SPANS = mark("retriever spans of OpenInference (Phoenix), OpenTelemetry or MLflow")
RANK_EVAL = mark("a response of _rank_eval (Elasticsearch, OpenSearch)")
MULTI_SEARCH = mark("responses of _msearch, with the file of their requests")
REQUESTS = mark("requests of _msearch (Elasticsearch, OpenSearch)")
JUDGMENTS = mark("judgments of the Search Relevance Workbench")
SCORES = mark("documents with scores by question (ranx, BEIR, pytrec_eval)")
JSON_ROWS = mark("a row per line, as JSON")

_LABELLED = 1_000  # values among which those of a second system are looked for
_ELASTIC = next(shape for shape in SHAPES if shape.example == "search.jsonl")
_TEXTS = {"text", "contents", "body", "content", "passage", "title"}
_TOP = re.compile(r"\s*(?:<\?xml[^>]*>\s*)?(?:<topics[^>]*>\s*)?<top(?:ic)?[\s>]", re.IGNORECASE)
_TOPIC_LINE = re.compile(r"\S+\t[^\t]+")
_YAML = re.compile(r"\s*(?:---\s*$|- [\w\"' ]+:(?:\s|$))", re.MULTILINE)
_COMMENT = r"(?://.*\n\s*|/\*[^*]*\*/\s*)"
_SCRIPT = re.compile(
    rf"(?:{_COMMENT}*(?:(?:export\s+)?(?:var|let|const)\s[^=\n]*=|export\s+default\s|"
    rf"[\w.$]+(?:\[[^\]\n]*\])?\s*=|[\w.$]+\()|{_COMMENT}+)\s*[\[{{]"
)
"""JavaScript with a value in it, or JSON with comments."""
_EVENTS = re.compile(r"(?:(?:event|id|retry|data)?:.*\s+)*?data:\s*[\[{]")
"""A stream of events (server-sent events) with JSON in them."""
_OF_QUESTIONS = "quer|topic|question"


class Source(Struct, frozen=True):
    """A file and how it is read: ``role`` says what it holds, ``words`` what it is.

    ``rows`` gives its rows beside the other files, ``documents`` those of its documents whose ids
    are wanted. ``names`` are the columns of a table with the beginning of a value of each,
    ``sample`` the first values of JSON.
    """

    file: File
    role: str
    words: str
    rows: Callable[[Beside], Iterable[Row]] | None = None
    documents: Callable[[Container[str], OnProgress], Iterable[Document]] | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    sample: Sequence[object] = ()


class Beside(Struct, frozen=True):
    """What is read beside a file: the columns that were chosen, and the files of its import."""

    columns: Columns
    sources: Sequence[Source]
    judged_ids: Callable[[], set[str]]

    def known_ids(self, ids: set[str]) -> set[str]:
        """Those of some ids that a grade or a collection of the import has."""
        present = ids & self.judged_ids()
        for source in self.sources:
            if source.documents:
                present |= {
                    item.doc_id for item in source.documents(ids, no_progress) if item.doc_id
                }
        return present

    def requests(self, file: File) -> list[str]:
        """The questions whose responses a file has: of the requests with its name, or the only."""
        sources = [source for source in self.sources if source.role == "requests"]
        same = [source for source in sources if source.file.stem == file.stem]
        source = next(iter(same if len(sources) > 1 else sources), None)
        return [] if source is None else [*_requests(value for value in source.sample)]


def recognise(file: File, chosen: Columns) -> Source:
    """How a file is read; raises an `ImportRefused`, of the kind `UnknownNames` for a choice."""
    start = file.start()
    if start.startswith((b"PAR1", b"PK")):
        return _table(file, chosen)
    head = "".join(line for _, line in islice(file.lines(), LOOKED_AT))
    text = head.lstrip()
    if script := _SCRIPT.match(text):
        file.refuse("results_in_script", text=script[0][:60])
    _check_begins_line(file, text)
    if text.startswith(("{", "[", '"{', '"[{')):
        return _json(file, chosen)
    if _TOP.match(text):
        return _rows(file, "questions", TOPICS, trec.read_topics)
    if re.match("<doc>", text, re.IGNORECASE):
        return _collection(file)
    if text.startswith("<"):
        file.refuse("unknown_format", found="html", expected="results_file")
    if _YAML.match(text) or file.is_called(r"\.ya?ml$"):
        file.refuse("unknown_format", found="yaml", expected="results_file")
    return _lines(file, chosen, text)


def _check_begins_line(file: File, text: str) -> None:
    """Refuse JSON behind other text in its lines, as logs and streams of events have it."""
    before, brace, inner = text.partition("\n")[0].partition("{")
    is_logged = any(map(str.isalnum, before)) and "\t" not in before
    if _EVENTS.match(text) or (is_logged and records.literal(brace + inner)):
        file.refuse("results_behind_text", text=text[:60].partition("\n")[0])


def _rows(
    file: File, role: str, words: str, read: Callable[[File, Columns], Iterable[Row]]
) -> Source:
    return Source(file, role, words, lambda beside: read(file, beside.columns))


def _collection(file: File, words: str = COLLECTION) -> Source:
    return Source(file, "documents", words, documents=partial(trec.read_documents, file))


def _table(file: File, chosen: Columns) -> Source:
    role, names = table_rows.look(file, chosen)
    of_questions: dict[str, str] = {}
    if role == "document" and file.is_called(_OF_QUESTIONS):
        columns = columns_of(tuple(names), chosen)
        role, of_questions = "question", {"query_id": columns["doc_id"], "query": columns["text"]}

    def rows(beside: Beside) -> Iterator[Row]:
        return table_rows.read(file, of_questions | {**beside.columns}, beside.known_ids)

    return Source(file, f"{role}s", TABLE, rows, names=names)


def _lines(file: File, chosen: Columns, text: str) -> Source:
    """A file of lines: a table if its header says so, else what most lines are."""
    lines = [line for line in re.split(r"\r\n?|\n", text)[:LOOKED_AT] if line.strip()]
    if not lines:
        file.refuse("file_empty", expected="results_file")
    lines = [line for line in lines if not trec.is_comment(line.split())] or lines
    has_commas = "," in lines[0]
    lines = [*map(trec.with_tabs, lines)]

    def are(pattern: re.Pattern[str]) -> bool:
        fits = [bool(pattern.fullmatch(line.strip())) for line in lines]
        return sum(fits) * 2 > len(lines) and (fits[0] or not has_commas)  # else a header

    is_text, is_graded = file.is_called(r"\.(?:txt|md)$"), file.is_called(OF_GRADES)
    if role_of(columns_of(tables.header_of(file, {*chosen.values()}), chosen)):
        return _table(file, chosen)
    _check_not_of_measures(file, lines)
    words = [line.split() for line in lines]
    third = {line[2] for line in words if len(line) > 2}
    are_from_first = bool(third & {"0", "1"})  # else they are no ranks
    are_topics = are(_TOPIC_LINE)
    are_three = are(trec.RANKS_LINE) and not are_topics
    are_ranks = are_three and are_from_first and not (is_text and "\t" not in lines[0])
    are_scores = are(trec.SCORES_LINE) and not is_graded
    has_rank = len(words[0]) > 3
    forms = (
        (are_scores and not has_rank, ("query_id", "item", "score")),
        (are_scores and are_from_first, ("query_id", "item", "rank", "score")),
        (are(trec.RUN_LINE), trec.RUN),
        (are(trec.UNTAGGED_LINE), ("query_id", "", "item", "rank", "score")),
        (are(trec.NAMED_LINE) and are_from_first, ("query_id", "item", "rank", "score", "system")),
        (are_three and is_graded, ("query_id", "item", "grade")),
        (are_ranks, ("query_id", "item", "rank")),
        (are(trec.QRELS_LINE) and not are_topics, ("query_id", "", "item", "grade")),
    )
    roles = next((roles for fits, roles in forms if fits), ())
    if roles[-1:] == ("rank",) and len(third) == 1 and len(lines) > 1:
        file.warn("results_grades_perhaps")
    if roles:
        role, label = ("grades", QRELS) if "grade" in roles else ("results", RUN)
        return _rows(file, role, label, partial(trec.read_words, roles))
    is_collection = file.is_called("corpus|collection|docs|documents|passages")
    if is_collection and all("\t" in line for line in lines):
        return _collection(file)
    if are_topics and not is_text:
        return _rows(file, "questions", TOPICS, trec.read_topics)
    if is_text:
        return Source(file, "documents", DOCUMENT, documents=partial(trec.read_text, file))
    return _table(file, chosen)


def _check_not_of_measures(file: File, lines: Sequence[str]) -> None:
    """Refuse what trec_eval prints."""
    measures = [line.split()[0] for line in lines if MEASURE.fullmatch(line.split()[0])]
    if len(measures) * 2 > len(lines):
        file.refuse("results_of_measures", measures=", ".join(dict.fromkeys(measures[:5])))


def _json(file: File, chosen: Columns) -> Source:
    """A JSON file: of a known tool or shape, a table by rows or columns, a collection."""
    looked_at = replace(file, problems=[])  # what is read here is read again
    stream = (value for _, value in records.read(looked_at))
    values = [*islice(stream, LOOKED_AT)]
    entries = [*values]
    with suppress(ImportRefused, *BROKEN):  # which reading it tells
        entries.extend(map(_outline, islice(stream, _LABELLED)))
    file.encoding = looked_at.encoding
    source = _of_tool(file, values, values[0] if len(values) == 1 else values)
    if source:
        return source
    mapped = shapes.mapped(chosen)
    prepared = [json_forms.prepared(value, is_mapped=mapped is not None) for value in values]
    has_spans = any(map(spans.spans_in, values))
    # What has no shape as it stands may have one with its columns turned into rows.
    columnar = map(json_systems.columnar, prepared)
    shape: Shape | None = USUAL
    if mapped or not has_spans:
        shape = json_systems.shape_of([*prepared, *columnar], mapped)
    if not shape and mapped:
        paths = chosen.values()
        absent = [path for path in paths if not json_questions.stands(values, path, depth=-1)]
        file.refuse("results_paths_absent", paths=", ".join(absent or paths))
    if not shape:
        return _of_rows(file, chosen, [_rows_of(value) for value in values])
    systems = json_systems.systems_beside(prepared, shape)
    groups = [[*json_systems.records(value, shape)] for value in prepared]
    label = ""
    if not mapped:
        label = json_systems.label_of(prepared, groups, shape)
        label = label or json_systems.label_of(entries, [[entry] for entry in entries], shape)
    questions = [*chain.from_iterable(groups)]
    shape_read = shape if mapped else shape.before(chosen)

    def rows(beside: Beside) -> Iterator[Row]:
        exact = replace(shape_read, doc_id=_paths_of_id(file, shape_read, questions, beside))
        return json_lists.read(file, records.read(file), exact, systems, label)

    if file.is_called("qrel|gold|truth"):
        file.warn("results_named_as_grades")
    return Source(file, "results", SPANS if has_spans else shape.name, rows, sample=values)


def _outline(value: object) -> object:
    """A value without its lists and the ends of long texts, of which many can be held."""
    if isinstance(value, dict):
        return {n: _outline(inner) for n, inner in value.items() if not isinstance(inner, list)}
    return cut(value) if isinstance(value, str) else value


def _paths_of_id(file: File, shape: Shape, questions: Sequence[object], beside: Beside) -> str:
    """Where the results of these questions have their ids, without what others have beside those.

    Of several ids that the shape does not tell apart, it is the one that the collections have.
    """
    lists = (json_questions.list_of(shape, q).entries for q in questions if isinstance(q, dict))
    entries = (entry for listed in lists for entry in listed or () if isinstance(entry, dict))
    results = [*islice(entries, LOOKED_AT)]
    if not results or shape.is_mapped:
        return shape.doc_id
    paths = shape.doc_id.split("|")
    first = next((path for path in paths if any(text_at(r, path) for r in results)), "")
    of_first = [result for result in results if text_at(result, first)]
    if first:
        apart = (path for path in paths if not any(text_at(r, path) for r in of_first))
        return "|".join((first, *apart))
    items = [*map(flattened, results)]
    names = tuple(dict.fromkeys(chain.from_iterable(items)))
    head = Head(names, [(n, [item.get(name) for name in names]) for n, item in enumerate(items)])
    columns = guessed(names, of_item=True)
    return known_id(file, head, columns, beside.known_ids).get("doc_id", "")


def _of_tool(file: File, values: Sequence[object], first: object) -> Source | None:
    """A file that a tool writes with a structure of its own."""
    if isinstance(first, dict):
        if isinstance(first.get("details"), dict) and "metric_score" in first:
            return _rows(file, "results", RANK_EVAL, _read_rank_eval)
        if isinstance(first.get("responses"), list) and not graded_records.rows_in(first):
            return Source(file, "results", MULTI_SEARCH, partial(_read_multi_search, file))
        if first.get("kind") == "property" and "sha256" in first and "queries" in first:
            file.refuse("results_own_export")
        are_of_systems = all(map(_are_scores, first.values())) and not file.is_called(OF_GRADES)
        if _are_scores(first) and (measures := _measures(first)):
            file.refuse("results_of_measures", measures=", ".join(measures[:5]))
        if _are_scores(first) or are_of_systems:
            is_qrels = _are_scores(first) and _are_grades(file, first)
            role = "grades" if is_qrels else "results"
            return Source(file, role, SCORES, partial(_read_scores, file, role))
    if any(_judgments(value) for value in values):
        return _rows(file, "grades", JUDGMENTS, _read_judgments)
    if [*_requests(values)] and len(values) % 2 == 0:
        every = [value for _, value in records.read(file)]
        return Source(file, "requests", REQUESTS, sample=every)
    return None


def _of_rows(file: File, chosen: Columns, values: Sequence[object]) -> Source:
    """JSON with an object for each row, question or document; raises `UnknownNames`."""
    objects = [*chain.from_iterable(map(records.objects_in, values))]
    looked_at: list[tuple[Values, Values]] = [
        ({name: value for name, value in flat_row(row).items() if as_text(value)}, row)
        for row in objects[:LOOKED_AT] or [{}]
    ]
    roles = [role_of(columns_of(tuple(flat), chosen)) for flat, _ in looked_at]
    # One that lacks what the others have may be the first.
    at = next((at for at, role in enumerate(roles) if role in ("result", "grade")), 0)
    (flat, row), role = looked_at[at], roles[at]
    columns = columns_of(tuple(flat), chosen)
    cells = ([row.get(name) for name in flat] for row, _ in looked_at)
    head = Head(tuple(flat), list(enumerate(cells)))
    plain = {} if "doc_id" in chosen else plain_id(head, columns)
    columns |= plain
    plain |= plain_rank(file, head, columns)
    if not chosen:
        check_id(file, head, columns)
    names_results = not columns.keys().isdisjoint(("doc_id", "url", "rank", "score"))
    text = row.get(columns.get("text", ""))
    are_several = isinstance(text, list) and len(text) > 1
    if not names_results and (are_several or json_lists.lists_beside(row, "", [])):
        raise unknown_json(file, objects[at : at + LOOKED_AT])  # its text may be the answer

    def read(beside: Beside) -> Iterator[Row]:
        entries = chain.from_iterable(_lines_of_rows(*value) for value in records.read(file))
        id_column: Columns = {}
        if "doc_id" not in chosen:
            id_column = known_id(file, head, columns, beside.known_ids)
        chosen_columns = plain | {**beside.columns}
        return table_rows.read_json(file, entries, chosen_columns, role or "result", id_column)

    if role in ("result", "grade"):
        report_left(file, unread(head.without_role(columns), columns))
        names = {name: as_text(value)[:80] for name, value in flat.items()}
        return Source(file, f"{role}s", JSON_ROWS, read, names=names)
    is_plain = not any(isinstance(value, list | dict) for value in row.values())
    asks = file.is_called(_OF_QUESTIONS) or (role == "question" and is_plain)
    if asks and all(trec.topic_of(flat)[:2]):
        return _rows(file, "questions", TOPICS, trec.read_topics)
    if flat.keys() & {*trec.ID_KEYS} and flat.keys() & _TEXTS:
        line = next((line for _, line in file.lines() if line.strip()), "")
        first = records.literal(line)
        if isinstance(first, dict) and records.unwrapped(first) is first:
            return _collection(file)
        return Source(file, "documents", COLLECTION, read, sample=objects)
    raise unknown_json(file, objects[at : at + LOOKED_AT] or values)


def _rows_of(value: object) -> object:
    return graded_records.rows_in(value) or json_systems.columnar(value)


def _lines_of_rows(line: int, value: object) -> Iterator[tuple[int, object]]:
    """The rows of a value, each with its line, else its place among them."""
    rows = _rows_of(value)
    for place, row in enumerate(rows if rows and isinstance(rows, list) else [rows], 1):
        yield line if rows is value else place, row


def _judgments(value: object) -> list[Values]:
    """The entries with a query and ratings in a judgment list of the Search Relevance Workbench."""
    listed = at(value, "judgmentRatings") or at(value, "_source.judgmentRatings") or value
    return [
        entry
        for entry in records.objects_in(listed)
        if isinstance(ratings := entry.get("ratings"), list)
        and all(isinstance(rating, dict) and "docId" in rating for rating in ratings)
    ]


def _read_judgments(file: File, _columns: Columns) -> Iterator[Row]:
    for line, value in records.read(file):
        for entry in _judgments(value):
            query = as_text(entry.get("query")).strip()
            for rating in entry["ratings"]:  # type: ignore[attr-defined]
                doc_id = as_text(rating.get("docId")).strip()
                if not (doc_id and query):
                    file.refuse("results_names_no_item", line=line)
                grade = rating.get("rating")
                yield Row(line, "grade", query=query, item=doc_id, grade=grade)


def _read_rank_eval(file: File, _columns: Columns) -> Iterator[Row]:
    """The responses of Elasticsearch's and OpenSearch's _rank_eval: hits, ratings, unrated."""
    for line, value in records.read(file):
        details = at(value, "details")
        for query_id, detail in details.items() if isinstance(details, dict) else ():
            listed = {"query_id": query_id}
            if isinstance(detail, dict) and "hits" in detail:
                listed["results"] = detail["hits"]
            yield from json_lists.read(file, [(line, listed)], USUAL)
            for entry in records.objects_in(at(detail, "unrated_docs")):
                values = flattened(entry)
                item = item_of(values, guessed(tuple(values), of_item=True))
                if item is not None:
                    yield Row(line, "grade", query_id=query_id, item=item)


def _requests(values: Iterable[object]) -> Iterator[str]:
    """The questions in the lines of a request to _msearch: after each header, its body."""
    lines = [*values]
    headers, bodies = lines[::2], lines[1::2]
    are_headers = all(isinstance(header, dict) and "query" not in header for header in headers)
    if are_headers and bodies and all(isinstance(at(body, "query"), dict) for body in bodies):
        yield from (json_questions.words_of(at(body, "query")) for body in bodies)


def _read_multi_search(file: File, beside: Beside) -> Iterator[Row]:
    queries = beside.requests(file)
    for line, value in records.read(file):
        responses = at(value, "responses")
        assert isinstance(responses, list)
        if len(queries) != len(responses) or not all(queries):
            counts = {"responses": len(responses), "requests": len(queries)}
            file.refuse("results_responses_alone", line=line, **counts)
        for number, (query, response) in enumerate(zip(queries, responses, strict=True), 1):
            answered: Values = {"query": query, "response": response}
            if at(response, "error") is not None:
                answered = {"query": query, "hits": {"hits": []}, "error": at(response, "error")}
            rows = json_lists.read(file, [(number, answered)], _ELASTIC)
            yield from (replace(row, list_number=number) for row in rows)


def _are_scores(value: object) -> bool:
    """Whether an object has, by question, an object of numbers by document."""
    inner = [*islice(value.values(), LOOKED_AT)] if isinstance(value, dict) else []
    if not all(isinstance(scores, dict) for scores in inner):
        return False
    kinds = {type(score) for scores in inner for score in scores.values()}
    names = dict.fromkeys(name for scores in inner for name in scores)
    are_of_items = guessed(tuple(names), of_item=True).keys() & {"rank", "score"}
    return bool(kinds) and kinds <= {int, float} and not are_of_items


def _measures(value: Values) -> list[str]:
    """The names in an object of numbers by two names where these are of measures, else none."""
    inner = [name for numbers in value.values() if isinstance(numbers, dict) for name in numbers]
    names = ([*value], [*dict.fromkeys(inner)])
    return next((some for some in names if all(map(MEASURE.fullmatch, some))), [])


def _are_grades(file: File, value: Values) -> bool:
    numbers = [number for inner in value.values() for number in inner.values()]  # type: ignore[attr-defined]
    return all(isinstance(number, int) for number in numbers) and are_grades(file, numbers)


def _read_scores(file: File, role: str, _beside: Beside) -> Iterator[Row]:
    for line, value in records.read(file):
        by_system = {"": value} if _are_scores(value) else value
        for system, lists in by_system.items():  # type: ignore[attr-defined]
            for number, (name, scores) in enumerate(lists.items(), 1):
                question = Row(
                    line if scores else number,
                    query="" if role == "grades" or " " not in name else name,
                    query_id=name if role == "grades" or " " not in name else "",
                    system=system,
                )
                yield from _scored(file, role, question, name, scores)


def _scored(file: File, role: str, question: Row, name: str, scores: object) -> Iterator[Row]:
    if not isinstance(scores, dict):
        details = {"place": name, "found": kind_of(scores)}
        file.refuse("results_scores_wrong", line=question.line, **details)
    if not scores and role == "results":
        yield question
    for doc_id, score in scores.items():
        number = None if isinstance(score, str | bool) else as_number(score)
        if number is None:
            details = {"place": f"{name}.{doc_id}", "found": kind_of(score)}
            file.refuse("results_scores_wrong", line=question.line, **details)
        file.budget.spend("records", file)
        if role == "grades":
            yield replace(question, role="grade", item=doc_id, grade=score)
        else:
            yield replace(question, item=doc_id, score=number)
