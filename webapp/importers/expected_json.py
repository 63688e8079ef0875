"""Sets of JSON answers: one file with all, or questions and outputs joined by id."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from pydantic import Field

from webapp.importers import json_lines
from webapp.importers.cited_answers import Identity
from webapp.importers.json_documents import load
from webapp.importers.json_lines import read_row
from webapp.importers.json_values import FromFile, kind_of, read_object
from webapp.importers.problems import ImportRefused, error, warning
from webapp.importers.questions import looks_like
from webapp.metrics.json_answer_summary import PROVENANCE, missing_provenance
from webapp.metrics.json_answers import Context, JsonQuestion
from webapp.records import Problem

_SHOWN_IDS = 10


class UnusableJsonAnswers(ImportRefused):
    """A set of JSON answers, or of questions for them, of which nothing can be used."""


class ProvenanceMissing(ImportRefused):
    """The set does not say by what model, prompt and index its answers were made."""


@dataclass(frozen=True, slots=True)
class JsonAnswerSet:
    """Questions with their outputs in order, where they come from, and what is wrong."""

    questions: tuple[JsonQuestion, ...]
    provenance: Mapping[str, str]
    problems: tuple[Problem, ...] = ()


class Item(FromFile):
    """One question with what is expected; the output is looked at apart."""

    id: Identity
    expected: dict[str, Any] = Field(description="object")
    question: str = ""
    context: list[dict[str, Any]] | None = Field(None, description="list_of_objects")


class Output(FromFile):
    """One line of an outputs file."""

    id: Identity
    output: object = None
    context: list[dict[str, Any]] | None = Field(None, description="list_of_objects")


class ContextOf(FromFile):
    """One text that the model was given."""

    source_path: str = Field(description="text")
    text: str = Field(description="text")


@dataclass(slots=True)
class _Reading:
    """One file while it is read."""

    name: str
    problems: list[Problem] = field(default_factory=list)

    def item(self, raw: object, place: str) -> JsonQuestion | None:
        """The question in `raw`, its output included where it stands there."""
        outcomes = dict.fromkeys(("", *Item.model_fields), "entry_left_out")
        item, wrong = read_object(Item, raw, file=self.name, place=place, outcomes=outcomes)
        self.problems += wrong
        if item is None or not isinstance(raw, dict):
            return None
        example = item.expected.get("answer_example")
        if not isinstance(example, dict):
            words = {"place": f"{place}.expected.answer_example", "found": kind_of(example)}
            words |= {"expected": "object", "outcome": "entry_left_out"}
            self.problems.append(error("value_wrong", self.name, words))
            return None
        return JsonQuestion(
            row_id=str(item.id),
            question=item.question,
            expected=example,
            output=self.output(raw.get("output"), f"{place}.output"),
            contexts=self.contexts(item.context or [], f"{place}.context"),
        )

    def output(self, value: object, place: str) -> str | None:
        """The raw text of the model; anything else fails as not JSON and is reported."""
        if value is None or isinstance(value, str):
            return value
        words = {"place": place, "found": kind_of(value), "expected": "text"}
        words["outcome"] = "fails_as_not_json"
        self.problems.append(error("value_wrong", self.name, words))
        return None

    def contexts(self, listed: Iterable[object], place: str) -> tuple[Context, ...]:
        """The contexts that can be used; the others are reported and ignored."""
        found = []
        for position, raw in enumerate(listed):
            where = f"{place}[{position}]"
            known, wrong = read_object(
                ContextOf, raw, file=self.name, place=where, outcomes={"": "value_ignored"}
            )
            self.problems += wrong
            if known is not None:
                found.append(Context(known.source_path, known.text))
        return tuple(found)


def read(name: str, data: bytes) -> JsonAnswerSet:
    """The set in one file: provenance fields and a list of items with their outputs.

    Raises `UnusableJsonAnswers` for another kind of file, `ProvenanceMissing` for a set
    that leaves a field of its provenance out, with the names of all that are missing.
    """
    document, numbers = load(name, data, expected="json_answers_file")
    if not isinstance(document, dict) or not isinstance(document.get("items"), list):
        looks = {"found": looks_like(document), "expected": "json_answers_file"}
        raise UnusableJsonAnswers(error("unknown_format", name, looks))
    reading = _Reading(name, list(numbers))
    questions = _questions(reading, document["items"], "items")
    return JsonAnswerSet(questions, _provenance(name, document), tuple(reading.problems))


def join(
    questions_name: str,
    questions_data: bytes,
    outputs_name: str,
    outputs: BinaryIO,
    provenance: Mapping[str, object] | None = None,
) -> JsonAnswerSet:
    """The questions of one file with the outputs of another, joined by id.

    The questions are a list, or an object with them under ``items`` or ``questions``; the
    outputs are JSON Lines of id, output and, where the contexts differ from the question's,
    context. A question without an output fails as not JSON. The provenance stands at the
    top of the questions, in a line of the outputs that has no id, or in `provenance`; a
    later one of these counts.
    """
    document, numbers = load(questions_name, questions_data, expected="json_questions_file")
    top = document if isinstance(document, dict) else {}
    listed = top.get("items", top.get("questions")) if top else document
    if not isinstance(listed, list):
        looks = {"found": looks_like(document), "expected": "json_questions_file"}
        raise UnusableJsonAnswers(error("unknown_format", questions_name, looks))
    reading = _Reading(questions_name, list(numbers))
    questions = _questions(reading, listed, "")
    given = _Reading(outputs_name)
    known = {question.row_id for question in questions}
    answers, stated = _outputs(given, outputs, known)
    answered = tuple(_answered(question, answers.get(question.row_id)) for question in questions)
    unanswered = [question.row_id for question in questions if question.row_id not in answers]
    problems = [*reading.problems, *given.problems]
    if unanswered:
        counts: dict[str, str | int] = {"count": len(unanswered), "ids": _some(unanswered)}
        problems.append(warning("answers_missing", outputs_name, counts))
    all_stated = {**top, **stated, **(provenance or {})}
    return JsonAnswerSet(answered, _provenance(outputs_name, all_stated), tuple(problems))


def read_subset(name: str, data: bytes) -> tuple[str, ...]:
    """The ids of a dev set: a list of ids or of objects with an id, or one under ``ids``."""
    document, _ = load(name, data, expected="subset_file")
    listed = document
    if isinstance(document, dict):
        listed = next(
            (document[key] for key in ("ids", "items", "questions") if key in document), 0
        )
    found = [raw.get("id") if isinstance(raw, dict) else raw for raw in _listed(listed)]
    usable = [i for i in found if isinstance(i, str | int) and not isinstance(i, bool)]
    if not usable or len(usable) < len(found):
        looks = {"found": looks_like(document), "expected": "subset_file"}
        raise UnusableJsonAnswers(error("unknown_format", name, looks))
    return tuple(dict.fromkeys(map(str, usable)))


def check_subset(name: str, ids: Sequence[str], known: Iterable[str]) -> tuple[Problem, ...]:
    """A problem that names the ids of a subset that the set does not have, if any."""
    there = set(known)
    unknown = [one for one in ids if one not in there]
    return (error("subset_ids_unknown", name, {"ids": _some(unknown)}),) if unknown else ()


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _questions(reading: _Reading, listed: Sequence[object], place: str) -> tuple[JsonQuestion, ...]:
    found: dict[str, JsonQuestion] = {}
    for position, raw in enumerate(listed):
        where = f"{place}[{position}]"
        question = reading.item(raw, where)
        if question is None:
            continue
        if question.row_id in found:
            words = {"place": f"{where}.id", "id": question.row_id}
            reading.problems.append(error("item_id_repeated", reading.name, words))
            continue
        found[question.row_id] = question
    if not found:
        raise UnusableJsonAnswers(error("no_queries", reading.name), *reading.problems)
    return tuple(found.values())


def _outputs(
    reading: _Reading, file: BinaryIO, known: set[str]
) -> tuple[dict[str, tuple[str | None, tuple[Context, ...] | None]], dict[str, object]]:
    """The output and contexts of every id, and the provenance that the file states."""
    answers: dict[str, tuple[str | None, tuple[Context, ...] | None]] = {}
    stated: dict[str, object] = {}
    for line in json_lines.read(reading.name, file):
        if isinstance(line, Problem):
            reading.problems.append(line)
            continue
        if "id" not in line.value and set(PROVENANCE) & line.value.keys():
            stated |= line.value
            continue
        row, wrong = read_row(Output, line)
        reading.problems += wrong
        if row is None:
            continue
        row_id = str(row.id)
        if row_id in answers or row_id not in known:
            code = "line_id_repeated" if row_id in answers else "line_id_unknown"
            reading.problems.append(error(code, reading.name, {"id": row_id}, line=line.number))
            continue
        place = f"{row_id}.context"
        contexts = None if row.context is None else reading.contexts(row.context, place)
        answers[row_id] = (reading.output(row.output, f"{row_id}.output"), contexts)
    return answers, stated


def _answered(
    question: JsonQuestion, answer: tuple[str | None, tuple[Context, ...] | None] | None
) -> JsonQuestion:
    output, contexts = answer or (None, None)
    return JsonQuestion(
        row_id=question.row_id,
        question=question.question,
        expected=question.expected,
        output=output,
        contexts=question.contexts if contexts is None else contexts,
    )


def _provenance(name: str, stated: Mapping[str, object]) -> dict[str, str]:
    missing = missing_provenance(stated)
    if missing:
        raise ProvenanceMissing(error("provenance_missing", name, {"names": ", ".join(missing)}))
    return {key: str(stated[key]).strip() for key in PROVENANCE}


def _some(ids: Sequence[str]) -> str:
    """The first ids, with a sign that there are more."""
    return ", ".join(ids[:_SHOWN_IDS]) + (", ..." if len(ids) > _SHOWN_IDS else "")
