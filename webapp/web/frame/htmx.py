"""Whether a request wants a page or a part of it, and the answer in that form.

The only module that knows htmx's headers. Version 4 says ``HX-Request-Type: partial`` when
it will swap the answer into a place on the page, ``full`` for everything else.
"""

from __future__ import annotations

from dataclasses import fields
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from flask import Response, current_app, render_template, request

if TYPE_CHECKING:
    from collections.abc import Callable
    from wsgiref.types import WSGIEnvironment

    from _typeshed import DataclassInstance
    from jinja2 import Environment

REQUEST_TYPE = "HX-Request-Type"
REFRESH = "HX-Refresh"
_REQUEST_TYPE = f"HTTP_{REQUEST_TYPE.upper().replace('-', '_')}"


def wants_part() -> bool:
    """Whether the answer will be swapped into the page that asked."""
    return asks_for_part(request.environ)


def asks_for_part(environ: WSGIEnvironment) -> bool:
    """Whether a script of a page asks, and not for a whole one: no browser goes there so."""
    return environ.get(_REQUEST_TYPE) == "partial"


def respond(page: str, part: str, context: DataclassInstance, status: int = 200) -> Response:
    """Return the template `page`, or `part` where a part is wanted, filled from `context`."""
    template = part if wants_part() else page
    return _varying(render_template(template, **names(context)), status)


def respond_with_macro(part: str, context: DataclassInstance) -> Response:
    """Return what the macro of the template `part` makes of `context`.

    It sees neither the request nor who asks, and takes a third of what a template takes.
    """
    return _varying(_macro(current_app.jinja_env, part)(**names(context)))


@lru_cache(maxsize=64)
def _macro(environment: Environment, part: str) -> Callable[..., str]:
    """Return the macro of the template `part`; to look it up takes as long as to fill it."""
    template: Any = environment.get_template(part).module
    found: Callable[..., str] = template.part
    return found


def reload() -> Response:
    """Return the answer that has the page which asked load itself anew."""
    response = _varying("")
    response.headers[REFRESH] = "true"
    return response


def names(context: DataclassInstance) -> dict[str, Any]:
    """Return what a template may use: the fields of `context`, one level deep."""
    return {name: getattr(context, name) for name in _fields(type(context))}


@cache
def _fields(kind: type[DataclassInstance]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def _varying(body: str, status: int = 200) -> Response:
    """Return an answer that is another one where the other form is wanted."""
    response = Response(body, status)
    response.headers.add("Vary", REQUEST_TYPE)
    return response
