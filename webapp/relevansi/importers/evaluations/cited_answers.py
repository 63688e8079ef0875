"""Rows of cited answers: JSON Lines with question, answer, gold, contexts, usage and the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, BinaryIO

from msgspec import Meta

from relevansi.importers.evaluations.json_lines import JsonLine, read_lines
from relevansi.importers.runs.json_documents import FromFile
from relevansi.importers.runs.prices import is_blank_sign, is_placeholder
from relevansi.metrics.evaluations.answers import SETTINGS, AnswerRow
from relevansi.metrics.evaluations.chunks import ChunkRow
from relevansi.records import Problem

_FROM_0, _PART, _COSINE = Meta(ge=0), Meta(ge=0, le=1), Meta(ge=-1, le=1)
# msgspec takes limits on one type at a time.
_NumberFrom0 = Annotated[int, _FROM_0] | Annotated[float, _FROM_0]
_Part = Annotated[int, _PART] | Annotated[float, _PART]
Identity = Annotated[str | int, Meta(description="text_or_number")]
Text = Annotated[str, Meta(description="text")]
Tokens = Annotated[
    Annotated[int, _FROM_0] | None, Meta(description="number_in_range"), is_placeholder
]
Cosine = Annotated[int, _COSINE] | Annotated[float, _COSINE]
Amount = Annotated[_NumberFrom0 | None, Meta(description="amount"), is_placeholder]
Judge = Annotated[_Part | None, Meta(description="share"), is_placeholder]
_OBJECTS = Meta(description="list_of_objects")
Contexts = Annotated[list[dict[str, Any]] | None, _OBJECTS, is_placeholder]


class SettingsInFile(FromFile, frozen=True):
    """How answers were generated: on a row, or on a line of its own for the rows below it."""

    temperature: Amount = None
    top_p: Amount = None
    max_output_tokens: Amount = None
    token_target: Amount = None


class CitedAnswerInFile(SettingsInFile, frozen=True, kw_only=True):
    id: Identity
    answer: Text
    question: str = ""
    gold: Annotated[str | None, is_blank_sign] = None
    contexts: Contexts = None
    usage: Annotated[list[dict[str, Any]] | dict[str, Any] | None, _OBJECTS, is_placeholder] = None
    latency_ms: Amount = None
    action: Annotated[str | None, is_placeholder] = None
    claim_similarities: Annotated[
        list[Cosine] | None, Meta(description="list_of_cosines"), is_placeholder
    ] = None
    faithfulness_judge: Judge = None


class CitedContextInFile(FromFile, frozen=True):
    """One context: its id, by which it is cited, and its text."""

    id: Identity
    text: Text


class UsageInFile(FromFile, frozen=True):
    prompt_tokens: Tokens = None
    completion_tokens: Tokens = None


def read_answers(name: str, file: BinaryIO) -> Iterator[tuple[int, AnswerRow] | Problem]:
    """Every row with the number of its line, or what is wrong with the line.

    A row with a wrong value is left out; one without a question, contexts, usage or latency
    is kept. Ids may repeat: they only name the rows. A line with neither id nor answer that
    has one of ``SETTINGS`` holds for the rows below it that do not state their own.
    """
    shared: dict[str, float] = {}
    for line in read_lines(name, file):
        if isinstance(line, Problem):
            yield line
            continue
        if _is_settings(line):
            shared |= _settings(line.row(SettingsInFile))
        elif row := _row(line, shared):
            yield line.number, row
        yield from line.problems


def count_rows(name: str, file: BinaryIO) -> int:
    r"""The number of rows of a file, usable or not; a line of settings is not a row.

    >>> import io
    >>> count_rows("a.jsonl", io.BytesIO(b'{"top_p": 0}\n{"id": 1}\n{bad'))
    2
    """
    lines = read_lines(name, file)
    return sum(isinstance(line, Problem) or not _is_settings(line) for line in lines)


def _is_settings(line: JsonLine) -> bool:
    keys = line.value.keys()
    return not {"id", "answer"} & keys and bool(set(SETTINGS) & keys)


def _settings(settings: SettingsInFile | None) -> dict[str, float]:
    values = ((name, getattr(settings, name, None)) for name in SETTINGS)
    return {name: value for name, value in values if value is not None}


def _row(line: JsonLine, shared: Mapping[str, float]) -> AnswerRow | None:
    row = line.row(CitedAnswerInFile)
    if row is None:
        return None
    contexts: dict[str, str] = {}
    for position, raw in enumerate(row.contexts or []):
        place = f"contexts[{position}]"
        context = line.row(CitedContextInFile, raw, place)
        if context and contexts.setdefault(str(context.id), context.text) != context.text:
            line.wrong(f"{place}.id", str(context.id), "other_value")
    usage = [row.usage] if isinstance(row.usage, dict) else row.usage
    calls = [line.row(UsageInFile, raw, f"usage[{n}]") for n, raw in enumerate(usage or [])]
    if line.problems:
        return None
    tokens = [(call.prompt_tokens or 0, call.completion_tokens or 0) for call in calls if call]
    similarities = row.claim_similarities
    return AnswerRow(
        row_id=str(row.id),
        question=row.question,
        answer=row.answer,
        gold=row.gold,
        contexts=contexts,
        calls=None if usage is None else tuple(tokens),
        latency_ms=row.latency_ms,
        action=row.action,
        claim_similarities=None if similarities is None else tuple(similarities),
        faithfulness_judge=row.faithfulness_judge,
        settings={**shared, **_settings(row)},
    )


class ChunksInFile(FromFile, frozen=True):
    id: Identity
    expected_answer: Text
    retrieved_chunks: Annotated[list[str], Meta(description="list_of_texts")]
    question: str = ""
    strategy: Annotated[str | None, is_placeholder] = None


def read_chunks(name: str, file: BinaryIO) -> Iterator[tuple[int, ChunkRow] | Problem]:
    """Every row with the number of its line, or what is wrong with the line."""
    for line in read_lines(name, file):
        if isinstance(line, Problem):
            yield line
            continue
        if row := line.row(ChunksInFile):
            chunks = (chunk for chunk in row.retrieved_chunks if not is_blank_sign(chunk))
            expected = row.expected_answer
            chunk_row = ChunkRow(
                row_id=str(row.id),
                question=row.question,
                expected_answer="" if is_blank_sign(expected) else expected,
                retrieved_chunks=tuple(chunks),
                strategy=(row.strategy or "").strip() or None,
            )
            yield line.number, chunk_row
        yield from line.problems
