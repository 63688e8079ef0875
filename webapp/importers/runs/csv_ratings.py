"""Rated CSVs, this product's and the original evaluation page's, as a report.

A row holds counts and no list of verdicts. A figure has a value where every list with these
counts has the same one; else its bounds are the lowest and the highest of them, and the line
is reported. Blank figures, and columns that are not there, are computed from the counts.

The original page has a thirteenth column, ``relevant_in_top5``, and wrote 0 into the rows
that nobody had rated. Such a row reads like one in which nothing is relevant: it is taken
as rated, and when nothing else in it speaks of a rating, a warning says so. A query that
was rated in part comes back as not rated at all, but for its "cannot tell" results: its row
has no counts. Its bounds are then wider than they were.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field

from webapp.i18n import mark
from webapp.importers.runs.prices import said
from webapp.metrics.judging.figures import (
    TOP,
    ListCounts,
    Placing,
    QueryRow,
    RunReport,
    placings,
    summarise_counts,
)
from webapp.metrics.judging.queries import QueryJudgments, QuerySummary, Span, summarise
from webapp.records import CannotTell, EmptyOutcome, Problem, QueryState, Relevance, Severity

MOST_RESULTS = 10_000
"""More results than any answer has; a row that claims more is refused, not built."""

CELL_MESSAGES = {
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
    return faults or _rated_row(cells, numbers)


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


def _rated_row(cells: Mapping[str, str], numbers: Mapping[str, WrittenNumber]) -> RatedCells:
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


COUNT_MESSAGES = {
    "csv_top_open": mark(
        "%(file)s, line %(line)s: precision_at_5 is blank and the counts leave it open between "
        "%(lowest)s and %(highest)s, so this question has none. Fill it in to have it counted."
    ),
    "csv_rank_open": mark(
        "%(file)s, line %(line)s: first_relevant_rank is blank and the counts leave mrr open "
        "between %(lowest)s and %(highest)s, so this question has none. Fill it in to have it "
        "counted."
    ),
    "csv_impossible_list": mark(
        "%(file)s, line %(line)s: no list of %(results)s results has %(relevant)s relevant ones, "
        "the first at rank %(rank)s and %(top)s in the first 5, so the line is left out. Check "
        "relevant_count, first_relevant_rank and precision_at_5."
    ),
}


def counted_summary(cells: RatedCells) -> QuerySummary | CellFault:
    """The summary of a row with a relevant_count, or why no list of results has its counts."""
    counts = ListCounts(
        results=cells.results_count or 0,
        relevant=cells.relevant_count or 0,
        unsure_ranks=cells.notes.unsure_ranks,
        first_relevant_rank=cells.first_relevant_rank,
        relevant_in_top=_relevant_in_top(cells),
    )
    possible = placings(counts)
    if not possible:
        return CellFault("csv_impossible_list", _told(counts))
    return summarise_counts(
        counts,
        _of_mrr(cells, possible),
        cells.response_quality,
        cannot_tell=cells.notes.cannot_tell or "not_relevant",
    )


def left_open(summary: QuerySummary) -> Iterator[CellFault]:
    """The figures of a counted row that more than one value is possible for."""
    for code, span in (
        ("csv_top_open", summary.precision_at_5),
        ("csv_rank_open", summary.reciprocal_rank),
    ):
        if span.value is None and span.lower is not None:
            details = {"lowest": f"{span.lower:.4g}", "highest": f"{span.upper:.4g}"}
            yield CellFault(code, details, Severity.WARNING)


def agrees(given: WrittenNumber, span: Span) -> bool:
    """Whether a written figure is that of `span`, or one of those that are left open."""
    if span.lower is None or span.upper is None:
        return False
    margin = given.margin
    return span.lower - margin <= given.value <= span.upper + margin


def _relevant_in_top(cells: RatedCells) -> int | None:
    if (cells.results_count or 0) <= TOP:
        return None  # all of them; another number is reported as a contradiction
    if cells.relevant_in_top5 is not None:
        return cells.relevant_in_top5
    given = cells.figures.get("precision_at_5")
    if given is None:
        return None
    left_out = cells.notes.unsure_ranks if cells.notes.cannot_tell == "left_out" else ()
    return int(given.value * (TOP - sum(rank <= TOP for rank in left_out)) + 0.5)


def _of_mrr(cells: RatedCells, possible: Sequence[Placing]) -> Sequence[Placing]:
    given = cells.figures.get("mrr")
    if given is None:
        return possible
    named = [way for way in possible if way.first and agrees(given, Span.settled(1 / way.first))]
    return named or possible


def _told(counts: ListCounts) -> dict[str, str | int]:
    first, top = counts.first_relevant_rank, counts.relevant_in_top
    return {
        "results": counts.results,
        "relevant": counts.relevant,
        "rank": first or "-",
        "top": min(counts.relevant, TOP) if top is None else top,
    }


DELIMITERS = (",", ";", "\t")
LONGEST_HEADER = 64 * 1024
"""Characters; a longer first line is not a header, and slow to split."""

TABLE_MESSAGES = {
    "csv_not_utf8": mark(
        "%(file)s, line %(line)s: this is not UTF-8 text. Save the file as “CSV UTF-8” in the "
        "spreadsheet and try again."
    ),
    "csv_columns_missing": mark(
        "%(file)s is no rated CSV: its first line lacks the columns %(columns)s. Choose the "
        "exported CSV, with its first line."
    ),
    "csv_broken_record": mark(
        "%(file)s, line %(line)s cannot be read (%(reason)s) and is left out. Close the "
        "quotation mark that is open there."
    ),
    "csv_cell_count": mark(
        "%(file)s, line %(line)s has %(cells)s cells instead of %(columns)s and is left out. "
        "Put a text that holds a comma, a semicolon or a line break in quotation marks."
    ),
}

# The same characters as in `exporters.frame.csv_cells`, which put the apostrophe there.
_NEUTRALISED = re.compile("'(?='*[=+\\-@\\t\\r\\n\uff1d\uff0b\uff0d\uff20])")


# The same for a part of a cell that another separator would split off, by the file's own one.
_SPLIT_OFF = {
    own: re.compile(
        f"(?<=[{other}\\n])'(?=[\"']*[=+\\-@\\t\uff1d\uff0b\uff0d\uff20])"
        "|(?<=\\t)'(?=[\"']*[=+\\-@\uff1d\uff0b\uff0d\uff20])"
    )
    for own, other in ((",", ";"), (";", ","))
}


class Record(Struct, frozen=True):
    """One record: the 1-based line it begins in, and its cells by column name."""

    line: int
    cells: Mapping[str, str]


class CsvTable(Struct, frozen=True):
    """The records of a file that can be read, and what is wrong with the rest."""

    columns: tuple[str, ...]
    records: tuple[Record, ...]
    problems: tuple[Problem, ...]


def read_table(name: str, data: bytes, *, required: Iterable[str]) -> CsvTable:
    """The records of the CSV file `name`, whatever its delimiter, with or without a BOM.

    Column names are taken from the first line, in lower case. Without one of the `required`
    columns, or when the bytes are not UTF-8, there is a problem and no record. Blank lines
    are passed over; a line that cannot be read is reported and the reading goes on.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return CsvTable((), (), (Problem(Severity.ERROR, "csv_not_utf8", name, line=line),))
    lines = list(io.StringIO(text, newline=""))
    if lines and len(lines[0]) > LONGEST_HEADER:
        lines = []
    delimiter = max(DELIMITERS, key=lambda d: _known_columns(lines, d, required))
    found = list(_raw_records(lines, delimiter))
    columns = _columns(found)
    missing = [column for column in required if column not in columns]
    if missing:
        details = {"columns": ", ".join(missing)}
        problem = Problem(Severity.ERROR, "csv_columns_missing", name, line=1, details=details)
        return CsvTable(columns, (), (problem,))
    return _table(name, columns, found[1:], delimiter)


def original_text(cell: str, delimiter: str = ",") -> str:
    """`cell` without the apostrophes that keep a spreadsheet from running it or parts of it."""
    split_off = _SPLIT_OFF.get(delimiter)
    text = split_off.sub("", cell) if split_off else cell
    return text[1:] if _NEUTRALISED.match(text) else text


def _known_columns(lines: list[str], delimiter: str, names: Iterable[str]) -> int:
    return len(set(names) & set(_columns(list(_raw_records(lines[:1], delimiter)))))


def _columns(found: list[tuple[int, list[str] | csv.Error]]) -> tuple[str, ...]:
    if not found or isinstance(found[0][1], csv.Error):
        return ()
    return tuple(cell.strip().lower() for cell in found[0][1])


def _raw_records(lines: list[str], delimiter: str) -> Iterator[tuple[int, list[str] | csv.Error]]:
    start = 0
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while start < len(lines):
        before = reader.line_num
        try:
            cells = next(reader)
        except csv.Error as error:  # one open quotation mark must not take all that follows
            yield start + 1, error
            start += 1
            reader = csv.reader(_from(lines, start), delimiter=delimiter, strict=True)
            continue
        if any(cell.strip() for cell in cells):
            yield start + 1, cells
        start += reader.line_num - before


def _from(lines: list[str], start: int) -> Iterator[str]:
    return (lines[i] for i in range(start, len(lines)))


def _table(
    name: str,
    columns: tuple[str, ...],
    found: list[tuple[int, list[str] | csv.Error]],
    delimiter: str,
) -> CsvTable:
    records, problems = [], []
    for line, cells in found:
        if isinstance(cells, csv.Error):
            problems.append(_table_problem(name, line, "csv_broken_record", reason=str(cells)))
        elif len(cells) != len(columns):
            counts = {"cells": len(cells), "columns": len(columns)}
            problems.append(_table_problem(name, line, "csv_cell_count", **counts))
        else:
            texts = [original_text(cell, delimiter) for cell in cells]
            records.append(Record(line, dict(zip(columns, texts, strict=True))))
    return CsvTable(columns, tuple(records), tuple(problems))


def _table_problem(name: str, line: int, code: str, **details: str | int) -> Problem:
    return Problem(Severity.ERROR, code, name, line=line, details=details)


RULE = "rated file"
"""The rule of a report whose file does not say who rated."""

REQUIRED = ("query_id", "results_count", "relevant_count")

MESSAGES = {
    **TABLE_MESSAGES,
    **CELL_MESSAGES,
    **COUNT_MESSAGES,
    "csv_query_repeated": mark(
        "%(file)s, line %(line)s: question number %(query)s is in an earlier line too. "
        "That line counts and this one is left out. Keep one of them."
    ),
    "csv_above_results": mark(
        "%(file)s, line %(line)s: %(column)s is %(value)s, above results_count (%(results)s), so "
        "the line is left out. Correct either."
    ),
    "csv_rank_without_relevant": mark(
        "%(file)s, line %(line)s: first_relevant_rank is %(rank)s but relevant_count is 0, so "
        "the line is left out. Correct either."
    ),
    "csv_contradiction": mark(
        "%(file)s, line %(line)s: %(column)s is %(given)s, but the other columns make it "
        "%(computed)s, which is used. Check the line."
    ),
    "csv_outcome_contradiction": mark(
        "%(file)s, line %(line)s: success is %(success)s, but the notes say “%(notes)s”; success "
        "is used. Correct either."
    ),
    "csv_figures_without_count": mark(
        "%(file)s, line %(line)s: relevant_count is blank, so the question counts as not rated, "
        "although %(columns)s is filled in. Fill in relevant_count if it was rated."
    ),
    "csv_cannot_tell_differs": mark(
        '%(file)s counts "cannot tell" in another way than %(other)s: in one it is not relevant, '
        "in the other left out, so their precisions cannot be compared. Export both from studies "
        "with the same setting."
    ),
    "csv_perhaps_unrated": mark(
        "%(file)s, line %(line)s: counted as rated, with nothing relevant. The original page "
        "writes the same for a question that nobody has rated; if it is one, leave "
        "relevant_count to success blank."
    ),
}
"""The problems of a rated CSV by code, as message ids."""


class RatedFile(Struct, frozen=True):
    """A rated CSV as read: the good rows in file order, and the problems by line."""

    report: RunReport
    problems: tuple[Problem, ...]


def recognises(data: bytes) -> bool:
    """Whether the first line of a file is that of a rated CSV."""
    first, _, _ = data[:LONGEST_HEADER].partition(b"\n")
    return not read_table("", first, required=REQUIRED).problems


def read(name: str, data: bytes, *, rule: str = RULE) -> RatedFile:
    """The report of the rated CSV `name`, which also becomes the name of the run.

    Commas or semicolons, a byte order mark or none, decimal point or comma, blanks or
    ``N/A``; columns go by their names. A row with an error is left out, one with a warning
    kept. Where a given figure contradicts the counts, the recomputed one is used.
    """
    table = read_table(name, data, required=REQUIRED)
    rows: dict[int, QueryRow] = {}
    problems = list(table.problems)
    for record in table.records:
        row, faults = _row(record)
        if row and rows.setdefault(row.query_id, row) is not row:
            faults = [CellFault("csv_query_repeated", {"query": row.query_id})]
        problems += [_problem(name, record, fault) for fault in faults]
    problems.sort(key=lambda problem: problem.line or 0)
    notes = (parsed_notes(one.cells.get("notes", "")) for one in table.records)
    ways = {one.cannot_tell for one in notes} - {None}
    cannot_tell = ways.pop() if len(ways) == 1 else None
    report = RunReport(name, rule, tuple(rows.values()), cannot_tell=cannot_tell)
    return RatedFile(report, tuple(problems))


def _problem(name: str, record: Record, fault: CellFault) -> Problem:
    number = record.cells["query_id"].strip()
    query_id = int(number) if number.isdecimal() and len(number) < 10 else None
    return Problem(fault.severity, fault.code, name, query_id, record.line, fault.details)


def _row(record: Record) -> tuple[QueryRow | None, list[CellFault]]:
    cells = typed_cells(record.cells)
    if isinstance(cells, list):
        return None, cells
    state = _state(cells)
    faults = list(_faults(cells, state))
    if faults:
        return None, faults
    summary = _summary(cells, state)
    if isinstance(summary, CellFault):
        return None, [summary]
    row = QueryRow(
        query_id=cells.query_id,
        question=cells.question,
        category=cells.category,
        notes=_words(cells, state),
        summary=summary,
        verdicts=_known(cells, state) if summary.unsure_count else (),
    )
    return row, list(_warnings(cells, summary))


def _summary(cells: RatedCells, state: QueryState) -> QuerySummary | CellFault:
    if state is QueryState.RESULTS and cells.relevant_count is not None:
        return counted_summary(cells)
    outcome = _outcome(cells) if state is QueryState.EMPTY else None
    known = QueryJudgments(state, _known(cells, state), outcome, cells.response_quality)
    return summarise(known, cannot_tell=cells.notes.cannot_tell or "not_relevant")


def _known(cells: RatedCells, state: QueryState) -> tuple[Relevance | None, ...]:
    count = (cells.results_count or 0) if state is QueryState.RESULTS else 0
    unsure = cells.notes.unsure_ranks
    return tuple(Relevance.UNSURE if rank in unsure else None for rank in range(1, count + 1))


def _state(cells: RatedCells) -> QueryState:
    named = cells.notes.state
    if named is QueryState.UNREADABLE and cells.relevant_count is None and cells.success is None:
        return QueryState.UNREADABLE
    if named is QueryState.FAILED and not cells.results_count and "mrr" not in cells.figures:
        return QueryState.FAILED
    return QueryState.RESULTS if cells.results_count else QueryState.EMPTY


def _words(cells: RatedCells, state: QueryState) -> str:
    marked = state is cells.notes.state or (
        state is QueryState.RESULTS and cells.notes.unsure_ranks
    )
    words = cells.notes.words if marked else cells.notes.whole
    return words if said(words) else ""


def _outcome(cells: RatedCells) -> EmptyOutcome | None:
    if cells.success is None:
        return cells.notes.outcome
    return EmptyOutcome.CORRECT_EMPTY if cells.success else EmptyOutcome.FALSE_NEGATIVE


def _faults(cells: RatedCells, state: QueryState) -> Iterator[CellFault]:
    if state not in {QueryState.RESULTS, QueryState.EMPTY}:
        return
    results, relevant = cells.results_count, cells.relevant_count
    if results is None:
        yield CellFault("csv_value_missing", {"column": "results_count"})
        return
    ranks = max(cells.notes.unsure_ranks, default=0) if results else 0
    for column, value in (
        ("relevant_count", relevant),
        ("relevant_in_top5", cells.relevant_in_top5),
        ("first_relevant_rank", cells.first_relevant_rank),
        ("notes (cannot tell: rank)", ranks),
    ):
        if value is not None and value > results:
            yield CellFault(
                "csv_above_results", {"column": column, "value": value, "results": results}
            )
    if relevant == 0 and cells.first_relevant_rank:
        yield CellFault("csv_rank_without_relevant", {"rank": cells.first_relevant_rank})


def _warnings(cells: RatedCells, summary: QuerySummary) -> Iterator[CellFault]:
    if summary.state is QueryState.RESULTS and not summary.complete:
        others = {"first_relevant_rank": cells.first_relevant_rank, "success": cells.success}
        filled = [*cells.figures, *(name for name, value in others.items() if value is not None)]
        if filled:
            details = {"columns": ", ".join(filled)}
            yield CellFault("csv_figures_without_count", details, Severity.WARNING)
    elif summary.complete:
        yield from left_open(summary)
        yield from _contradictions(cells, summary)
    if summary.empty_outcome and cells.notes.outcome not in {None, summary.empty_outcome}:
        said = {"success": str(cells.success), "notes": cells.notes.whole[:80]}
        yield CellFault("csv_outcome_contradiction", said, Severity.WARNING)
    if _perhaps_unrated(cells, summary):
        yield CellFault("csv_perhaps_unrated", severity=Severity.WARNING)


def _contradictions(cells: RatedCells, summary: QuerySummary) -> Iterator[CellFault]:
    computed = {
        "overall_precision": summary.overall_precision,
        "precision_at_5": summary.precision_at_5,
        "mrr": summary.reciprocal_rank,
    }
    for column, given in cells.figures.items():
        undefined = summary.state is not QueryState.RESULTS and given.value == 0
        if not undefined and not agrees(given, computed[column]):
            yield _contradiction(column, f"{given.value:g}", computed[column])
    if cells.success is not None and cells.success != summary.success.value:
        yield _contradiction("success", str(cells.success), summary.success)
    top = cells.relevant_in_top5
    if top is not None and summary.results_count <= TOP and top != summary.relevant_count:
        yield _contradiction("relevant_in_top5", str(top), Span.settled(summary.relevant_count))


def _contradiction(column: str, given: str, computed: Span) -> CellFault:
    bounds = sorted({f"{end:.4g}" for end in (computed.lower, computed.upper) if end is not None})
    expected = " - ".join(bounds) or "-"
    details = {"column": column, "given": given, "computed": expected}
    return CellFault("csv_contradiction", details, Severity.WARNING)


def _perhaps_unrated(cells: RatedCells, summary: QuerySummary) -> bool:
    negative = summary.complete and summary.success.value == 0 and not summary.relevant_count
    silent = not cells.response_quality and not said(cells.notes.whole)
    return cells.original and negative and silent
