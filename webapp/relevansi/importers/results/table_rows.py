"""The rows of tables by the roles of their columns: results, questions, documents or grades."""

from __future__ import annotations

import csv
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, islice
from types import MappingProxyType

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
from relevansi.importers.results.records import at, has_objects, literal, part_of
from relevansi.importers.results.rows import (
    BARE_ID,
    DOCUMENT_ROLES,
    EITHER,
    ITEM_ROLES,
    KNOWN_HEADERS,
    OPEN_IDS,
    RETRIEVED,
    Columns,
    Notation,
    Row,
    Values,
    as_rank,
    as_score,
    as_text,
    columns_of,
    cut,
    flat_row,
    is_several,
    item_of,
    notation_of,
    plain_name,
    role_of,
)
from relevansi.importers.runs.csv_ratings import REQUIRED as OF_FIGURES
from relevansi.importers.runs.csv_ratings import original_text
from relevansi.importers.runs.json_documents import kind_of
from relevansi.importers.runs.problems import ImportRefused, error
from relevansi.records import EmptyOutcome, QueryState

Known = Callable[[set[str]], set[str]]
"""Those of some ids that the collections and grades of the same import have."""
_ID = re.compile(r"(?!\d{4}-\d\d|\d\d?[/.]\d)(?=.*\d)\S{1,200}")  # no date
_IDS = re.compile("(?:^|_)ids$")  # of several results, in one cell
_BARE_IDS = re.compile(r"[\w.:#@+-]+(?:\s*[,;|]\s*[\w.:#@+-]+)*", re.ASCII)
_NAMES_ID = re.compile("(?:^|_)(?:id|key|code|kode|slug|ref|file|nr|no|num|nummer|number|numero)$")
_ORDERS = re.compile("rank|score|posi(?:tion|si)|peringkat|skor|urutan")
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
    table = next(tables.read(file, {*chosen.values()}), None)
    if table is None:
        file.refuse("file_empty", expected="results_file")
    if {*OF_FIGURES} <= {name.lower() for name in table.names}:
        file.refuse("results_of_figures")
    head = list(islice(table.rows, _LOOKED_AT))
    if _shape_of(file, table.names, head, chosen):
        return "result", _examples(table.names, head)
    return _layout(file, table.names, head, chosen).role, _examples(table.names, head)


def _examples(names: Sequence[str], head: Sequence[tuple[int, Sequence[object]]]) -> dict[str, str]:
    cells = head[0][1] if head else [""] * len(names)
    texts = zip(names, map(as_text, cells), strict=False)
    return {name: text[:80] for name, text in texts if name}


def read(file: File, chosen: Columns, known_ids: Known) -> Iterator[Row]:
    """Every row of every table in a file; raises an `ImportRefused`."""
    for table in tables.read(file, {*chosen.values()}):
        head = list(islice(table.rows, _LOOKED_AT))
        lines = chain(head, table.rows)
        shape = _shape_of(file, table.names, head, chosen)
        if shape:
            parsed = ((line, _parsed(file, table.names, line, cells)) for line, cells in lines)
            yield from json_lists.read(file, parsed, shape)
            continue
        layout = _layout(file, table.names, head, chosen)
        if "doc_id" not in chosen and layout.role in ("result", "grade"):
            id_column = known_id(file, layout.columns, table.names, head, known_ids)
            layout = _layout_of(layout.role, {**layout.columns, **id_column}, layout.raters)
        layout = replace(layout, notations=_notations(layout, table.names, head))
        for line, cells in lines:
            texts = [original_text(as_text(cell)) for cell in cells] if table.is_ours else cells
            values = dict(zip(table.names, texts, strict=False))
            values.pop("", None)
            if table.is_ours and _is_outcome(layout, values):
                file.counts["results_outcomes"] += bool(values[layout.columns["grade"]])
                continue
            if _is_total(layout, values):
                file.warn("results_total_row", line=line)
                continue
            yield from _rows(file, line, values, layout, comma=table.comma, system=table.name)


def _notations(
    layout: _Layout, names: Sequence[str], head: Sequence[tuple[int, Sequence[object]]]
) -> dict[str, Notation]:
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


def _shape_of(
    file: File, names: Sequence[str], head: Sequence[tuple[int, Sequence[object]]], chosen: Columns
) -> shapes.Shape | None:
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
    numbered = _numbered(tuple(names))
    filled = [
        number
        for ranked in numbered.values()
        for number, name in enumerate(ranked, 1)
        if as_text(values[name]).strip()
    ]
    for stem, ranked in numbered.items():
        cells = [values.pop(name) for name in ranked]
        values[stem] = [cell if as_text(cell) else None for cell in cells[: max(filled, default=0)]]
    return values


def _listed(text: str, name: str) -> list[str] | None:
    """The parts of an array as PostgreSQL writes it, or of ids beside each other; else ``None``."""
    if text.startswith("{") and text.endswith("}"):
        return next(csv.reader([text[1:-1]]), [])
    are_ids = _IDS.search(name) or (RETRIEVED.match(name) and _BARE_IDS.fullmatch(text))
    return re.split(r"[,;|\s]+", text) if are_ids else None


_RANKED = dict.fromkeys(("result", "hasil", "hit", "top"), "results") | {
    "dokumen": "documents",
    "konteks": "contexts",
}
"""The list that columns with a number have, by their name without it."""


@lru_cache(maxsize=64)
def _numbered(names: tuple[str, ...]) -> dict[str, list[str]]:
    """The columns of each list that has a column for each rank from 0 or 1, by the list's name.

    >>> _numbered(("query", "Result 1", "Result 2"))
    {'results': ['Result 1', 'Result 2']}
    >>> _numbered(("query", "top_1_id", "top_2_id"))
    {'ids': ['top_1_id', 'top_2_id']}
    """
    by_number: dict[str, dict[int, str]] = defaultdict(dict)
    for name in names:
        numbered = re.fullmatch(r"(\D+?)[ _.-]?(\d{1,3})(?:[ _.-](\D+))?", name.strip())
        stem = plain_name(numbered[3] or numbered[1]) if numbered else ""
        key = _RANKED.get(stem) or (f"{stem}s" if part_of(stem) else "")
        if numbered and key:
            by_number[key].setdefault(int(numbered[2]), name)
    lists = {
        key: [columns[number] for number in sorted(columns)]
        for key, columns in by_number.items()
        if len(columns) > 1 and min(columns) < 2 and max(columns) - min(columns) < len(columns)
    }
    return {"results": lists["ranks"]} if [*lists] == ["ranks"] else lists


def _layout(
    file: File,
    names: Sequence[str],
    head: Sequence[tuple[int, Sequence[object]]],
    chosen: Columns,
) -> _Layout:
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
    if kind == "result" and columns.keys() - {"query", "query_id"} == {"doc_id"} and others:
        places = [names.index(name) for name in others]
        cells = [as_text(row[at]).strip() for _, row in head for at in places]
        grades = [as_rank(cell) for cell in filter(None, cells)]
        is_small = "query" in columns or all(grade in (0, 1, 2, 3, 4) for grade in grades)
        if not chosen and any(_ORDERS.search(plain_name(name)) for name in others):
            raise _unknown(file, names, head)  # which of them is it?
        if grades and None not in grades and is_small:
            file.warn("results_grades_by_column", columns=", ".join(others))
            return _layout_of("grade", columns, tuple(others))
        file.warn("results_columns_left", columns=", ".join(others))
    return _layout_of(kind, columns)


def _settle_either(
    columns: dict[str, str], names: Sequence[str], head: Sequence[tuple[int, Sequence[object]]]
) -> None:
    """Take a column that may be an id or a text for the id where all its cells could be one."""
    name = columns.get("text", "")
    if plain_name(name) in EITHER:
        cells = [as_text(cells[names.index(name)]).strip() for _, cells in head]
        if all(map(BARE_ID.fullmatch, filter(None, cells))):
            columns["doc_id"] = columns.pop("text")


def _unknown(
    file: File, names: Sequence[str], head: Sequence[tuple[int, Sequence[object]]]
) -> UnknownNames:
    """The refusal of a table without known columns: by its lists of objects, else by its names."""
    for place in range(len(names)):
        _check_printed(file, head, place)
    rows = [_parsed(file, names, line, cells) for line, cells in head]
    cells = chain.from_iterable(row.values() for row in rows)
    if any(isinstance(cell, list) and has_objects(cell) for cell in cells):
        return unknown_json(file, rows)
    return unknown_names(file, _examples(names, head))


def _check_printed(file: File, head: Sequence[tuple[int, Sequence[object]]], at_text: int) -> None:
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


def check_id(
    file: File,
    names: Sequence[str],
    head: Sequence[tuple[int, Sequence[object]]],
    columns: Columns,
) -> None:
    """Raise `UnknownNames` where results have texts and ids under a name that nobody knows."""
    if role_of(columns) != "result" or "doc_id" in columns or "text" not in columns:
        return
    texts = [as_text(cells[names.index(columns["text"])]) for _, cells in head]
    for place, name in enumerate(names):
        cells = [as_text(cells[place]).strip() for _, cells in head]
        if name and name not in columns.values() and _identify(name, cells, texts):
            raise _unnamed_id(file, names, head, name)


def _unnamed_id(
    file: File, names: Sequence[str], head: Sequence[tuple[int, Sequence[object]]], column: str
) -> UnknownNames:
    """The refusal of a table that has ids of its documents under a name that nobody knows."""
    columns = {"columns": ", ".join(filter(None, names))[:300], "column": column}
    refused = UnknownNames(error("results_id_unnamed", file.name, columns))
    refused.names, refused.sample = _examples(names, head), ()
    refused.columns = {**columns_of(tuple(names), {}), "doc_id": column}
    return refused


def plain_id(
    names: Sequence[str], head: Sequence[tuple[int, Sequence[object]]], columns: Columns
) -> dict[str, str]:
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
        [row[-1] for row in rows] == [str(first + place) for place in range(len(rows))]
        for first in (0, 1)
    )
    return {"doc_id": name} if are_different and not are_numbers else {}


def plain_rank(
    file: File,
    names: Sequence[str],
    head: Sequence[tuple[int, Sequence[object]]],
    columns: Columns,
) -> dict[str, str]:
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
    file: File,
    columns: Columns,
    names: Sequence[str],
    head: Sequence[tuple[int, Sequence[object]]],
    known_ids: Known,
) -> dict[str, str]:
    """That of several columns of ids whose values the collections have, ``{}`` for a single one.

    Columns of which each row has one, whatever it is called there, are one.
    """
    used = {name for role, name in columns.items() if role != "doc_id"}
    of_ids = [name for name in names if plain_name(name) in _ID_NAMES and name not in used]
    is_known = any(set(header.values()) <= {*names} for header in KNOWN_HEADERS)
    if is_known or len(of_ids) < 2 or "doc_id" not in columns:
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
    item = item_of(values, layout.of_items, layout.of_questions)
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
