"""Rows that wait for the last of them: they come back as they went in, as often as wanted."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webapp.exporters.evaluations.score_documents import WaitingRows

VALUES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
ROWS = st.lists(st.dictionaries(st.text(), VALUES | st.lists(VALUES, max_size=3), max_size=4))


@given(given_rows=ROWS)
def test_rows_come_back_as_they_went_in_every_time(given_rows: list[dict[str, Any]]) -> None:
    with WaitingRows() as rows:
        for row in given_rows:
            rows.add(row)

        assert rows.n == len(given_rows)
        assert list(rows) == given_rows
        assert list(rows) == given_rows


def test_the_order_of_the_keys_is_kept() -> None:
    with WaitingRows() as rows:
        rows.add({"z": 1, "a": 2})

        assert [list(row) for row in rows] == [["z", "a"]]


def test_nothing_is_left_once_they_are_done_with() -> None:
    with WaitingRows() as rows:
        rows.add({})

    with pytest.raises(ValueError, match="closed file"):
        list(rows)
