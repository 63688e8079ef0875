"""Figures are written to four decimals, and very small p-values to four digits."""

from __future__ import annotations

from typing import Any

import pytest

from webapp.exporters.frame.csv_cells import rounded


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (1 / 3, 0.3333),
        ({"p": 0.000012345678}, {"p": 0.00001235}),
        ({"p_holm": 1.0, "p": None}, {"p_holm": 1.0, "p": None}),
        ({"value": 0.000012345678}, {"value": 0.0}),
        ([{"a": [2 / 3, None, "x"]}, 5], [{"a": [0.6667, None, "x"]}, 5]),
        (True, True),
        (10**20, 10**20),
    ],
)
def test_figures_keep_four_decimals_and_all_else_stays(value: Any, written: Any) -> None:
    found = rounded(value)

    assert found == written
    assert type(found) is type(written)


def test_the_document_itself_is_left_as_it_was() -> None:
    document = {"value": 1 / 3, "inner": {"p": 1 / 3}}
    rounded(document)

    assert document == {"value": 1 / 3, "inner": {"p": 1 / 3}}
