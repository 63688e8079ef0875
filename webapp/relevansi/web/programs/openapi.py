"""The OpenAPI 3.1 document of the addresses for programs, made from their functions."""

from __future__ import annotations

import re
from inspect import cleandoc
from types import UnionType
from typing import Any, get_args

from msgspec import json

from relevansi.records import (
    LARGEST_INTEGER,
    ExportedFile,
)
from relevansi.web.features import Role, role_for
from relevansi.web.frame.errors import ProblemDetails
from relevansi.web.programs.operations import JSON, OPERATIONS, Operation, blueprint

FORM, PROBLEM = "multipart/form-data", "application/problem+json"
_PART = re.compile(r"<(?:(int):)?(\w+)>")
_BYTES = {"type": "string", "format": "binary"}


def document(base: str = "") -> dict[str, Any]:
    """Return the document, the same for every study and reader, for a server below `base`."""
    schemas: dict[str, Any] = {}
    paths: dict[str, dict[str, Any]] = {}
    for operation in sorted(OPERATIONS.values(), key=lambda operation: operation.rule):
        path = _PART.sub(r"{\2}", operation.rule)
        paths.setdefault(path, {})[operation.method.lower()] = _operation(operation, schemas)
    why_not = {"content": {PROBLEM: {"schema": _schema(ProblemDetails, schemas)}}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Relevansi", "version": "1"},
        "servers": [{"url": f"{base}{blueprint.url_prefix}"}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": dict(sorted(schemas.items())),
            "responses": {"problem": {"description": "Why it was not done.", **why_not}},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(operation: Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    summary, _, more = operation.about.partition("\n")
    whose = "the owner's" if role_for(f"api.{operation.name}") is Role.OWNER else "any rater's"
    scopes = " or ".join((*operation.scopes, "everything"))
    about = f"{more.strip()}\n\nTakes {whose} token with the scope {scopes}."
    answers: dict[str, Any] = {str(operation.status): {"description": "It was done."}}
    if operation.status != 204:
        media = {name: {"schema": _BYTES} for name in operation.media}
        is_union = isinstance(operation.gives, UnionType)
        kinds = get_args(operation.gives) if is_union else (operation.gives,)
        if JSON in operation.media and kinds[0] is not ExportedFile:
            media[JSON] = {"schema": _schema(kinds[0], schemas)}
        answers[str(operation.status)]["content"] = media
        if operation.later:
            job = {"content": {JSON: {"schema": _schema(kinds[-1], schemas)}}}
            answers["202"] = {"description": "It goes on as a job.", **job}
    described = {
        "operationId": operation.name,
        "summary": summary,
        "description": about.strip(),
        "parameters": [*_of_path(operation.rule), *_of_query(operation.takes.get("query"))],
        "responses": {**answers, "default": {"$ref": "#/components/responses/problem"}},
    }
    for name, kind in (("body", JSON), ("form", FORM)):
        if name in operation.takes:
            content = {"schema": _schema(operation.takes[name], schemas)}
            if name == "form":
                form = schemas[operation.takes[name].__name__]
                form["properties"]["files"] = {"type": "array", "minItems": 1, "items": _BYTES}
                form["required"] = [*form["required"], "files"]
            described["requestBody"] = {"required": True, "content": {kind: content}}
    return described


def _of_path(rule: str) -> list[dict[str, Any]]:
    number = {"type": "integer", "minimum": 0, "maximum": LARGEST_INTEGER}
    text = {"type": "string", "minLength": 1, "maxLength": 200}
    return [
        {"name": name, "in": "path", "required": True, "schema": number if is_number else text}
        for is_number, name in _PART.findall(rule)
    ]


def _of_query(kind: Any) -> list[dict[str, Any]]:
    if kind is None:
        return []
    described = json.schema(kind)["$defs"][kind.__name__]
    return [
        {"name": name, "in": "query", "required": name in described["required"], "schema": schema}
        for name, schema in described["properties"].items()
    ]


def _schema(kind: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    [described], parts = json.schema_components([kind], ref_template="#/components/schemas/{name}")
    schemas.update(_plain(parts))
    return described


def _plain(schema: Any) -> Any:
    """Return a schema with lists in the place of pairs of one type, which few generators know.

    Docstrings are without the indentation that they have in the code.
    """
    if isinstance(schema, list):
        return list(map(_plain, schema))
    if not isinstance(schema, dict):
        return schema
    plain = {name: _plain(value) for name, value in schema.items()}
    if isinstance(about := plain.get("description"), str):
        plain["description"] = cleandoc(about)
    return {**plain, "items": plain.pop("prefixItems")[0]} if "prefixItems" in plain else plain
