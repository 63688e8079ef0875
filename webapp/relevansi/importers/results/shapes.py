"""Shapes of JSON: which object is a question, where its list of results is, what is which.

A shape is data: paths of names with dots, alternatives with | between them. ``query``,
``query_id``, ``system``, ``answer`` and ``category`` start at the object of one question, ``items``
too; ``doc_id``, ``title``, ``text`` ... start at an item. Names are in lower case with _ between
words, and stand for `SearchResults` and `searchResults`, too. What a shape does not say of an item
is read by its usual names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from math import isnan, nan
from operator import itemgetter

from msgspec import Struct
from msgspec.structs import replace

from relevansi.i18n import mark
from relevansi.importers.results import spans
from relevansi.importers.results.files import File
from relevansi.importers.results.guesses import described
from relevansi.importers.results.records import (
    ROLE_OF_PART,
    at,
    entries_of,
    has_objects,
    literal,
    part_of,
    rows_of_columns,
    rows_of_lists,
)
from relevansi.importers.results.rows import (
    BARE_ID,
    ITEM_ROLES,
    LONGEST_VALUE,
    QUESTION_ROLES,
    WRAPPERS,
    Columns,
    Row,
    Rows,
    Values,
    as_number,
    as_rank,
    as_text,
    flattened,
    guessed,
    item_of,
    plain_name,
)
from relevansi.importers.runs.json_documents import kind_of
from relevansi.kinds.document import Document
from relevansi.records import QueryState

QUERY = (
    "query|question|user_input|inputs.question|inputs.query|inputs.input|input.question|"
    "input.query|input.value|inputs|input|request.query|request.q|request.input|"
    "request.retrieval_query.text|request|query_str|prompt|search_query|"
    "search_text|query_text|chat_input|params.query|params.q|q|search_parameters.q|"
    "queries.request.search_terms|query_context.original_query|request.body.query|search|input.text|"
    "example.inputs.question|pertanyaan|messages|request.messages"
)
ANSWER = (
    "response|answer|outputs.answer|outputs.output|outputs.response|output.answer|"
    "generated_answer|actual_output|result|prediction|jawaban|choices.message.content|"
    "response.choices.message.content"
)
USUAL_ITEMS = (
    "retrieved_contexts|retrieved_context|retrieved_chunks|retrieved_documents|retrieved_docs|"
    "retrieved_nodes|retrieved|hits.hits|response.hits.hits|results|hits|documents|contexts|"
    "passages|chunks|docs|nodes|sources|context|search_results|source_documents|"
    "outputs.documents|outputs.context|outputs.output|outputs.results|outputs|output.documents|"
    "output.context|matches|rows|points|ctxs|candidates|citations|items|data|web.results|"
    "organic_results|organic|web_pages.value|metadata.retriever_resources|reference.chunks|"
    "context_data.sources|retrieved_texts|doc_texts|texts|retrieved_context_ids|retrieved_ids|"
    "retrieved_doc_ids|doc_ids|document_ids|chunk_ids|ids|result_items|contents|"
    "contexts.contexts|results.items|results.results|results.hits|results.documents|groups.hits|"
    "choices.message.context.citations|choices.sources|output|response"
)


class Shape(Struct, frozen=True):
    """How the objects of one tool are read: its name (a message id) and the paths in them.

    ``only`` is a path and the value there of objects that hold results; others are passed over.
    ``sign`` is a path at which a tool is known that has the lists of others. ``example`` is a file
    in ``examples``.
    """

    name: str
    example: str
    items: str
    query: str = QUERY
    query_id: str = "query_id|qid|question_id|queryId|topic_id|topic|query.qid|query.id"
    system: str = (
        "system|strategy|method|retriever|engine|run|run_name|search_method|config|"
        "metadata.system|metadata.strategy|metadata.method|metadata.retriever"
    )
    answer: str = ANSWER
    category: str = "category|kategori"
    doc_id: str = ""
    title: str = ""
    text: str = ""
    url: str = ""
    rank: str = "rank|position|pos|peringkat"
    score: str = ""
    grade: str = "rating|relevance_grade"
    only: tuple[str, str] | None = None
    sign: str = ""


SHAPES = (
    Shape("Langfuse", "langfuse.json", "output", only=("type", "RETRIEVER")),
    Shape("LangSmith", "langsmith.jsonl", "outputs.documents|outputs.output|outputs",
          only=("run_type", "retriever")),
    Shape("promptfoo", "promptfoo.json",
          "response.metadata.context|response.metadata.contexts|response.metadata.documents|"
          "response.output.context|response.output.contexts|response.output.documents",
          query="vars.query|vars.question|vars.input",
          answer="response.output.answer|response.output",
          system="provider.label|provider.id"),
    Shape("DeepEval", "deepeval.json", "retrieval_context"),
    Shape("TruLens", "trulens.json", "record_json.calls.rets", answer="output"),
    Shape("Ragas", "ragas.jsonl", "retrieved_contexts"),
    Shape("MLflow", "mlflow.json", "retrieved_context|retrieved_doc_ids",
          answer="outputs|response"),
    Shape("Haystack", "haystack.json", "documents|*.documents|*.answers.documents",
          query=f"{QUERY}|*.query|*.question",
          answer="*.replies|*.answers.data|data|" + ANSWER,
          sign="documents.content|*.documents.content|*.answers.documents.content"),
    Shape("LlamaIndex", "llamaindex.json", "source_nodes|response.source_nodes",
          answer=f"response.response|{ANSWER}"),
    Shape("LangChain", "langchain.json", "source_documents|context|outputs"),
    Shape("Solr", "solr.json",
          "response.docs|grouped.*.groups.doclist.docs|grouped.*.doclist.docs",
          query=f"response_header.params.q|{QUERY}"),
    Shape("Elasticsearch, OpenSearch", "search.jsonl", "hits.hits|response.hits.hits"),
    Shape("Typesense", "typesense.json", "hits|grouped_hits.hits", query="request_params.q"),
    Shape("Vespa", "vespa.json", "root.children|response.root.children"),
    Shape("Qdrant", "qdrant.json",
          "points|result.points|result.groups.hits|result"),
    Shape("Weaviate", "weaviate.json", "objects|data.get.*"),
    Shape("Pinecone", "pinecone.json", "matches|result.hits"),
    Shape("Chroma", "chroma.json", "documents", query="query_texts", rank=""),
    Shape("Azure AI Search", "azure.json", "value"),
    Shape("Relevansi", "relevansi.json", "results", query="question",
          query_id="external_id|query_id", system="/search_method", answer="response",
          grade="relevance", only=("state", "results|empty|failed|unreadable")),
    Shape("Vertex AI Search", "vertex.json", "results", doc_id="id|document.id",
          title="document.derived_struct_data.title|document.struct_data.title",
          text="document.derived_struct_data.extractive_answers.content|"
          "document.derived_struct_data.extractive_segments.content|"
          "document.derived_struct_data.snippets.snippet|document.struct_data.text|chunk.content",
          url="document.derived_struct_data.link",
          sign="results.document.derived_struct_data|results.document.struct_data|"
          "results.chunk.content"),
    Shape("Amazon Bedrock", "bedrock.json",
          "retrieval_results|citations.retrieved_references|"
          "output.retrieved_passages.retrieval_results",
          query=f"{QUERY}|retrieval_query.text|input_record.prompt.content.text",
          doc_id="metadata.x_amz_bedrock_kb_chunk_id|location.*.uri|location.*.url",
          text="content.text", url="location.*.url"),
    Shape("Amazon Kendra", "kendra.json", "result_items", query_id="", doc_id="document_id",
          title="document_title", text="document_excerpt|content", url="document_uri"),
    Shape("Cohere", "cohere.json", "results", sign="results.relevance_score"),
    Shape("OpenAI vector store", "vector_store.json", "data", query="search_query"),
    Shape("OpenAI Responses", "responses.json", "output.results",
          query="input|request.input|output.queries|response.output.queries",
          answer="output.content.text|response.output.content.text"),
    Shape("Azure OpenAI On Your Data", "on_your_data.json",
          "choices.message.context.citations", doc_id="url|filepath"),
    Shape("TREC RAG", "trec_rag.jsonl", "references",
          query="topic|narrative|metadata.narrative",
          query_id="topic_id|narrative_id|metadata.topic_id|metadata.narrative_id",
          system="run_id|metadata.run_id", answer="answer.text", sign="answer.citations"),
    Shape("R2R", "r2r.json", "results.chunk_search_results", doc_id="id"),
    Shape("Dify", "dify.json", "records", query=f"query.content|{QUERY}", doc_id="segment.id",
          title="segment.document.name", text="segment.content"),
    Shape(mark("JSON with a list for each question"), "lists.jsonl", USUAL_ITEMS),
)  # fmt: skip
"""Every shape, the usual one last: the first that fits an object reads its file."""

_ENVELOPES = (
    *("response", "result", "results", "output", "outputs", "data", "body", "retrieved"),
    *("retrieval", "search", "search_results", "web"),
)
"""Where the answer of an engine may stand beside its question."""
_OF_OBJECTS = re.compile(r"(?!outputs\.)(?:.*\.)?(?:output|response)|.*\.value")
"""Usual paths of lists that may be an answer or values of something else."""
_RERANKED = ("documents", "passages", "texts", "corpus", "docs", "chunks", "candidates")
"""Lists at whose entries the results of a reranker point."""
_PLACES = ("index", "corpus_id")
_PARTS = "partitions|passages|chunks|segments|sections|inner_hits.*.hits.hits"
"""Where an item without a text of its own has those of its passages."""
_OF_CALLS = ({"run_type"}, {"trace_id"}, {"op_name"}, {"object"}, {"inputs"}, {"input", "output"})
"""Names in an object that is a call of a system: its id is not that of the question."""
_NOTES = ("reference", "ground_truth", "expected_answer", "gold", "note", "span_id", "trace_id")
_GOLD = re.compile(
    "relevant|expected|gold|ground_?truth|reference_|positive|negative|qrel", re.IGNORECASE
)
"""What begins the name of a list that says what should be in the results."""
_CONVERSATIONS = ("messages", "output.messages", "outputs.messages", "values.messages")
_LOOKED_AT = 50
"""Entries of a list that are looked at for an object that fits."""
_DEEPEST = 6
_STATES = {"unreadable": QueryState.UNREADABLE} | dict.fromkeys(
    ("failed", "error", "timeout"), QueryState.FAILED
)
"""What an object says of its empty list, our own export and logs of calls."""
_GRADES = ("relevance", "relevant", "grade")
"""Names of a grade of a result where a whole number or a truth value stands."""
_PRINTED = re.compile(
    r"\s*(?:Document|TextNode|NodeWithScore|ScoredPoint)\(|.*page_content=", re.DOTALL
)


MAPPED = mark("JSON by the paths that were chosen")


def mapped(columns: Columns) -> Shape | None:
    """The shape that a person described by paths; ``None`` where they name no list."""
    if "items" not in columns:
        return None
    names = {role: path for role, path in columns.items() if role in Shape.__struct_fields__}
    unstated = {role: "" for role in (*QUESTION_ROLES, "rank", "grade") if hasattr(Shape, role)}
    return Shape(**{"name": MAPPED, "example": "", **unstated, **names})  # type: ignore[arg-type]


def stands(value: object, path: str, depth: int = 0) -> bool:
    """Whether a path leads to something from any object in a JSON value."""
    if at(value, path) is not None:
        return True
    inner = (
        value if isinstance(value, list) else [*value.values()] if isinstance(value, dict) else ()
    )
    nested = (entry for entry in inner[:_LOOKED_AT] if isinstance(entry, dict | list))
    return depth < _DEEPEST and any(stands(entry, path, depth + 1) for entry in nested)


def text_at(value: object, paths: str) -> str:
    """The text at the first of these paths that has one."""
    texts = (as_text(at(value, path)).strip() for path in paths.split("|") if path)
    return next(filter(None, texts), "")


def _list_at(value: Values, paths: str) -> tuple[list[object] | None, object]:
    """The list at the first of these paths that has one and its path; else what stands there."""
    instead: object = None
    names = {name.partition(".")[0] for name in value}
    starts = ("", *(f"{name}." for name in _ENVELOPES if name in names))
    for path in (start + path for start in starts for path in paths.split("|")):
        inner = at(value, path)
        if isinstance(inner, str):
            parsed = literal(inner)
            inner = parsed if isinstance(parsed, list) else inner
        if isinstance(inner, dict):
            inner = rows_of_lists(inner) or _rows_of_ids(inner) or inner
        is_open = paths is USUAL_ITEMS or path.endswith(".value")
        if is_open and _OF_OBJECTS.fullmatch(path) and not _are_results(inner):
            continue
        if isinstance(inner, list):
            outer, _, name = path.rpartition(".")
            beside = at(value, outer)
            inner = _leaves(inner) if name == "children" else inner
            if (
                len(inner) == 1
                and isinstance(inner[0], list)
                and all(isinstance(entry, dict | list) for entry in inner[0])
            ):
                inner = inner[0]  # of one search among several
            return entries_of(inner, name, beside if isinstance(beside, dict) else {}), path
        if inner is None and path in value:
            return [], path
        instead = inner if instead is None else instead
    return None, instead


def _rows_of_ids(value: Values) -> list[Values] | None:
    """The results that an object has by their ids, or by their ranks; ``None`` for another one."""
    entries = [inner for inner in value.values() if isinstance(inner, dict)]
    if not entries or len(entries) < len(value) or not all(map(re.compile(r"\d").search, value)):
        return None
    if not all(_may_be_item(entry, SHAPES[-1]) for entry in entries):
        return None
    if all(map(str.isdecimal, value)):
        return [
            entry
            for _, entry in sorted(zip(map(int, value), entries, strict=True), key=itemgetter(0))
        ]
    return [{"doc_id": name, **entry} for name, entry in zip(value, entries, strict=True)]


def _leaves(entries: list[object]) -> list[object]:
    """The results in a list of Vespa: beside them groups are left out, else it is in groups."""
    children = [at(entry, "children") for entry in entries]
    groups = [inner for inner in children if isinstance(inner, list)]
    results = [entry for entry in entries if not at(entry, "children")]
    return results or [leaf for group in groups for leaf in _leaves(group)]


def _are_results(value: object) -> bool:
    """Whether a list where answers may stand has objects that are no messages or blocks of one."""
    entries = value if isinstance(value, list) else []
    objects = [entry for entry in entries if isinstance(entry, dict)]
    are_messages = any("role" in entry for entry in objects)
    types = [entry.get("type", "Document") for entry in objects if not _block(entry)]
    return bool(objects) and not are_messages and {*types} <= {"Document"}


def _block(value: Values) -> object:
    """The JSON in a block of text, as tools answer; ``None`` for any other object."""
    return literal(as_text(value.get("text"))) if value.get("type") == "text" else None


def fits(shape: Shape, value: object) -> bool:
    """Whether an object is a question with its list, as the shape says."""
    if not isinstance(value, dict) or not _is_wanted(shape, value):
        return False
    if shape.sign and all(at(value, path) is None for path in shape.sign.split("|")):
        return False
    listed, _ = _list_at(value, shape.items)
    if listed is None:
        return False
    question = question_at(value, shape.query)[1]
    if QUERY in shape.query or shape.name == MAPPED:
        question = question or text_at(value, shape.query_id)
    is_empty = not listed or any(_may_be_item(entry, shape) for entry in listed)
    return bool(question) and is_empty


def _is_wanted(shape: Shape, value: Values) -> bool:
    if shape.only is None:
        return True
    path, expected = shape.only
    return as_text(at(value, path)) in expected.split("|")


def _may_be_item(value: object, shape: Shape) -> bool:
    return isinstance(value, str | dict | list) and _item(shape, value)[0] is not None


def question_at(value: object, paths: str) -> tuple[list[object], str]:
    """The earlier turns of a conversation and its last question, at the first path with one."""
    for path in paths.split("|"):
        inner = at(value, path)
        is_envelope = isinstance(inner, dict) and path in ("inputs", "input", "request")
        turns, query = ([], "") if is_envelope else _turns(inner)
        if query:
            return turns, query
    if QUERY not in paths or not isinstance(value, dict):
        return [], ""
    words = value.get(guessed(tuple(value)).get("query", ""))
    return [], words.strip() if isinstance(words, str) else ""


def _turns(value: object) -> tuple[list[object], str]:
    if isinstance(value, dict):  # a query in a search engine's language
        return [], words_of(value)
    if isinstance(value, list) and value and all(isinstance(turn, dict) for turn in value):
        turns = list(value)
        while turns:
            last = turns.pop()
            speaker = as_text(last.get("type") or last.get("role")).lower()
            if speaker in ("human", "user", ""):
                return turns, as_text(last.get("content")).strip()
        return [], ""
    if isinstance(value, list) and len({*map(as_text, value)}) > 1:
        return [], ""  # several questions
    return [], as_text(value).strip()


_FILTERS = {"filter", "must_not", "post_filter"}


def words_of(query: object, depth: int = 0) -> str:
    """The words that a query in a search engine's language looks for.

    >>> words_of({"match": {"body": {"query": "red dress", "operator": "and"}}})
    'red dress'
    """
    if isinstance(query, str):
        return query.strip()
    if isinstance(query, list):
        return next(filter(None, (words_of(part, depth + 1) for part in query[:100])), "")
    if not isinstance(query, dict) or depth > _DEEPEST:
        return ""
    names = [
        name for name in ("query", "q", "value", "content", "text", "original") if name in query
    ]
    inner = [query[name] for name in names] or [
        part
        for name, part in query.items()
        if name not in _FILTERS and (len(query) == 1 or isinstance(part, dict | list))
    ]
    return next(filter(None, (words_of(part, depth + 1) for part in inner)), "")


def _systems_of(value: Values) -> Values:
    """What an object says of the system of all lists in it."""
    names = ("system", "run", "method", "retriever", "engine", "strategy", "search_method")
    texts = {name: value[name] for name in names if isinstance(value.get(name), str)}
    return texts or ({"system": value["run_name"]} if value.get("run_name") else {})


def records(value: object, shape: Shape, depth: int = 0) -> Iterator[Values]:
    """The outermost objects in a JSON value that fit, with those beside them in a list.

    They have the system that an object around them names.
    """
    if isinstance(value, list):
        head = value[:_LOOKED_AT]
        if any(fits(shape, entry) for entry in head):
            yield from (entry for entry in value if isinstance(entry, dict))
        elif depth < _DEEPEST:
            for entry in value:
                if isinstance(entry, dict | list):
                    yield from records(entry, shape, depth + 1)
    elif fits(shape, value):
        yield value  # type: ignore[misc]
    elif isinstance(value, dict) and depth < _DEEPEST:
        listed = (_of_keys(value) or _of_systems(value)) if shape is SHAPES[-1] else None
        if listed:
            yield from listed
            return
        around = _systems_of(value)
        nested = {
            name: inner
            for name, inner in value.items()
            if isinstance(inner, dict | list) and not _GOLD.match(name)
        }
        by_name = {name: [*records(inner, shape, depth + 1)] for name, inner in nested.items()}
        are_systems = len(nested) == len(value) and sum(map(bool, by_name.values())) > 1
        are_systems = are_systems and _USUAL_NAMES.isdisjoint(map(str.lower, nested))
        for name, questions in by_name.items():
            system = {"system": name} if are_systems else around
            yield from (system | record for record in questions)


def shape_of(values: Sequence[object], chosen: Shape | None = None) -> Shape | None:
    """The shape of the first of these values that has one and results, else of the first empty."""
    empty: Shape | None = None
    for value in values:
        for shape in (chosen,) if chosen else SHAPES:
            record = next(records(value, shape), None)
            if record is not None and _list_at(record, shape.items)[0]:
                return shape
            empty = empty or (shape if record is not None else None)
    return empty


def prepared(value: object, *, is_mapped: bool = False) -> object:
    """A value with its spans, conversations with tools and reranked documents as questions.

    Its keys are spelled as the paths of shapes are, unless a person chose the paths.
    """
    value = value if is_mapped else respelled(value)
    if isinstance(value, dict) and isinstance(value.get("resourceSpans"), list):
        value = at(value, "resourceSpans.scopeSpans.spans") or value
    if isinstance(value, list) and any(is_span(entry) for entry in value[:_LOOKED_AT]):
        return [spans.question(entry) for entry in value if isinstance(entry, dict)]
    if is_span(value):
        return spans.question(value)  # type: ignore[arg-type]
    if isinstance(value, list):
        return [_reranked(_conversation(entry)) for entry in value]
    if not isinstance(value, dict):
        return value
    value = _with_questions(value)
    if "query" in guessed(tuple(value)) and all(isinstance(part, dict) for part in value.values()):
        return rows_of_columns(value) or value
    return _reranked(_conversation(value))


def _with_questions(value: Values) -> Values:
    """An object with results by the ids of questions whose words stand beside these."""
    listed = next((value[name] for name in ("queries", "questions", "topics") if name in value), ())
    words = (
        listed
        if isinstance(listed, dict)
        else {
            text_at(entry, "query_id|qid|id|_id|number"): text_at(
                entry, "query|question|text|title"
            )
            for entry in (listed if isinstance(listed, list) else ())
        }
    )
    if not words or not all(isinstance(text, str) for text in words.values()):
        return value
    lists = {
        name: _of_keys(inner)
        for name, inner in value.items()
        if isinstance(inner, dict) and inner.keys() <= words.keys() and inner is not words
    }
    return {
        name: [row | {"query": words[as_text(row["query_id"])]} for row in lists.get(name) or ()]
        or inner
        for name, inner in value.items()
        if name not in lists or not _GOLD.match(name)
    }


def respelled(value: object) -> object:
    """A JSON value whose keys are spelled as the paths of shapes are.

    A key stays as it is where two of its object would be one.

    >>> respelled({"Query": "a", "SearchResults": [{"Id": 1}], "Size": 2})
    {'query': 'a', 'search_results': [{'Id': 1}], 'Size': 2}
    """
    if isinstance(value, list):
        return [respelled(entry) if isinstance(entry, dict | list) else entry for entry in value]
    if not isinstance(value, dict):
        return value
    names = _spellings(tuple(value)) if len(value) < _LOOKED_AT else {}
    return {
        names.get(name, name): respelled(inner) if isinstance(inner, dict | list) else inner
        for name, inner in value.items()
    }


@lru_cache(maxsize=1024)
def _spellings(names: tuple[str, ...]) -> dict[str, str]:
    plain = {name: plain_name(name) for name in names}
    counts = Counter(plain.values())
    return {
        name: spelled
        for name, spelled in plain.items()
        if spelled in _NAMES and counts[spelled] == 1
    }


def _conversation(value: object) -> object:
    """The last question of a conversation with what tools found; any other value as it is."""
    turns = next(filter(None, (at(value, path) for path in _CONVERSATIONS)), None)
    if not isinstance(value, dict) or not isinstance(turns, list):
        return value
    reply = value.get("response")
    turns = [*turns, reply] if at(reply, "role") else turns
    listed: list[object] = []
    answer = ""
    for place in range(len(turns) - 1, -1, -1):
        turn = turns[place]
        speaker = as_text(at(turn, "type") or at(turn, "role")).lower()
        content = at(turn, "content")
        blocks = content if isinstance(content, list) else []
        inner_blocks = at(blocks, "content")
        listed = [
            block
            for block in (*blocks, *(inner_blocks if isinstance(inner_blocks, list) else ()))
            if as_text(at(block, "type")).endswith("search_result")
        ] + listed
        words = as_text([b for b in blocks if "text" in as_text(at(b, "type"))] or content)
        if speaker in ("human", "user") and words.strip():
            asked = {"role": "user", "content": words}
            before: Values = {"input": [*turns[:place], asked], "results": listed, "answer": answer}
            return {**value, **before} if listed else value
        if speaker == "tool":
            inner = at(turn, "artifact") or literal(as_text(content))
            inner = _list_at(inner, USUAL_ITEMS)[0] if isinstance(inner, dict) else inner
            listed = [*inner, *listed] if isinstance(inner, list) else listed
        elif not answer:
            answer = words
    return value


def _reranked(value: object) -> object:
    """A question with the documents at which its results only point, in the order of these."""
    if not isinstance(value, dict):
        return value
    objects = [value, *(inner for inner in value.values() if isinstance(inner, dict))]
    lists = [
        (name, inner)
        for outer in objects
        for name, inner in outer.items()
        if isinstance(inner, list) and inner
    ]
    pointers = [inner for _, inner in lists if all(_place_in(entry) is not None for entry in inner)]
    texts = [inner for name, inner in lists if name in _RERANKED and inner not in pointers]
    if not (len(pointers) == len(texts) == 1):
        return value
    results: list[Values] = []
    for entry in pointers[0]:
        place = _place_in(entry)
        document = texts[0][place] if place is not None and place < len(texts[0]) else None
        if document is None:
            return value
        scores = {name: inner for name, inner in entry.items() if isinstance(inner, float | int)}
        results.append(
            {**(document if isinstance(document, dict) else {"text": document}), **scores}
        )
    return {
        **{name: inner for name, inner in value.items() if inner not in (texts[0], pointers[0])},
        "results": [
            {name: inner for name, inner in result.items() if name not in _PLACES}
            for result in results
        ],
    }


def _place_in(entry: object) -> int | None:
    if not isinstance(entry, dict):
        return None
    place = entry.get("corpus_id", entry.get("index"))
    return place if isinstance(place, int) and place >= 0 else None


def is_span(value: object) -> bool:
    """Whether a JSON value is a span, or an export of OTLP that has spans."""
    return isinstance(value, dict) and ("resourceSpans" in value or spans.is_span(value))


def columnar(value: object) -> object:
    """A value that no shape fits, its columns turned into rows, or those of an object in it."""
    rows = rows_of_columns(value)
    if rows or not isinstance(value, dict):
        return rows or value
    tables = (rows_of_columns(inner) or [] for inner in value.values())
    rows = next((rows for rows in tables if any(fits(SHAPES[-1], row) for row in rows)), [])
    return [_systems_of(value) | row for row in rows] or value


_USUAL_NAMES = frozenset(
    name.lower()
    for names in (*QUESTION_ROLES.values(), *ITEM_ROLES.values())
    for name in names.split()
) | {path.partition(".")[0].lower() for path in f"{USUAL_ITEMS}|data|result|metadata".split("|")}


def _of_keys(value: Values) -> list[Values] | None:
    """The questions that are the keys of an object, each with its list; ``None`` for none.

    These are several words or, each of them, an id with a digit.
    """
    are_texts = any(re.search(r"\S\s+\S", name) or not name.isascii() for name in value)
    are_ids = all(any(map(str.isdigit, name)) for name in value)
    if not (value and (are_texts or are_ids)) or not _USUAL_NAMES.isdisjoint(map(str.lower, value)):
        return None
    rows: list[Values] = []
    for name, inner in value.items():
        question: Values = {"query" if are_texts else "query_id": name}
        match inner:
            case list():
                rows.append({**question, "results": inner})
            case dict() if inner and all(isinstance(score, float) for score in inner.values()):
                listed = [{"doc_id": doc_id, "score": score} for doc_id, score in inner.items()]
                rows.append({**question, "results": sorted(listed, key=lambda row: -row["score"])})
            case dict():
                row: Values = {**question, **inner}
                rows += (None if fits(SHAPES[-1], row) else _of_systems(row)) or [row]
            case _:
                return None
    questions = [question_at(row, QUERY)[1] for row in rows]
    if are_ids and len({*filter(None, questions)}) < sum(map(bool, questions)):
        return None  # it is the same questions that each key has
    return rows if all(fits(SHAPES[-1], row) for row in rows[:_LOOKED_AT]) else None


def _of_systems(value: Values) -> list[Values] | None:
    """A question once for each of its several lists, whose names are its systems, if it has them.

    The lists have objects of the same keys, under names that nobody uses for anything else.
    """
    objects = [value, *(inner for inner in value.values() if isinstance(inner, dict))]
    outer = next((inner for inner in objects if _lists_of_systems(inner)), {})
    lists = _lists_of_systems(outer)
    common = {n: inner for n, inner in value.items() if n not in lists and inner is not outer}
    has_question = question_at(common, QUERY)[1] or text_at(common, SHAPES[-1].query_id)
    rows: list[Values] = [
        {**common, "system": name, "results": inner} for name, inner in lists.items()
    ]
    return rows if has_question else None


def _lists_of_systems(value: Values) -> dict[str, list[object]]:
    lists = {
        name: inner
        for name, inner in value.items()
        if isinstance(inner, list) and inner and not _GOLD.match(name)
    }
    firsts = [entry for entry, *_ in lists.values() if isinstance(entry, dict)]
    are_alike = len({*map(tuple, firsts)}) == 1 and len(firsts) == len(lists) > 1
    are_items = are_alike and all(_may_be_item(entry, SHAPES[-1]) for entry in firsts)
    return lists if are_items and _USUAL_NAMES.isdisjoint(map(str.lower, lists)) else {}


_NAMES = frozenset(
    name
    for shape in SHAPES
    for paths in (
        shape.items,
        shape.query,
        shape.query_id,
        shape.system,
        shape.answer,
        shape.category,
        shape.doc_id,
        shape.title,
        shape.text,
        shape.url,
        shape.rank,
        shape.grade,
        "|".join((*_ENVELOPES, *WRAPPERS, "error", "index")),
    )
    for path in paths.split("|")
    for name in path.split(".")
)
"""The names in the paths of all shapes."""


def read(file: File, values: Iterable[tuple[int, object]], shape: Shape) -> Rows:
    """Every item of every list in the values of a file; what is no question is left out."""
    number = 0
    for line, raw in values:
        value = prepared(raw, is_mapped=shape.name == MAPPED)
        top = value if isinstance(value, dict) else {}
        beside = records(value, shape)
        first = next(beside, None)
        if first is None:  # its columns may be the questions
            beside = records(columnar(value), shape)
            first = next(beside, None)
        if first is None:
            # A line that has neither is named; one that is no object of this kind is passed over.
            if isinstance(value, dict) and _is_wanted(shape, value):
                number += 1
                yield from _list(file, line, value, top, shape, number)
            continue
        for place, record in enumerate(chain((first,), beside), 1):
            if _is_wanted(shape, record):
                number += 1
                at_line = line if record is value else max(line, place)
                yield from _list(file, at_line, record, top, shape, number)


def _list(
    file: File, line: int, value: Values, top: Values, shape: Shape, number: int
) -> Iterator[Row]:
    file.budget.spend("records", file)
    turns, query = question_at(value, shape.query)
    query_id = text_at(value, shape.query_id)
    is_call = shape.only or any(names <= value.keys() for names in _OF_CALLS)
    if query and not query_id and shape.name != MAPPED and not is_call:
        query_id = text_at(value, "id|_id")
    listed, instead = _list_at(value, shape.items)
    lacks = "question" if not (query or query_id) else "list" if listed is instead is None else ""
    if lacks:
        file.error(f"results_without_{lacks}", line, keys=described(value))
        return
    common = Row(
        line,
        query_id=query_id,
        query=query,
        system=_system(value, top, shape),
        answer=_answer(value, shape),
        category=text_at(value, shape.category),
        list_number=number,
        extra=_notes(value, turns, listed or []),
    )
    for name in _lists_beside(value, str(instead), listed) if listed else ():
        if name in shape.answer:
            continue
        file.warn("results_list_beside", line, place=name)
    if listed is None:
        kinds = {"place": shape.items.partition("|")[0], "found": kind_of(instead)}
        file.error("results_no_list", line, **kinds)
        yield replace(common, state=QueryState.UNREADABLE)
    elif not listed:
        wrong = as_text(value.get("error")).strip() or words_of(value.get("error"))
        state = _STATES.get(text_at(value, "state|status"), QueryState.RESULTS)
        state = QueryState.FAILED if wrong else state
        yield replace(common, state=state, error=wrong[:LONGEST_VALUE])
    else:
        yield from _items(file, line, listed, shape, common)


def _lists_beside(value: Values, path: str, listed: list[object]) -> list[str]:
    """The names of other lists of a question that have objects with an id or text, or such ids."""
    read = path.partition(".")[0]
    names: list[str] = []
    for name, inner in value.items():
        is_read = name in (read, path) or inner == value.get(read)
        if not isinstance(inner, list) or not inner or is_read:
            continue
        first = inner[0]
        if part_of(name) and len(inner) == len(listed):
            continue
        if isinstance(first, dict):
            item = None if first.keys() & {"role", "type"} else _item(SHAPES[-1], first)[0]
            if item and (item.doc_id or item.text):
                names.append(name)
        elif isinstance(first, str) and ROLE_OF_PART.get(part_of(name)) == "doc_id":
            names.append(name)
    return names


def _system(value: Values, top: Values, shape: Shape) -> str:
    if shape.system.startswith("/"):
        return text_at(top, shape.system.removeprefix("/"))
    return text_at(value, shape.system)


def _answer(value: Values, shape: Shape) -> str:
    for path in filter(None, shape.answer.split("|")):
        inner = at(value, path)
        if isinstance(inner, str):
            return as_text(inner)
        if isinstance(inner, list) and inner and all(isinstance(line, str) for line in inner):
            return as_text("\n".join(inner))
    return ""


def _notes(value: Values, turns: list[object], listed: Sequence[object]) -> dict[str, object]:
    notes: dict[str, object] = {
        name: as_text(value[name])[:LONGEST_VALUE] for name in _NOTES if as_text(value.get(name))
    }
    indexes = {as_text(at(entry, "_index") or at(entry, "hit._index")) for entry in listed} - {""}
    if len(indexes) == 1:  # ratings go back to it
        notes["_index"] = indexes.pop()
    if turns:
        notes["turns"] = turns
    return notes


def _items(file: File, line: int, listed: list[object], shape: Shape, common: Row) -> Iterator[Row]:
    file.budget.spend("records", file, len(listed))
    ranks = _ranks(file, line, listed, shape)
    if ranks is None:
        yield replace(common, state=QueryState.UNREADABLE)
        return
    for number, entry in enumerate(listed):
        item, score, grade = _item(shape, entry)
        if score is not None and isnan(score):
            file.counts["results_scores_unusable"] += 1
            score = None
        if isinstance(entry, str) and _PRINTED.match(entry):
            file.refuse("results_printed", line=line, text=entry[:60])
        if item is None:
            place = {"place": f"[{number}]", "found": kind_of(entry)}
            file.error("results_item_unreadable", line, **place)
        yield replace(common, item=item, rank=ranks[number], score=score, grade=grade)


def _ranks(file: File, line: int, listed: list[object], shape: Shape) -> list[int] | None:
    """The rank of each entry: stated by all, else its place; ``None`` where these disagree."""
    places = list(range(1, len(listed) + 1))
    if not shape.rank or len({text_at(entry, shape.rank) for entry in listed}) < 2:
        return places
    ranks = [as_rank(text_at(entry, shape.rank)) for entry in listed]
    if None not in ranks:
        return ranks  # type: ignore[return-value]
    first = next((rank - place for rank, place in zip(ranks, places) if rank is not None), 0)  # noqa: B905
    if all(rank in (None, place + first) for rank, place in zip(ranks, places)):  # noqa: B905
        return places
    file.error("results_ranks_partly", line, place=f"[{ranks.index(None)}]")
    return None


_ITEM_PATHS = ("doc_id", "title", "text", "url")


def _item(shape: Shape, value: object) -> tuple[Document | None, float | None, object]:
    """The document, score (nan for what is no number) and grade that an entry of a list states."""
    match value:
        case str():
            return (Document(text=as_text(value)) if value.strip() else None), None, None
        case [dict() as document, str() | int() | float() | None as score]:
            item, _, grade = _item(shape, document)
            return item, as_number(score), grade
        case list():
            return _of_pair(value)
        case dict():
            return _of_object(shape, value)
    return None, None, None


def _of_object(shape: Shape, value: Values) -> tuple[Document | None, float | None, object]:
    block = _block(value)
    values = flattened(block if isinstance(block, dict) else value)
    grade = next((at(value, path) for path in shape.grade.split("|") if path), None)
    for path in shape.grade.split("|"):
        values.pop(path, None)
    whole = [name for name in _GRADES if isinstance(values.get(name), int)]
    if whole and grade is None and shape is SHAPES[-1]:
        grade = values.pop(whole[0])
    roles = dict(guessed(tuple(values), of_item=True))
    for role in _ITEM_PATHS:
        paths = getattr(shape, role)
        text = text_at(value, paths) if paths else ""
        if paths and (text or shape.name == MAPPED):
            values.pop(paths, None)
            values[f"/{role}"] = text
            roles[role] = f"/{role}"
    if "text" not in roles:
        values["/text"], roles["text"] = _text_of_parts(value), "/text"
    score = text_at(value, shape.score) if shape.score else values.get(roles.get("score", ""))
    parts = values.get(roles.get("text", ""))
    are_several = isinstance(parts, list) and sum(isinstance(part, str) for part in parts) > 1
    if are_several and not roles.keys() & {"doc_id", "title", "url"}:
        return None, None, None  # texts of several results, in whatever order
    number = as_number(score, comma=True)
    is_unusable = number is None and bool(as_text(score))
    return item_of(values, roles), nan if is_unusable else number, grade


def _text_of_parts(value: Values) -> str:
    """The texts of the passages that an item has in place of its own, a blank line between them."""
    lists = (at(value, path) for path in _PARTS.split("|"))
    parts = next((inner for inner in lists if isinstance(inner, list) and has_objects(inner)), [])
    items = [_item(SHAPES[-1], part)[0] for part in parts if isinstance(part, dict)]
    return "\n\n".join(item.text for item in items if item and item.text)


def _of_pair(cells: list[object]) -> tuple[Document | None, float | None, object]:
    """The document and score that a text beside a number states, or an id, its text and these."""
    texts = [cell for cell in cells if isinstance(cell, str) and cell.strip()]
    scores = [as_number(cell) for cell in cells if not isinstance(cell, str | bool)]
    if len(texts) + len(scores) != len(cells) or len(scores) > 1 or None in scores:
        return None, None, None
    is_id = bool(texts and BARE_ID.fullmatch(texts[0]))
    match texts:
        case [doc_id, text] if is_id:
            item = Document(doc_id=as_text(doc_id), text=as_text(text))
        case [text] if scores:
            item = Document(doc_id=text) if is_id else Document(text=as_text(text))
        case _:
            return None, None, None
    return item, scores[0] if scores else None, None
