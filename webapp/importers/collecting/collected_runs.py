"""An unfinished collection read back, so that it can go on where it was interrupted."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from webapp.importers.runs.json_documents import FromFile, Model, Whole, Words, load, read_object
from webapp.importers.runs.problems import UnknownRunFormat, error
from webapp.importers.runs.questions import looks_like
from webapp.records import CollectedAnswer, CollectedRun, Problem


class CollectedRunFile(FromFile):
    """The head of a collected run."""

    timestamp: Words
    thread_id: Words
    user_id: Words
    search_method: Words
    llm: Words
    endpoint: Words
    total_questions: Whole
    results: list[Any] = Field(description="list")


class CollectedAnswerInFile(FromFile):
    """One answer of it."""

    query_id: Whole
    question: Words
    category: str = ""
    response: str = ""
    context_dependent: bool | None = None
    results_count: Whole | None = None
    error: str = ""
    error_code: str = ""
    answer_excerpt: str = ""
    latency_ms: int | None = None
    tries: int = 1
    usage: dict[str, object] | None = None
    metadata: dict[str, object] = Field(default_factory=dict)
    properties: Annotated[tuple[object, ...], Field(strict=False)] | None = None


def read(name: str, data: bytes) -> CollectedRun:
    """The run in the file `name`; raises an `ImportRefused` where it is not as it was written."""
    document, _numbers = load(name, data, expected="run_file")
    if not isinstance(document, dict):
        looks = {"found": looks_like(document), "expected": "run_file"}
        raise UnknownRunFormat(error("unknown_format", name, looks))
    top, wrong = _refusing(CollectedRunFile, document, name, "")
    if top is None or wrong:
        raise UnknownRunFormat(*wrong)
    answers = tuple(_answer(name, place, raw) for place, raw in enumerate(top.results))
    return CollectedRun(**_of(CollectedRun, top), answers=answers)


def _answer(name: str, position: int, raw: object) -> CollectedAnswer:
    entry, wrong = _refusing(CollectedAnswerInFile, raw, name, f"results[{position}]")
    if entry is None or wrong:
        raise UnknownRunFormat(*wrong)
    return CollectedAnswer(**_of(CollectedAnswer, entry), excerpt=entry.answer_excerpt)


def _of(kind: type[Any], read: FromFile) -> dict[str, Any]:
    return read.model_dump(include=set(kind.__struct_fields__))


def _refusing(
    kind: type[Model], raw: object, name: str, place: str
) -> tuple[Model | None, tuple[Problem, ...]]:
    outcomes = dict.fromkeys(("", *kind.model_fields), "file_refused")
    return read_object(kind, raw, file=name, place=place, outcomes=outcomes)
