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
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from relevansi.importers.runs.json_documents import Reading
from relevansi.importers.runs.prices import content_of
from relevansi.importers.runs.problems import error
from relevansi.metrics.judging.figures import QueryRow, RunReport
from relevansi.metrics.judging.list_counts import ListCounts, placings, summarise_counts
from relevansi.metrics.judging.queries import TOP, QueryJudgments, QuerySummary, Span, summarise
from relevansi.records import CannotTell, EmptyOutcome, Problem, QueryState, Relevance, Severity

RULE = "rated file"
"""The rule of a report whose file does not say who rated."""

REQUIRED = ("query_id", "results_count", "relevant_count")
MOST_RESULTS = 10_000
"""More results than any answer has; a row that claims more is refused, not built."""

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
_FIGURES = {
    "overall_precision": "mean_overall_precision",
    "precision_at_5": "mean_precision_at_5",
    "mrr": "mrr",
}
"""The columns of figures by verdicts, with their names in a summary."""
_NUMBER = re.compile(r"[+-]?[0-9]{1,12}(?:[.,]([0-9]{1,20}))?")

# What the exporter puts before the rater's own words; see `exporters.exports.csv_ratings`.
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
    r"^own words: (?=(?:own words: )*"
    r"(?:call failed|unreadable answer|cannot tell(?: \(not relevant\))?: rank ))",
    re.IGNORECASE,
)


class RatedFile(Struct, frozen=True):
    """A rated CSV as read: the good rows in file order, and the problems by line."""

    report: RunReport
    problems: tuple[Problem, ...]


def recognises(data: bytes) -> bool:
    """Whether the first line of a file is that of a rated CSV."""
    first, _, _ = data[:LONGEST_HEADER].partition(b"\n")
    columns, _ = read_table(Reading(""), first, required=REQUIRED)
    return set(REQUIRED).issubset(columns)


def read(name: str, data: bytes) -> RatedFile:
    """The report of the rated CSV `name`: bad rows left out, contradicted figures recomputed."""
    reading = Reading(name)
    _, records = read_table(reading, data, required=REQUIRED)
    ids = [record.cells["query_id"] for record in records]
    if ids and all(any(map(str.isalpha, query_id)) for query_id in ids):
        # Collections have ids in words.
        return RatedFile(RunReport(name, RULE, ()), (error("results_of_figures", name),))
    lines = [_Line(name, record) for record in records]
    rows: dict[int, QueryRow] = {}
    for line in lines:
        row = None if line.problems else _row(line)
        if row and rows.setdefault(row.query_id, row) is not row:
            line.problems.clear()
            line.report("csv_query_repeated", query=row.query_id)
    problems = [*reading.problems, *(problem for line in lines for problem in line.problems)]
    problems.sort(key=lambda problem: problem.line or 0)
    ways = {line.notes.cannot_tell for line in lines} - {None}
    cannot_tell = ways.pop() if len(ways) == 1 else None
    report = RunReport(name, RULE, tuple(rows.values()), cannot_tell=cannot_tell)
    return RatedFile(report, tuple(problems))


class _Number(NamedTuple):
    value: float
    margin: float
    """How far the number may lie from the one it was rounded from, to 2 to 4 decimals."""

    def agrees(self, span: Span) -> bool:
        if span.lower is None or span.upper is None:
            return False
        return span.lower - self.margin <= self.value <= span.upper + self.margin


class _Notes(Struct, frozen=True):
    """The notes taken apart; ``full_text`` is for rows whose numbers show no mark before it."""

    full_text: str
    words: str
    state: QueryState | None = None
    unsure_ranks: frozenset[int] = frozenset()
    cannot_tell: CannotTell | None = None

    @classmethod
    def of(cls, text: str) -> _Notes:
        full_text = _OWN_WORDS.sub("", text)
        mark = _MARK.match(text)
        if not mark:
            return cls(full_text, full_text)
        words = _OWN_WORDS.sub("", text[mark.end() :])
        state = _STATES[mark[1].lower()] if mark[1] else None
        ranks = frozenset(int(rank) for rank in (mark[3] or "").split(",") if rank)
        if not ranks:
            return cls(full_text, words, state)
        return cls(full_text, words, state, ranks, "not_relevant" if mark[2] else "left_out")

    @property
    def outcome(self) -> EmptyOutcome | None:
        outcomes = [outcome for outcome, words in _OUTCOMES.items() if words.search(self.full_text)]
        return outcomes[0] if len(outcomes) == 1 else None


class _Line:
    """One record with its numbers, the blank ones left out, and what is wrong with it."""

    def __init__(self, name: str, record: Record) -> None:
        self.name, self.line, self.cells = name, record.line, record.cells
        self.notes = _Notes.of(self.cells.get("notes", ""))
        self.problems: list[Problem] = []
        self.numbers: dict[str, _Number] = {}
        for column in _LIMITS:
            self._read(column)
        if "query_id" not in self.numbers and not self.problems:
            self.report("csv_value_missing", column="query_id")

    def report(self, code: str, severity: Severity = Severity.ERROR, /, **details: Any) -> None:
        place = (self.name, self.count("query_id"), self.line)
        self.problems.append(Problem(severity, code, *place, details=details))

    def count(self, column: str) -> int | None:
        return int(self.numbers[column].value) if column in self.numbers else None

    def _read(self, column: str) -> None:
        text = content_of(self.cells.get(column, ""))
        if not text:
            return
        match = _NUMBER.fullmatch(text)
        value = float(text.replace(",", ".")) if match else -1.0
        lowest, highest = _LIMITS[column]
        is_whole = column not in {*_FIGURES, "response_quality"}
        if match and lowest <= value <= highest and not (is_whole and value % 1):
            decimals = min(max(len(match[1] or ""), 2), 4)
            self.numbers[column] = _Number(value, 0.500001 * 10.0**-decimals)
            return
        expected = "whole_number" if is_whole else "number"
        limits = {"lowest": lowest, "highest": highest}
        self.report("csv_number_wrong", column=column, value=text[:40], expected=expected, **limits)


def _row(line: _Line) -> QueryRow | None:
    state, notes, quality = _state(line), line.notes, line.numbers.get("response_quality")
    results, relevant = line.count("results_count"), line.count("relevant_count")
    rank = line.count("first_relevant_rank") or None  # 0 is how the original page wrote "none"
    if state is QueryState.EMPTY and results is None:
        line.report("csv_value_missing", column="results_count")
        return None
    count = (results or 0) if state is QueryState.RESULTS else 0
    unsure_ranks = notes.unsure_ranks if count else frozenset[int]()
    top = _relevant_in_top(line, count)
    counts = ListCounts(count, relevant or 0, unsure_ranks, rank, top)
    possible = placings(counts)
    highest = max(counts.relevant, line.count("relevant_in_top5") or 0, rank or 0, *unsure_ranks)
    is_list = state in {QueryState.RESULTS, QueryState.EMPTY}
    if is_list and (highest > count or (relevant is not None and not possible)):
        tops = line.count("relevant_in_top5"), top, min(counts.relevant, TOP)
        line.report(
            "csv_impossible_list",
            results=count,
            relevant=counts.relevant,
            rank=rank or "-",
            top=next(number for number in tops if number is not None),
        )
        return None
    verdicts = tuple(
        Relevance.UNSURE if place in unsure_ranks else None for place in range(1, count + 1)
    )
    grade = quality.value if quality else None
    cannot_tell = notes.cannot_tell or "not_relevant"
    if count and relevant is not None:
        mrr = line.numbers.get("mrr")
        agreeing = [
            way for way in possible if mrr and way.first and mrr.agrees(Span.settled(1 / way.first))
        ]
        summary = summarise_counts(counts, agreeing or possible, grade, cannot_tell=cannot_tell)
    else:
        success, outcome = line.count("success"), notes.outcome
        if success is not None:
            outcome = EmptyOutcome.CORRECT_EMPTY if success else EmptyOutcome.FALSE_NEGATIVE
        outcome = outcome if state is QueryState.EMPTY else None
        judgments = QueryJudgments(state, verdicts, outcome, grade)
        summary = summarise(judgments, cannot_tell=cannot_tell)
    _warn(line, summary)
    is_marked = state is notes.state or (state is QueryState.RESULTS and notes.unsure_ranks)
    words = notes.words if is_marked else notes.full_text
    return QueryRow(
        query_id=int(line.numbers["query_id"].value),
        question=line.cells.get("question", ""),
        category=content_of(line.cells.get("category", "")),
        notes=words if content_of(words) else "",
        summary=summary,
        verdicts=verdicts if summary.unsure_count else (),
    )


def _state(line: _Line) -> QueryState:
    # The notes decide it unless the numbers contradict them.
    noted, numbers = line.notes.state, line.numbers
    if noted is QueryState.UNREADABLE and not {"relevant_count", "success"} & numbers.keys():
        return QueryState.UNREADABLE
    if noted is QueryState.FAILED and not line.count("results_count") and "mrr" not in numbers:
        return QueryState.FAILED
    return QueryState.RESULTS if line.count("results_count") else QueryState.EMPTY


def _relevant_in_top(line: _Line, results: int) -> int | None:
    if results <= TOP:
        return None  # all of them; another number is reported as a contradiction
    precision = line.numbers.get("precision_at_5")
    if "relevant_in_top5" in line.numbers or precision is None:
        return line.count("relevant_in_top5")
    left_out = line.notes.unsure_ranks if line.notes.cannot_tell == "left_out" else ()
    return int(precision.value * (TOP - sum(rank <= TOP for rank in left_out)) + 0.5)


def _warn(line: _Line, summary: QuerySummary) -> None:
    success, outcome = line.count("success"), line.notes.outcome
    if summary.state is QueryState.RESULTS and not summary.complete:
        columns = (*_FIGURES, "first_relevant_rank", "success")
        filled = ", ".join(name for name in columns if name in line.numbers)
        if filled:
            line.report("csv_figures_without_count", Severity.WARNING, columns=filled)
    elif summary.complete:
        columns_of = {"precision_at_5": "precision_at_5", "mrr": "first_relevant_rank"}
        for figure, column in columns_of.items():
            span = summary.figures[_FIGURES[figure]]
            if span.value is None and span.lower is not None:
                bounds = {"lowest": f"{span.lower:.4g}", "highest": f"{span.upper:.4g}"}
                names = {"figure": figure, "column": column}
                line.report("csv_figure_open", Severity.WARNING, **names, **bounds)
        _warn_of_contradictions(line, summary)
    if summary.empty_outcome and outcome not in {None, summary.empty_outcome}:
        _contradicts(line, "notes", line.notes.full_text[:80], f"success {success}")
    is_failure = summary.figures["success_rate"].value == 0
    is_negative = summary.complete and is_failure and not summary.relevant_count
    is_silent = not line.count("response_quality") and not content_of(line.notes.full_text)
    # A row of the original page that has nothing in it that only a rater can write.
    if "relevant_in_top5" in line.cells and is_negative and is_silent:
        line.report("csv_perhaps_unrated", Severity.WARNING)


def _warn_of_contradictions(line: _Line, summary: QuerySummary) -> None:
    for column, figure in _FIGURES.items():
        span = summary.figures[figure]
        number = line.numbers.get(column)
        is_undefined = number and summary.state is not QueryState.RESULTS and number.value == 0
        if number and not is_undefined and not number.agrees(span):
            _contradicts(line, column, f"{number.value:g}", _bounds(span))
    success, top = line.count("success"), line.count("relevant_in_top5")
    if success is not None and success != summary.figures["success_rate"].value:
        _contradicts(line, "success", str(success), _bounds(summary.figures["success_rate"]))
    if top is not None and summary.results_count <= TOP and top != summary.relevant_count:
        _contradicts(line, "relevant_in_top5", str(top), str(summary.relevant_count))


def _contradicts(line: _Line, column: str, value: str, computed: str) -> None:
    details = {"column": column, "given": value, "computed": computed}
    line.report("csv_contradiction", Severity.WARNING, **details)


def _bounds(span: Span) -> str:
    ends = sorted({f"{end:.4g}" for end in (span.lower, span.upper) if end is not None})
    return " - ".join(ends) or "-"


DELIMITERS = (",", ";", "\t")
LONGEST_HEADER = 64 * 1024
"""Characters; a longer first line is not a header, and slow to split."""

# The same characters as in `exporters.frame.csv_cells`, which put the apostrophe there.
_NEUTRALISED = re.compile("'(?='*[=+\\-@\\t\\r\\n\uff1d\uff0b\uff0d\uff20])")


# The same for a part of a cell that another separator would split off, by the file's own one.
_SPLIT_OFF = {
    separator: re.compile(
        f"(?<=[{other_separator}\\n])'(?=[\"']*[=+\\-@\\t\uff1d\uff0b\uff0d\uff20])"
        "|(?<=\\t)'(?=[\"']*[=+\\-@\uff1d\uff0b\uff0d\uff20])"
    )
    for separator, other_separator in ((",", ";"), (";", ","))
}


class Record(NamedTuple):
    """One record: the line it begins in, and its cells by column name."""

    line: int
    cells: Mapping[str, str]


def read_table(
    reading: Reading, data: bytes, *, required: Sequence[str]
) -> tuple[tuple[str, ...], list[Record]]:
    """The columns and records of a CSV file; none, and a problem, where its header is wrong.

    It is where a `required` column is missing, or where two columns have one name. The separator is
    the one by which most `required` columns are found, else that by which the first line has most
    cells.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        reading.error("csv_not_utf8", {}, line=data.count(b"\n", 0, wrong.start) + 1)
        return (), []
    lines = list(io.StringIO(text, newline=""))
    if lines and len(lines[0]) > LONGEST_HEADER:
        lines = []
    heads = {mark: _columns(_raw_records(lines[:1], mark)) for mark in DELIMITERS}
    names = set(required)
    delimiter = max(DELIMITERS, key=lambda mark: (len(names & set(heads[mark])), len(heads[mark])))
    raw = _raw_records(lines, delimiter)
    columns = _columns(raw)
    missing = [column for column in required if column not in columns]
    twice = [column for column, n in Counter(columns).items() if column and n > 1]
    for code, culprits in (("csv_columns_missing", missing), ("results_columns_twice", twice)):
        if culprits:
            reading.error(code, {"columns": ", ".join(culprits)}, line=1)
            return columns, []
    records = []
    for line, cells in raw:
        if isinstance(cells, csv.Error):
            reading.error("csv_broken_record", {"reason": str(cells)}, line=line)
        elif len(cells) != len(columns):
            counts = {"cells": len(cells), "columns": len(columns)}
            reading.error("csv_cell_count", counts, line=line)
        else:
            texts = [original_text(cell, delimiter) for cell in cells]
            records.append(Record(line, dict(zip(columns, texts, strict=True))))
    return columns, records


def original_text(cell: str, delimiter: str = ",") -> str:
    """`cell` without the apostrophes that keep a spreadsheet from running it or parts of it."""
    split_off = _SPLIT_OFF.get(delimiter)
    text = split_off.sub("", cell) if split_off else cell
    return text[1:] if _NEUTRALISED.match(text) else text


def _columns(raw: Iterator[tuple[int, list[str] | csv.Error]]) -> tuple[str, ...]:
    _, cells = next(raw, (1, []))
    return () if isinstance(cells, csv.Error) else tuple(cell.strip().lower() for cell in cells)


def _raw_records(lines: list[str], delimiter: str) -> Iterator[tuple[int, list[str] | csv.Error]]:
    start = 0
    while start < len(lines):
        # No copy of the lines, since many may be broken.
        following = map(lines.__getitem__, range(start, len(lines)))
        reader = csv.reader(following, delimiter=delimiter, strict=True)
        try:
            cells = next(reader)
        except csv.Error as wrong:  # one open quotation mark must not take all that follows
            yield start + 1, wrong
            start += 1
            continue
        if any(cell.strip() for cell in cells):
            yield start + 1, cells
        start += reader.line_num
