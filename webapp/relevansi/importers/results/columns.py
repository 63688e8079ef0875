"""What the columns of a table are, told by their names and by the first rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from relevansi.importers.results.files import File
from relevansi.importers.results.rows import (
    BARE_ID,
    DOCUMENT_ROLES,
    EITHER,
    ITEM_ROLES,
    NAMES_ID,
    OPEN_IDS,
    Columns,
    Role,
    as_number,
    as_rank,
    as_score,
    as_text,
    columns_of,
    has_known_header,
    notation_of,
    plain_name,
    role_of,
)
from relevansi.importers.results.unknown import unnamed_id

Known = Callable[[set[str]], set[str]]
"""Those of some ids that the collections and grades of the same import have."""
OF_GRADES = "qrel|grade|judg|relevan|gold|truth|label"
"""What is in the name of a file of grades."""
_ID = re.compile(r"(?!\d{4}-\d\d|\d\d?[/.]\d)(?=.*\d)\S{1,200}")  # no date
_JUDGES = re.compile(
    "(?:^|_)(?:q?rel|relevan(?:ce|t|t?si|z|cia)|grades?|ratings?|judge?ments?|rater|annotator|"
    "penilai(?:an)?|bewertung)(?:_|$)"
)
_ORDERS = re.compile("rank|score|posi(?:tion|si)|peringkat|skor|urutan")
_ID_NAMES = [name for name in ITEM_ROLES["doc_id"].split() if name not in EITHER]  # best first


class Head(NamedTuple):
    """The names of the columns of a table, and its first rows with their lines."""

    names: tuple[str, ...]
    rows: Sequence[tuple[int, Sequence[object]]]

    def cells(self, name: str) -> list[object]:
        place = self.names.index(name)
        return [cells[place] for _, cells in self.rows]

    def texts(self, name: str) -> list[str]:
        return [as_text(cell).strip() for cell in self.cells(name)]

    def lists(self, columns: Columns) -> list[tuple[str, ...]]:
        """What each row states of the list that its result is in: the system and the question."""
        roles = ("system", "query_id", "query")
        return [*zip(*(self.texts(columns[of]) for of in roles if of in columns), strict=True)]

    def without_role(self, columns: Columns) -> list[str]:
        """The names of the columns that are none of these."""
        return [name for name in self.names if name not in columns.values()]

    def examples(self) -> dict[str, str]:
        """The beginning of the first cell of each column."""
        return {name: next(iter(self.texts(name)), "")[:80] for name in self.names}


class Numbers:
    """The numbers of a column, whose first texts say how they are written."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._notation = notation_of(texts)
        self._marks: dict[bool, set[str]] = {True: set(), False: {self._notation.mark} - {""}}

    def plain(self, text: str) -> str:
        """A number with a point and nothing between its digits; "" where another contradicts it.

        Of 1.234 and 0,5 the second says that the first may be more than a thousand.
        """
        notation = self._notation
        if "," in text or ("." in text and notation.mark != "."):
            sure = notation_of([text]).mark
            mark = sure or notation.mark or ("," if "," in text else ".")
            self._marks[bool(sure)].add(mark)
            if self._marks[not sure] - {mark}:
                return ""
            notation = replace(notation, mark=sure or notation.mark)
        return notation.plain(text)


class Layout(Struct, frozen=True, dict=True):
    """What the rows of a table state, and its columns by role.

    ``raters`` are columns of grades, each of one rater. ``numbers`` are the columns of scores and
    grades as text; ``comma``: any of them may have a comma for its decimal point.
    """

    role: Role
    columns: Columns
    raters: tuple[str, ...] = ()
    numbers: Mapping[str, Numbers] = MappingProxyType({})
    comma: bool = True

    @cached_property
    def of_rows(self) -> Columns:
        """The columns of the short texts beside a document."""
        others = (*DOCUMENT_ROLES, "answer")
        return {role: name for role, name in self.columns.items() if role not in others}


def layout_of(file: File, head: Head, chosen: Columns) -> Layout | None:
    """The layout of a table; ``None`` where nobody knows its columns.

    Raises an `ImportRefused`, of the kind `UnknownNames` where a column has to be chosen.
    """
    columns = columns_of(head.names, chosen)
    if "doc_id" not in chosen:
        columns |= plain_id(head, columns)
        if "doc_id" not in columns and _has_ids_for_texts(head, columns):
            columns["doc_id"] = columns.pop("text")
    columns |= plain_rank(file, head, columns)
    role = role_of(columns)
    if role is None:
        return None
    if not chosen:
        check_id(file, head, columns)
    others = head.without_role(columns)
    beside = columns.keys() - {"query", "query_id"}
    if role == "result" and beside == {"doc_id", "score"}:
        numbers = map(as_number, head.cells(columns["score"]))
        if are_grades(file, [*numbers]):
            role, columns["grade"] = "grade", columns.pop("score")
    if role == "result" and beside == {"doc_id"} and others:
        return _bare_layout(file, head, columns, chosen)
    if role in ("result", "grade") and not has_known_header(head.names):
        report_left(file, unread(others, columns))
    return Layout(role, columns)


def _has_ids_for_texts(head: Head, columns: Columns) -> bool:
    """Whether the column of texts may be one of ids by its name, and all its cells could be ids."""
    name = columns.get("text", "")
    texts = head.texts(name) if plain_name(name) in EITHER else []
    return bool(texts) and all(map(BARE_ID.fullmatch, filter(None, texts)))


def _bare_layout(file: File, head: Head, columns: Columns, chosen: Columns) -> Layout | None:
    """The layout of questions and ids beside columns that nobody knows, perhaps of raters.

    ``None`` where several columns may order the results.
    """
    others = head.without_role(columns)
    if not chosen and any(_ORDERS.search(plain_name(name)) for name in others):
        return None
    grades = [as_rank(cell) for name in others for cell in head.texts(name) if cell]
    # Small numbers beside a number for the question may be anything.
    fits = [grade is not None and ("query" in columns or grade < 5) for grade in grades]
    if sum(fits) * 2 > len(fits):
        file.warn("results_grades_by_column", columns=", ".join(others))
        return Layout("grade", columns, raters=tuple(others))
    report_left(file, others)
    return Layout("result", columns)


def are_grades(file: File, numbers: Sequence[object]) -> bool:
    """Whether numbers are grades: small and whole, in a file called so; else that is reported."""
    may_be = all(number in (-2, -1, 0, 1, 2, 3, 4) for number in numbers)
    is_called_so = file.is_called(OF_GRADES)
    if may_be and not is_called_so:
        file.warn("results_grades_perhaps")
    return may_be and is_called_so


def unread_grades(names: Sequence[str]) -> list[str]:
    """Those of some columns without a role that may be of grades."""
    return [name for name in names if _JUDGES.search(plain_name(name))]


def unread(names: Sequence[str], columns: Columns) -> list[str]:
    """Those of some columns without a role that may be of grades, or of an order if none is."""
    if columns.keys() & {"rank", "score"}:
        return unread_grades(names)
    grades = unread_grades(names)
    return [name for name in names if name in grades or _ORDERS.search(plain_name(name))]


def report_left(file: File, names: Sequence[str]) -> None:
    if names:
        file.warn("results_columns_left", columns=", ".join(names)[:300])


def check_id(file: File, head: Head, columns: Columns) -> None:
    """Raise `UnknownNames` where results have texts and ids under a name that nobody knows."""
    if role_of(columns) != "result" or "doc_id" in columns or "text" not in columns:
        return
    texts = head.texts(columns["text"])
    for name in head.without_role(columns):
        if _identify(name, head.texts(name), texts):
            raise unnamed_id(file, head.examples(), name)


def _identify(name: str, cells: Sequence[str], texts: Sequence[str]) -> bool:
    """Whether these cells are ids of the texts beside them, of which some occur more than once."""
    are_ids = (all(cells) and bool(NAMES_ID.search(plain_name(name)))) or all(
        _ID.fullmatch(cell) and as_score(cell) is None for cell in cells
    )
    pairs = {*zip(cells, texts, strict=True)}
    return are_ids and len({*cells}) == len({*texts}) == len(pairs) < len(texts)


def plain_id(head: Head, columns: Columns) -> dict[str, str]:
    """The column ``id`` beside a question as that of the results: its rows differ in it."""
    name = next((name for name in head.names if plain_name(name) in OPEN_IDS), "")
    asks = columns.keys() & {"query", "query_id"}
    if not (name and asks) or "doc_id" in columns or name in columns.values():
        return {}
    ids = head.texts(name)
    lists = head.lists(columns)
    are_different = len({*zip(lists, ids, strict=True)}) == len(ids) > len({*lists})
    # A number for every row of the table is that of the row.
    are_numbers = any(
        sum(doc_id == str(place) for place, doc_id in enumerate(ids, first)) * 2 > len(ids)
        for first in (0, 1)
    )
    return {"doc_id": name} if are_different and not are_numbers else {}


def plain_rank(file: File, head: Head, columns: Columns) -> dict[str, str]:
    """The column that numbers the results of each list, where none is called a rank or a score."""
    if role_of(columns) != "result" or columns.keys() & {"rank", "score", "grade"}:
        return {}
    lists = head.lists(columns)
    lengths = Counter(lists)
    if max(lengths.values(), default=0) <= (2 if len(lengths) > 1 else 4):
        return {}
    places = [(key, place) for key, length in lengths.items() for place in range(length)]
    numbered = [{*places}, {(key, place + 1) for key, place in places}]
    for name in head.without_role(columns):
        if {*zip(lists, map(as_rank, head.cells(name)), strict=True)} in numbered:
            file.warn("results_rank_chosen", column=name)
            return {"rank": name}
    return {}


def known_id(file: File, head: Head, columns: Columns, known_ids: Known) -> dict[str, str]:
    """That of several columns of ids whose values the collections have, ``{}`` for a single one.

    Columns of which each row has one, whatever it is called there, are one.
    """
    used = {name for role, name in columns.items() if role != "doc_id"}
    names = [name for name in head.names if plain_name(name) in _ID_NAMES and name not in used]
    names.sort(key=lambda name: _ID_NAMES.index(plain_name(name)))
    if has_known_header(head.names) or len(names) < 2 or "doc_id" not in columns:
        return {}
    texts = {name: head.texts(name) for name in names}
    ids = known_ids({*chain.from_iterable(texts.values())})
    best = max(names, key=lambda name: len(ids.intersection(texts[name])))
    others = [
        name
        for name in names
        if name != best and any(map(all, zip(texts[best], texts[name], strict=True)))
    ]
    if not others:
        return {}
    file.warn("results_ids_chosen", column=best, others=", ".join(others))
    return {"doc_id": best}
