"""The rows of tables by the roles of their columns: results, questions, documents or grades."""

from __future__ import annotations

import csv
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice
from types import MappingProxyType
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from relevansi.importers.results import (
    guesses,
    json_forms,
    json_lists,
    json_questions,
    shapes,
    tables,
)
from relevansi.importers.results.files import File, reading
from relevansi.importers.results.records import (
    at,
    has_objects,
    literal,
    numbered_columns,
    part_of,
)
from relevansi.importers.results.rows import (
    BARE_ID,
    DOCUMENT_ROLES,
    EITHER,
    ITEM_ROLES,
    OPEN_IDS,
    RETRIEVED,
    Columns,
    Notation,
    Row,
    Values,
    as_number,
    as_rank,
    as_score,
    as_text,
    columns_of,
    cut,
    flat_row,
    has_known_header,
    is_several,
    item_of,
    notation_of,
    plain_name,
    role_of,
)
from relevansi.importers.runs.csv_ratings import REQUIRED as OF_FIGURES
from relevansi.importers.runs.csv_ratings import original_text
from relevansi.importers.runs.json_documents import kind_of
from relevansi.importers.runs.prices import content_of
from relevansi.importers.runs.problems import ImportRefused, error
from relevansi.kinds.document import Document
from relevansi.records import EmptyOutcome, QueryState

Head = Sequence[tuple[int, Sequence[object]]]
"""The first rows of a table, each with its line."""
Known = Callable[[set[str]], set[str]]
"""Those of some ids that the collections and grades of the same import have."""
_ID = re.compile(r"(?!\d{4}-\d\d|\d\d?[/.]\d)(?=.*\d)\S{1,200}")  # no date
_IDS = re.compile("(?:^|_)ids$")  # of several results, in one cell
_BARE_IDS = re.compile(r"[\w.:#@+-]+(?:\s*[,;|]\s*[\w.:#@+-]+)*", re.ASCII)
_NAMES_ID = re.compile("(?:^|_)(?:id|key|code|kode|slug|ref|file|nr|no|num|nummer|number|numero)$")
_JUDGES = re.compile(
    "(?:^|_)(?:q?rel|relevan(?:ce|t|t?si|z|cia)|grades?|ratings?|judge?ments?|rater|annotator|"
    "penilai(?:an)?|bewertung)(?:_|$)"
)
OF_GRADES = "qrel|grade|judg|relevan|gold|truth|label"
"""What is in the name of a file of grades."""
_ORDERS = re.compile("rank|score|posi(?:tion|si)|peringkat|skor|urutan")
_ROLES = ("result", "grade", "question", "document")
_LOOKED_AT = 200  # rows by which columns are told apart
OUTCOMES = frozenset(("", *EmptyOutcome))
"""What our own long CSV has in place of a grade for an empty list."""
_NUMBERS = {"score", "grade"}
_OF_LISTS = ("system", "query_id", "query")
_TOTAL = re.compile(
    r"(?:grand |sub)?total|sum|average|avg|mean|median|jumlah|rata[- ]?rata|rerata|summe|gesamt|"
    r"durchschnitt|mittelwert|promedio|media|moyenne|合计|合計|总计|平均",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")
_MONTH = "(?:Jan|Feb|Mar|Mrz|Apr|Ma[iy]|Mei|Jun|Jul|Aug|Agu|Sep|O[ck]t|Nov|De[csz])"
_CHANGED = re.compile(rf"\d[.,]\d+E\+\d\d|\d\d?(?:-|\. ){_MONTH}|{_MONTH}[- ]\d\d")
"""Ids that a spreadsheet took for a long number or a date."""
_ID_NAMES = {
    name: place for place, name in enumerate(ITEM_ROLES["doc_id"].split()) if name not in EITHER
}


MEASURE = re.compile(
    r"(?:n?dcg|[gn]?map|mrr|recip_?rank|recall|precision|bpref|hit_?rate|f1|r-?prec|"
    r"err|rbp|infap|main_score|num_(?:q|ret|rel|rel_ret)|(?:p|r|hits|success)(?=[@_]))"
    r"(?:_cut)?(?:(?:_at_|[@_.])\d+(?:\.\d+)?)?",
    re.IGNORECASE,
)
"""The name of a measure, as trec_eval, ranx, BEIR and MTEB write it."""


class UnknownNames(ImportRefused):
    """A file whose columns or paths have to be chosen.

    ``names`` has each with the beginning of a value, ``columns`` what they are guessed to be, and
    ``sample`` the first rows by that guess.
    """

    names: Mapping[str, str]
    columns: Columns
    sample: Sequence[Row]


def unknown_names(file: File, names: Mapping[str, str]) -> UnknownNames:
    """The refusal of a table none of whose columns is a question beside a document."""
    columns = ", ".join(filter(None, names))[:300]
    refused = UnknownNames(error("results_columns_missing", file.name, {"columns": columns}))
    refused.names, refused.columns, refused.sample = names, columns_of(tuple(names), {}), ()
    return refused


def unknown_json(file: File, values: Sequence[object]) -> UnknownNames:
    """The refusal of JSON of an unknown shape, with the guess in the form of the option."""
    columns, value = guesses.guess(values), values[0] if values else None
    keys: dict[str, str | int] = {"keys": guesses.described(value)}
    code, option = ("results_json_guessed", guesses.as_option(columns))
    if not columns:
        code, option = "results_json_unknown", ""
        names = (path.rpartition(".")[2] for path in guesses.paths_of(value, into_lists=True))
        measures = [*filter(MEASURE.fullmatch, names)]
        code = "results_of_measures" if measures else code
        keys |= {"measures": ", ".join(measures[:5])}
    refused = UnknownNames(error(code, file.name, keys | ({"map": option} if option else {})))
    refused.names, refused.columns, refused.sample = {}, columns, ()
    if columns:
        shape = shapes.mapped(columns)
        record = next(json_questions.records(value, shape), value) if shape else value
        paths = guesses.paths_of(record, into_lists=True)
        items = at(record, columns["items"])
        entry = items[0] if isinstance(items, list) and items else {}
        refused.names = paths | guesses.paths_of(entry)
        looked_at = replace(file, problems=[], counts=file.counts.copy())
        if shape:
            refused.sample = [*islice(json_lists.read(looked_at, [(1, value)], shape), 2)]
    return refused


class _Layout(Struct, frozen=True):
    """What the columns of a table are; ``raters`` are the columns of raters in a book of Quepid.

    ``of_items`` and ``of_rows`` are the columns of what a document is and of what a row says else,
    ``of_questions`` the names of those that are no metadata of a document, ``notations`` how the
    columns of numbers are written.
    """

    role: str
    columns: Columns
    raters: tuple[str, ...]
    of_items: Columns
    of_rows: Columns
    of_questions: frozenset[str]
    notations: Mapping[str, Notation] = MappingProxyType({})


def _layout_of(role: str, columns: Columns, raters: tuple[str, ...] = ()) -> _Layout:
    return _Layout(
        role,
        columns,
        raters,
        of_items={of: name for of, name in columns.items() if of in ITEM_ROLES},
        of_rows={of: name for of, name in columns.items() if of not in (*DOCUMENT_ROLES, "answer")},
        of_questions=frozenset(name for of, name in columns.items() if of not in ITEM_ROLES),
    )


def look(file: File, chosen: Columns) -> tuple[str, Mapping[str, str]]:
    """What the rows of a table are, "result", "grade" ..., and its columns with a value of each.

    Raises `UnknownNames` where no column is a question beside a document.
    """
    file = replace(file, problems=[], counts=Counter())  # what is read here is read again
    parts = _parts(file, chosen)
    if any({*OF_FIGURES} <= {*map(str.lower, part.table.names)} for part in parts):
        file.refuse("results_of_figures")
    part = min(parts, key=lambda part: _ROLES.index(part.role))
    return part.role, _examples(part.table.names, part.head)


class _Part(NamedTuple):
    """A table with its first rows and how it is read: by a shape, else by a layout."""

    table: tables.Table
    head: Head
    shape: shapes.Shape | None
    layout: _Layout | None

    @property
    def role(self) -> str:
        return self.layout.role if self.layout else "result"


def _parts(file: File, chosen: Columns) -> list[_Part]:
    """The tables of a file; of several, those that nobody knows are named and left out."""
    parts: list[_Part] = []
    unknown: list[tuple[str, UnknownNames]] = []
    for table in tables.read(file, {*chosen.values()}):
        head = list(islice(table.rows, _LOOKED_AT))
        shape = _shape_of(file, table.names, head, chosen)
        if shape:
            report_left(file, [*filter(_DIGIT.search, table.names)], {"rank": ""})
        try:
            layout = None if shape else _layout(file, table.names, head, chosen)
            parts.append(_Part(table, head, shape, layout))
        except UnknownNames as refused:
            unknown.append((table.name, refused))
    if not (parts or unknown):
        file.refuse("file_empty", expected="results_file")
    if not parts:
        raise max((refused for _, refused in unknown), key=lambda refused: len(refused.names))
    if unknown:
        file.warn("workbook_sheets_left", sheets=", ".join(name for name, _ in unknown)[:300])
    return parts


def _examples(names: Sequence[str], head: Head) -> dict[str, str]:
    cells = head[0][1] if head else [""] * len(names)
    texts = zip(names, map(as_text, cells), strict=False)
    return {name: text[:80] for name, text in texts if name}


def read(file: File, chosen: Columns, known_ids: Known) -> Iterator[Row]:
    """Every row of every table in a file; raises an `ImportRefused`."""
    parts = _parts(file, chosen)
    are_systems = sum(part.role == "result" for part in parts) > 1
    for part in parts:
        system = part.table.name if are_systems else ""
        if part.shape:
            lines = chain(part.head, part.table.rows)
            parsed = ((line, _parsed(file, part.table.names, line, cells)) for line, cells in lines)
            for row in json_lists.read(file, parsed, part.shape):
                yield replace(row, system=system) if system and not row.system else row
        else:
            yield from _rows_of(file, part, chosen, known_ids, system)


def _rows_of(
    file: File, part: _Part, chosen: Columns, known_ids: Known, system: str
) -> Iterator[Row]:
    """The rows of a table with a column for each role."""
    table, head, layout = part.table, part.head, part.layout
    assert layout
    if "doc_id" not in chosen and layout.role in ("result", "grade"):
        id_column = known_id(file, layout.columns, table.names, head, known_ids)
        layout = _layout_of(layout.role, {**layout.columns, **id_column}, layout.raters)
    layout = replace(layout, notations=_notations(layout, table.names, head))
    for line, cells in chain(head, table.rows):
        texts = [original_text(as_text(cell)) for cell in cells] if table.is_ours else cells
        values = dict(zip(table.names, texts, strict=False))
        values.pop("", None)
        if table.is_ours and _is_outcome(layout, values):
            file.counts["results_outcomes"] += bool(values[layout.columns["grade"]])
        elif _is_total(layout, values):
            file.warn("results_total_row", line=line)
        else:
            yield from _rows(file, line, values, layout, comma=table.comma, system=system)


def _notations(layout: _Layout, names: Sequence[str], head: Head) -> dict[str, Notation]:
    places = {role: names.index(layout.columns[role]) for role in _NUMBERS & layout.columns.keys()}
    cells = {role: [as_text(row[at]).strip() for _, row in head] for role, at in places.items()}
    return {role: notation_of([*filter(None, texts)]) for role, texts in cells.items()}


def _is_total(layout: _Layout, values: Values) -> bool:
    """Whether a row sums up those above it: it says so, and states no rank and no result."""
    cells = (as_text(value).strip() for value in values.values())
    if not _TOTAL.fullmatch(next(filter(None, cells), "")):
        return False
    roles = {role for role, name in layout.columns.items() if as_text(values.get(name)).strip()}
    has_result = roles & {"query", "query_id"} and roles & {*DOCUMENT_ROLES}
    return "rank" not in roles and not has_result and any(map(_DIGIT.search, cells))


def _is_outcome(layout: _Layout, values: Values) -> bool:
    """Whether a row of grades is about an empty list: it has no rank and names no document."""
    names = (layout.columns.get("doc_id", ""), layout.columns.get("grade", ""), "rank")
    document, grade, rank = map(values.get, names)
    return layout.role == "grade" and not (document or rank) and grade in OUTCOMES


def read_json(
    file: File,
    values: Iterator[tuple[int, object]],
    chosen: Columns,
    role: str,
    id_column: Columns = MappingProxyType({}),
) -> Iterator[Row]:
    """The rows of JSON with an object for each, all of one role; raises an `ImportRefused`.

    One that leaves out the `id_column` has no id: what others have beside that is another one.
    """
    layout = _layout_of(role, {})
    nested: dict[str, None] = {}
    names: tuple[str, ...] | None = None  # a row may leave out what is blank
    for line, value in values:
        if not isinstance(value, dict):
            file.refuse("line_not_an_object", line=line, expected="object", found="other_value")
        row = dict.fromkeys(id_column.values(), "") | flat_row(value)
        if tuple(row) != names:
            names = tuple(row)
            layout = _layout_of(role, columns_of(names, {**id_column, **chosen}))
            of_row = {*layout.columns.values()}
            nested |= dict.fromkeys(n for n in names if n not in of_row and _is_nested(row[n]))
        for needed in ("query", "query_id", "doc_id", "text"):
            inner = row.get(layout.columns.get(needed, ""))
            if inner and is_several(inner) and (needed != "text" or not as_text(inner)):
                place = {"place": layout.columns[needed], "found": kind_of(inner)}
                file.refuse("results_value_nested", line=line, **place)
        yield from _rows(file, line, row, layout, comma=True, system="")
    if nested:
        file.warn("results_values_left", names=", ".join(nested)[:300])


def _is_nested(value: object) -> bool:
    is_list = isinstance(value, list) and has_objects(value)
    return is_list or (isinstance(value, dict) and bool(value))


def _shape_of(file: File, names: Sequence[str], head: Head, chosen: Columns) -> shapes.Shape | None:
    """The shape of rows that have a list of results in a cell."""
    mapped = shapes.mapped(chosen)
    values = [_parsed(file, names, line, cells) for line, cells in head[:20]]
    cells = chain.from_iterable(value.values() for value in values)
    if not mapped and not any(isinstance(cell, list | dict) for cell in cells):
        return None
    return json_questions.shape_of([*map(json_forms.prepared, values)], mapped)


def _parsed(file: File, names: Sequence[str], line: int, cells: Sequence[object]) -> Values:
    """A row as an object: lists and objects in cells, as JSON or Python prints them, are read."""
    values: Values = {}
    with reading(file, line):
        for name, cell in zip(names, cells, strict=False):
            parsed = literal(cell) if isinstance(cell, str) else None
            if parsed is None and part_of(name):
                parsed = _listed(as_text(cell).strip(), plain_name(name))
            values[name] = cell if parsed is None else parsed
    values.pop("", None)
    columns = columns_of(tuple(names), {})
    if role_of(columns) in ("result", "grade"):
        return values
    for role in ("query_id", "system", "answer", "category"):
        if columns.get(role) in values:
            values.setdefault(role, values[columns[role]])
    numbered = numbered_columns(tuple(names))
    filled = [
        number
        for ranked in numbered.values()
        for number, name in enumerate(ranked, 1)
        if not _is_nothing(values[name])
    ]
    for stem, ranked in numbered.items():
        cells = [values.pop(name) for name in ranked]
        values[stem] = [
            None if _is_nothing(cell) else cell for cell in cells[: max(filled, default=0)]
        ]
    return values


def _is_nothing(cell: object) -> bool:
    """Whether a cell is blank or only says so, as R and pandas write it."""
    return not content_of(as_text(cell))


def _listed(text: str, name: str) -> list[str] | None:
    """The parts of an array as PostgreSQL writes it, or of ids beside each other; else ``None``."""
    if text.startswith("{") and text.endswith("}"):
        return next(csv.reader([text[1:-1]]), [])
    are_ids = _IDS.search(name) or (RETRIEVED.match(name) and _BARE_IDS.fullmatch(text))
    return re.split(r"[,;|\s]+", text) if are_ids else None


def _layout(file: File, names: Sequence[str], head: Head, chosen: Columns) -> _Layout:
    columns = columns_of(tuple(names), chosen)
    if "doc_id" not in columns and "doc_id" not in chosen:
        columns |= plain_id(names, head, columns)
    if "doc_id" not in columns and "doc_id" not in chosen:
        _settle_either(columns, names, head)
    columns |= plain_rank(file, names, head, columns)
    kind = role_of(columns)
    if kind is None:
        raise _unknown(file, names, head)
    if "text" in columns:
        _check_printed(file, head, names.index(columns["text"]))
    others = [name for name in names if name and name not in columns.values()]
    if not chosen:
        check_id(file, names, head, columns)
    roles = columns.keys() - {"query", "query_id"}
    if kind == "result" and roles == {"doc_id", "score"}:
        place = names.index(columns["score"])
        if are_grades(file, [as_number(cells[place]) for _, cells in head]):
            kind, columns["grade"] = "grade", columns.pop("score")
    if kind == "result" and roles == {"doc_id"} and others:
        return _bare_layout(file, names, head, columns, chosen)
    if kind in ("result", "grade") and not has_known_header(names):
        report_left(file, others, columns)
    return _layout_of(kind, columns)


def _bare_layout(
    file: File, names: Sequence[str], head: Head, columns: Columns, chosen: Columns
) -> _Layout:
    """The layout of questions and ids beside columns that nobody knows, perhaps of raters."""
    others = [name for name in names if name and name not in columns.values()]
    places = [names.index(name) for name in others]
    cells = [as_text(row[at]).strip() for _, row in head for at in places]
    grades = [as_rank(cell) for cell in filter(None, cells)]
    fits = [grade is not None and ("query" in columns or grade < 5) for grade in grades]
    if not chosen and any(_ORDERS.search(plain_name(name)) for name in others):
        raise _unknown(file, names, head)  # which of them is it?
    if sum(fits) * 2 > len(fits):
        file.warn("results_grades_by_column", columns=", ".join(others))
        return _layout_of("grade", columns, tuple(others))
    file.warn("results_columns_left", columns=", ".join(others))
    return _layout_of("result", columns)


def are_grades(file: File, numbers: Sequence[object]) -> bool:
    """Whether numbers are grades: small and whole, in a file called so; else that is reported."""
    may_be = all(number in (-2, -1, 0, 1, 2, 3, 4) for number in numbers)
    if may_be and not file.is_called(OF_GRADES):
        file.warn("results_grades_perhaps")
    return may_be and file.is_called(OF_GRADES)


def report_left(file: File, names: Sequence[str], columns: Columns) -> None:
    """Report those of the other columns that may be orders or grades and are not read so."""
    has_order = not columns.keys().isdisjoint(("rank", "score"))
    left = [
        name
        for name in names
        if _JUDGES.search(plain_name(name)) or (not has_order and _ORDERS.search(plain_name(name)))
    ]
    if left:
        file.warn("results_columns_left", columns=", ".join(left)[:300])


def _settle_either(columns: dict[str, str], names: Sequence[str], head: Head) -> None:
    """Take a column that may be an id or a text for the id where all its cells could be one."""
    name = columns.get("text", "")
    if plain_name(name) in EITHER:
        cells = [as_text(cells[names.index(name)]).strip() for _, cells in head]
        if all(map(BARE_ID.fullmatch, filter(None, cells))):
            columns["doc_id"] = columns.pop("text")


def _unknown(file: File, names: Sequence[str], head: Head) -> UnknownNames:
    """The refusal of a table without known columns: by its lists of objects, else by its names."""
    for place in range(len(names)):
        _check_printed(file, head, place)
    rows = [_parsed(file, names, line, cells) for line, cells in head]
    cells = chain.from_iterable(row.values() for row in rows)
    if any(isinstance(cell, list) and has_objects(cell) for cell in cells):
        return unknown_json(file, rows)
    return unknown_names(file, _examples(names, head))


def _check_printed(file: File, head: Head, at_text: int) -> None:
    for line, cells in head:
        text = as_text(cells[at_text])
        if json_lists.PRINTED.match(text):
            file.refuse("results_printed", line=line, text=text[:60])


def _identify(name: str, cells: Sequence[str], texts: Sequence[str]) -> bool:
    """Whether these cells are ids of the texts beside them, of which some occur more than once."""
    are_ids = (all(cells) and bool(_NAMES_ID.search(plain_name(name)))) or all(
        _ID.fullmatch(cell) and as_score(cell) is None for cell in cells
    )
    pairs = {*zip(cells, texts, strict=True)}
    return are_ids and len({*cells}) == len({*texts}) == len(pairs) < len(texts)


def check_id(file: File, names: Sequence[str], head: Head, columns: Columns) -> None:
    """Raise `UnknownNames` where results have texts and ids under a name that nobody knows."""
    if role_of(columns) != "result" or "doc_id" in columns or "text" not in columns:
        return
    texts = [as_text(cells[names.index(columns["text"])]) for _, cells in head]
    for place, name in enumerate(names):
        cells = [as_text(cells[place]).strip() for _, cells in head]
        if name and name not in columns.values() and _identify(name, cells, texts):
            raise _unnamed_id(file, names, head, name)


def _unnamed_id(file: File, names: Sequence[str], head: Head, column: str) -> UnknownNames:
    """The refusal of a table that has ids of its documents under a name that nobody knows."""
    columns = {"columns": ", ".join(filter(None, names))[:300], "column": column}
    refused = UnknownNames(error("results_id_unnamed", file.name, columns))
    refused.names, refused.sample = _examples(names, head), ()
    refused.columns = {**columns_of(tuple(names), {}), "doc_id": column}
    return refused


def plain_id(names: Sequence[str], head: Head, columns: Columns) -> dict[str, str]:
    """The column ``id`` beside a question as that of the results: its rows differ in it."""
    name = next((name for name in names if plain_name(name) in OPEN_IDS), "")
    question = columns.get("query") or columns.get("query_id")
    if not (name and question) or "doc_id" in columns or name in columns.values():
        return {}
    lists = [names.index(columns[role]) for role in ("system",) if role in columns]
    lists.append(names.index(question))
    at_id = names.index(name)
    rows = [(*(as_text(cells[at]) for at in lists), as_text(cells[at_id])) for _, cells in head]
    counts = {row[:-1] for row in rows}
    are_different = len({*rows}) == len(rows) > len(counts)
    # A number for every row of the table is that of the row.
    are_numbers = any(
        sum(row[-1] == str(place) for place, row in enumerate(rows, first)) * 2 > len(rows)
        for first in (0, 1)
    )
    return {"doc_id": name} if are_different and not are_numbers else {}


def plain_rank(file: File, names: Sequence[str], head: Head, columns: Columns) -> dict[str, str]:
    """The column that numbers the results of each list, where none is called a rank or a score."""
    if role_of(columns) != "result" or not columns.keys().isdisjoint(("rank", "score", "grade")):
        return {}
    of_lists = [names.index(columns[role]) for role in _OF_LISTS if role in columns]
    for place, name in enumerate(names):
        ranks: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for _, cells in head if name and name not in columns.values() else ():
            rank = as_rank(cells[place])
            ranks[*(as_text(cells[at]) for at in of_lists)].append(-1 if rank is None else rank)
        first = min((min(numbers) for numbers in ranks.values()), default=-1)
        longest = max(map(len, ranks.values()), default=0)
        are_ranks = first in (0, 1) and longest > (2 if len(ranks) > 1 else 4)
        if are_ranks and all(
            sorted(numbers) == [*range(first, first + len(numbers))] for numbers in ranks.values()
        ):
            file.warn("results_rank_chosen", column=name)
            return {"rank": name}
    return {}


def known_id(
    file: File, columns: Columns, names: Sequence[str], head: Head, known_ids: Known
) -> dict[str, str]:
    """That of several columns of ids whose values the collections have, ``{}`` for a single one.

    Columns of which each row has one, whatever it is called there, are one.
    """
    used = {name for role, name in columns.items() if role != "doc_id"}
    of_ids = [name for name in names if plain_name(name) in _ID_NAMES and name not in used]
    if has_known_header(names) or len(of_ids) < 2 or "doc_id" not in columns:
        return {}
    samples = {
        name: {as_text(cells[names.index(name)]).strip() for _, cells in head} for name in of_ids
    }
    ids = known_ids(set().union(*samples.values()))
    best = max(
        of_ids,
        key=lambda name: (len(samples[name] & ids), -_ID_NAMES[plain_name(name)]),
    )
    of_best = [cells for _, cells in head if as_text(cells[names.index(best)])]
    others = [
        name
        for name in of_ids
        if name != best and any(as_text(cells[names.index(name)]) for cells in of_best)
    ]
    if not others:
        return {}
    file.warn("results_ids_chosen", column=best, others=", ".join(others))
    return {"doc_id": best}


def _rows(
    file: File, line: int, values: Values, layout: _Layout, *, comma: bool, system: str
) -> Iterator[Row]:
    file.budget.spend("records", file)
    columns = layout.columns
    texts = {role: as_text(values.get(name)).strip() for role, name in layout.of_rows.items()}
    query, query_id = texts.get("query", ""), texts.get("query_id", "")
    if layout.role != "document" and not (query or query_id):
        column = columns.get("query") or columns.get("query_id") or "query"
        file.refuse("csv_cell_blank", line=line, column=column)
    if "system" in columns and not texts["system"] and layout.role == "result":
        file.refuse("csv_cell_blank", line=line, column=columns["system"])
    item = _item(values, layout)
    rank = _rank(file, line, texts, columns)
    score = _score(values, layout, comma=comma) if texts.get("score") else None
    if texts.get("score") and score is None:
        if rank is None and layout.role == "result":
            number = {"place": columns["score"], "value": texts["score"][:40]}
            file.refuse("results_number_wrong", line=line, **number)
        file.counts["results_scores_unusable"] += 1
    if layout.role == "result" and item is None and (rank is not None or score is not None):
        file.error("results_without_item", line)
    if layout.role in ("grade", "document") and item is None:
        file.refuse("results_names_no_item", line=line)
    is_blank = item is None and rank is None and score is None
    wrong = json_lists.failure(values) if is_blank else ""
    file.counts["results_rows_blank"] += is_blank and layout.role == "result" and not wrong
    file.counts["results_ids_changed"] += _is_changed(item)
    grade = texts.get("grade")
    if grade and (notation := layout.notations.get("grade")):
        grade = Notation(notation.mark).plain(grade)
    grades = {"": grade or None}
    if layout.raters:
        grades = {rater: as_text(values.get(rater)).strip() or None for rater in layout.raters}
    for rater, grade in grades.items():
        yield Row(
            line,
            layout.role,  # type: ignore[arg-type]
            item=None if layout.role == "question" else item,
            rank=rank,
            score=score,
            grade=grade,
            answer=as_text(values.get(columns["answer"])) if "answer" in columns else "",
            query_id=query_id,
            query=query,
            system=texts.get("system") or system,
            category=texts.get("category", ""),
            rater=rater or texts.get("rater", ""),
            reason=texts.get("reason", ""),
            state=QueryState.FAILED if wrong else QueryState.RESULTS,
            error=cut(wrong),
        )


def _item(values: Values, layout: _Layout) -> Document | None:
    item = item_of(values, layout.of_items, layout.of_questions)
    parts = (item.doc_id, item.title, item.text, item.url) if item else ()
    return None if all(map(_is_nothing, parts)) else item


def _is_changed(item: Document | None) -> bool:
    return bool(item and item.doc_id and _CHANGED.fullmatch(item.doc_id))


def _score(values: Values, layout: _Layout, *, comma: bool) -> float | None:
    value = values[layout.columns["score"]]
    notation = layout.notations.get("score")
    return as_score(
        notation.plain(value.strip()) if notation and isinstance(value, str) else value,
        comma=comma,
    )


def _rank(file: File, line: int, texts: Mapping[str, str], columns: Columns) -> int | None:
    """The rank that a row states; raises an `ImportRefused` for a text that is none."""
    if not texts.get("rank"):
        return None
    rank = as_rank(texts["rank"])
    if rank is None:
        number = {"place": columns["rank"], "value": texts["rank"][:40]}
        file.refuse("results_number_wrong", line=line, **number)
    return rank
