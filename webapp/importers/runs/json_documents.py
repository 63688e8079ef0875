"""JSON files as plain values that every database can keep."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
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
    places: list[str] = []
    text = _decoded(name, data, expected)
    try:
        value = _storable(json.loads(text, parse_int=_integer), "", places)
    except RecursionError as wrong:
        raise UnreadableFile(error("nested_too_deep", name, {"limit": MAX_DEPTH})) from wrong
    except json.JSONDecodeError as wrong:
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


def _other_than_json(text: str) -> str | None:
    start = text.lstrip()
    first_line = start.partition("\n")[0]
    if start.startswith("<"):
        return "html"
    if not start.startswith(("{", "[")):
        return "csv" if re.search(r"[,;\t]", first_line) else "plain_text"
    try:
        is_object = isinstance(json.loads(first_line, parse_int=_integer), dict)
    except (ValueError, RecursionError):
        return None
    return "json_lines" if is_object else None


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= _LONGEST_INTEGER else math.inf


def _storable(value: object, place: str, not_numbers: list[str], depth: int = 0) -> object:
    if depth > MAX_DEPTH:
        raise RecursionError
    match value:
        case str():
            return storable_text(value)
        case dict():
            named = {storable_text(key): inner for key, inner in value.items()}
            return {
                key: _storable(inner, f"{place}.{key}".lstrip("."), not_numbers, depth + 1)
                for key, inner in named.items()
            }
        case list():
            return [
                _storable(inner, f"{place}[{n}]", not_numbers, depth + 1)
                for n, inner in enumerate(value)
            ]
        case float() if not math.isfinite(value):
            not_numbers.append(place)
            return None
        case _:
            return value


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
        details = refusal.errors(include_url=False, include_context=False)
    wrong = {str(detail["loc"][0]) if detail["loc"] else "": detail for detail in reversed(details)}
    required = {name for name, field in kind.model_fields.items() if field.is_required()}
    lost = "" in wrong or bool(required & set(wrong))
    problems = []
    for name, detail in wrong.items():
        field = kind.model_fields.get(name)
        described = field.description if field else None
        words = {
            "place": f"{place}.{name}".strip("."),
            "outcome": outcomes[""] if lost else outcomes.get(name, "value_ignored"),
            "expected": described or _EXPECTED.get(detail["type"], "other_value"),
        }
        if detail["type"] != "missing":
            words["found"] = kind_of(detail["input"])
        code = "value_missing" if detail["type"] == "missing" else "value_wrong"
        problems.append(error(code, file, words, query_id=_query_id_of(raw)))
    if lost or not isinstance(raw, dict):
        return None, tuple(problems)
    kept = {key: value for key, value in raw.items() if key not in wrong}
    return kind.model_validate(kept), tuple(problems)


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


def _query_id_of(raw: object) -> int | None:
    number = raw.get("query_id", raw.get("id")) if isinstance(raw, dict) else None
    if not isinstance(number, int) or isinstance(number, bool):
        return None
    return number if 0 <= number <= LARGEST_INTEGER else None
