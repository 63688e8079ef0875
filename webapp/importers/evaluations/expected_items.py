"""One question with its expected JSON answer, one output of a model: read and checked.

A key that is not read is counted and reported once for the whole file: a misspelt key would
otherwise cost points without a warning.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any

from msgspec import Struct, field
from pydantic import Field

from webapp.importers.evaluations.cited_answers import Identity
from webapp.importers.runs.blanks import is_blank_sign
from webapp.importers.runs.json_values import FromFile, Unsaid, kind_of, read_object
from webapp.importers.runs.problems import error, warning
from webapp.metrics.evaluations.json_answers import Context, JsonQuestion
from webapp.metrics.evaluations.json_outputs import FIELDS
from webapp.metrics.runs.provenance import PROVENANCE
from webapp.records import Problem

SHOWN_IDS = 10
_SCORED_FIELDS = tuple(name for name in FIELDS if name != "source_map")
_EXPECTED_KEYS = frozenset({"answer_example", "source_map"})
_CALL_KEYS = frozenset({"usage", "latency_ms", "tries", "model"})
"""The keys that ``relevansi answer`` writes beside an output."""

_TOP_KEYS = frozenset(
    {
        *PROVENANCE,
        *("provenance", "items", "questions"),
        *("endpoint", "retriever", "temperature", "max_tokens"),
    }
)

Contexts = Annotated[list[dict[str, Any]] | None, Unsaid]


class ExpectedItemInFile(FromFile):
    """One question with its expected answer; the output is checked separately."""

    id: Identity
    expected: dict[str, Any] = Field(description="object")
    question: str = ""
    output: object = None
    context: Contexts = Field(None, description="list_of_objects")
    contexts: Contexts = Field(None, description="list_of_objects")


class Output(FromFile):
    """One line of an outputs file."""

    id: Identity
    output: object = None
    context: Contexts = Field(None, description="list_of_objects")
    contexts: Contexts = Field(None, description="list_of_objects")


class ContextInFile(FromFile):
    """One text that the model was given."""

    source_path: str = Field(description="text")
    text: str = Field(description="text")


class ItemReading(Struct):
    """One file while it is read: its problems, and the keys that are not read."""

    name: str
    problems: list[Problem] = field(default_factory=list)
    _unknown: Counter[str] = field(default_factory=Counter)
    _without: dict[str, list[str]] = field(default_factory=dict)

    def item(self, raw: object, place: str) -> JsonQuestion | None:
        """The question in `raw`, with its output if that is there."""
        outcomes = dict.fromkeys(("", *ExpectedItemInFile.model_fields), "entry_left_out")
        item, wrong = read_object(
            ExpectedItemInFile, raw, file=self.name, place=place, outcomes=outcomes
        )
        self.problems += wrong
        if item is None:
            return None
        example = item.expected.get("answer_example")
        if not isinstance(example, dict):
            words = {"place": f"{place}.expected.answer_example", "found": kind_of(example)}
            words |= {"expected": "object", "outcome": "entry_left_out"}
            self.problems.append(error("value_wrong", self.name, words))
            return None
        example = _stated(example)
        self._look_over(item, example)
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
        words = {"place": place, "found": kind_of(value), "expected": "text"}
        words["outcome"] = "fails_as_not_json"
        self.problems.append(error("value_wrong", self.name, words))
        return None

    def contexts(self, row: ExpectedItemInFile | Output, place: str) -> tuple[Context, ...] | None:
        """The contexts that can be used, ``None`` where the row has none of its own."""
        key = "context" if row.context is not None else "contexts"
        listed = getattr(row, key)
        if listed is None:
            return None
        if row.context is not None and row.contexts is not None:
            self._unknown["contexts"] += 1  # beside "context" it is not read
        return tuple(self._contexts(listed, f"{place}.{key}"))

    def unread(self, row: FromFile) -> None:
        """Count the keys of a row that nothing reads."""
        self._count("", row.model_extra or {}, _CALL_KEYS)

    def unread_at_top(self, document: Mapping[str, object]) -> None:
        """Count the keys at the top of the file that nothing reads."""
        self._count("", document, _TOP_KEYS)

    def remarks(self) -> Iterator[Problem]:
        """A warning for every key that nothing reads and every expected field not given."""
        for key, n in self._unknown.items():
            yield warning("key_unread", self.name, {"key": key, "count": n})
        for name, ids in self._without.items():
            words: dict[str, str | int] = {"field": name, "count": len(ids), "ids": some(ids)}
            yield warning("expected_field_missing", self.name, words)

    def _look_over(self, item: ExpectedItemInFile, example: Mapping[str, Any]) -> None:
        self.unread(item)
        self._count("expected.", item.expected, _EXPECTED_KEYS)
        self._count("expected.answer_example.", example, frozenset(FIELDS))
        for name in _SCORED_FIELDS:
            if name not in example:
                self._without.setdefault(name, []).append(str(item.id))

    def _contexts(self, listed: Iterable[object], place: str) -> Iterator[Context]:
        for position, raw in enumerate(listed):
            known, wrong = read_object(
                ContextInFile,
                raw,
                file=self.name,
                place=f"{place}[{position}]",
                outcomes={"": "value_ignored"},
            )
            self.problems += wrong
            if known is not None:
                yield Context(known.source_path, known.text)

    def _count(self, place: str, keys: Iterable[str], known: frozenset[str]) -> None:
        self._unknown.update(f"{place}{key}" for key in keys if key not in known)


def _stated(example: Mapping[str, Any]) -> dict[str, Any]:
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
