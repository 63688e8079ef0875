"""Run files as the test script writes them: V1 ``test_results.json``, V2 ``results.json``.

The format is recognised by a file's content, never by its name. A file of which nothing can
be used is refused; a bad entry is reported and the good ones are kept.
"""

from __future__ import annotations

import hashlib
import json
import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from relevansi.importers.runs import property_cards
from relevansi.importers.runs.json_documents import FromFile, Reading, Whole, Words, load
from relevansi.importers.runs.prices import content_of
from relevansi.importers.runs.problems import ImportRefused, UnknownRunFormat, error, warning
from relevansi.importers.runs.property_particulars import (
    LONGEST_TEXT,
    fill,
    longest_description,
    read_properties,
)
from relevansi.importers.runs.questions import context_dependent, unknown_format
from relevansi.printable import label_line
from relevansi.records import (
    CollectedRun,
    OnProgress,
    Problem,
    QueryState,
    ReadQuery,
    ReadRun,
    no_progress,
)

_METHOD = re.compile(r"(?<![a-z])(?:hybrid|api_only|vector_only)(?![a-z])")
_LLM_NAMES = {
    **dict.fromkeys(("openai", "gpt", "chatgpt"), "openai"),
    **dict.fromkeys(("anthropic", "claude"), "anthropic"),
    **dict.fromkeys(("google", "gemini"), "google"),
}
_LLM = re.compile(rf"(?<![a-z])(?:{'|'.join(_LLM_NAMES)})(?![a-z])")
_MOST_GAPS = 10_000
"""A total beyond this is reported as a number, without a list of the missing questions."""

_LONGEST_REASON = 200
"""Characters of an error that a message repeats; the query keeps all of it."""


def _check_labels(name: str, search_method: str | None, llm: str | None) -> Iterator[Problem]:
    place = "/".join(re.split(r"[/\\]", _plain(name))[-3:])
    methods = sorted(set(_METHOD.findall(place)))
    if search_method and methods and not _plain(search_method).startswith(tuple(methods)):
        labels = {"label": search_method, "found": ", ".join(methods)}
        yield warning("method_differs", name, labels)
    llms = {_LLM_NAMES[name] for name in _LLM.findall(place)}
    families = {_LLM_NAMES[name] for name in _LLM.findall(_plain(llm or ""))} or {_plain(llm or "")}
    if llm and llms and llms.isdisjoint(families):
        yield warning("llm_differs", name, {"label": llm, "found": ", ".join(sorted(llms))})


def _check_total(
    name: str, queries: Sequence[ReadQuery], total: int | None, successful: int | None
) -> Iterator[Problem]:
    ids = {query.query_id for query in queries}
    if total is not None and total != len(ids):
        yield warning("total_differs", name, {"total": total, "count": len(ids)})
    # The missing numbers: those of 1 to `total`, else between the numbers there are.
    counted_from_one = total is not None and ids <= set(range(1, min(total, _MOST_GAPS) + 1))
    first, last = (1, total or 0) if counted_from_one else (min(ids), max(ids))
    missing = sorted(set(range(first, last + 1)) - ids) if last - first < _MOST_GAPS else []
    if missing:
        yield warning("questions_missing", name, {"ids": _listed(missing)})
    answered = sum(query.state is not QueryState.FAILED for query in queries)
    if successful is not None and successful != answered:
        yield warning("successful_differs", name, {"claimed": successful, "count": answered})


def _check_query(query: ReadQuery) -> Iterator[tuple[str, dict[str, str | int]]]:
    claimed, cards = query.claimed_count, query.cards
    if not query.category:
        yield "category_missing", {}
    if query.state is QueryState.FAILED:
        yield "call_failed", {"error": (query.error or "-")[:_LONGEST_REASON]}
    elif query.state is QueryState.UNREADABLE and claimed:
        yield "answer_unreadable", {"claimed": claimed}
    # A count of 0 beside cards is that of a chatbot which counts a list that it does not fill.
    elif claimed and claimed != len(cards):
        yield "count_differs", {"claimed": claimed, "count": len(cards)}
    ranks_of: dict[str, list[int]] = {}
    for rank, card in enumerate(cards, start=1):
        ranks_of.setdefault(card.identity, []).append(rank)
    for first, *further in ranks_of.values():
        if further:
            title = cards[first - 1].title
            yield "card_repeated", {"title": title, "ranks": _listed([first, *further])}
    without = [rank for rank, card in enumerate(cards, start=1) if not card.slug]
    if without:
        yield "card_without_slug", {"ranks": _listed(without)}
    listed = query.extra.get("properties")
    longest = longest_description(listed) if isinstance(listed, list) else 0
    if longest > LONGEST_TEXT:
        yield "description_long", {"count": longest, "shown": LONGEST_TEXT}


def _listed(numbers: Sequence[int]) -> str:
    first_numbers = ", ".join(map(str, numbers[:20]))
    return f"{first_numbers}, ..." if len(numbers) > 20 else first_numbers


def _plain(label: str) -> str:
    return re.sub(r"[\s-]", "_", label.strip().casefold())


_MARKS = {
    "v1": ({"search_method", "successful"}, {"results_count", "success", "response_length"}),
    "v2": ({"method", "threshold_t"}, {"properties_count"}),
}
"""Keys only one format has: at the top of the file, and in its entries."""

_OF_ANSWER = ("response", "success")
_ENTRY_OUTCOMES = {"": "entry_left_out", **dict.fromkeys(_OF_ANSWER, "kept_unreadable")}


_TEXT = Meta(description="text")


class RunFileHead(FromFile, frozen=True):
    """The top of a run file, of either format."""

    results: Annotated[list[Any], Meta(description="list")]
    timestamp: Annotated[str | int | float | None, _TEXT] = None
    thread_id: Annotated[str | int | None, _TEXT] = None
    user_id: Annotated[str | int | None, _TEXT] = None
    search_method: str | None = None
    method: str | None = None
    llm: str | None = None
    total_questions: Whole | None = None
    successful: Whole | None = None


class AnsweredQuestionInFile(FromFile, frozen=True):
    """One question with its answer, of either format."""

    query_id: Whole
    question: Words
    category: str | None = None
    response: str | None = None
    response_length: object = None
    success: bool | None = None
    error: object = None
    results_count: Whole | None = None
    properties_count: Whole | None = None
    context_dependent: bool | None = None
    properties: list[Any] | None = None


_LIST = re.compile(
    r"(?:search_)?(?:results|hits)|retriev\w+|contexts?|chunks|passages|documents|docs|sources|nodes"
)
"""Names of lists of results of other systems."""


class _RunKeys(msgspec.Struct):
    results: list[dict[str, msgspec.Raw]]
    total_questions: msgspec.Raw = msgspec.Raw()


def recognises(data: bytes) -> bool:
    """Whether a file is one object with ``results`` that each have a query id and an answer.

    A run of no question states how many it has. Objects with a list of their own are results of
    another system.
    """
    if b'"results"' not in data:
        return False
    try:
        keys = msgspec.json.decode(data.removeprefix(BOM_UTF8), type=_RunKeys, strict=False)
    except (msgspec.DecodeError, RecursionError):
        return _recognises_odd(data)
    return _are_answers(keys.results) if keys.results else bool(bytes(keys.total_questions))


def _recognises_odd(data: bytes) -> bool:
    """The same of JSON with numbers that are none, or halves of surrogate pairs."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return False
    results = document.get("results") if isinstance(document, dict) else None
    entries = results if isinstance(results, list) else []
    return _are_answers([entry for entry in entries if isinstance(entry, dict)])


def _are_answers(entries: Sequence[Mapping[str, object]]) -> bool:
    listed = [entry.keys() for entry in entries if "query_id" in entry]
    answered = any(names & {"response", "properties"} for names in listed)
    return answered and not any(map(_LIST.fullmatch, chain.from_iterable(listed)))


def read(name: str, data: bytes, on_progress: OnProgress = no_progress) -> ReadRun:
    """The run in the file `name` with all its problems; raises an `ImportRefused`."""
    reading = Reading(name)
    document = reading.document(data, "run_file")
    file_format = _recognise(name, document)
    top = reading.model(RunFileHead, document, "", {"": "file_refused"})
    if top is None or not isinstance(document, dict):
        raise UnknownRunFormat(*reading.problems)
    queries: list[ReadQuery] = []
    listed = reading.entries(AnsweredQuestionInFile, top.results, "results", _ENTRY_OUTCOMES)
    for place, raw, entry in listed:
        on_progress(len(queries), len(top.results))
        queries.append(_query(reading, place, raw, entry, file_format))
    if not queries:
        code = "no_readable_query" if top.results else "no_queries"
        raise ImportRefused(error(code, name), *reading.problems)
    method = label_line(content_of(top.search_method or top.method or "")) or None
    llm = label_line(content_of(top.llm or "")) or None
    checks = (
        *_check_labels(name, method, llm),
        *_check_total(name, queries, top.total_questions, top.successful),
        *(
            warning(code, name, details, query_id=query.query_id)
            for query in queries
            for code, details in _check_query(query)
        ),
    )
    run = ReadRun(
        file_format=file_format,
        name=name,
        sha256=hashlib.sha256(data).hexdigest(),
        queries=tuple(queries),
        timestamp=_text(top.timestamp),
        search_method=method,
        llm=llm,
        thread_id=_text(top.thread_id),
        user_id=_text(top.user_id),
        total_questions=top.total_questions,
        problems=(*reading.problems, *checks),
        extra=_extra(RunFileHead, document),
    )
    return replace(run, key=session_key(run))


def read_collected(name: str, data: bytes) -> CollectedRun:
    """The collection in the file `name`, to go on with; raises an `ImportRefused`."""
    document, _ = load(name, data, expected="run_file")
    try:
        return msgspec.convert(document, CollectedRun)
    except msgspec.ValidationError as wrong:
        raise UnknownRunFormat(unknown_format(name, document, "run_file")) from wrong


def session_key(run: ReadRun) -> str:
    """A SHA-256 over numbers, questions and answers: equal for the V1 and V2 file of a session."""
    turns = [(q.query_id, question_key(q.question), q.response) for q in run.queries]
    return hashlib.sha256(json.dumps(turns).encode()).hexdigest()


def question_key(text: str) -> str:
    """`text` with all blanks removed and case folded: equal for equal questions."""
    return "".join(text.split()).casefold()


def _recognise(name: str, document: object) -> str:
    results = document.get("results") if isinstance(document, dict) else None
    entries = results if isinstance(results, list) else []
    keys = {key for entry in entries if isinstance(entry, dict) for key in entry}
    is_run = not entries or keys & {"response", "properties", "question"}
    if not isinstance(document, dict) or not isinstance(results, list) or not is_run:
        raise UnknownRunFormat(unknown_format(name, document, "run_file"))
    v1, v2 = (len(top & document.keys()) + len(inner & keys) for top, inner in _MARKS.values())
    if v1 == v2:
        return "v2" if "properties" in keys else "v1"
    return "v1" if v1 > v2 else "v2"


def _query(
    reading: Reading, place: str, raw: dict[str, Any], entry: AnsweredQuestionInFile, form: str
) -> ReadQuery:
    answer = entry.response or ""
    # What was there but is of another type is not in the entry.
    is_broken = any(
        getattr(entry, name) is None and raw.get(name) is not None for name in _OF_ANSWER
    )
    failed = entry.success is False or (entry.success is None and bool(entry.error))
    if entry.response is None and not failed and not is_broken:
        is_broken = True
        words = {"place": f"{place}.response", "expected": "text", "outcome": "kept_unreadable"}
        reading.error("value_missing", words, query_id=entry.query_id)
    cards = property_cards.parse(answer)
    if entry.properties:
        properties, wrong = read_properties(reading.name, place, entry.properties, entry.query_id)
        reading.problems += wrong
        cards = fill(cards, properties)
    # The file's own number of results: counted, or in V2 as many as it lists.
    counts = [entry.results_count, entry.properties_count]
    if form == "v2" and entry.properties is not None:
        counts.append(len(entry.properties))
    claim = next((count for count in counts if count is not None), None)
    if is_broken or (claim and not cards and not failed):
        state = QueryState.UNREADABLE
    elif failed:
        state = QueryState.FAILED
    else:
        state = QueryState.RESULTS if cards else QueryState.EMPTY
    category = content_of(entry.category or "")
    return ReadQuery(
        query_id=entry.query_id,
        question=entry.question.strip(),
        category=category,
        response=answer,
        state=state,
        cards=cards if state is QueryState.RESULTS else (),
        claimed_count=claim,
        error=_text(entry.error),
        context_dependent=context_dependent(entry.context_dependent, category),
        extra=_extra(AnsweredQuestionInFile, raw),
    )


def _extra(kind: type[FromFile], raw: Mapping[str, object]) -> dict[str, object]:
    # Every key that this module does not read, and the properties, which are read again.
    understood = {*kind.__struct_fields__} - {"properties"}
    return {key: value for key, value in raw.items() if key not in understood}


def _text(value: object) -> str | None:
    if value in (None, ""):
        return None
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
