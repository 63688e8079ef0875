"""JSON files as plain values that every database can keep."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)
from pydantic_core import ErrorDetails

from webapp.importers.runs.prices import is_blank_sign, said, says_nothing
from webapp.importers.runs.problems import UnreadableFile, error
from webapp.records import LARGEST_INTEGER, Problem

MAX_BYTES = 64 * 2**20
MAX_DEPTH = 64
_LONGEST_INTEGER = 30
"""Digits; longer integers are mistakes, and slow to convert."""

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_SIGNATURES = (
    ((b"\xff\xfe", b"\xfe\xff"), "utf16"),
    ((b"PK\x03\x04", b"\xd0\xcf\x11\xe0"), "archive"),
    ((b"%PDF",), "pdf"),
    ((b"\x89PNG", b"\xff\xd8\xff", b"GIF8"), "image"),
)


def load(
    name: str,
    data: bytes,
    *,
    expected: str,
    max_bytes: int = MAX_BYTES,
) -> tuple[object, tuple[Problem, ...]]:
    """The JSON value in `data`, and a problem for its impossible numbers (now null).

    Texts come without NUL and lone surrogates, which databases refuse; else as they are.
    `expected` is the catalogue's word for the expected kind of file. Raises `UnreadableFile`
    for other encodings, broken JSON, and files beyond the limits.
    """
    if len(data) > max_bytes:
        sizes = {"megabytes": math.ceil(len(data) / 2**20), "limit": max_bytes // 2**20}
        raise UnreadableFile(error("file_too_large", name, sizes))
    value = _parsed(name, _decoded(name, data, expected), expected)
    if _is_deeper(value, MAX_DEPTH):
        raise UnreadableFile(error("nested_too_deep", name, {"limit": MAX_DEPTH}))
    places: list[str] = []
    value = _storable(value, "", places)
    return value, tuple(_no_number(name, place) for place in places)


def storable_text(text: str) -> str:
    """`text` without NUL and lone surrogates."""
    if text.isascii() and "\x00" not in text:
        return text  # most are, and a pattern costs ten times as much
    return _UNSTORABLE.sub("", text)


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


def _parsed(name: str, text: str, expected: str) -> object:
    try:
        return json.loads(text, parse_int=_integer)
    except RecursionError as wrong:
        raise UnreadableFile(error("nested_too_deep", name, {"limit": MAX_DEPTH})) from wrong
    except json.JSONDecodeError as wrong:
        kind = _other_than_json(text)
        if kind:
            looks = {"found": kind, "expected": expected}
            raise UnreadableFile(error("not_json", name, looks)) from wrong
        stop = error("json_broken", name, {"column": wrong.colno}, line=wrong.lineno)
        raise UnreadableFile(stop) from wrong


def _other_than_json(text: str) -> str | None:
    start = text.lstrip()
    first_line = start.partition("\n")[0]
    if start.startswith("<"):
        return "html"
    if not start.startswith(("{", "[")):
        return "csv" if re.search(r"[,;\t]", first_line) else "plain_text"
    return "json_lines" if _is_object(first_line) else None


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line, parse_int=_integer), dict)
    except (ValueError, RecursionError):
        return False


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= _LONGEST_INTEGER else math.inf


def _is_deeper(value: object, limit: int) -> bool:
    level = [value]
    for _ in range(limit + 1):
        if not level:
            return False
        level = [inner for outer in level for inner in _inside(outer)]
    return bool(level)


def _inside(value: object) -> Iterator[object]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _storable(value: object, place: str, not_numbers: list[str]) -> object:
    match value:
        case str():
            return storable_text(value)
        case dict():
            return {
                storable_text(key): _storable(inner, _joined(place, key), not_numbers)
                for key, inner in value.items()
            }
        case list():
            return [_storable(v, f"{place}[{i}]", not_numbers) for i, v in enumerate(value)]
        case float() if not math.isfinite(value):
            not_numbers.append(place)
            return None
        case _:
            return value


def _joined(place: str, key: str) -> str:
    key = storable_text(key)
    return f"{place}.{key}" if place else key


def _no_number(name: str, place: str) -> Problem:
    return error("number_not_finite", name, {"place": place, "outcome": "value_ignored"})


Whole = Annotated[int, Field(ge=0, le=LARGEST_INTEGER, description="number_in_range")]
"""A count, or the number of a question."""

Words = Annotated[str, Field(pattern=r"\S", description="text")]
"""A text that is not empty."""


def _saying(text: str) -> str:
    if not said(text):
        raise ValueError(text)
    return text


SaidWords = Annotated[str, AfterValidator(_saying), Field(description="text")]
"""A text with content: neither empty nor a dash or the like."""

Unsaid = BeforeValidator(lambda value: None if says_nothing(value) else value)
"""Turns a blank value ("-", "tidak ada" and the like) into null."""

Unanswered = BeforeValidator(lambda value: None if is_blank_sign(value) else value)
"""Turns a blank sign into null in a field that may hold a whole answer."""

_EXPECTED = {
    "int_type": "number_in_range",
    "greater_than_equal": "number_in_range",
    "less_than_equal": "number_in_range",
    "float_type": "number",
    "string_type": "text",
    "string_pattern_mismatch": "text",
    "bool_type": "true_or_false",
    "list_type": "list",
    "dict_type": "object",
    "model_type": "object",
}
"""Pydantic's type of error to the catalogue's word for the expected value."""


class FromFile(BaseModel):
    """An object as a file has it: JSON types as they are, unknown keys kept."""

    # Built when a file is read, which a server that starts need not wait for.
    model_config = ConfigDict(extra="allow", strict=True, frozen=True, defer_build=True)


class FromPerson(FromFile):
    """An object that a person types: an optional blank value (see `says_nothing`) is null."""

    @model_validator(mode="before")
    @classmethod
    def _without_blanks(cls, raw: object) -> object:
        if not isinstance(raw, dict):
            return raw
        optional = {name for name, field in cls.model_fields.items() if not field.is_required()}
        return {
            key: None if key in optional and says_nothing(value) else value
            for key, value in raw.items()
        }


Model = TypeVar("Model", bound=FromFile)


def read_object(
    kind: type[Model],
    raw: object,
    *,
    file: str,
    place: str,
    outcomes: Mapping[str, str],
) -> tuple[Model | None, tuple[Problem, ...]]:
    """The model in `raw` with every problem met, or no model when a required field is wrong.

    An optional field that is wrong is left out of the model. `outcomes` names, by field,
    the catalogue's word for what a wrong value costs ("" for the object as a whole and its
    required fields); any other value is ignored.
    """
    try:
        return kind.model_validate(raw), ()
    except ValidationError as refusal:
        wrong = _first_error_by_field(refusal)
    required = {name for name, field in kind.model_fields.items() if field.is_required()}
    lost = "" in wrong or bool(required & set(wrong))
    problems = tuple(
        _problem(
            kind,
            detail,
            file=file,
            place=f"{place}.{field}".strip("."),
            query_id=query_id_of(raw),
            outcome=outcomes[""] if lost else outcomes.get(field, "value_ignored"),
        )
        for field, detail in wrong.items()
    )
    if lost or not isinstance(raw, dict):
        return None, problems
    return kind.model_validate({k: v for k, v in raw.items() if k not in wrong}), problems


def _first_error_by_field(refusal: ValidationError) -> dict[str, ErrorDetails]:
    details = refusal.errors(include_url=False, include_context=False)
    return {str(d["loc"][0]) if d["loc"] else "": d for d in reversed(details)}


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
            return "text" if said(value) else "empty_text"
        case list():
            return "list"
        case _:
            return "object"


def query_id_of(raw: object) -> int | None:
    """The number of the question that an entry is about, if it has a usable one."""
    number = raw.get("query_id", raw.get("id")) if isinstance(raw, dict) else None
    if not isinstance(number, int) or isinstance(number, bool):
        return None
    return number if 0 <= number <= LARGEST_INTEGER else None


def _problem(
    kind: type[FromFile],
    detail: ErrorDetails,
    *,
    file: str,
    place: str,
    query_id: int | None,
    outcome: str,
) -> Problem:
    words = {"place": place, "outcome": outcome}
    if detail["type"] == "missing":
        words["expected"] = kind.model_fields[str(detail["loc"][0])].description or "other_value"
        return error("value_missing", file, words, query_id=query_id)
    field = kind.model_fields.get(str(detail["loc"][0])) if detail["loc"] else None
    described = field.description if field else None
    words["expected"] = described or _EXPECTED.get(detail["type"], "other_value")
    words["found"] = kind_of(detail["input"])
    return error("value_wrong", file, words, query_id=query_id)
