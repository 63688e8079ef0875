"""Files of ratings from a page without a server: recognised by content, checked value by value."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest

from relevansi.importers.runs import ratings as offline_ratings
from relevansi.importers.runs.problems import ImportRefused, message
from tests.services.exports.offline_files import change, ratings
from tests.services.runs.runs import card, query, run

read = partial(offline_ratings.read, "r.json")
RUN = run(query(1, card("a")))


def test_changes_come_in_the_order_in_which_they_were_made() -> None:
    result = read(ratings(RUN, change(2, 1, "quality", 3), change(1, 1, "quality", 2)))

    assert [change.value for change in result.changes] == ["2", "3"]
    assert result.cards[1][1].identity == "slug:a"


@pytest.mark.parametrize(
    "wrong",
    [
        {"field": "relevance", "value": "5", "rank": 1},
        {"field": "relevance", "value": 1, "rank": 1},
        {"field": "relevance", "value": "1"},
        {"field": "relevance", "value": "1", "rank": 0},
        {"field": "quality", "value": 6},
        {"field": "quality", "value": -1},
        {"field": "quality", "value": True},
        {"field": "quality", "value": "4"},
        {"field": "notes", "value": 3},
        {"field": "notes", "value": "x" * 10_001},
        {"field": "empty_outcome", "value": "maybe"},
        {"field": "verdict", "value": "1"},
        {"field": "quality", "value": 4, "time": -1},
        {"field": "quality", "value": 4, "time": 10**18},
        {"field": "quality", "value": 4, "time": "now"},
        {"field": "quality", "value": 4, "sequence": 2**31},
        {"field": "quality", "value": 4, "event_id": ""},
        {"field": "quality", "value": 4, "event_id": "x" * 65},
        {"field": "quality", "value": 4, "query_id": None},
        {"field": "quality", "value": 4, "cause": "undo", "undoes": 1},
    ],
)
def test_a_change_that_cannot_be_is_left_out_and_told(wrong: dict[str, Any]) -> None:
    good = change(1, 1, "quality", 4)
    result = read(ratings(RUN, {**change(2, 1, "quality", 1), **wrong}, good))

    assert [change.event_id for change in result.changes] == ["e1"]
    assert [problem.code for problem in result.problems] == ["ratings_change_wrong"]
    assert "changes[0]" in message(result.problems[0])


def test_of_two_changes_with_one_id_the_first_counts() -> None:
    result = read(ratings(RUN, change(1, 1, "quality", 4), change(1, 1, "quality", 5)))

    assert [change.value for change in result.changes] == ["4"]
    assert [problem.code for problem in result.problems] == ["ratings_change_wrong"]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (ratings(RUN, version=2), "ratings_too_new"),
        (ratings(RUN, changes={}), "value_wrong"),
        (ratings(RUN)[:-10], "json_broken"),
        (b'{"format": "relevansi"}', "value_missing"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(data: bytes, code: str) -> None:
    with pytest.raises(ImportRefused) as refusal:
        read(data)

    assert refusal.value.problem.code == code


def test_unknown_keys_and_missing_cards_do_no_harm() -> None:
    decoded = json.loads(ratings(RUN, change(1, 1, "notes", "")))
    result = read(json.dumps(decoded | {"queries": [{"query_id": 1}, 3], "more": 1}).encode())

    assert result.cards == {}
    places = [problem.details["place"] for problem in result.problems]
    assert places == ["queries[0].results", "queries[1]"]
    assert [change.value for change in result.changes] == [None]
