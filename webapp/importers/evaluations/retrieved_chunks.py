"""Rows of retrieved chunks beside an expected answer, as JSON Lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, BinaryIO

from pydantic import Field

from webapp.importers.evaluations import json_lines
from webapp.importers.evaluations.cited_answers import Identity
from webapp.importers.evaluations.json_lines import read_row
from webapp.importers.runs.blanks import is_blank_sign
from webapp.importers.runs.json_values import FromFile, Unsaid
from webapp.metrics.evaluations.chunks import ChunkRow
from webapp.records import Problem


class ChunksInFile(FromFile):
    """One question with its chunks as the file has it."""

    id: Identity
    expected_answer: str = Field(description="text")
    retrieved_chunks: list[str] = Field(description="list_of_texts")
    question: str = ""
    strategy: Annotated[str | None, Unsaid] = None


def read(name: str, file: BinaryIO) -> Iterator[tuple[int, ChunkRow] | Problem]:
    """Every row with the number of its line, or what is wrong with the line."""
    for line in json_lines.read(name, file):
        if isinstance(line, Problem):
            yield line
            continue
        row, wrong = read_row(ChunksInFile, line)
        if row is None:
            yield from wrong
            continue
        yield (
            line.number,
            ChunkRow(
                row_id=str(row.id),
                question=row.question,
                expected_answer="" if is_blank_sign(row.expected_answer) else row.expected_answer,
                retrieved_chunks=tuple(c for c in row.retrieved_chunks if not is_blank_sign(c)),
                strategy=(row.strategy or "").strip() or None,
            ),
        )
