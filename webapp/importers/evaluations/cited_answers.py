"""Rows of cited answers: JSON Lines with question, answer, gold, contexts, usage and the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, BinaryIO

from msgspec.structs import replace
from pydantic import Field

from webapp.importers.evaluations import json_lines
from webapp.importers.evaluations.json_lines import JsonLine, read_row, wrong_value
from webapp.importers.runs.json_values import FromFile, Unanswered, Unsaid
from webapp.metrics.evaluations.answers import SETTINGS, AnswerRow, LlmCall
from webapp.records import Problem

Number = int | float
Identity = Annotated[str | int, Field(description="text_or_number")]
Tokens = Annotated[Annotated[int, Field(ge=0)] | None, Unsaid, Field(description="number_in_range")]
Cosine = Annotated[Number, Field(ge=-1, le=1)]
Milliseconds = Annotated[Annotated[Number, Field(ge=0)] | None, Unsaid, Field(description="amount")]
Amount = Annotated[Annotated[Number, Field(ge=0)] | None, Unsaid, Field(description="amount")]
Judge = Annotated[Annotated[Number, Field(ge=0, le=1)] | None, Unsaid, Field(description="share")]


class SettingsOf(FromFile):
    """How answers were generated: on a row, or on a line of its own for the rows below it."""

    temperature: Amount = None
    top_p: Amount = None
    max_output_tokens: Amount = None
    token_target: Amount = None


class CitedAnswerInFile(SettingsOf):
    """One answer as the file has it."""

    id: Identity
    answer: str = Field(description="text")
    question: str = ""
    gold: Annotated[str | None, Unanswered] = None
    contexts: Annotated[list[dict[str, Any]] | None, Unsaid] = Field(
        None, description="list_of_objects"
    )
    usage: Annotated[list[dict[str, Any]] | dict[str, Any] | None, Unsaid] = Field(
        None, description="list_of_objects"
    )
    latency_ms: Milliseconds = None
    action: Annotated[str | None, Unsaid] = None
    claim_similarities: Annotated[list[Cosine] | None, Unsaid] = Field(
        None, description="list_of_cosines"
    )
    faithfulness_judge: Judge = None


class CitedContextInFile(FromFile):
    """One context: its id, by which it is cited, and its text."""

    id: Identity
    text: str = Field(description="text")


class UsageOf(FromFile):
    """The tokens of one call."""

    prompt_tokens: Tokens = None
    completion_tokens: Tokens = None


def read(name: str, file: BinaryIO) -> Iterator[tuple[int, AnswerRow] | Problem]:
    """Every row with the number of its line, or what is wrong with the line.

    A row with a wrong value is left out; one without a question, contexts, usage or latency
    is kept. Ids may repeat: they only name the rows. A line with neither id nor answer that
    has one of ``SETTINGS`` holds for the rows below it that do not state their own.
    """
    shared: dict[str, float] = {}
    for line in json_lines.read(name, file):
        if isinstance(line, Problem):
            yield line
            continue
        if _is_of_settings(line):
            stated, wrong = read_row(SettingsOf, line)
            yield from wrong
            shared |= _settings(stated)
            continue
        row, wrong = _row(line, shared)
        if row is None:
            yield from wrong
        else:
            yield line.number, row


def count(name: str, file: BinaryIO) -> int:
    r"""The number of rows of a file, usable or not; a line of settings is not a row.

    >>> import io
    >>> count("a.jsonl", io.BytesIO(b'{"top_p": 0}\n{"id": 1}\n{bad'))
    2
    """
    lines = json_lines.read(name, file)
    return sum(isinstance(line, Problem) or not _is_of_settings(line) for line in lines)


def _is_of_settings(line: JsonLine) -> bool:
    keys = line.value.keys()
    return not {"id", "answer"} & keys and bool(set(SETTINGS) & keys)


def _settings(stated: SettingsOf | None) -> dict[str, float]:
    values = {name: getattr(stated, name, None) for name in SETTINGS}
    return {name: value for name, value in values.items() if value is not None}


def _row(line: JsonLine, shared: Mapping[str, float]) -> tuple[AnswerRow | None, list[Problem]]:
    row, wrong = read_row(CitedAnswerInFile, line)
    if row is None:
        return None, wrong
    contexts = _contexts(line, row.contexts or [], wrong)
    calls = _calls(line, row.usage, wrong)
    if wrong:
        return None, wrong
    given = row.claim_similarities
    return AnswerRow(
        row_id=str(row.id),
        question=row.question,
        answer=row.answer,
        gold=row.gold,
        contexts=contexts,
        calls=calls,
        latency_ms=row.latency_ms,
        action=row.action,
        claim_similarities=None if given is None else tuple(given),
        faithfulness_judge=row.faithfulness_judge,
        settings={**shared, **_settings(row)},
    ), []


def _contexts(line: JsonLine, listed: list[dict[str, Any]], wrong: list[Problem]) -> dict[str, str]:
    """The texts by id; an id that is given twice would leave open which one is cited."""
    contexts: dict[str, str] = {}
    for position, raw in enumerate(listed):
        place = f"contexts[{position}]"
        inner, problems = read_row(CitedContextInFile, _inner(line, raw))
        wrong += [_placed(problem, place) for problem in problems]
        if inner is None:
            continue
        if str(inner.id) in contexts and contexts[str(inner.id)] != inner.text:
            wrong.append(wrong_value(line, f"{place}.id", str(inner.id), "other_value"))
        contexts[str(inner.id)] = inner.text
    return contexts


def _calls(
    line: JsonLine, usage: list[dict[str, Any]] | dict[str, Any] | None, wrong: list[Problem]
) -> tuple[LlmCall, ...] | None:
    """The tokens of every call, ``None`` where the row does not say; one call may stand bare."""
    if usage is None:
        return None
    calls = []
    for position, raw in enumerate([usage] if isinstance(usage, dict) else usage):
        inner, problems = read_row(UsageOf, _inner(line, raw))
        wrong += [_placed(problem, f"usage[{position}]") for problem in problems]
        if inner is not None:
            calls.append(LlmCall(inner.prompt_tokens or 0, inner.completion_tokens or 0))
    return tuple(calls)


def _inner(line: JsonLine, raw: dict[str, Any]) -> JsonLine:
    return JsonLine(line.name, line.number, raw)


def _placed(problem: Problem, place: str) -> Problem:
    inner = problem.details.get("place", "")
    return replace(problem, details={**problem.details, "place": f"{place}.{inner}".strip(".")})
