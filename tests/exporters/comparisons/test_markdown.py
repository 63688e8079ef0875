"""Markdown prints every cell, and hostile names as text."""

from __future__ import annotations

import re

import pytest

from tests.exporters.comparisons.comparisons import (
    three_runs,
)
from tests.exporters.comparisons.read_files import all_tables, hostile, rendered, shown
from webapp.printable import printable_line


def markdown_tables(text: str) -> list[list[list[str]]]:
    found: list[list[list[str]]] = [[]]
    for line in text.splitlines():
        if line.startswith("| "):
            cells = re.split(r"(?<!\\)\|", line)[1:-1]
            found[-1].append([re.sub(r"\\(.)", r"\1", cell.strip()) for cell in cells])
        elif found[-1]:
            found.append([])
    return [[lines[0], *lines[2:]] for lines in found if lines]


@pytest.mark.usefixtures("language")
def test_markdown_prints_every_cell() -> None:
    assert markdown_tables(rendered(three_runs(), "markdown")) == shown(all_tables(three_runs()))


def test_hostile_names_are_text_in_markdown() -> None:
    text = rendered(hostile(), "markdown")

    assert markdown_tables(text) == [
        [[printable_line(cell) for cell in row] for row in table]
        for table in shown(all_tables(hostile()))
    ]
    assert not re.search(r"(?<!\\)<script", text)
    assert not re.search(r"(?<!\\)\]\(", text)
