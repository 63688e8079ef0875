"""Run files as the test script writes them: V1 ``test_results.json``, V2 ``results.json``.

The format is recognised by a file's content, never by its name. A file of which nothing can
be used is refused; a bad entry is reported and the good ones are kept.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import Field

from webapp.importers.runs import property_cards
from webapp.importers.runs.json_documents import FromFile, Whole, Words, load, read_object
from webapp.importers.runs.prices import said
from webapp.importers.runs.problems import NoReadableQuery, UnknownRunFormat, error, warning
from webapp.importers.runs.property_particulars import (
    LONGEST_TEXT,
    fill,
    identity,
    longest_description,
    read_properties,
)
from webapp.importers.runs.questions import context_dependent, looks_like
from webapp.records import Card, Problem, QueryState, ReadQuery, ReadRun, Tell, nobody

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


def check_labels(name: str, search_method: str | None, llm: str | None) -> Iterator[Problem]:
    """Warnings where the file's labels contradict its own name or the folders it lies in."""
    place = "/".join(re.split(r"[/\\]", _plain(name))[-3:])
    methods = set(_METHOD.findall(place))
    label = _plain(search_method or "")
    if search_method and methods and not any(label.startswith(method) for method in methods):
        found = ", ".join(sorted(methods))
        yield warning("method_differs", name, {"label": search_method, "found": found})
    llms = {_LLM_NAMES[found] for found in _LLM.findall(place)}
    if llm and llms and llms.isdisjoint(_families(llm)):
        yield warning("llm_differs", name, {"label": llm, "found": ", ".join(sorted(llms))})


def check_total(
    name: str, queries: Sequence[ReadQuery], total: int | None, successful: int | None
) -> Iterator[Problem]:
    """Warnings where questions are missing and where the file's own sums are wrong."""
    ids = {query.query_id for query in queries}
    if total is not None and total != len(ids):
        yield warning("total_differs", name, {"total": total, "count": len(ids)})
    missing = _missing(ids, total)
    if missing:
        yield warning("questions_missing", name, {"ids": _listed(missing)})
    done = sum(query.state is not QueryState.FAILED for query in queries)
    if successful is not None and successful != done:
        yield warning("successful_differs", name, {"claimed": successful, "count": done})


def check_query(name: str, query: ReadQuery) -> Iterator[Problem]:
    """Warnings about one answer: its call, its count, its cards."""
    number = query.query_id
    if not query.category:
        yield warning("category_missing", name, query_id=number)
    if query.state is QueryState.FAILED:
        code = "call_failed" if query.error else "call_failed_unexplained"
        yield warning(code, name, {"error": (query.error or "")[:_LONGEST_REASON]}, query_id=number)
    elif query.state is QueryState.UNREADABLE and query.claimed_count:
        claimed = {"claimed": query.claimed_count}
        yield warning("answer_unreadable", name, claimed, query_id=number)
    # A count of 0 beside cards is that of a chatbot which counts a list that it does not fill.
    elif query.claimed_count and query.claimed_count != len(query.cards):
        counts = {"claimed": query.claimed_count, "count": len(query.cards)}
        yield warning("count_differs", name, counts, query_id=number)
    yield from _check_cards(name, number, query.cards)
    listed = query.extra.get("properties")
    longest = longest_description(listed) if isinstance(listed, list) else 0
    if longest > LONGEST_TEXT:
        sizes = {"count": longest, "shown": LONGEST_TEXT}
        yield warning("description_long", name, sizes, query_id=number)


def _check_cards(name: str, number: int, cards: Sequence[Card]) -> Iterator[Problem]:
    ranks: dict[str, list[int]] = {}
    for rank, card in enumerate(cards, start=1):
        ranks.setdefault(identity(card), []).append(rank)
    for same in ranks.values():
        if len(same) > 1:
            title = cards[same[0] - 1].title
            listed = {"title": title, "ranks": _listed(same)}
            yield warning("card_repeated", name, listed, query_id=number)
    without = [rank for rank, card in enumerate(cards, start=1) if not card.slug]
    if without:
        yield warning("card_without_slug", name, {"ranks": _listed(without)}, query_id=number)


def _missing(ids: set[int], total: int | None) -> list[int]:
    if not ids:
        return []
    counted_from_one = total is not None and ids <= set(range(1, min(total, _MOST_GAPS) + 1))
    first, last = (1, total or 0) if counted_from_one else (min(ids), max(ids))
    return sorted(set(range(first, last + 1)) - ids) if last - first < _MOST_GAPS else []


def _listed(numbers: Iterable[int]) -> str:
    numbers = list(numbers)
    shown = ", ".join(map(str, numbers[:20]))
    return f"{shown}, ..." if len(numbers) > 20 else shown


def _families(llm: str) -> set[str]:
    found = {_LLM_NAMES[name] for name in _LLM.findall(_plain(llm))}
    return found or {_plain(llm)}


def _plain(label: str) -> str:
    return re.sub(r"[\s-]", "_", label.strip().casefold())


_MARKS = {
    "v1": ({"search_method", "successful"}, {"results_count", "success", "response_length"}),
    "v2": ({"method", "threshold_t"}, {"properties_count"}),
}
"""Keys only one format has: at the top of the file, and in its entries."""

_ENTRY_KEPT_AS_IS = frozenset({"properties", "latency_ms", "usage"})
_ENTRY_OUTCOMES = {
    "": "entry_left_out",
    "response": "kept_unreadable",
    "success": "kept_unreadable",
}


class RunFileHead(FromFile):
    """The top of a run file, of either format."""

    results: list[Any] = Field(description="list")
    timestamp: str | int | float | None = None
    thread_id: str | int | None = None
    user_id: str | int | None = None
    search_method: str | None = None
    method: str | None = None
    llm: str | None = None
    total_questions: Whole | None = None
    successful: Whole | None = None


class AnsweredQuestionInFile(FromFile):
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

    @property
    def failed(self) -> bool:
        """Whether the call itself failed: stated by the entry, or an error without ``success``."""
        return self.success is False or (self.success is None and bool(self.error))


def read(name: str, data: bytes, tell: Tell = nobody) -> ReadRun:
    """The run in the file `name` (a path or a bare name), with all its problems.

    `tell` is called with how many questions are read. Raises an `ImportRefused` whose problem
    is the reason why nothing of the file can be used.
    """
    document, numbers = load(name, data, expected="run_file")
    file_format = _recognise(name, document)
    top, wrong_top = read_object(
        RunFileHead, document, file=name, place="", outcomes={"": "file_refused"}
    )
    if top is None or not isinstance(document, dict):
        raise UnknownRunFormat(*wrong_top)
    queries, wrong_entries = _queries(name, top.results, file_format, tell)
    problems = (*numbers, *wrong_top, *wrong_entries)
    if not queries:
        raise NoReadableQuery(_nothing_readable(name, top), *problems)
    method, llm = _label(top.search_method or top.method), _label(top.llm)
    checks = (
        *check_labels(name, method, llm),
        *check_total(name, queries, top.total_questions, top.successful),
        *(problem for query in queries for problem in check_query(name, query)),
    )
    return ReadRun(
        file_format=file_format,
        name=name,
        sha256=hashlib.sha256(data).hexdigest(),
        queries=queries,
        timestamp=_text(top.timestamp),
        search_method=method,
        llm=llm,
        thread_id=_text(top.thread_id),
        user_id=_text(top.user_id),
        total_questions=top.total_questions,
        problems=(*problems, *checks),
        extra=_extra(RunFileHead, document),
    )


def session_key(run: ReadRun) -> str:
    """The key of the chat session of a run, equal for its V1 and its V2 file.

    A SHA-256 over the number, question and answer of every query in order; the case and
    the blanks of a question do not matter.
    """
    turns = [(q.query_id, question_key(q.question), q.response) for q in run.queries]
    return hashlib.sha256(json.dumps(turns).encode()).hexdigest()


def question_key(text: str) -> str:
    """`text` with all blanks removed and case folded: equal for equal questions."""
    return "".join(text.split()).casefold()


def _recognise(name: str, document: object) -> str:
    results = document.get("results") if isinstance(document, dict) else None
    if not isinstance(document, dict) or not isinstance(results, list):
        raise UnknownRunFormat(_not_a_run(name, document))
    keys = {key for entry in results if isinstance(entry, dict) for key in entry}
    if results and not keys & {"response", "properties", "question"}:
        raise UnknownRunFormat(_not_a_run(name, document))
    counts = {
        kind: len(top & document.keys()) + len(inner & keys)
        for kind, (top, inner) in _MARKS.items()
    }
    if counts["v1"] == counts["v2"]:
        return "v2" if "properties" in keys else "v1"
    return max(counts, key=lambda kind: counts[kind])


def _not_a_run(name: str, document: object) -> Problem:
    return error("unknown_format", name, {"found": looks_like(document), "expected": "run_file"})


def _nothing_readable(name: str, top: RunFileHead) -> Problem:
    return error("no_readable_query" if top.results else "no_queries", name)


def _queries(
    name: str, entries: Sequence[object], file_format: str, tell: Tell
) -> tuple[tuple[ReadQuery, ...], list[Problem]]:
    queries: dict[int, ReadQuery] = {}
    problems: list[Problem] = []
    for position, raw in enumerate(entries):
        tell(position, len(entries))
        place = f"results[{position}]"
        query, wrong = _query(name, place, raw, file_format)
        problems.extend(wrong)
        if query and query.query_id in queries:
            repeated = {"place": f"{place}.query_id"}
            problems.append(error("query_repeated", name, repeated, query_id=query.query_id))
        elif query:
            queries[query.query_id] = query
    return tuple(queries.values()), problems


def _query(
    name: str, place: str, raw: object, file_format: str
) -> tuple[ReadQuery | None, list[Problem]]:
    entry, wrong = read_object(
        AnsweredQuestionInFile, raw, file=name, place=place, outcomes=_ENTRY_OUTCOMES
    )
    problems = list(wrong)
    if entry is None or not isinstance(raw, dict):
        return None, problems
    if entry.response is None and not entry.failed and not _is_broken(problems):
        problems.append(_no_response(name, place, entry.query_id))
    properties, wrong_properties = read_properties(name, place, entry.properties or ())
    problems.extend(wrong_properties)
    cards = fill(property_cards.parse(entry.response or ""), properties)
    claim = _claim(entry, file_format)
    state = _state(entry, cards, claim, broken=_is_broken(problems))
    category = said(entry.category or "")
    return ReadQuery(
        query_id=entry.query_id,
        question=entry.question.strip(),
        category=category,
        response=entry.response or "",
        state=state,
        cards=cards if state is QueryState.RESULTS else (),
        claimed_count=claim,
        error=_text(entry.error),
        context_dependent=context_dependent(entry.context_dependent, category),
        extra=_extra(AnsweredQuestionInFile, raw),
    ), problems


def _state(
    entry: AnsweredQuestionInFile, cards: Sequence[Card], claim: int | None, *, broken: bool
) -> QueryState:
    if broken:
        return QueryState.UNREADABLE
    if entry.failed:
        return QueryState.FAILED
    if cards:
        return QueryState.RESULTS
    return QueryState.UNREADABLE if claim else QueryState.EMPTY


def _is_broken(problems: Sequence[Problem]) -> bool:
    return any(problem.details.get("outcome") == "kept_unreadable" for problem in problems)


def _no_response(name: str, place: str, query_id: int) -> Problem:
    words = {"place": f"{place}.response", "expected": "text", "outcome": "kept_unreadable"}
    return error("value_missing", name, words, query_id=query_id)


def _claim(entry: AnsweredQuestionInFile, file_format: str) -> int | None:
    counts = [entry.results_count, entry.properties_count]
    if file_format == "v2" and entry.properties is not None:
        counts.append(len(entry.properties))
    return next((count for count in counts if count is not None), None)


def _extra(kind: type[FromFile], raw: Mapping[str, object]) -> dict[str, object]:
    understood = kind.model_fields.keys() - _ENTRY_KEPT_AS_IS
    return {key: value for key, value in raw.items() if key not in understood}


def _label(value: str | None) -> str | None:
    return said(value or "") or None


def _text(value: object) -> str | None:
    if value in (None, ""):
        return None
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
