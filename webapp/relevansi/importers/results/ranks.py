"""The order of a list: the ranks that its file states, else its scores, else its lines."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import isnan, nan
from typing import NamedTuple, NoReturn

from msgspec import Struct, field

from relevansi.importers.results.files import File
from relevansi.importers.results.rows import Row, as_rank
from relevansi.kinds.document import Document
from relevansi.records import LARGEST_INTEGER, QueryState


def id_of(item: Document | str | None) -> str:
    """The collection's id of an item, "" for none."""
    return item if isinstance(item, str) else (item and item.doc_id) or ""


class Entry(NamedTuple):
    rank: int  # -1 for none
    score: float  # nan for none
    item: Document | str | None  # none for one that cannot be read
    line: int

    @property
    def doc_id(self) -> str:
        return id_of(self.item)


class RankedList(Struct):
    """One list on its way: compact while it grows, since there may be millions of entries."""

    answer: str = ""
    extra: dict[str, object] = field(default_factory=dict)
    state: QueryState = QueryState.EMPTY
    error: str = ""
    ranks: array[int] = field(default_factory=lambda: array("q"))
    scores: array[float] = field(default_factory=lambda: array("d"))
    lines: array[int] = field(default_factory=lambda: array("q"))
    items: list[Document | str | None] = field(default_factory=list)
    blank: Row | None = None  # the only one so far, which names no result
    raters: dict[object, str] = field(default_factory=dict)  # the first of each result
    top: list[Entry] = field(default_factory=list)
    deeper: list[Document | str] = field(default_factory=list)  # below the top

    def is_of_another_rater(self, row: Row) -> bool:
        """Whether a row is a second grade of a result that another rater's row has listed."""
        item = (row.item.doc_id, row.item.text) if isinstance(row.item, Document) else row.item
        return self.raters.setdefault((item, row.rank), row.rater) != row.rater

    def add(self, row: Row, item: Document | str | None) -> None:
        self.ranks.append(-1 if row.rank is None else min(row.rank, LARGEST_INTEGER))
        self.scores.append(nan if row.score is None else row.score)
        self.lines.append(row.line)
        self.items.append(item)


def stated_rank(file: File, line: int, place: str, text: str) -> int:
    """The rank that a text at a place states; refuses the file where it is none."""
    rank = as_rank(text)
    return refuse_number(file, line, place, text) if rank is None else rank


def refuse_number(file: File, line: int, place: str, text: str) -> NoReturn:
    file.refuse("results_number_wrong", line=line, place=place, value=text[:40])


def rank_base(file: File, lists: Sequence[RankedList]) -> int | None:
    """The rank from which a file counts, 0 or 1; ``None`` where its ranks tell no order.

    These are not stated, or the same throughout each list of several. Raises an `ImportRefused`
    where some lists begin at 0 and others do not.
    """
    all_ranks = [set(answered.ranks) for answered in lists if answered.ranks]
    several = [set(answered.ranks) for answered in lists if len(answered.ranks) > 1]
    if all(ranks == {-1} for ranks in all_ranks) or (
        several and all(len(ranks) == 1 for ranks in several)
    ):
        return None
    if not any(0 in ranks for ranks in all_ranks):
        return 1
    ordered = [ranks for ranks in several if len(ranks) > 1]
    if all(0 in ranks for ranks in all_ranks) and all(1 in ranks for ranks in ordered):
        return 0
    return refuse_zero(file, lists)


def refuse_zero(file: File, lists: Iterable[RankedList]) -> NoReturn:
    """Refuse a file for the first of these lists that counts its ranks from 0."""
    answered = next(ranked_list for ranked_list in lists if 0 in ranked_list.ranks)
    file.refuse("results_rank_0", line=answered.lines[answered.ranks.index(0)])


def in_order(file: File, entries: list[Entry], base: int | None) -> list[Entry]:
    """The entries in order, each with its rank from 1; raises an `ImportRefused`.

    Stated ranks stay, and a rank that nothing has is a hole. Without ranks the scores order, and
    equal ones fall by their ids, as in trec_eval; without both, the file does.
    """
    ranks = [entry.rank for entry in entries]
    scores = [entry.score for entry in entries]
    is_scored = not any(map(isnan, scores))
    if base is not None and -1 in ranks:
        file.refuse("results_rank_missing", line=entries[ranks.index(-1)].line)
    if base is None:
        file.counts["results_ranks_equal"] += -1 not in ranks
        if not is_scored and not all(map(isnan, scores)):
            line = next(entry.line for entry in entries if isnan(entry.score))
            file.refuse("results_score_missing", line=line)
        if is_scored:
            is_rising = all(above < below for above, below in pairwise(scores))
            file.counts["results_scores_rising"] += is_rising and len(scores) > 1
            entries.sort(key=lambda entry: entry.doc_id, reverse=True)
            entries.sort(key=lambda entry: -entry.score)
            ties = any(above.score == two.score for above, two in pairwise(entries))
            file.counts["results_ties"] += ties
        elif -1 in ranks:
            file.counts["results_order_assumed"] += len(entries) > 1
        return [entry._replace(rank=place) for place, entry in enumerate(entries, 1)]
    counts = Counter(ranks)
    if len(counts) < len(ranks):
        lines = [entry.line for entry in entries if counts[entry.rank] > 1]
        rank = next(rank for rank in ranks if counts[rank] > 1)
        file.refuse("results_rank_twice", line=lines[-1], rank=rank, first=lines[0])
    entries.sort(key=lambda entry: entry.rank)
    shift = 1 - base
    file.counts["results_ranks_from_0"] += shift
    if is_scored:
        steps = [after.score - before.score for before, after in pairwise(entries)]
        file.counts["results_rank_against_score"] += any(step > 0 for step in steps)
        falling = (above.doc_id >= two.doc_id for above, two in pairwise(entries))
        tied = zip(steps, falling, strict=True)
        file.counts["results_ties_ranked"] += any(not (step or falls) for step, falls in tied)
    return [entry._replace(rank=entry.rank + shift) for entry in entries] if shift else entries
