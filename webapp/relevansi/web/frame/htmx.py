"""Whether a request wants a page, a part of it or a file, and the answer in that form.

The only module that knows htmx's headers. Version 4 says ``HX-Request-Type: partial`` when
it will swap the answer into a place on the page, ``full`` for everything else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Response, redirect, render_template, request

REQUEST_TYPE = "HX-Request-Type"


def wants_part() -> bool:
    """Whether the answer will be swapped into the page that asked."""
    return request.headers.get(REQUEST_TYPE) == "partial"


def respond(
    page: str,
    part: str,
    context: Mapping[str, Any] | None = None,
    /,
    status: int = 200,
    **more: Any,
) -> Response:
    """Return the template `page`, or `part` where a part is wanted, filled from its values."""
    template = part if wants_part() else page
    return _varying(render_template(template, **{**(context or {}), **more}), status)


def part(template: str, /, status: int = 200, **values: Any) -> Response:
    """Return a part of a page, for a click that only a script makes."""
    return _varying(render_template(template, **values), status)


def reload() -> Response:
    """Return the answer that has the page which asked load itself anew."""
    response = _varying("")
    response.headers["HX-Refresh"] = "true"
    return response


def see_other(address: str) -> Response:
    """Return the answer to what was stored: the browser loads `address` by GET."""
    return redirect(address, 303, Response)  # type: ignore[return-value]


def attached(data: bytes | str, media_type: str, name: str) -> Response:
    """Return a file that the browser saves under a `name`."""
    response = Response(data, content_type=media_type)
    response.headers.set("Content-Disposition", "attachment", filename=name)
    return response


def _varying(body: str, status: int = 200) -> Response:
    response = Response(body, status)
    # A browser's "back" would else show a part alone where the whole page was.
    response.headers.add("Vary", REQUEST_TYPE)
    return response
