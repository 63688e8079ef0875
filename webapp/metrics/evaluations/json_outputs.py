"""Whether a model's raw text is the one JSON object that was asked for, and if not, why."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct

CLASSES = ("target_audience", "main_topic", "sub_topic")
LISTS = ("detailed_description", "predicted_questions", "source_map")
FIELDS = (
    *CLASSES,
    "detailed_description",
    "original_evidence",
    "source_map",
    "predicted_questions",
)
"""The seven fields of an output."""

MOST_ITEMS = {"detailed_description": 8, "predicted_questions": 5}
"""How many items a list may have; more is a warning."""

_FENCE = "```"
_CUT_OFF = re.compile(r"(?:-|\.|[eE][+-]?)?")
_LONGEST_ESCAPE = 6
_LITERALS = ("true", "false", "null")
_TRIES = 20
"""Opening braces tried in text around an object; the search stays linear."""


class SchemaFailure(StrEnum):
    """Why an output scores 0."""

    NOT_JSON = "not_json"
    TRUNCATED = "truncated"
    CODE_FENCE = "code_fence"
    EXTRA_TEXT = "extra_text"
    NOT_AN_OBJECT = "not_an_object"
    MISSING_FIELD = "missing_field"
    WRONG_TYPE = "wrong_type"


class ReadOutput(Struct, frozen=True):
    """The fields of an output, or the reason why there are none, with the field it concerns.

    ``field`` names the first field that is missing or of the wrong type.
    """

    fields: Mapping[str, Any] | None
    reason: SchemaFailure | None = None
    field: str | None = None


def read_output(output: str | None) -> ReadOutput:
    """The seven fields in `output`, the whole of it, trimmed, being one JSON object.

    In this order: no JSON at all, cut off, in a code fence or with text around it; another
    value than an object; a field missing; a list that is none or a text that is none.

    >>> read_output('{"main_topic": "rumah"}').field
    'target_audience'
    >>> str(read_output('{"main_topic": "ru').reason)
    'truncated'
    """
    text = (output or "").strip()
    try:
        value = json.loads(text, parse_int=float, parse_constant=_refuse)
    except (ValueError, RecursionError) as wrong:
        return ReadOutput(None, why_no_json(text, wrong))
    if not isinstance(value, dict):
        return ReadOutput(None, SchemaFailure.NOT_AN_OBJECT)
    return _checked(value)


def _checked(value: dict[str, Any]) -> ReadOutput:
    for name in FIELDS:
        if name not in value:
            return ReadOutput(None, SchemaFailure.MISSING_FIELD, name)
    for name in FIELDS:
        if not isinstance(value[name], list if name in LISTS else str):
            return ReadOutput(None, SchemaFailure.WRONG_TYPE, name)
    return ReadOutput({name: value[name] for name in FIELDS})


def why_no_json(text: str, wrong: Exception) -> SchemaFailure:
    """Why reading `text` as JSON failed with `wrong`: fenced, cut off, surrounded, or none."""
    if text.startswith(_FENCE):
        return SchemaFailure.CODE_FENCE
    if text.startswith(("{", "[")) and _is_cut_off(text, wrong):
        return SchemaFailure.TRUNCATED
    return SchemaFailure.EXTRA_TEXT if _holds_object(text) else SchemaFailure.NOT_JSON


def _is_cut_off(text: str, wrong: Exception) -> bool:
    """Whether reading failed only because the text ends: nothing else is wrong before."""
    if not isinstance(wrong, json.JSONDecodeError) or wrong.msg == "Extra data":
        return False
    if wrong.msg.startswith("Unterminated string"):
        return True
    rest = text[wrong.pos :]
    if wrong.msg.startswith("Invalid \\"):
        return len(rest) <= _LONGEST_ESCAPE and not rest.endswith(("}", "]"))
    if _CUT_OFF.fullmatch(rest):
        return True
    return any(word.startswith(rest) for word in _LITERALS)


def _holds_object(text: str) -> bool:
    """Whether `text` contains a whole object."""
    decoder = json.JSONDecoder(parse_int=float, parse_constant=_refuse)
    start = text.find("{")
    for _ in range(_TRIES):
        if start < 0:
            return False
        try:
            decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            start = text.find("{", start + 1)
        else:
            return True
    return False


def _refuse(constant: str) -> None:
    """NaN and Infinity, which Python reads but JSON does not have."""
    raise ValueError(constant)
