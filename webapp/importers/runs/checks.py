"""Checks of a run file before it is stored: warnings about its claims that are wrong."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from webapp.importers.runs.problems import warning
from webapp.importers.runs.property_identity import identity
from webapp.importers.runs.property_particulars import LONGEST_TEXT, longest_description
from webapp.records import Card, Problem, QueryState, ReadQuery

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
    """The missing numbers: those of 1 to `total`, else between the numbers there are."""
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
