"""Objects of a JSON file read into pydantic models, their errors turned into our problems."""

from __future__ import annotations

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
from pydantic_core import ErrorDetails

from webapp.importers.runs.blanks import is_blank_sign, said, says_nothing
from webapp.importers.runs.problems import error
from webapp.records import LARGEST_INTEGER, Problem

Whole = Annotated[int, Field(ge=0, le=LARGEST_INTEGER, description="number_in_range")]
"""A count, or the number of a question."""

Words = Annotated[str, Field(pattern=r"\S", description="text")]
"""A text that is not empty."""


def _saying(text: str) -> str:
    """Return `text`; refuse one that is only a blank sign."""
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
    """Pydantic's first error by field name; "" is the object as a whole."""
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
