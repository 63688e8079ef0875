"""One record of a rated CSV as typed cells, or what is wrong with them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from webapp.i18n import mark
from webapp.importers.runs.prices import said
from webapp.records import CannotTell, EmptyOutcome, QueryState, Severity

MOST_RESULTS = 10_000
"""More results than any answer has; a row that claims more is refused, not built."""

MESSAGES = {
    "csv_value_missing": mark(
        "%(file)s, line %(line)s: %(column)s is blank, so the line is left out. Fill it in."
    ),
    "csv_not_a_number": mark(
        "%(file)s, line %(line)s: %(column)s is “%(value)s”, which is no number, so the line is "
        "left out. Write a number or leave it blank."
    ),
    "csv_not_whole": mark(
        "%(file)s, line %(line)s: %(column)s is %(value)s, so the line is left out. Write a "
        "whole number."
    ),
    "csv_out_of_range": mark(
        "%(file)s, line %(line)s: %(column)s is %(value)s, so the line is left out. It must lie "
        "between %(lowest)s and %(highest)s."
    ),
}

_LIMITS = {
    "query_id": (0, 10**9),
    "results_count": (0, MOST_RESULTS),
    "relevant_count": (0, MOST_RESULTS),
    "relevant_in_top5": (0, 5),
    "first_relevant_rank": (0, MOST_RESULTS),
    "overall_precision": (0, 1),
    "precision_at_5": (0, 1),
    "mrr": (0, 1),
    "success": (0, 1),
    "response_quality": (0, 5),
}
_FRACTIONS = {"overall_precision", "precision_at_5", "mrr", "response_quality"}
_NUMBER = re.compile(r"[+-]?[0-9]{1,12}(?:[.,]([0-9]{1,20}))?")

# What the exporter puts before the rater's own words; see `exporters.exports.rated_rows`.
_STATES = {"call failed": QueryState.FAILED, "unreadable answer": QueryState.UNREADABLE}
_RANK = "[1-9][0-9]{0,4}"
_MARK = re.compile(
    r"(?:(call failed|unreadable answer)|cannot tell( \(not relevant\))?: rank "
    rf"({_RANK}(?:, ?{_RANK})*))(?:; )?",
    re.IGNORECASE,
)
_OUTCOMES = {
    EmptyOutcome.CORRECT_EMPTY: re.compile(
        r"\bno data exists?\b|\bmemang tidak ada data", re.IGNORECASE
    ),
    EmptyOutcome.FALSE_NEGATIVE: re.compile(
        r"\bshould have (?:had )?results?\b|\bseharusnya ada\b", re.IGNORECASE
    ),
}
_OWN_WORDS = re.compile(
    r"own words: (?=(?:own words: )*"
    r"(?:call failed|unreadable answer|cannot tell(?: \(not relevant\))?: rank ))",
    re.IGNORECASE,
)


class CellFault(Struct, frozen=True):
    """A fault in a row whose file and line are not known yet."""

    code: str
    details: Mapping[str, str | int] = field(default_factory=dict)
    severity: Severity = Severity.ERROR


class WrittenNumber(Struct, frozen=True):
    """A number with the decimals it was written with."""

    value: float
    decimals: int

    @property
    def margin(self) -> float:
        """How far the number may lie from the one it was rounded from, to 2 to 4 decimals."""
        return 0.500001 * 10.0 ** -min(max(self.decimals, 2), 4)


class Notes(Struct, frozen=True):
    """The notes taken apart: a state they name or the ranks that cannot be told, the rest.

    ``cannot_tell`` is what these are in the row's figures; ``None`` where there are none.
    ``whole`` is all of it, for rows whose numbers show that the beginning is not a mark.
    """

    whole: str
    words: str
    state: QueryState | None = None
    unsure_ranks: frozenset[int] = frozenset()
    cannot_tell: CannotTell | None = None

    @property
    def outcome(self) -> EmptyOutcome | None:
        """The outcome of an empty list that the notes name; ``None`` for none or for both."""
        named = [outcome for outcome, words in _OUTCOMES.items() if words.search(self.whole)]
        return named[0] if len(named) == 1 else None


class RatedCells(Struct, frozen=True):
    """The cells of one row; ``None`` where blank, within their ranges one by one.

    Contradictions between them are not checked. ``figures`` holds the precisions and mrr
    under their column names. ``original`` when the original page's thirteenth column is
    there. A first relevant rank of 0 is how that page wrote that there is none.
    """

    query_id: int
    question: str
    category: str
    results_count: int | None
    relevant_count: int | None
    relevant_in_top5: int | None
    first_relevant_rank: int | None
    figures: Mapping[str, WrittenNumber]
    success: int | None
    response_quality: float | None
    notes: Notes
    original: bool


def typed_cells(cells: Mapping[str, str]) -> RatedCells | list[CellFault]:
    """The cells of one record by column name, typed, or all that is wrong with them."""
    read = {column: _number(column, cells.get(column, "")) for column in _LIMITS}
    faults = [value for value in read.values() if isinstance(value, CellFault)]
    numbers = {column: value for column, value in read.items() if isinstance(value, WrittenNumber)}
    if "query_id" not in numbers:
        faults = faults or [CellFault("csv_value_missing", {"column": "query_id"})]
    return faults or _row(cells, numbers)


def parsed_notes(text: str) -> Notes:
    """`text` with the marks at its beginning read and taken off.

    >>> parsed_notes("cannot tell: rank 2; mahal").words
    'mahal'
    """
    whole = _OWN_WORDS.sub("", text, count=1) if _OWN_WORDS.match(text) else text
    found = _MARK.match(text)
    if not found:
        return Notes(whole, whole)
    rest = text[found.end() :]
    words = _OWN_WORDS.sub("", rest, count=1) if _OWN_WORDS.match(rest) else rest
    state = _STATES[found[1].lower()] if found[1] else None
    ranks = frozenset(int(rank) for rank in (found[3] or "").split(",") if rank)
    if not ranks:
        return Notes(whole, words, state)
    return Notes(whole, words, state, ranks, "not_relevant" if found[2] else "left_out")


def _number(column: str, text: str) -> WrittenNumber | CellFault | None:
    text = said(text)
    if not text:
        return None
    found = _NUMBER.fullmatch(text)
    details: dict[str, str | int] = {"column": column, "value": text[:40]}
    if not found:
        return CellFault("csv_not_a_number", details)
    value = float(text.replace(",", "."))
    lowest, highest = _LIMITS[column]
    if not lowest <= value <= highest:
        return CellFault("csv_out_of_range", details | {"lowest": lowest, "highest": highest})
    if column not in _FRACTIONS and value != int(value):
        return CellFault("csv_not_whole", details)
    return WrittenNumber(value, len(found[1] or ""))


def _row(cells: Mapping[str, str], numbers: Mapping[str, WrittenNumber]) -> RatedCells:
    quality = numbers.get("response_quality")
    return RatedCells(
        query_id=int(numbers["query_id"].value),
        question=cells.get("question", ""),
        category=said(cells.get("category", "")),
        results_count=_whole(numbers.get("results_count")),
        relevant_count=_whole(numbers.get("relevant_count")),
        relevant_in_top5=_whole(numbers.get("relevant_in_top5")),
        first_relevant_rank=_whole(numbers.get("first_relevant_rank")) or None,
        figures=_picked(numbers, ("overall_precision", "precision_at_5", "mrr")),
        success=_whole(numbers.get("success")),
        response_quality=quality.value if quality else None,
        notes=parsed_notes(cells.get("notes", "")),
        original="relevant_in_top5" in cells,
    )


def _whole(number: WrittenNumber | None) -> int | None:
    return None if number is None else int(number.value)


def _picked(
    numbers: Mapping[str, WrittenNumber], columns: Iterable[str]
) -> dict[str, WrittenNumber]:
    return {column: numbers[column] for column in columns if column in numbers}
