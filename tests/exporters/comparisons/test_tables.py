"""The tables of a comparison hold the figures of its JSON."""

from __future__ import annotations

from typing import Any

import pytest

from tests.exporters.comparisons.comparisons import (
    three_runs,
)
from tests.exporters.comparisons.read_files import (
    all_tables,
)
from webapp.exporters.comparisons import document
from webapp.exporters.comparisons.json_file import comparison_json
from webapp.metrics.comparisons.comparisons import ComparisonReport


def values(report: ComparisonReport, name: str) -> list[tuple[Any, ...]]:
    (table,) = [table for table in all_tables(report) if table.name == name]
    return [tuple(v for cell in row for v in cell.values) for row in table.rows]


def test_the_summary_is_the_json_s_figures() -> None:
    report = three_runs()
    runs = comparison_json(report)["runs"]

    lines = values(report, "summary")

    for line, figure in zip(lines, runs[0]["figures"], strict=True):
        assert list(line[1:]) == [
            value
            for one in runs
            for found in [one["figures"][figure]]
            for value in (
                found["value"],
                found["interval"]["lower"],
                found["interval"]["upper"],
                found["n"],
            )
        ]


@pytest.mark.parametrize("figure", document.CATEGORY_FIGURES)
def test_the_categories_are_the_json_s(figure: str) -> None:
    report = three_runs()
    runs = comparison_json(report)["runs"]

    for line in values(report, f"category_{figure}"):
        found = [one["categories"][line[0]][figure] for one in runs]
        assert list(line[1:]) == [value for one in found for value in (one["value"], one["n"])]


def test_the_questions_are_the_json_s() -> None:
    report = three_runs()

    for line, found in zip(
        values(report, "questions"), comparison_json(report)["questions"], strict=True
    ):
        assert line[:3] == (found["position"], found["question"], found["category"])
        assert line[-1] == found["spread"]
        for place, answer in enumerate(found["answers"].values()):
            _, precision, rank, success = line[3 + 4 * place : 7 + 4 * place]
            said = answer or {}
            assert precision == said.get("precision_at_5")
            assert rank == said.get("reciprocal_rank")
            assert success == said.get("success")
