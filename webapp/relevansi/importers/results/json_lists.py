"""The rows of the lists in JSON that has a shape."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from math import isnan

from msgspec.structs import replace

from relevansi.importers.results.files import File
from relevansi.importers.results.guesses import described
from relevansi.importers.results.json_forms import ORDERS, prepared
from relevansi.importers.results.json_items import has_several_ids, item_in
from relevansi.importers.results.json_questions import (
    GOLD,
    fits,
    is_wanted,
    list_of,
    question_at,
    words_of,
)
from relevansi.importers.results.json_systems import columnar, records
from relevansi.importers.results.records import ROLE_OF_PART, at, only_list, part_of, text_at
from relevansi.importers.results.rows import (
    WRAPPERS,
    Row,
    Rows,
    Values,
    as_rank,
    as_text,
    cut,
    is_several,
    plain_name,
)
from relevansi.importers.results.shapes import ENVELOPES, USUAL, Shape
from relevansi.importers.runs.json_documents import kind_of
from relevansi.importers.runs.prices import is_placeholder
from relevansi.records import QueryState

_OF_CALLS = frozenset(
    {"run_type", "trace_id", "op_name", "object", "inputs", "text_response", "chat"}
    | {"conversation_id", "session_id"}
)
"""Names in an object that is a call of a system: its id is not that of the question. So is one
with ``input`` and ``output``."""
_NOTES = ("reference", "ground_truth", "expected_answer", "gold", "note", "span_id", "trace_id")
_OFFSETS = (
    *("offset", "start", "from", "skip"),
    *("request.from", "request.offset", "response_header.params.start"),
)
"""Where a request for a later page says how many results it passes over."""
_PAGES = (
    *("page", "current_page", "page_number", "pagination.page"),
    *("meta.page", "meta.page.current", "request.page"),
)
_FROM_0 = {"nb_pages", "nb_hits"}
_BESIDE_PAGES = _FROM_0 | {
    *("hits_per_page", "per_page", "page_size", "size", "limit", "total_pages", "found")
}
"""Names beside the page of a search; a page without them may be that of a book."""
_FAILURES = ("error", "errors", "exception", "error_message")
"""Names in an object of what went wrong when its list was asked for."""
_NO = {"false", "no", "0", "ok", "[]", "{}"}
_FAILED = r"fail(?:ed|ure)?|gagal|error|exception|timed?_?out|[45]\d\d"
_STATES = dict.fromkeys(("state", "status", "status_code"), _FAILED)
_STATES |= {"timed_out": "true", "timeout": "true", "success": "false", "ok": "false"}
"""What logs of calls say of one that failed, by the name."""
PRINTED = re.compile(
    r"[\s\[(]*(?:page_content=|(?:Document|TextNode|NodeWithScore|ScoredPoint)\()"
    r"|\s*(?:Node ID: \S+\s+Text: |id: \S+, distance: |<[\w.]+ object at 0x|\[object Object\]"
    r"|[A-Z]\w*\((?=.*\b(?:text|content|payload|metadata|score)=).*\)\s*$)",
    re.DOTALL,
)
"""A text that Python or JavaScript printed of an object."""


def read(
    file: File,
    values: Iterable[tuple[int, object]],
    shape: Shape,
    systems: Sequence[str] = (),
    label: str = "",
) -> Rows:
    """Every item of every list in the values of a file; what is no question is left out.

    `systems` are the names under which objects have the lists of systems beside their question,
    `label` is the name of the system where each object is one.
    """
    number = 0
    for line, raw in values:
        value = prepared(raw, is_mapped=shape.is_mapped)
        top = value if isinstance(value, dict) else {}
        # Its columns may be the questions.
        questions = [*records(value, shape, systems)] or [*records(columnar(value), shape)]
        outer = "" if shape.is_mapped else question_at(top, shape.query)[1]
        if questions and outer not in ("", question_at(questions[0], shape.query)[1]):
            file.warn("results_outer_question", line, query=cut(outer))
        around: Values = {"system": text_at(value, label)} if label and questions else {}
        # What is no question is named; an object of another kind is passed over.
        entries = questions or (value if isinstance(value, list) and raw else [value])
        for place, record in enumerate(entries, 1):
            at_line = max(line, place) if questions and record is not value else line
            if not isinstance(record, dict):
                file.error("results_without_question", at_line, keys=described(record))
            elif is_wanted(shape, record):
                number += 1
                yield from _list(file, at_line, around | record, top, shape, number)


def _list(
    file: File, line: int, value: Values, top: Values, shape: Shape, number: int
) -> Iterator[Row]:
    file.budget.spend("records", file)
    turns, query = question_at(value, shape.query)
    query_id = _id_of_question(file, line, value, shape, query)
    listed, path, instead = list_of(shape, value)
    wrong = "" if listed else failure(value)
    has_list = listed is not None or instead is not None or wrong
    lacks = "question" if not (query or query_id) else "" if has_list else "list"
    if lacks:
        file.error(f"results_without_{lacks}", line, keys=described(value))
        return
    holder = {} if shape.is_mapped else _holder(value, path)
    beside = {**holder, **value}
    common = Row(
        line,
        query_id=query_id,
        query=query,
        system=text_at(top if shape.system.startswith("/") else beside, shape.system.lstrip("/")),
        answer=_answer(value, shape, path) or _answer(holder, shape),
        category=text_at(beside, shape.category),
        list_number=number,
        extra=_notes(value, turns, listed or []),
    )
    if listed is None:
        usual = "results" if shape.is_usual else shape.items.partition("|")[0]
        names = (name for name, inner in value.items() if inner is instead is not None)
        kinds = {"place": next(names, usual), "found": kind_of(instead)}
        file.error("results_no_list", line, **kinds)
        state = QueryState.FAILED if wrong else QueryState.UNREADABLE
        yield replace(common, state=state, error=cut(wrong))
        return
    for name in lists_beside(value, path, listed):
        if name not in shape.answer:
            file.warn("results_list_beside", line, place=name)
    if not listed:
        wrong = wrong or failure(holder)
        is_unreadable = beside.get("state") == "unreadable"  # as our own export says
        state = QueryState.UNREADABLE if is_unreadable else QueryState.RESULTS
        yield replace(common, state=QueryState.FAILED if wrong else state, error=cut(wrong))
        return
    later = _later_page(beside)
    if later and not any(text_at(entry, shape.rank) for entry in listed):
        file.warn("results_later_page", line, place=later[0], value=later[1])
    yield from _items(file, line, listed, shape, common)


def _id_of_question(file: File, line: int, value: Values, shape: Shape, query: str) -> str:
    """The id of a question, which ``id`` is beside its words, but in no call of a system."""
    names_call = not _OF_CALLS.isdisjoint(value) or {"input", "output"} <= value.keys()
    is_call = shape.only or shape.is_mapped or names_call
    paths = f"{shape.query_id}|id|_id" if query and not is_call else shape.query_id
    for path in filter(None, paths.split("|")):
        inner = at(value, path)
        text = as_text(inner)
        if text and is_several(inner):
            file.refuse("results_value_nested", line=line, place=path, found=kind_of(inner))
        if text:
            return text.strip()
    return ""


def _is_no(reason: object) -> bool:
    """Whether a text says that nothing went wrong, as programs print it into a cell."""
    return is_placeholder(reason) or (isinstance(reason, str) and reason.lower() in _NO)


def failure(value: Values) -> str:
    """What an object or the response in it says of a call that failed, "" for none."""
    reasons = [reason for name in _FAILURES if (reason := value.get(name)) and not _is_no(reason)]
    states = {name: text_at(value, name).lower() for name in _STATES}
    reasons += [text for name, text in states.items() if re.fullmatch(_STATES[name], text)]
    texts = (as_text(reason).strip() or words_of(reason) or described(reason) for reason in reasons)
    responses = (value.get(name) for name in ENVELOPES.split("|"))
    inner = (failure(response) for response in responses if isinstance(response, dict))
    return next(filter(None, chain(texts, inner)), "")


def _later_page(value: Values) -> tuple[str, int] | None:
    """The path and the number in an object that say that its list does not begin its search.

    Pages count from 1, those of Algolia from 0.
    """
    for path in _OFFSETS:
        if number := as_rank(text_at(value, path)):
            return path, number
    for path in _PAGES:
        number = as_rank(text_at(value, path))
        holder = at(value, path.rpartition(".")[0]) if number else None
        names = {*map(plain_name, holder)} if isinstance(holder, dict) else set()
        if number and names & _BESIDE_PAGES and (number > 1 or names & _FROM_0):
            return path, number
    return None


def _holder(value: Values, path: str) -> Values:
    """The object beside a question in which a path to its list begins, ``{}`` for none."""
    start, _, inner_path = path.partition(".")
    holders = [value.get(start)]
    if start == "*":
        holders = [inner for inner in value.values() if at(inner, inner_path) is not None]
    return next((holder for holder in holders if isinstance(holder, dict)), {})


def lists_beside(value: Values, path: str, listed: list[object]) -> list[str]:
    """The names of other lists of a question that have objects with an id or text, or such ids.

    They are beside the list at `path`, beside the object that has it, or in an object there.
    """
    outer, _, inner_path = path.rpartition(".")
    holder = at(value, outer) if outer else None
    names: list[str] = []
    if isinstance(holder, dict):
        names += [f"{outer}.{name}" for name in lists_beside(holder, inner_path, listed)]
    first_name, raw = path.partition(".")[0], at(value, path)
    for name, inner in value.items():
        if name in (first_name, path) or inner in (value.get(first_name), raw):
            continue
        if _may_be_results(name, inner, listed):
            names.append(name)
        elif isinstance(inner, dict) and not GOLD.match(name):
            lists = (key for key, part in inner.items() if _may_be_results(key, part, listed))
            names += [f"{name}.{key}" for key in lists if inner[key] != raw]
    return names


def _may_be_results(name: str, value: object, listed: list[object]) -> bool:
    """Whether a value of this name is a list as of results, and none that describes those `listed`.

    Objects of them may do so as ``metadata``, anything else as long as they are.
    """
    if not isinstance(value, list) or not value:
        return False
    entries = only_list(value) or value
    part, first = part_of(name), entries[0]
    is_as_long = len(entries) == len(listed)
    if name in ORDERS:
        return True
    if not isinstance(first, dict):
        roles = ("doc_id",) if isinstance(first, str) else ("doc_id", "score", "distance", "rank")
        return ROLE_OF_PART.get(part) in roles and not is_as_long
    if is_as_long and part == "metadata":
        return False
    item = None if first.keys() & {"role", "type"} else item_in(USUAL, first)[0]
    return bool(item and (item.doc_id or item.text)) or fits(USUAL, first)


def _answer(value: Values, shape: Shape, items: str = "") -> str:
    """The answer in an object whose results are at the path `items`; "" for none."""
    for path in filter(None, shape.answer.split("|")):
        if path == items:
            continue
        inner = at(value, path)
        if isinstance(inner, str) or (isinstance(inner, dict) and as_text(inner)):
            return as_text(inner)
        if isinstance(inner, list) and inner and all(isinstance(line, str) for line in inner):
            return as_text("\n".join(inner))
    return ""


def _notes(value: Values, turns: list[object], listed: Sequence[object]) -> dict[str, object]:
    notes: dict[str, object] = {
        name: cut(as_text(value[name])) for name in _NOTES if as_text(value.get(name))
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
    is_graded = any(text_at(entry, shape.grade) for entry in listed)
    are_scores = any(isinstance(at(entry, "relevance"), float) for entry in listed)
    for number, entry in enumerate(listed):
        item, score, grade = item_in(shape, entry)
        grade = None if are_scores and not is_graded else grade
        if score is not None and isnan(score):
            file.counts["results_scores_unusable"] += 1
            score = None
        if not (item and item.doc_id) and (printed := _printed_in(entry)):
            file.refuse("results_printed", line=line, text=printed[:60])
        if item and not item.doc_id and has_several_ids(entry):
            file.counts["results_ids_several"] += 1
        if item is None:
            place = {"place": f"[{number}]", "found": kind_of(entry)}
            file.error("results_item_unreadable", line, **place)
        yield replace(common, item=item, rank=ranks[number], score=score, grade=grade)


def _printed_in(entry: object) -> str:
    """The printed object that an entry is, has beside its score or under its name; "" for none."""
    parts = entry if isinstance(entry, list) else [entry]
    if isinstance(entry, dict):
        parts = [entry.get(name) for name in WRAPPERS]
    return next((part for part in parts if isinstance(part, str) and PRINTED.match(part)), "")


def _ranks(file: File, line: int, listed: list[object], shape: Shape) -> list[int] | None:
    """The rank of each entry: stated by all, else its place; ``None`` where these disagree."""
    places = list(range(1, len(listed) + 1))
    values = {text_at(entry, shape.rank) for entry in listed} if shape.rank else {""}
    is_stated = values != {""} if len(listed) == 1 else len(values) > 1
    if not is_stated:
        file.counts["results_ranks_equal"] += len(places) > 1 and "" not in values
        return places
    ranks = [as_rank(text_at(entry, shape.rank)) for entry in listed]
    if None not in ranks:
        return ranks  # type: ignore[return-value]
    file.counts["results_ranks_unusable"] += not any(ranks)
    shift = -1 if 0 in ranks else 0
    if all(rank in (None, place + shift) for rank, place in zip(ranks, places)):  # noqa: B905
        return places
    file.error("results_ranks_partly", line, place=f"[{ranks.index(None)}]")
    return None
