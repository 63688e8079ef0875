"""From the function of an address for programs to its checks, its answer and its description.

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


class Unfit(Refused):
    """A parameter, a field or the body of a request is not of its type; ``problems`` has where."""

    message = mark("This request is not as its description says")
    remedy = mark("Mend what is named: %(name)s")
    status = 422

    def __init__(self, place: str, why: str) -> None:
        super().__init__(f"{place}: {why}")
        self.problems = [{"place": place, "message": why}]


class Operation(Struct, frozen=True):
    """One address with its verb: what its function takes and returns, and who may use it."""

    name: str
    rule: str
    method: str
    scopes: tuple[Scope, ...]
    takes: Mapping[str, Any]
    gives: Any
    media: tuple[str, ...]
    status: int
    later: bool
    about: str


OPERATIONS: dict[str, Operation] = {}


def operation(
    rule: str,
    *scopes: Scope,
    method: str = "GET",
    status: int = 200,
    media: tuple[str, ...] = (JSON,),
    later: bool = False,
) -> Callable[[View], View]:
    """Register a function as the answer at `rule`, for tokens with one of the `scopes`.

    It answers with `status`, in one of the `media`, or with 202 if that comes `later`, by a job.
    """

    def registered(view: View) -> View:
        takes = get_type_hints(view)
        gives = takes.pop("return")
        name, about = view.__name__, cleandoc(view.__doc__ or "")
        declared = Operation(name, rule, method, scopes, takes, gives, media, status, later, about)
        OPERATIONS[name] = declared
        blueprint.add_url_rule(rule, name, partial(_answer, declared, view), methods=[method])
        return view

    return registered


def _answer(declared: Operation, view: Callable[..., Any], **place: Any) -> Response:
    access.need_scope(*declared.scopes)
    if "query" in declared.takes:
        place["query"] = _read(declared.takes["query"], request.args, "query")
    elif request.args:
        raise Unfit("query", "there are no parameters here")
    if "form" in declared.takes:
        place["form"] = _read(declared.takes["form"], request.form, "form")
    if "body" in declared.takes:
        try:
            document = whole_numbers(decoded(request.get_data(), "body"))
            place["body"] = msgspec.convert(document, declared.takes["body"])
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise Unfit("body", str(error)) from None
    result = view(**place)
    if isinstance(result, Response):
        return result
    if isinstance(result, ExportedFile):
        return attached(result.data, result.media_type, result.name)
    if result is None:
        return Response(status=204)
    if declared.later and hasattr(result, "address"):
        headers = {"Location": result.address}
        return Response(json.encode(result), 202, headers, content_type=JSON)
    return Response(json.encode(result), declared.status, content_type=JSON)


def decoded(data: bytes | str, place: str) -> Any:
    """Return a JSON value; raises ``Unfit`` where a name is twice in an object.

    Which of two values is meant nobody can know, and readers of JSON do not agree.
    """

    def fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) < len(pairs):
            raise Unfit(place, "a name is there more than once")
        return members

    value = json.decode(data)  # stricter than Python's own
    stdlib_json.loads(data, object_pairs_hook=fields)
    return value


def whole_numbers(value: Any) -> Any:
    """Return the fields with whole numbers where JSON writes them as 1.0, which is the same."""
    if not isinstance(value, dict):
        return value
    return {
        name: int(value) if isinstance(value, float) and value.is_integer() else value
        for name, value in value.items()
    }


def _read(kind: Any, pairs: MultiDict[str, str], place: str) -> Any:
    """Return the struct of the `pairs` of a request; where a field is a list, names may repeat."""
    [info] = multi_type_info([kind])
    assert isinstance(info, StructType)
    lists = {field.encode_name for field in info.fields if isinstance(field.type, ListType)}
    values: dict[str, Any] = {}
    for name, several in pairs.lists():
        if name not in lists and len(several) > 1:
            raise Unfit(place, f"{name} is there more than once")
        values[name] = several if name in lists else several[0]
    try:
        return msgspec.convert(values, kind, strict=False)
    except msgspec.ValidationError as error:
        raise Unfit(place, str(error)) from None
