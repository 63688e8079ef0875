"""How a function answers an address for programs: its inputs checked, its result sent.

A function says by its types what comes in and out: its parameters are the parts of the address,
``query`` (a struct of the parameters behind "?"), ``body`` (a struct, read from JSON) or ``form``
(a struct, read from a form with ``files``). What it returns is sent as JSON, or is a file or a
response already. The same types are the OpenAPI document, so that the two cannot part.
"""

from __future__ import annotations

import json as stdlib_json
from collections.abc import Callable, Mapping
from functools import partial
from inspect import cleandoc
from typing import Any, TypeVar, get_type_hints

import msgspec
from flask import Blueprint, Response, request
from msgspec import Struct, json
from msgspec.inspect import ListType, StructType, multi_type_info
from werkzeug.datastructures import MultiDict

from relevansi.failures import Refused
from relevansi.i18n import mark
from relevansi.records import ExportedFile
from relevansi.services.people.tokens import Scope
from relevansi.web.frame import access
from relevansi.web.frame.htmx import attached

View = TypeVar("View", bound=Callable[..., Any])
JSON = "application/json"
blueprint = Blueprint("api", __name__, url_prefix="/api/v1")


class InvalidInput(Refused):
    """A parameter, a field or the body of a request is not of its type; ``problems`` has where."""

    message = mark("This request is not as its description says")
    remedy = mark("Mend what is named: %(name)s")
    status = 422

    def __init__(self, place: str, why: str) -> None:
        super().__init__(f"{place}: {why}")
        self.problems = [{"place": place, "message": why}]


class Operation(Struct, frozen=True):
    """One address with its verb, as a function declares it.

    ``inputs`` are the types of the function's parameters by name, ``output`` the type of its
    result, sent with ``status`` in one of the ``media``, or as a job where it ``may_be_job``. A
    token needs one of the ``scopes``. ``about`` is the function's docstring.
    """

    name: str
    rule: str
    method: str
    scopes: tuple[Scope, ...]
    inputs: Mapping[str, Any]
    output: Any
    media: tuple[str, ...]
    status: int
    may_be_job: bool
    about: str


OPERATIONS: dict[str, Operation] = {}
"""Every operation by the name of its function."""


def operation(
    rule: str,
    *scopes: Scope,
    method: str = "GET",
    status: int = 200,
    media: tuple[str, ...] = (JSON,),
    may_be_job: bool = False,
) -> Callable[[View], View]:
    """Register a function as the answer at `rule`, for tokens with one of the `scopes`.

    It answers with `status`, in one of the `media`, or with 202 where it returns a job.
    """

    def register(view: View) -> View:
        inputs = get_type_hints(view)
        output = inputs.pop("return")
        name, about = view.__name__, cleandoc(view.__doc__ or "")
        OPERATIONS[name] = Operation(
            name, rule, method, scopes, inputs, output, media, status, may_be_job, about
        )
        answer = partial(_answer, OPERATIONS[name], view)
        blueprint.add_url_rule(rule, name, answer, methods=[method])
        return view

    return register


def _answer(operation: Operation, view: Callable[..., Any], **arguments: Any) -> Response:
    """Return the response of a view, which gets the parts of the address and its inputs."""
    access.need_scope(*operation.scopes)
    if request.args and "query" not in operation.inputs:
        raise InvalidInput("query", "there are no parameters here")
    if query_type := operation.inputs.get("query"):
        arguments["query"] = _struct_of(query_type, request.args, "query")
    if form_type := operation.inputs.get("form"):
        arguments["form"] = _struct_of(form_type, request.form, "form")
    if body_type := operation.inputs.get("body"):
        arguments["body"] = _body(body_type)
    result = view(**arguments)
    if isinstance(result, Response):
        return result
    if isinstance(result, ExportedFile):
        return attached(result.data, result.media_type, result.name)
    if result is None:
        return Response(status=204)
    if operation.may_be_job and hasattr(result, "address"):
        headers = {"Location": result.address}
        return Response(json.encode(result), 202, headers, content_type=JSON)
    return Response(json.encode(result), operation.status, content_type=JSON)


def _struct_of(kind: Any, pairs: MultiDict[str, str], place: str) -> Any:
    """Return the struct of the `pairs` of a request; where a field is a list, names may repeat."""
    [info] = multi_type_info([kind])
    assert isinstance(info, StructType)
    lists = {field.encode_name for field in info.fields if isinstance(field.type, ListType)}
    values: dict[str, Any] = {}
    for name, texts in pairs.lists():
        if name not in lists and len(texts) > 1:
            raise InvalidInput(place, f"{name} is there more than once")
        values[name] = texts if name in lists else texts[0]
    try:
        return msgspec.convert(values, kind, strict=False)
    except msgspec.ValidationError as error:
        raise InvalidInput(place, str(error)) from None


def _body(kind: Any) -> Any:
    """Return the struct in the body of the request; 1.0 is the whole number 1, as JSON has it."""
    try:
        body = decode_json(request.get_data(), "body")
        if isinstance(body, dict):
            body = {name: _whole_number(value) for name, value in body.items()}
        return msgspec.convert(body, kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidInput("body", str(error)) from None


def _whole_number(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def decode_json(data: bytes | str, place: str) -> Any:
    """Return a JSON value; raises ``InvalidInput`` where a name is twice in an object.

    Which of two values is meant nobody can know, and readers of JSON do not agree.
    """

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        values = dict(pairs)
        if len(values) < len(pairs):
            raise InvalidInput(place, "a name is there more than once")
        return values

    value = json.decode(data)  # stricter than Python's own
    stdlib_json.loads(data, object_pairs_hook=members)
    return value
