"""A list of verdicts that has the counts of a rated row."""

from __future__ import annotations

from webapp.i18n import mark
from webapp.importers.rated_cells import Fault, RatedCells
from webapp.records import Relevance

TOP = 5

MESSAGES = {
    "csv_top_unknown": mark(
        "%(file)s, line %(line)s: precision_at_5 is blank and the other columns leave it open, "
        "so the line is left out. Fill it in."
    ),
    "csv_impossible_list": mark(
        "%(file)s, line %(line)s: no list of %(results)s results has %(relevant)s relevant ones, "
        "the first at rank %(rank)s and %(top)s in the first 5, so the line is left out. Check "
        "relevant_count, first_relevant_rank and precision_at_5."
    ),
}


def verdicts(cells: RatedCells) -> tuple[Relevance | None, ...] | Fault:
    """Verdicts by rank with the counts of `cells`, or why there are none.

    Without a relevant_count nothing is judged but what the notes name as "cannot tell".
    Otherwise relevant results stand as early as the counts allow.
    """
    if cells.relevant_count is None:
        return _list(cells, (), rest=None)
    top = _relevant_in_top(cells)
    if top is None:
        return Fault("csv_top_unknown")
    places = _places(cells, top)
    if places is None:
        return Fault("csv_impossible_list", _counts(cells, top))
    return _list(cells, places, rest=Relevance.NOT_RELEVANT)


def _relevant_in_top(cells: RatedCells) -> int | None:
    """Number of relevant results in the first five; ``None`` when `cells` leave it open."""
    results, relevant = cells.results_count or 0, cells.relevant_count or 0
    if results <= TOP:
        return relevant
    if cells.relevant_in_top5 is not None:
        return cells.relevant_in_top5
    given = cells.figures.get("precision_at_5")
    if given:
        decided = TOP - sum(rank <= TOP for rank in cells.notes.unsure_ranks)
        return int(given.value * decided + 0.5)
    possible = [top for top in range(TOP + 1) if _places(cells, top) is not None]
    return possible[0] if len(possible) == 1 else None


def _places(cells: RatedCells, top: int) -> tuple[int, ...] | None:
    """Ranks for the relevant results, `top` of them in the first five; ``None``: impossible."""
    results, relevant = cells.results_count or 0, cells.relevant_count or 0
    first = cells.first_relevant_rank
    free = [rank for rank in range(first or 1, results + 1) if rank not in cells.notes.unsure_ranks]
    early = [rank for rank in free if rank <= TOP][:top]
    late = [rank for rank in free if rank > TOP][: max(relevant - top, 0)]
    places = (*early, *late)
    fits = (
        len(early) == top and len(places) == relevant and places[:1] == ((first,) if first else ())
    )
    return places if fits else None


def _list(
    cells: RatedCells, relevant: tuple[int, ...], *, rest: Relevance | None
) -> tuple[Relevance | None, ...]:
    """The verdicts by rank: relevant, cannot tell, and `rest` for all others."""
    verdicts = [rest] * (cells.results_count or 0)
    for rank in relevant:
        verdicts[rank - 1] = Relevance.RELEVANT
    for rank in cells.notes.unsure_ranks:
        verdicts[rank - 1] = Relevance.UNSURE
    return tuple(verdicts)


def _counts(cells: RatedCells, top: int) -> dict[str, str | int]:
    return {
        "results": cells.results_count or 0,
        "relevant": cells.relevant_count or 0,
        "rank": cells.first_relevant_rank or "-",
        "top": top,
    }
