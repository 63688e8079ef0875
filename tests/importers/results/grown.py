"""Well-formed imports of two questions with three results each, in the format of each example.

They are made of the examples, which have one of each, so that a new example needs a line here.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from io import BytesIO, StringIO
from typing import Any, NamedTuple

from openpyxl import Workbook

from relevansi.importers.results.formats import examples

Path = tuple[str | int, ...]
Row = tuple[int, int | None]
"""A question and the place of a result in its list, from 0; ``None`` for what all of them share."""

QUESTIONS = ("red dress", "winter boots")
TEXTS = (
    ("Long red dress", "Red evening gown", "Scarlet skirt"),
    ("Lined boots of leather", "Warm shoes", "Snow boots for children"),
)
SYSTEMS = ("bm25", "dense")
IDS = (("d7", "d2", "d5"), ("e1", "e4", "e9"))
LISTS = {
    "algolia.json": "hits",
    "assistants.json": "run_step.step_details.tool_calls.0.file_search.results",
    "azure.json": "value",
    "bedrock.json": "retrievalResults",
    "cohere.json": "results",
    "contexts.jsonl": "contexts",
    "chunks.jsonl": "retrieved_chunks",
    "deepeval.json": "retrieval_context",
    "dify.json": "records",
    "fastgpt.json": "quoteList",
    "gemini.json": "response.candidates.0.groundingMetadata.groundingChunks",
    "haystack.json": "retriever.documents",
    "ikat.json": "responses.0.passage_provenance",
    "kendra.json": "ResultItems",
    "kernel_memory.json": "relevantSources",
    "langchain.json": "outputs",
    "langfuse.json": "output",
    "langsmith.jsonl": "outputs.documents",
    "lists.jsonl": "results",
    "llamaindex.json": "source_nodes",
    "mlflow.json": "retrieved_context",
    "on_your_data.json": "choices.0.message.context.citations",
    "onyx.json": "top_documents",
    "pinecone.json": "matches",
    "promptfoo.json": "response.metadata.context",
    "qdrant.json": "result.points",
    "r2r.json": "results.chunk_search_results",
    "ragas.jsonl": "retrieved_contexts",
    "rank_eval.json": "hits",
    "relevansi.json": "results",
    "responses.json": "output.0.results",
    "search.jsonl": "response.hits.hits",
    "solr.json": "response.docs",
    "trulens.json": "record_json.calls.0.rets",
    "typesense.json": "hits",
    "upstash.json": "result",
    "vector_store.json": "data",
    "vertex.json": "results",
    "vespa.json": "root.children",
    "weaviate.json": "objects",
}
"""The list of results in the object of one question."""
OBJECTS = {
    "algolia.json": ("results",),
    "fastgpt.json": ("responseData",),
    "ikat.json": ("turns",),
    "promptfoo.json": ("results", "results"),
    "rank_eval.json": ("details",),
    "relevansi.json": ("queries",),
}
"""Where the objects of the questions are; else the file is one, or a list or lines of them."""
PLACES = {"rank", "index", "position"}
TABLES = {
    "table.csv": ",",
    "table.tsv": "\t",
    "with_ids.csv": ";",
    "run.txt": " ",
    "ranks.tsv": "\t",
}


class Grown(NamedTuple):
    """An import: its name, a value that ``write`` makes a file of, and what each place is of."""

    name: str
    value: Any
    write: Callable[[Any], bytes]
    places: Sequence[tuple[Path, Row]]

    def files(self, value: Any) -> list[tuple[str, bytes]]:
        return [(self.name, self.write(value))]


class Joined(NamedTuple):
    """Files that belong together, by their names; the value has that of each."""

    name: str
    parts: Mapping[str, Grown]

    @property
    def value(self) -> Any:
        return {name: part.value for name, part in self.parts.items()}

    @property
    def places(self) -> Sequence[tuple[Path, Row]]:
        return [
            ((name, *path), row) for name, part in self.parts.items() for path, row in part.places
        ]

    def files(self, value: Any) -> list[tuple[str, bytes]]:
        return [(name, part.write(value[name])) for name, part in self.parts.items()]


def grown_json(name: str) -> Grown:
    """The example with a list for each question."""
    text = examples()[name][0].read_text("utf-8")
    top = json.loads(text)
    at = OBJECTS.get(name, ())
    result = value_at(top, at)
    template = (
        result["q1"] if name == "rank_eval.json" else result[0] if type(result) is list else result
    )
    if isinstance(template.get("record_json"), str):
        template["record_json"] = json.loads(template["record_json"])
    path = tuple(int(part) if part.isdigit() else part for part in LISTS[name].split("."))
    objects = [_object(template, path, number) for number in range(2)]
    keys: list[str | int] = ["q1", "q2"] if name == "rank_eval.json" else [0, 1]
    is_one = result is template and not at
    if at:
        value_at(top, at[:-1])[at[-1]] = (
            dict(zip(keys, objects, strict=True)) if name == "rank_eval.json" else objects
        )
    else:
        top = objects
    places = [
        ((*at, key, *inner), (number, _item(inner, path)))
        for number, key in enumerate(keys)
        for inner in paths(objects[number])
    ]
    return Grown(name, top, _lines if is_one else _document, places)


def _object(template: Any, path: Path, number: int) -> Any:
    copy = deepcopy(template)
    value_at(copy, path[:-1])[path[-1]] = []
    copy = _renamed(copy, number, 0)
    item = value_at(template, path)[0]
    value_at(copy, path[:-1])[path[-1]] = [_renamed(item, number, place) for place in range(3)]
    return copy


def _renamed(value: Any, number: int, place: int, key: str = "") -> Any:
    """The value as that of another question and place: ids, texts, ranks and falling scores."""
    names = {"red dress": QUESTIONS[number], "Long red dress": TEXTS[number][place]}
    names |= {"d7": IDS[number][place]}
    names |= {name: f"{name[:-1]}{number + 1}" for name in ("q1", "r1", "o1", "fs_1", "msg_1")}
    match value:
        case str():
            return names.get(value, value)
        case dict():
            return {name: _renamed(inner, number, place, name) for name, inner in value.items()}
        case list():
            return [_renamed(inner, number, place) for inner in value]
        case int() if key in PLACES:
            return value + place
        case float():
            return value + place / 16 if key == "distance" else value - place / 16
        case _:
            return value


def _item(inner: Path, path: Path) -> int | None:
    place = inner[len(path)] if len(inner) > len(path) and inner[: len(path)] == path else None
    return place if isinstance(place, int) else None


def grown_by_columns(name: str) -> Grown:
    """Examples that have a list or an object for each column, and spans with numbered keys."""
    rows = [(number, place) for number in range(2) for place in range(3)]
    if name == "columns.json":
        columns: dict[str, list[Any]] = {
            "query": [QUESTIONS[number] for number, _ in rows],
            "rank": [place + 1 for _, place in rows],
            "doc_id": [IDS[number][place] for number, place in rows],
            "text": [TEXTS[number][place] for number, place in rows],
        }
        value: Any = {
            key: {str(at): cell for at, cell in enumerate(listed)}
            for key, listed in columns.items()
        }
        places: list[tuple[Path, Row]] = [
            ((key, str(at)), row) for at, row in enumerate(rows) for key in columns
        ]
        return Grown(name, value, _document, places)
    if name == "scores.json":
        value = {
            f"q{number + 1}": {doc_id: 12.5 - at for at, doc_id in enumerate(ids)}
            for number, ids in enumerate(IDS)
        }
        return Grown(name, value, _document, [
            ((f"q{number + 1}", IDS[number][place]), (number, place)) for number, place in rows
        ])  # fmt: skip
    if name == "chroma.json":
        value = [
            {
                "query_texts": [QUESTIONS[number]],
                "ids": [[*IDS[number]]],
                "documents": [[*TEXTS[number]]],
                "distances": [[0.1, 0.2, 0.3]],
            }
            for number in range(2)
        ]
        places = [
            ((number, *inner), (number, inner[2] if len(inner) == 3 else None))  # type: ignore[misc]
            for number in range(2)
            for inner in paths(value[number])
        ]
        return Grown(name, value, _lines, places)
    (line,) = examples()[name][0].read_text("utf-8").splitlines()
    template = json.loads(line)
    start = "retrieval.documents."
    listed = {key: value for key, value in template["attributes"].items() if key.startswith(start)}
    value = []
    places = []
    for number in range(2):
        span = _renamed(template, number, 0)
        for key in listed:
            del span["attributes"][key]
        span["context"] = {"span_id": f"s{number}", "trace_id": f"t{number}"}
        places += [((number, *inner), (number, None)) for inner in paths(span)]
        for place in range(3):
            for key, attribute in listed.items():
                numbered = key.replace(".0.", f".{place}.")
                span["attributes"][numbered] = _renamed(attribute, number, place)
                places.append(((number, "attributes", numbered), (number, place)))
        value.append(span)
    return Grown(name, value, _lines, places)


def grown_otherwise(name: str) -> Grown:
    """Lists beside each other, pairs, questions as keys, columns of ranks."""
    value: Any = []
    for question, ids, texts in zip(QUESTIONS, IDS, TEXTS, strict=True):
        documents = [{"id": i, "text": text} for i, text in zip(ids, texts, strict=True)]
        of_question = {
            "beside.jsonl": {"query": question, "ids": [*ids], "documents": [*texts]},
            "pairs.jsonl": {
                "query": question,
                "results": [*map(list, zip(ids, texts, strict=True))],
            },
            "keys.json": documents,
            "wide.csv": [question, *texts],
        }
        value.append(of_question[name])
    if name == "wide.csv":
        value.insert(0, ["query", "result 1", "result 2", "result 3"])
        places: list[tuple[Path, Row]] = [
            ((1 + number, column), (number, column - 1 if column else None))
            for number in range(2)
            for column in range(4)
        ]
        return Grown(name, value, lambda rows: _table(rows, ","), places)
    if name == "keys.json":
        value = dict(zip(QUESTIONS, value, strict=True))
    places = []
    for number, key in enumerate(value if isinstance(value, dict) else range(2)):
        for inner in paths(value[key]):
            place = next((step for step in inner if isinstance(step, int)), None)
            places.append(((key, *inner), (number, place)))
    return Grown(name, value, _document if name == "keys.json" else _lines, places)


def grown_table(name: str) -> Grown:
    """The example as rows of texts; the first one is the header, if the format has any."""
    value: list[list[str]] = []
    for number in range(2):
        for place in range(3):
            query_id, rank = f"q{number + 1}", str(place + 1)
            question, doc_id, text = QUESTIONS[number], IDS[number][place], TEXTS[number][place]
            system = SYSTEMS[number]
            score = f"{12.5 - place:.1f}"
            row = {
                "run.txt": [query_id, "Q0", doc_id, rank, score, "bm25"],
                "ranks.tsv": [query_id, doc_id, rank],
                "table.tsv": [question, rank, doc_id, text],
                "table.csv": [question, system, rank, doc_id, text],
            }
            others = [query_id, question, system, rank, doc_id, text, score.replace(".", ",")]
            value.append(row.get(name, others))
    header = {
        "run.txt": [],
        "ranks.tsv": [],
        "table.tsv": ["query", "rank", "doc_id", "text"],
        "table.csv": ["query", "system", "rank", "doc_id", "text"],
    }.get(name, ["query_id", "question", "system", "rank", "doc_id", "text", "score"])
    first = bool(header)
    places: list[tuple[Path, Row]] = [
        ((at + first, column), divmod(at, 3))
        for at, row in enumerate(value)
        for column in range(len(row))
    ]
    if name.endswith(".xlsx"):
        return Grown(name, [header, *value], _workbook, places)
    separator = TABLES[name]
    return Grown(
        name, [header, *value] if first else value, lambda rows: _table(rows, separator), places
    )


def grown_rows() -> Grown:
    value = [
        {
            "query": QUESTIONS[number],
            "rank": place + 1,
            "doc_id": IDS[number][place],
            "text": TEXTS[number][place],
        }
        for number in range(2)
        for place in range(3)
    ]
    places: list[tuple[Path, Row]] = [
        ((at, *inner), divmod(at, 3)) for at, row in enumerate(value) for inner in paths(row)
    ]
    return Grown("table.jsonl", value, _lines, places)


def joined() -> Joined:
    """A run of TREC with its topics and its collection."""
    topics = [[f"q{number + 1}", question] for number, question in enumerate(QUESTIONS)]
    rows = [(number, place) for number in range(2) for place in range(3)]
    documents = [
        {"_id": IDS[number][place], "text": TEXTS[number][place]} for number, place in rows
    ]
    of_topics = [((number, column), (number, None)) for number in range(2) for column in range(2)]
    of_documents = [
        ((at, *inner), row) for at, row in enumerate(rows) for inner in paths(documents[at])
    ]
    parts = (
        grown_table("run.txt"),
        Grown("topics.tsv", topics, lambda rows: _table(rows, "\t"), of_topics),
        Grown("corpus.jsonl", documents, _lines, of_documents),
    )
    return Joined("joined", {part.name: part for part in parts})


def _all() -> Iterator[Grown | Joined]:
    yield from map(grown_json, LISTS)
    yield from map(grown_by_columns, ("columns.json", "scores.json", "chroma.json", "spans.jsonl"))
    yield from map(grown_otherwise, ("beside.jsonl", "pairs.jsonl", "keys.json", "wide.csv"))
    yield from map(grown_table, (*TABLES, "table.xlsx"))
    yield grown_rows()
    yield joined()


def value_at(value: Any, path: Sequence[str | int]) -> Any:
    for step in path:
        value = value[step]
    return value


def paths(value: Any) -> Iterator[Path]:
    """Every place in a value: of the value itself first, then of all that it holds."""
    yield ()
    inner = (
        value
        if isinstance(value, dict)
        else dict(enumerate(value if isinstance(value, list) else ()))
    )
    for key, part in inner.items():
        for path in paths(part):
            yield (key, *path)


class Raw(str):
    """A text that stands in a table as it is, without quotation marks around it."""

    __slots__ = ()


def _document(value: Any) -> bytes:
    return json.dumps(_printed(value), indent=1).encode()


def _lines(value: Any) -> bytes:
    return "\n".join(json.dumps(_printed(record)) for record in value).encode()


def _printed(value: Any) -> Any:
    """A value in which the record of TruLens is a text again."""
    if isinstance(value, list):
        return [_printed(inner) for inner in value]
    if isinstance(value, dict) and isinstance(value.get("record_json"), dict | list):
        return {**value, "record_json": json.dumps(value["record_json"])}
    return value


def _table(rows: Sequence[Sequence[str]], separator: str) -> bytes:
    return "".join(
        f"{separator.join(_cell(cell, separator) for cell in row)}\n" for row in rows
    ).encode(errors="surrogatepass")


def _cell(cell: str, separator: str) -> str:
    if isinstance(cell, Raw) or separator == " ":
        return cell
    written = StringIO()
    csv.writer(written, delimiter=separator, lineterminator="").writerow([cell])
    return written.getvalue()


def _workbook(rows: Sequence[Sequence[Any]]) -> bytes:
    book = Workbook()
    for row in rows:
        book.active.append(list(row))  # type: ignore[union-attr]
    written = BytesIO()
    book.save(written)
    return written.getvalue()


GROWN = {file.name: file for file in _all()}
