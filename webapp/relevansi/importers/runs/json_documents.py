"""JSON files as plain values that every database can keep."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from json import JSONDecodeError, JSONDecoder
from typing import Annotated, Any, TypeVar

from msgspec import Meta, Struct, ValidationError, convert, field
from msgspec.structs import FieldInfo, fields

from relevansi import json_text
from relevansi.importers.runs.prices import content_of, is_placeholder
from relevansi.importers.runs.problems import UnreadableFile, error
from relevansi.records import LARGEST_INTEGER, Problem

MAX_BYTES = 64 * 2**20
_INFINITE = JSONDecoder(parse_int=json_text.integer_or_infinite)
_SURROGATE = re.compile("[\ud800-\udfff]")
_SIGNATURES = (
    ((b"\xff\xfe", b"\xfe\xff"), "utf16"),
    ((b"PK\x03\x04", b"\xd0\xcf\x11\xe0"), "archive"),
    ((b"%PDF",), "pdf"),
    ((b"\x89PNG", b"\xff\xd8\xff", b"GIF8"), "image"),
)


def load(name: str, data: bytes, *, expected: str) -> tuple[object, tuple[Problem, ...]]:
    """The JSON value in `data`, and a problem for its impossible numbers (now null).

    Texts come without NUL and lone surrogates, which databases refuse; else as they are.
    `expected` is the catalogue's word for the expected kind of file. Raises `UnreadableFile`
    for other encodings, broken JSON, and files beyond the limits.
    """
    if len(data) > MAX_BYTES:
        sizes = {"megabytes": math.ceil(len(data) / 2**20), "limit": MAX_BYTES // 2**20}
        raise UnreadableFile(error("file_too_large", name, sizes))
    places: list[str] = []
    text = _decoded(name, data, expected)
    try:
        value = _storable(json_text.decode(text, _INFINITE), "", places)
    except RecursionError as wrong:
        limit = {"limit": json_text.MAX_DEPTH}
        raise UnreadableFile(error("nested_too_deep", name, limit)) from wrong
    except json_text.RepeatedKey as repeated:
        key = {"place": f"“{repeated.key}”"}
        raise UnreadableFile(error("json_key_repeated", name, key, line=repeated.line)) from None
    except JSONDecodeError as wrong:
        kind = _other_than_json(text)
        if kind:
            looks = {"found": kind, "expected": expected}
            raise UnreadableFile(error("not_json", name, looks)) from wrong
        stop = error("json_broken", name, {"column": wrong.colno}, line=wrong.lineno)
        raise UnreadableFile(stop) from wrong
    return value, tuple(
        error("number_not_finite", name, {"place": place, "outcome": "value_ignored"})
        for place in places
    )


def storable_text(text: str) -> str:
    """`text` without NUL and lone surrogates."""
    try:
        _ = text.isascii() or text.encode()
    except UnicodeEncodeError:
        text = _SURROGATE.sub("", text)
    return text.replace("\x00", "")


def _decoded(name: str, data: bytes, expected: str) -> str:
    if not data.strip(b"\xef\xbb\xbf \t\r\n"):
        raise UnreadableFile(error("file_empty", name, {"expected": expected}))
    for starts, kind in _SIGNATURES:
        if data.startswith(starts):
            code = "not_utf8" if kind == "utf16" else "not_json"
            raise UnreadableFile(error(code, name, {"found": kind, "expected": expected}))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        kind = "binary" if b"\x00" in data[:1000] else "old_encoding"
        raise UnreadableFile(error("not_utf8", name, {"found": kind})) from wrong


def _other_than_json(text: str) -> str | None:
    start = text.lstrip()
    first_line = start.partition("\n")[0]
    if start.startswith("<"):
        return "html"
    if not start.startswith(("{", "[")):
        return "csv" if re.search(r"[,;\t]", first_line) else "plain_text"
    try:
        is_object = isinstance(json_text.decode(first_line), dict)
    except (ValueError, RecursionError):
        return None
    return "json_lines" if is_object else None


def _storable(value: object, place: str, not_numbers: list[str]) -> object:
    match value:
        case str():
            return storable_text(value)
        case dict():
            return {
                storable_text(key): _storable(inner, f"{place}.{key}".lstrip("."), not_numbers)
                for key, inner in value.items()
            }
        case list():
            listed = enumerate(value)
            return [_storable(inner, f"{place}[{n}]", not_numbers) for n, inner in listed]
        case float() if not math.isfinite(value):
            not_numbers.append(place)
            return None
        case _:
            return value


Whole = Annotated[int, Meta(ge=0, le=LARGEST_INTEGER, description="number_in_range")]
"""A count, or the number of a question."""

Words = Annotated[str, Meta(pattern=r"\S", description="text")]
"""A text that is not empty."""

SaidWords = Annotated[str, Meta(description="text"), is_placeholder]
"""A text with content: neither empty nor a dash or the like.

A function beside a type makes null of the values that it is true of: ``is_placeholder`` of "-",
"tidak ada" and the like, ``is_blank_sign`` of less where a field may hold a whole answer.
"""

_EXPECTED = {
    "int": "number_in_range",
    "float": "number",
    "str": "text",
    "bool": "true_or_false",
    "array": "list",
    "object": "object",
}
"""The first type in a message of msgspec to the catalogue's word for the expected value."""


class FromFile(Struct, frozen=True):
    """An object as a file has it, in JSON's types; keys that it does not name are left out."""


class FromPerson(FromFile, frozen=True):
    """An object that a person types: an optional blank value (see `is_placeholder`) is null."""


Model = TypeVar("Model", bound=FromFile)
Costs = Mapping[str, str] | str
"""The catalogue's words for what wrong values cost by field, or the only one (`read_object`)."""


@cache
def _fields(kind: type[FromFile]) -> Mapping[str, tuple[FieldInfo, Callable[..., object]]]:
    readers = {}
    for info in fields(kind):
        typed = issubclass(kind, FromPerson) and not info.required
        default = is_placeholder if typed else lambda _: False
        readers[info.name] = info, next(filter(callable, _marks(info)), default)
    return readers


def _marks(info: FieldInfo) -> tuple[Any, ...]:
    return getattr(info.type, "__metadata__", ())


def read_object(
    kind: type[Model],
    raw: object,
    *,
    file: str,
    place: str,
    outcomes: Costs,
    query_id: int | None = None,
) -> tuple[Model | None, tuple[Problem, ...]]:
    """The model in `raw` with every problem met, or no model when a required field is wrong.

    An optional field that is wrong is left out of the model. `outcomes` names, by field,
    the catalogue's word for what a wrong value costs ("" for the object as a whole and its
    required fields); any other value is ignored. A single word is what each of them costs: then
    there is no model when any field is wrong. The problems are of the question `query_id`, else of
    the one that `raw` is itself.
    """
    costs = {"": outcomes} if isinstance(outcomes, str) else outcomes
    readers = _fields(kind)
    values: dict[str, object] = {}
    faults = [("", "object", kind_of(raw))]
    if isinstance(raw, dict):
        for name, (_, is_blank) in readers.items():
            if name in raw:
                values[name] = None if is_blank(raw[name]) else raw[name]
        try:
            return convert(values, kind), ()
        except ValidationError:
            faults = [fault for info, _ in readers.values() for fault in _faults(info, raw, values)]
    lost = isinstance(outcomes, str) or any(
        not name or readers[name][0].required for name, _, _ in faults
    )
    problems = []
    for name, expected, found_kind in reversed(faults):
        words = {
            "place": f"{place}.{name}".strip("."),
            "outcome": costs[""] if lost else costs.get(name, "value_ignored"),
            "expected": expected,
        }
        code = "value_wrong" if found_kind else "value_missing"
        words |= {"found": found_kind} if found_kind else {}
        number = _query_id_of(raw) if query_id is None else query_id
        problems.append(error(code, file, words, query_id=number))
        values.pop(name, None)
    return None if lost else convert(values, kind), tuple(problems)


def _faults(
    info: FieldInfo, raw: Mapping[str, Any], values: Mapping[str, object]
) -> Iterator[tuple[str, str, str]]:
    """Yield the name, the expected kind and the kind found ("" for none) if the field is wrong."""
    described = next((mark.description for mark in _marks(info) if isinstance(mark, Meta)), None)
    if info.name not in raw:
        if info.required:
            yield info.name, described or "other_value", ""
        return
    try:
        convert(values[info.name], info.type)
    except ValidationError as refusal:
        kind = re.match(r"Expected `(\w+)(?!.* of length)", str(refusal))
        item = re.search(r"at `\$\[(\d+)\]`$", str(refusal))
        value = raw[info.name][int(item[1])] if item else raw[info.name]
        expected = described or _EXPECTED.get(kind[1] if kind else "", "other_value")
        yield info.name, expected, kind_of(value)


class Reading(Struct):
    """A file while it is read: its name, and what is wrong with it so far."""

    name: str
    problems: list[Problem] = field(default_factory=list)

    def document(self, data: bytes, expected: str) -> object:
        """Return the JSON value of the file; see `load`."""
        value, impossible_numbers = load(self.name, data, expected=expected)
        self.problems += impossible_numbers
        return value

    def model(
        self, kind: type[Model], raw: object, place: str, costs: Costs, query_id: int | None = None
    ) -> Model | None:
        """Return the model in `raw`; see `read_object`, whose `outcomes` are the `costs`."""
        model, problems = read_object(
            kind, raw, file=self.name, place=place, outcomes=costs, query_id=query_id
        )
        self.problems += problems
        return model

    def entries(
        self, kind: type[Model], listed: Iterable[Any], place: str, costs: Mapping[str, str]
    ) -> Iterator[tuple[str, dict[str, Any], Model]]:
        """Yield the place, the object and the model of each entry of a list, one of each number.

        Of entries with one ``query_id``, or ``id`` where the model has none, the first counts.
        """
        number = "query_id" if "query_id" in kind.__struct_fields__ else "id"
        repeated = "query_repeated" if number == "query_id" else "question_id_repeated"
        numbers = set[int]()
        for position, raw in enumerate(listed):
            where = f"{place}[{position}]"
            entry = self.model(kind, raw, where, costs)
            if entry is None:
                continue
            query_id = getattr(entry, number)
            if query_id in numbers:
                self.error(repeated, {"place": f"{where}.{number}"}, query_id=query_id)
            else:
                numbers.add(query_id)
                yield where, raw, entry

    def error(self, code: str, details: Mapping[str, str | int], **place: int | None) -> None:
        """Add a problem; `place` is its ``query_id`` or ``line``."""
        self.problems.append(error(code, self.name, details, **place))

    def wrong(
        self, place: str, actual: str, expected: str, outcome: str, query_id: int | None = None
    ) -> None:
        """Add the problem that `place` has the `actual` value instead of an `expected` one."""
        words = {"place": place, "found": actual, "expected": expected, "outcome": outcome}
        self.error("value_wrong", words, query_id=query_id)


def kind_of(value: object) -> str:
    """The catalogue's word for a JSON value; a number is written as it is."""
    match value:
        case None:
            return "null"
        case bool():
            return "true_or_false"
        case int() | float():
            return str(value)
        case str():
            return "text" if content_of(value) else "empty_text"
        case list():
            return "list"
        case _:
            return "object"


def _query_id_of(raw: object) -> int | None:
    number = raw.get("query_id", raw.get("id")) if isinstance(raw, dict) else None
    return number if type(number) is int and 0 <= number <= LARGEST_INTEGER else None
