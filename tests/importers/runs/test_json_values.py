"""An object of a file is read with every problem met."""

from __future__ import annotations

from typing import Any

import pytest

from tests.importers.runs.run_files import (
    entry,
    message_in_english,
    read,
    v1,
)
from webapp.importers.runs.json_documents import (
    FromFile,
    SaidWords,
    kind_of,
    query_id_of,
    read_object,
)


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"results_count": -1}, "results_count"),
        ({"results_count": "two"}, "results_count"),
        ({"results_count": 2.5}, "results_count"),
        ({"results_count": 2**54}, "results_count"),
        ({"category": 5}, "category"),
        ({"context_dependent": "no"}, "context_dependent"),
        ({"properties": {}}, "properties"),
    ],
)
def test_a_wrong_side_value_is_ignored_and_the_cards_are_kept(
    changes: dict[str, Any], place: str
) -> None:
    run = read(v1(entry(**changes)))

    assert len(run.queries[0].cards) == 2
    assert message_in_english(run, 0).startswith(f"test_results.json: results[0].{place} is wrong")


class Entry(FromFile):
    """An object with a required and an optional field."""

    name: SaidWords
    count: int | None = None


def read_entry(raw: object) -> tuple[Entry | None, list[tuple[str | int, ...]]]:
    """Return the value read from `raw`, and each problem's code, place, expected and outcome."""
    outcomes = {"": "entry_left_out"}
    found, problems = read_object(Entry, raw, file="f.json", place="results[0]", outcomes=outcomes)
    words = ("place", "expected", "outcome")
    return found, [(p.code, *(p.details[word] for word in words)) for p in problems]


def test_an_optional_value_that_is_wrong_costs_itself_alone() -> None:
    found, problems = read_entry({"name": "a", "count": "many", "more": 1})

    assert found is not None
    assert (found.name, found.count, found.model_extra) == ("a", None, {"more": 1})
    assert problems == [("value_wrong", "results[0].count", "number_in_range", "value_ignored")]


@pytest.mark.parametrize(
    ("raw", "code", "place", "expected"),
    [
        ({}, "value_missing", "results[0].name", "text"),
        ({"name": 5}, "value_wrong", "results[0].name", "text"),
        ({"name": "-"}, "value_wrong", "results[0].name", "text"),
        ([], "value_wrong", "results[0]", "object"),
    ],
)
def test_without_a_required_value_there_is_no_entry(
    raw: object, code: str, place: str, expected: str
) -> None:
    assert read_entry(raw) == (None, [(code, place, expected, "entry_left_out")])


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "null"),
        (True, "true_or_false"),
        (2.5, "2.5"),
        ("a", "text"),
        (" ", "empty_text"),
        ([], "list"),
        ({}, "object"),
    ],
)
def test_a_value_is_called_by_its_kind(value: object, kind: str) -> None:
    assert kind_of(value) == kind


@pytest.mark.parametrize(
    ("raw", "number"),
    [
        ({"query_id": 3, "id": 4}, 3),
        ({"id": 4}, 4),
        ({"query_id": True}, None),
        ({"query_id": -1}, None),
        ({"query_id": 2**70}, None),
        ({"query_id": "3"}, None),
        ([], None),
    ],
)
def test_the_number_of_a_question_is_a_whole_one_that_can_be_stored(
    raw: object, number: int | None
) -> None:
    assert query_id_of(raw) == number
