"""The OpenAPI 3.1 document of the addresses for programs, made from their functions."""

from __future__ import annotations

import re
from inspect import cleandoc
from types import UnionType
from typing import Any, get_args

from msgspec import json

from relevansi.records import LARGEST_INTEGER, ExportedFile
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
    problem = {"content": {PROBLEM: {"schema": _schema(ProblemDetails, schemas)}}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Relevansi", "version": "1"},
        "servers": [{"url": f"{base}{blueprint.url_prefix}"}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": dict(sorted(schemas.items())),
            "responses": {"problem": {"description": "Why it was not done.", **problem}},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(operation: Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    summary, _, more = operation.about.partition("\n")
    whose = "the owner's" if role_for(f"api.{operation.name}") is Role.OWNER else "any rater's"
    scopes = " or ".join((*operation.scopes, "everything"))
    about = f"{more.strip()}\n\nTakes {whose} token with the scope {scopes}."
    described = {
        "operationId": operation.name,
        "summary": summary,
        "description": about.strip(),
        "parameters": [
            *_path_parameters(operation.rule),
            *_query_parameters(operation.inputs.get("query")),
        ],
        "responses": {
            **_responses(operation, schemas),
            "default": {"$ref": "#/components/responses/problem"},
        },
    }
    for name, media_type in (("body", JSON), ("form", FORM)):
        if name in operation.inputs:
            content = {"schema": _schema(operation.inputs[name], schemas)}
            described["requestBody"] = {"required": True, "content": {media_type: content}}
    if "form" in operation.inputs:  # the struct has its fields, and not the files beside them
        form = schemas[operation.inputs["form"].__name__]
        form["properties"]["files"] = {"type": "array", "minItems": 1, "items": _BYTES}
        form["required"] = [*form["required"], "files"]
    return described


def _responses(operation: Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    """Return what comes back by status: the result, and the job that may be in its place."""
    success: dict[str, Any] = {"description": "It was done."}
    responses = {str(operation.status): success}
    if operation.status == 204:
        return responses
    is_union = isinstance(operation.output, UnionType)
    types = get_args(operation.output) if is_union else (operation.output,)
    success["content"] = {name: {"schema": _BYTES} for name in operation.media}
    if JSON in operation.media and types[0] is not ExportedFile:
        success["content"][JSON] = {"schema": _schema(types[0], schemas)}
    if operation.may_be_job:
        job = {"content": {JSON: {"schema": _schema(types[-1], schemas)}}}
        responses["202"] = {"description": "It goes on as a job.", **job}
    return responses


def _path_parameters(rule: str) -> list[dict[str, Any]]:
    number = {"type": "integer", "minimum": 0, "maximum": LARGEST_INTEGER}
    text = {"type": "string", "minLength": 1, "maxLength": 200}
    return [
        {"name": name, "in": "path", "required": True, "schema": number if is_number else text}
        for is_number, name in _PART.findall(rule)
    ]


def _query_parameters(struct: Any) -> list[dict[str, Any]]:
    if struct is None:
        return []
    described = json.schema(struct)["$defs"][struct.__name__]
    return [
        {"name": name, "in": "query", "required": name in described["required"], "schema": schema}
        for name, schema in described["properties"].items()
    ]


def _schema(kind: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a type; those that it refers to are added to `schemas`."""
    [described], parts = json.schema_components([kind], ref_template="#/components/schemas/{name}")
    schemas.update(_simplified(parts))
    return described


def _simplified(schema: Any) -> Any:
    """Return a schema with lists in the place of pairs of one type, which few generators know.

    Docstrings are without the indentation that they have in the code.
    """
    if isinstance(schema, list):
        return list(map(_simplified, schema))
    if not isinstance(schema, dict):
        return schema
    simple = {name: _simplified(value) for name, value in schema.items()}
    if isinstance(about := simple.get("description"), str):
        simple["description"] = cleandoc(about)
    if "prefixItems" in simple:
        simple["items"] = simple.pop("prefixItems")[0]
    return simple
