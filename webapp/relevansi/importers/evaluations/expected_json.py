"""Sets of JSON answers: one file with all, or questions and outputs joined by id."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha1
from pathlib import PurePath
from typing import Annotated, Any, BinaryIO

from msgspec import Meta, Struct, field
from msgspec.structs import replace

from relevansi.importers.evaluations.cited_answers import Contexts, Identity, Text
from relevansi.importers.evaluations.json_lines import read_lines
from relevansi.importers.runs.json_documents import FromFile, Reading, kind_of, load
from relevansi.importers.runs.prices import is_blank_sign
from relevansi.importers.runs.problems import ImportRefused, error, warning
from relevansi.importers.runs.questions import unknown_format
from relevansi.metrics.evaluations import json_answers
from relevansi.metrics.evaluations.json_answers import (
    FIELDS,
    MODEL_PARTS,
    PROVENANCE,
    Context,
    JsonQuestion,
    missing_provenance,
    no_hashes,
    stated_provenance,
)
from relevansi.records import Problem

SHOWN_IDS = 10
_SCORED_FIELDS = tuple(name for name in FIELDS if name != "source_map")
_EXPECTED_KEYS = frozenset({"answer_example", "source_map"})
_CALL_KEYS = frozenset({"usage", "latency_ms", "tries", "model"})
"""The keys that ``relevansi answer`` writes beside an output."""

_TOP_KEYS = frozenset(PROVENANCE).union(
    ("provenance", "items", "questions", "endpoint", "retriever", "temperature", "max_tokens")
)


class Output(FromFile, frozen=True):
    id: Identity
    output: object = None
    context: Contexts = None
    contexts: Contexts = None


class ExpectedItemInFile(Output, frozen=True, kw_only=True):
    """One question with its expected answer; the output is checked separately."""

    expected: Annotated[dict[str, Any], Meta(description="object")]
    question: str = ""


class ContextInFile(FromFile, frozen=True):
    source_path: Text
    text: Text


class ItemReading(Reading):
    """One file while it is read: its problems, and the keys that are not read."""

    _unknown: Counter[str] = field(default_factory=Counter)
    _without: dict[str, list[str]] = field(default_factory=dict)

    def item(self, raw: Any, place: str) -> JsonQuestion | None:
        """The question in `raw`, with its output if that is there."""
        item = self.model(ExpectedItemInFile, raw, place, "entry_left_out")
        if item is None:
            return None
        example = item.expected.get("answer_example")
        if not isinstance(example, dict):
            where = f"{place}.expected.answer_example"
            self.wrong(where, kind_of(example), "object", "entry_left_out")
            return None
        example = _without_signs(example)
        self.count(raw, _CALL_KEYS.union(item.__struct_fields__))
        self.count(item.expected, _EXPECTED_KEYS, "expected.")
        self.count(example, frozenset(FIELDS), "expected.answer_example.")
        for name in _SCORED_FIELDS:
            if name not in example:
                self._without.setdefault(name, []).append(str(item.id))
        return JsonQuestion(
            row_id=str(item.id),
            question=item.question,
            expected=example,
            output=self.text(item.output, f"{place}.output"),
            contexts=self.contexts(item, place) or (),
        )

    def text(self, value: object, place: str) -> str | None:
        """The raw text of the model; anything else fails as not JSON and is reported."""
        if value is None or isinstance(value, str):
            return value
        self.wrong(place, kind_of(value), "text", "fails_as_not_json")
        return None

    def contexts(self, row: Output, place: str) -> tuple[Context, ...] | None:
        """The contexts that can be used, ``None`` where the row has none of its own."""
        key = "context" if row.context is not None else "contexts"
        listed = getattr(row, key)
        if listed is None:
            return None
        if row.context is not None and row.contexts is not None:
            self._unknown["contexts"] += 1  # beside "context" it is not read
        contexts = []
        for position, raw in enumerate(listed):
            context = self.model(ContextInFile, raw, f"{place}.{key}[{position}]", "value_ignored")
            if context is not None:
                contexts.append(Context(context.source_path, context.text))
        return tuple(contexts)

    def count(self, keys: Iterable[str], readable: frozenset[str], place: str = "") -> None:
        self._unknown.update(f"{place}{key}" for key in keys if key not in readable)

    def remarks(self) -> Iterator[Problem]:
        """A warning for every key that nothing reads and every expected field not given."""
        for key, n in self._unknown.items():
            yield warning("key_unread", self.name, {"key": key, "count": n})
        for name, ids in self._without.items():
            words: dict[str, str | int] = {"field": name, "count": len(ids), "ids": some(ids)}
            yield warning("expected_field_missing", self.name, words)


def _without_signs(example: Mapping[str, Any]) -> dict[str, Any]:
    """Return the expected fields; a dash or the like expects nothing, as a field and as an item."""
    return {
        name: [item for item in value if not is_blank_sign(item)]
        if isinstance(value, list)
        else value
        for name, value in example.items()
        if not is_blank_sign(value)
    }


def some(ids: Sequence[str]) -> str:
    """The first ids, with a sign that there are more."""
    return ", ".join(ids[:SHOWN_IDS]) + (", ..." if len(ids) > SHOWN_IDS else "")


class JsonAnswerSet(Struct, frozen=True):
    """Questions with their outputs in order, their provenance, and the problems."""

    questions: tuple[JsonQuestion, ...]
    provenance: Mapping[str, str]
    problems: tuple[Problem, ...] = ()


class JsonQuestionSet(Struct, frozen=True):
    """A file of questions with their expected answers, and its problems.

    ``raw`` holds the entries of the ``questions`` as the file has them, ``top`` the fields at
    its top. ``version`` names the set by its content (``eval_sets.version``), ``hashes`` are
    the SHA-1 that may be given for it: of its canonical JSON, or of the file.
    """

    questions: tuple[JsonQuestion, ...]
    raw: tuple[Mapping[str, Any], ...]
    top: Mapping[str, object]
    version: str
    hashes: frozenset[str]
    problems: tuple[Problem, ...] = ()


def read(name: str, data: bytes) -> JsonAnswerSet:
    """The set in one file: provenance fields and a list of items with their outputs."""
    question_set = read_questions(name, data, expected="json_answers_file")
    both = zip(question_set.questions, question_set.raw, strict=True)
    without = _unanswered(name, [question.row_id for question, raw in both if "output" not in raw])
    return JsonAnswerSet(
        question_set.questions,
        _provenance(name, question_set.top),
        (*question_set.problems, *without),
    )


def read_questions(
    name: str, data: bytes, expected: str = "json_questions_file"
) -> JsonQuestionSet:
    """The questions in a file: a list, or an object with one under ``items`` or ``questions``."""
    reading = ItemReading(name)
    document = reading.document(data, expected)
    top = document if isinstance(document, dict) else {}
    place = "items" if "items" in top else "questions" if "questions" in top else ""
    listed = top.get(place) if top else document
    if not isinstance(listed, list):
        raise ImportRefused(unknown_format(name, document, expected))
    reading.count(top, _TOP_KEYS)
    entries: dict[str, tuple[JsonQuestion, Mapping[str, Any]]] = {}
    for position, raw in enumerate(listed):
        where = f"{place}[{position}]"
        question = reading.item(raw, where)
        if question is not None and question.row_id in entries:
            words = {"place": f"{where}.id", "id": question.row_id}
            reading.error("item_id_repeated", words)
        elif question is not None:
            entries[question.row_id] = question, raw
    if not entries:
        raise ImportRefused(error("no_queries", name), *reading.problems)
    version = json_answers.eval_set_version(PurePath(name).stem, listed)
    return JsonQuestionSet(
        questions=tuple(question for question, _ in entries.values()),
        raw=tuple(raw for _, raw in entries.values()),
        top=_top(top),
        version=version,
        hashes=frozenset(
            {version.rpartition("@")[2], sha1(data, usedforsecurity=False).hexdigest()}
        ),
        problems=(*reading.problems, *reading.remarks()),
    )


def join(
    questions_name: str,
    questions_data: bytes,
    outputs_name: str,
    outputs: BinaryIO,
    provenance: Mapping[str, object] | None = None,
) -> JsonAnswerSet:
    """The questions of one file with the outputs of another, joined by id.

    The outputs are JSON Lines of id, output and, where the contexts differ from the question's,
    context. A question without an output fails as not JSON. The provenance stands at the
    top of the questions, in a line of the outputs that has no id, or in `provenance`; a
    later one of these counts. Raises `ImportRefused` too where the outputs were made for
    another set of questions.
    """
    question_set = read_questions(questions_name, questions_data)
    reading = ItemReading(outputs_name)
    questions = {q.row_id: replace(q, output=None) for q in question_set.questions}
    fields: dict[str, object] = {}
    answered: dict[str, JsonQuestion] = {}
    for line in read_lines(outputs_name, outputs):
        if isinstance(line, Problem):
            reading.problems.append(line)
            continue
        if "id" not in line.value and {*PROVENANCE, "provenance"} & line.value.keys():
            fields |= _top(line.value)
            reading.count(line.value, _TOP_KEYS)
            continue
        row = line.row(Output)
        reading.problems += line.problems
        if row is None:
            continue
        row_id = str(row.id)
        if row_id in answered or row_id not in questions:
            code = "line_id_repeated" if row_id in answered else "line_id_unknown"
            reading.error(code, {"id": row_id}, line=line.number)
            continue
        reading.count(line.value, _CALL_KEYS.union(row.__struct_fields__))
        row_contexts = reading.contexts(row, row_id)
        contexts = questions[row_id].contexts if row_contexts is None else row_contexts
        output = reading.text(row.output, f"{row_id}.output")
        answered[row_id] = replace(questions[row_id], output=output, contexts=contexts)
    without = [row_id for row_id in questions if row_id not in answered]
    merged = _provenance(outputs_name, {**question_set.top, **fields, **(provenance or {})})
    version = merged["eval_set_version"]
    if version.rpartition("@")[2].lower() not in question_set.hashes:
        words = {"stated": version, "questions": questions_name, "own": question_set.version}
        raise ImportRefused(error("other_eval_set", outputs_name, words))
    problems = [*question_set.problems, *reading.problems, *_unanswered(outputs_name, without)]
    all_questions = tuple((questions | answered).values())
    return JsonAnswerSet(all_questions, merged, (*problems, *reading.remarks()))


def read_subset(name: str, data: bytes) -> tuple[str, ...]:
    """The ids of a dev set: a list of ids or of objects with an id, or one under ``ids``."""
    document, _ = load(name, data, expected="subset_file")
    listed, keys = document, ("ids", "items", "questions")
    if isinstance(document, dict):
        listed = next((document[key] for key in keys if key in document), None)
    rows = listed if isinstance(listed, list) else []
    ids = [raw.get("id") if isinstance(raw, dict) else raw for raw in rows]
    usable = [i for i in ids if isinstance(i, str | int) and not isinstance(i, bool)]
    if not usable or len(usable) < len(ids):
        raise ImportRefused(unknown_format(name, document, "subset_file"))
    return tuple(dict.fromkeys(map(str, usable)))


def _top(document: Mapping[str, Any]) -> dict[str, object]:
    inner = document.get("provenance")
    return {**(inner if isinstance(inner, dict) else {}), **document}


def _unanswered(name: str, ids: Sequence[str]) -> Iterator[Problem]:
    if ids:
        yield warning("answers_missing", name, {"count": len(ids), "ids": some(ids)})


def _provenance(name: str, fields: Mapping[str, object]) -> dict[str, str]:
    filled = {name: value for name, value in fields.items() if not is_blank_sign(value)}
    stated_fields = stated_provenance(filled)
    wrong = [
        error(f"no_hash_{field}", name, {"found": stated_fields[field]})
        for field in no_hashes(stated_fields)
    ]
    missing = missing_provenance(stated_fields)
    if missing:
        either = " / ".join(MODEL_PARTS)
        names = ", ".join(either if name in MODEL_PARTS else name for name in missing)
        wrong.insert(0, error("provenance_missing", name, {"names": names}))
    if wrong:
        raise ImportRefused(*wrong)
    return stated_fields
