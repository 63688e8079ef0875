"""Right or refused: one damaged value changes no other row, or its file is refused by name.

Well-formed imports in every format that is read are damaged at one value, in any way. Then either
nothing of the file is used, or every other row has the rank, question, system, id and text that it
had.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from copy import deepcopy
from functools import cache
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relevansi.importers.results.formats import Group, read
from relevansi.importers.runs.problems import ImportRefused
from tests.importers.results.grown import GROWN, TABLES, Grown, Joined, Path, Raw, value_at

Seen = tuple[str, str, str, int, str, str]
"""A row: its system, the id and the words of its question, its rank, id and text."""

ODD = (
    *("", " ", "-", "N/A", "nan", "inf", "-inf", "null", "None", "true", "[]", "{}"),
    *("0", "-1", "1e999", "1,5", "1.5", "2", "99", "=1+1", "#N/A"),
    *("d2", "Red evening gown", "winter boots", "red dress", "Red  Dress"),
    *("\x00", "\ud800", "\ufeff", "a\nb", "a\rb", "a\tb", 'a "b" c', '"', "'", ";", ","),
)
TEXTS = st.sampled_from(ODD) | st.text(max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["id", "text", "query", "results", "x"]), inner, max_size=3
        )
    ),
    max_leaves=4,
)
MISSING = object()
SAID = {"results_question_differs": 2, "results_twice": 5}
"""Places of a row in which two rows of one id contradict each other, where the report says it."""
OF_LINES = (".csv", ".tsv", ".txt", ".jsonl", ".xlsx")


def rows_of(group: Group) -> Counter[Seen]:
    """Every row that was read; the same question asked twice has equal rows."""
    result: Counter[Seen] = Counter()
    for run in group.runs:
        for query in run.queries:
            ranks = (rank for rank in count(1) if rank not in query.holes)
            place = run.search_method or "", query.external_id or "", query.question
            for rank, card in zip(ranks, query.cards, strict=False):
                result[*place, rank, card.doc_id or "", card.text] += 1
    return result


@cache
def undamaged(name: str) -> list[Seen]:
    """The six rows of an import as it is: of the first question, then of the second one."""
    grown = GROWN[name]
    result = rows_of(read(grown.files(grown.value)))
    assert len(result) == 6
    return [*result]


def outcome(files: Sequence[tuple[str, bytes]]) -> Group | ImportRefused:
    try:
        return read(files)
    except ImportRefused as refused:
        return refused


def damaged(grown: Grown | Joined, path: Path, value: object) -> Any:
    changed = deepcopy(grown.value)
    holder = value_at(changed, path[:-1])
    if value is MISSING:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    return changed


@pytest.mark.parametrize("name", GROWN)
@settings(max_examples=settings().max_examples // 2)  # of each of some fifty formats
@given(st.data())
def test_a_damaged_value_changes_no_other_row(name: str, data: st.DataObject) -> None:
    path, _ = data.draw(st.sampled_from(GROWN[name].places))
    check(name, path, data.draw(_damage(name, path)))


@pytest.mark.parametrize(
    ("name", "path", "value"),
    [
        pytest.param("r2r.json", (0, "results"), None, id="the first list is none"),
        pytest.param("columns.json", ("query", "1"), None, id="no question in a later row"),
        pytest.param(
            "chroma.json",
            (0, "ids", 0, 0),
            {"results": None, "query": False},
            id="an empty list of a question within another one",
        ),
        pytest.param("table.csv", (2, 2), "0", id="the ranks of one system are from 0"),
        pytest.param("table.xlsx", (4, 1), None, id="a blank question below another id"),
        pytest.param("table.jsonl", (0, "query"), MISSING, id="the first row asks nothing"),
        pytest.param("table.jsonl", (1,), {"a": 1}, id="a row of something else"),
    ],
)
def test_damage_that_once_changed_other_rows(name: str, path: Path, value: object) -> None:
    check(name, path, value)


def check(name: str, path: Path, value: object) -> None:
    """Assert that nothing of a damaged import is used, or every other row as it was."""
    grown = GROWN[name]
    question, place = dict(grown.places)[path]
    others = [
        row
        for at, row in enumerate(undamaged(name))
        if at // 3 != question or (place is not None and at % 3 != place)
    ]
    result = outcome(grown.files(damaged(grown, path, value)))
    if isinstance(result, ImportRefused):
        file = path[0] if name == "joined" else name
        assert {problem.file for problem in result.problems} == {file}
        if name.endswith(OF_LINES):
            assert any(problem.line for problem in result.problems)
    elif result.runs or not (result.names or result.unfit_grades):  # else somebody is asked
        codes = {problem.code for problem in result.problems}
        left_open = [place for code, place in SAID.items() if code in codes]
        rows = Counter(_without(row, left_open) for row in rows_of(result).elements())
        assert not Counter(_without(row, left_open) for row in others) - rows


def _without(row: Seen, places: Sequence[int]) -> tuple[object, ...]:
    return tuple(value for place, value in enumerate(row) if place not in places)


def _damage(name: str, path: Path) -> st.SearchStrategy[object]:
    """What may stand in that place of that format instead."""
    if name in TABLES or path[0] in ("run.txt", "topics.tsv"):
        return TEXTS | TEXTS.map(Raw)
    if name == "table.xlsx":
        return VALUES.filter(_fits_a_cell)
    if name == "scores.json":  # with another number a row may well have another rank
        return VALUES.filter(lambda value: not _is_a_number(value))
    return VALUES | st.just(MISSING) if isinstance(path[-1], str) else VALUES


def _fits_a_cell(value: object) -> bool:
    """Whether a workbook can hold it."""
    if isinstance(value, str):
        return not re.search("[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]", value)
    return (
        value is None
        or isinstance(value, bool | int)
        or (isinstance(value, float) and math.isfinite(value))
    )


def _is_a_number(value: object) -> bool:
    return isinstance(value, int | float) or (
        isinstance(value, str) and bool(re.search(r"\d|inf", value))
    )
